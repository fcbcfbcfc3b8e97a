"""The class of a query: a citation, keywords, a question, or a whole document.

Rules for French and English, in this order. They use the words only, so a text always has the same class:

1. document: at least 150 words (a judgment, a paragraph of one, a contract); 2. citation: at most one word remains without
citations, names of codes, months, stop words and words that go with citations ("arrêt", "du", "judgment of the Court"); 3.
question: a question mark, an interrogative word ("comment", "what"), one that may ask as the first word ("qui", "when", "is"), an
inversion ("peut-il"), or a sentence: at least four words with a personal subject or an inflected auxiliary ("nous", "is",
"doit"), or five words and a full stop; 4. keywords: everything else.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache

from lexfuse.text.analysis.analyser import stop_words
from lexfuse.text.citation.code_names import code_pattern, plain_text
from lexfuse.text.citation.find import find_citations
from lexfuse.text.letters import fold

DOCUMENT_WORDS = 150


class QueryClass(StrEnum):
    """The classes of queries."""

    CITATION = "citation"
    KEYWORDS = "keywords"
    QUESTION = "question"
    DOCUMENT = "document"


_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_INVERSION = re.compile(r"\w-(?:t-)?(?:ils?|elles?|on|je|nous|vous|tu|ce)\b")
_SENTENCE_END = re.compile(r"[.!…][\"»”’')\]]*\s*$")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


# All folded: without accents, in lower case.
_ASKING = _listed("comment pourquoi combien quel quelle quels quelles how why what")
_ASKING_FIRST = _listed(
    "qui que qu quoi quand ou lequel laquelle lesquels lesquelles est sont peut peuvent puis doit dois faut "
    "who whom whose when where which is are was were do does did can could may might must shall should will would "
    "has have had am"
)
_FINITE = _listed(  # only in sentences; without words that are also nouns or prepositions ("a", "on", "may", "will")
    "je j tu il elle nous vous ils elles est sont etait etaient sera seront ont avait peut peuvent doit doivent faut "
    "i he she we they is are was were has have had does did can cannot could must should would shall"
)
_BESIDE_CITATIONS = _listed(
    "article articles art arts alinea al suivant suivants suivante suivantes sq code codes loi decret arret arrets jugement "
    "decision ordonnance directive reglement cour cassation cass soc civ crim com chambre sociale civile criminelle commerciale "
    "conseil etat ce cons const cjue cjce cedh affaire aff pourvoi no num numero date bull rg paragraphe paragraphes point "
    "points judgment judgement judgments ruling opinion order court justice case cases regulation act section sections para "
    "paras paragraph paragraphs joined ecli ecr ecj cjeu echr eu dit dispose prevoit texte text "
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre "
    "january february march april may june july august september october november december"
)


def query_class(text: str) -> QueryClass:
    """The class of a query, by the rules of this module.

    >>> [query_class(text).value for text in ("article L. 1234-5 du code du travail", "durée du préavis", "notice period")]
    ['citation', 'keywords', 'keywords']
    >>> query_class("Quelle est la durée du préavis ?"), query_class("The notice period is two months")
    (<QueryClass.QUESTION: 'question'>, <QueryClass.QUESTION: 'question'>)
    """
    words = [fold(word) for word in _WORD.findall(text.lower())]
    if len(words) >= DOCUMENT_WORDS:
        return QueryClass.DOCUMENT
    if _is_citation(text):
        return QueryClass.CITATION
    return QueryClass.QUESTION if _is_question(text, words) else QueryClass.KEYWORDS


def _is_citation(text: str) -> bool:
    citations = find_citations(text)
    if not citations:
        return False
    rest, at = [], 0
    for citation in citations:
        rest.append(text[at : citation.start])
        at = max(at, citation.end)
    without_codes = _codes().sub(" ", plain_text(" ".join([*rest, text[at:]])))
    small = stop_words("fr") | stop_words("en") | _BESIDE_CITATIONS
    left = [word for word in _LETTERS.findall(without_codes.lower()) if fold(word) not in small]
    return len(left) <= 1


def _is_question(text: str, words: list[str]) -> bool:
    if not words:
        return False
    if "?" in text or words[0] in _ASKING_FIRST or not _ASKING.isdisjoint(words) or _INVERSION.search(text.lower()):
        return True
    if len(words) >= 4 and not _FINITE.isdisjoint(words):
        return True
    return len(words) >= 5 and _SENTENCE_END.search(text) is not None


@cache
def _codes() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){code_pattern()}", re.IGNORECASE)
