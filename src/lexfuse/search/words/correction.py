"""A misspelt question as it was probably meant ("did you mean"), from the words of the index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from lexfuse.channels.query_terms import QueryLanguages
from lexfuse.data.queries import Query
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.words.index_words import IndexWords, is_indexed
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.text.analysis.analyser import Analyser, Token
from lexfuse.text.analysis.languages import detect_language
from lexfuse.text.everyday.spelling_distance import spelling_distance
from lexfuse.text.letters import fold

# Words of questions and greetings, which law does not have and which are right.
QUESTION_WORDS = frozenset(
    ["bonjour", "bonsoir", "combien", "comment", "merci", "pourquoi", "salut", "svp", "hello", "please", "thanks", "why"]
)
CLEAR_DISTANCE, CLEAR_LETTERS, CLEAR_COUNT = 1.0, 5, 20
FOREIGN_WORDS = 3  # that no document has, and more than half of a question, if it is in a language that no document has
LONGEST = 400  # characters of a question that is corrected; longer ones are texts


class Spelling(StrEnum):
    """What happens to a question with words that no document has."""

    AUTO = "auto"  # searched if it is clear what was meant, or if nothing is found otherwise; else offered
    APPLY = "apply"  # the corrected question is searched
    OFF = "off"


@dataclass(frozen=True, slots=True)
class CorrectedWord:
    """A word of a question that no document has, and the word of the index that was probably meant."""

    word: str
    meant: str
    clear: bool = False  # whether it is near enough, long enough and frequent enough to be searched without asking


@dataclass(frozen=True, slots=True)
class SpellingCorrection:
    """A question with its misspelt words replaced, and whether it is the one that was searched."""

    question: str  # corrected
    words: tuple[CorrectedWord, ...]
    applied: bool = False


def words_of(version: IndexVersion) -> IndexWords:
    """The words of a version of an index, read once.

    >>> words_of(IndexVersion(snapshot)).count("lecteur") > 0
    True
    """
    return version.cached("words", lambda: IndexWords(version.snapshot))


def correct(
    version: IndexVersion, query: Query, spelling: Spelling = Spelling.AUTO, *, by_words: bool = True
) -> SpellingCorrection | None:
    """What a question probably means; None if all of its words occur, or nothing is similar to those that do not.

    Words of the lexicon, names (a capital inside of a sentence), citations and words of fewer than four letters stay as they are,
    and so does a question in a language that no document has. A search `by_words` finds nothing if it has none of them; vectors
    may find what a word means that no document has.

    >>> found = correct(IndexVersion(snapshot), Query("q", "les horaire de la bibliotheke", "fr"))
    >>> found.question, found.applied
    ('les horaire de la bibliothèque', False)
    >>> correct(IndexVersion(snapshot), Query("q", "bibliotheke", "fr")).applied
    True
    >>> correct(IndexVersion(snapshot), Query("q", "bibliotheke", "fr"), by_words=False).applied
    False
    """
    if spelling is Spelling.OFF or len(query.text) > LONGEST or isinstance(version.snapshot, PostgresSnapshot):
        return None
    languages: QueryLanguages = version.cached("query languages", lambda: QueryLanguages(version.snapshot))
    language = languages.of(query.text, query.language)
    analyser: Analyser = version.cached(f"analyser {language}", lambda: version.snapshot.settings.analyser(language))
    tokens = [token for token in analyser.tokens(query.text) if token.terms]
    unknown = [token for token in tokens if not is_indexed(version.snapshot, token.terms)]
    if not unknown or _foreign(query, language, len(unknown), len(tokens)):
        return None
    everyday = version.everyday_words().lexicon.find(query.text, analyser)
    wrong = [
        token
        for token in unknown
        if not token.citation
        and token.exact not in QUESTION_WORDS
        and not _is_name(token, query.text)
        and not any(one.start <= token.start < one.end for one in everyday)
    ]
    words, found, text, at = words_of(version), [], [], 0
    for token in wrong:
        if meant := next((one for one in words.similar(token.exact, language) if _occurs(version, analyser, one)), ""):
            near = spelling_distance(fold(token.exact), meant, language) <= CLEAR_DISTANCE
            clear = near and len(token.exact) >= CLEAR_LETTERS and words.count(meant) >= CLEAR_COUNT
            found.append(CorrectedWord(token.text, words.spelled(meant), clear))
            text += [query.text[at : token.start], found[-1].meant]
            at = token.end
    if not found:
        return None
    nothing = by_words and len(unknown) == len(tokens) and not everyday
    applied = spelling is Spelling.APPLY or nothing or all(one.clear for one in found)
    return SpellingCorrection("".join((*text, query.text[at:])), tuple(found), applied)


def corrected(query: Query, correction: SpellingCorrection | None) -> Query:
    """The question that is searched.

    >>> corrected(Query("q", "bibliotheke"), SpellingCorrection("bibliothèque", (), applied=True)).text
    'bibliothèque'
    """
    return replace(query, text=correction.question) if correction and correction.applied else query


def _foreign(query: Query, language: str, unknown: int, words: int) -> bool:
    """Whether a question is in another language than it is read in: its words are not misspelt."""
    return unknown >= FOREIGN_WORDS and 2 * unknown > words and detect_language(query.text) not in ("", language)


def _is_name(token: Token, text: str) -> bool:
    """Whether a word has a capital that does not begin the question, unless all of it is in capitals."""
    return token.start > 0 and token.text[0].isupper() and not text.isupper()


def _occurs(version: IndexVersion, analyser: Analyser, word: str) -> bool:
    """Whether a word of the index is still in a document, and is searched by in the language of the question."""
    terms = analyser.terms(words_of(version).spelled(word))
    return bool(terms) and is_indexed(version.snapshot, terms)
