"""Snippets: the part of a text that matches a query best, and the matching spans in it.

Matches follow the analyser's tokens: ``l'employeur`` is marked from the ``e`` on, a citation is marked as a whole in any
spelling, and a word is marked if its index term matches. Of citations only those of the cited article are marked: others of its
chapter share terms with it, which rank but say nothing to a reader. Nor are words marked that are far more frequent than the
rarest word of the question: "cas" next to "préavis".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lexfuse.text.analysis.analyser import Analyser, Token
from lexfuse.text.citation.find import find_citations
from lexfuse.text.passages import Passage
from lexfuse.text.sentences.splitter import split_sentences

WIDTH = 280  # characters
BEFORE = 60  # characters that a snippet may be longer to begin with its sentence
WHOLE = 700  # characters of a passage of whole sentences; a longer one is cut as a snippet is
COMMON = 1 / 3  # of the weight of the rarest word: lighter ones are not marked
LONGEST_QUESTION = 1000  # characters of a question whose citations are looked for

_NUMBERED = r"(?<!\b[A-Z]\.)(?<!\b[aA]rt\.)"  # not between "L." or "art." and the number that belongs to it
_GAP = re.compile(rf"{_NUMBERED}\s+")
_SENTENCE_GAP = re.compile(rf"(?<=[.;:!?]){_NUMBERED}\s+|\n\s*")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A span of a text and the matching spans inside it; all offsets refer to the whole text.

    >>> Snippet(Passage(0, 6), (Passage(3, 6),)).marked("la loi", "[", "]")
    'la [loi]'
    """

    span: Passage
    matches: tuple[Passage, ...]
    text: str = ""  # the text of the span
    weights: tuple[float, ...] = ()  # of the matches: how rare each word is

    def __str__(self) -> str:
        """The text of the snippet."""
        return self.text

    def marked(self, text: str, before: str, after: str) -> str:
        """The snippet with marks around matches, and ellipses where the text continues."""
        parts, at = ["… " if self.span.start > 0 else ""], self.span.start
        for match in self.matches:
            parts += (text[at : match.start], before, match.of(text), after)
            at = match.end
        parts += (text[at : self.span.end], " …" if self.span.end < len(text) else "")
        return "".join(parts)


def snippet(text: str, analyser: Analyser, terms: Mapping[str, float], *, width: int = WIDTH) -> Snippet:
    """The window of about ``width`` characters whose distinct matching terms have the highest weight; the first of equals.

    ``terms`` gives the weight (such as the idf) of each index term of the query. Without a match it is the beginning of the text.

    >>> text = "Le préavis est de deux mois. L'employeur notifie le licenciement par lettre."
    >>> snippet(text, Analyser("fr"), {"employeur": 2.0, "lettr": 1.0}, width=50).marked(text, "[", "]")
    "… L'[employeur] notifie le licenciement par [lettre]."
    """
    hits = [one for one in analyser.matching(text, terms.keys()) if not one.citation or one.terms[0] in terms]
    first = _best_start(hits, terms, width)
    last = max((token.end for token in hits if token.end <= first + width or token.start == first), default=first)
    begin = _opening(text, max(0, last - width, first - width // 4), first)
    end = _word_end(text, begin, max(begin + width, last))
    informative = telling(terms)
    inside = [token for token in hits if begin <= token.start and token.end <= end and not informative.isdisjoint(token.terms)]
    weights = tuple(max(terms.get(term, 0.0) for term in token.terms) for token in inside)
    matches = tuple(Passage(token.start, token.end) for token in inside)
    return Snippet(Passage(begin, end), matches, text[begin:end], weights)


def whole_sentences(text: str, shown: Snippet, language: str) -> Passage:
    """The sentences of a snippet: one that it cuts is completed if it has a match in the snippet, and left out otherwise.

    A snippet without a match, or of which nothing would be left, keeps the sentence in which it begins.

    >>> text = "Le préavis est de deux mois. L'employeur notifie le licenciement par lettre."
    >>> shown = snippet(text, Analyser("fr"), {"préav": 2.0}, width=40)
    >>> shown.text, whole_sentences(text, shown, "fr").of(text)
    ("Le préavis est de deux mois. L'employeur", 'Le préavis est de deux mois.')
    """
    span = shown.span
    low, high = max(0, span.start - WHOLE), min(len(text), span.end + WHOLE)
    sentences = [Passage(low + one.start, low + one.end) for one in split_sentences(text[low:high], language)]
    touched = [one for one in sentences if one.start < span.end and one.end > span.start]
    kept = [
        one
        for one in touched
        if (span.start <= one.start and one.end <= span.end) or any(one.start <= match.start < one.end for match in shown.matches)
    ] or touched[:1]
    if not kept or kept[-1].end - kept[0].start > WHOLE:
        return span
    return Passage(kept[0].start, kept[-1].end)


def telling(terms: Mapping[str, float]) -> frozenset[str]:
    """The terms that are not far more frequent than the rarest one, by their weights (such as the idf).

    >>> sorted(telling({"préavis": 5.3, "durée": 2.7, "cas": 1.6}))
    ['durée', 'préavis']
    """
    least = COMMON * max(terms.values(), default=0.0)
    return frozenset(term for term, weight in terms.items() if weight >= least)


def citing_terms(question: str, analyser: Analyser) -> frozenset[str]:
    """The terms that a question has only to cite an article, without its number: "article" and the name of its code.

    A long question is a text, in which such words matter as others do.

    >>> sorted(citing_terms("préavis, article L. 1234-1 du code du travail", Analyser("fr")))
    ['articl', 'cod', 'travail']
    >>> sorted(citing_terms("contrat de travail, article L. 1234-1 du code du travail", Analyser("fr")))
    ['articl', 'cod']
    """
    spans = [(one.start, one.end) for one in find_citations(question)] if len(question) <= LONGEST_QUESTION else []
    citing, others = set[str](), set[str]()
    for token in analyser.tokens(question) if spans else ():
        inside = any(start <= token.start and token.end <= end for start, end in spans)
        named = inside and not token.citation and not any(letter.isdigit() for letter in token.text)
        (citing if named else others).update(token.terms)
    return frozenset(citing - others)


def _best_start(hits: list[Token], terms: Mapping[str, float], width: int) -> int:
    """The first hit of the best window: windows start at hits, so one two-pointer pass is enough."""
    best_weight, best_start, last = -1.0, 0, 0
    inside: dict[str, int] = {}
    weight = 0.0
    for first, token in enumerate(hits):
        while last < len(hits) and hits[last].end <= token.start + width:
            for term in hits[last].terms:
                weight += terms.get(term, 0.0) if not inside.get(term) else 0.0
                inside[term] = inside.get(term, 0) + 1
            last += 1
        if weight > best_weight + 1e-9:
            best_weight, best_start = weight, token.start
        if last == first:  # a single match longer than the window
            last += 1
            continue
        for term in token.terms:
            inside[term] -= 1
            weight -= terms.get(term, 0.0) if not inside[term] else 0.0
    return best_start


def _opening(text: str, earliest: int, latest: int) -> int:
    """Where to begin between two places: at a sentence or line if one starts there or shortly before, else at a whole word."""
    if earliest == 0:
        return 0
    openings = [match.end() for match in _SENTENCE_GAP.finditer(text, earliest, latest)]
    if openings:
        return openings[0]
    before = [0] * (earliest <= BEFORE)
    before += [match.end() for match in _SENTENCE_GAP.finditer(text, max(0, earliest - BEFORE), earliest)]
    if before:
        return before[-1]
    gap = _GAP.search(text, earliest, latest)
    return gap.end() if gap else latest


def _word_end(text: str, begin: int, at: int) -> int:
    """The end of the last whole word between two places; the second place if one word fills everything."""
    if at >= len(text):
        return len(text)
    cut = at
    while cut > begin and not text[cut].isspace():
        cut -= 1
    return begin + len(text[begin:cut].rstrip()) if text[begin:cut].strip() else at
