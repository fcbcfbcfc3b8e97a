"""Decisions with their cited paragraphs, and paragraphs without a decision or of an article."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from lexfuse.text.citation.citation import Citation, CitationSystem
from lexfuse.text.citation.grammar import HYPHEN, both_forms
from lexfuse.text.citation.identifiers import Identifier

LONGEST_RUN = 200  # paragraphs; a longer range is a misprint, and only its ends count
MOST_FILLED = 100_000  # paragraphs of all ranges in one text; more would let a short text grow a thousandfold
_FARTHEST = 160  # characters between a decision and its paragraphs

_NUMBER_WORD = re.compile(
    r"\b(?:(?:CELEX(?:\snumber)?:?|pourvois?)\s?)?(?:n(?:os?|[°º])\.?(?:\s[A-Z])?|pourvois?|(?:joined\s)?cases?|affaires?(?:\sjointes)?|aff\.|CELEX:?)\s?$",
    re.IGNORECASE,
)
_STEP = rf"(?:\s?,\s?(?:(?:et|and|ou|or)\s)?|\s(?:et|and|ou|or|à|to)\s|\s?{HYPHEN}\s?)"
_NUMBERS = rf"[0-9]{{1,4}}(?![0-9/])(?:{_STEP}[0-9]{{1,4}}(?![\w/°]))*"
PARAGRAPHS = re.compile(
    both_forms(rf"(?:\b(?:paragraph(?:e?s?)|paras?\.?|points?|pts?\.?)\s|§{{1,2}}\s?)(?P<numbers>{_NUMBERS})"), re.IGNORECASE
)
_RUN = re.compile(both_forms(rf"(?P<to>\s?(?:à|to|{HYPHEN})\s?)?(?P<number>[0-9]+)"))
_SAME_DECISION = re.compile(
    both_forms(
        r"(?:\s\([^()]*\))?\s?[()\]]{0,2}\s?,?\s?(?:(?:not\spublished|non\spubliée?|cited\sabove|précitée?),\s)?(?:(?:at|au|aux)\s)?"
    )
)
_OF_DECISION = re.compile(
    both_forms(
        r"\s(?:of|in|de|du|dans)\s(?:the\s|that\s|its\s|l['’]|son\s|cet\s)?(?:judgments?|orders?|opinion|arrêts?|ordonnances?|affaires?|cases?)"
        r"(?:\s(?:in|of|du|dans|rendu)\s[^;\n]*|\s?\(?|\s[A-Z][^;,\n]*)"
    ),
    re.IGNORECASE,
)
_OF_ARTICLE = re.compile(r"\s(?:de\sl['’]|of\s(?:the\s)?)")


def decisions(
    text: str, items: list[Identifier], of_laws: Sequence[tuple[int, int]] = ()
) -> tuple[list[Citation], list[Citation]]:
    """Decisions, and the paragraphs that do not directly follow one; ``of_laws`` are places of sections of laws (§ 543 BGB).

    >>> from lexfuse.text.citation.scanner import scan
    >>> text = "C‑60/22, paragraph 64, and paragraph 12 above"
    >>> cited, alone = decisions(text, list(scan(text)))
    >>> cited[0].parts, alone[0].key
    (('64',), '12')
    """
    row = _Decisions(text, [_decision(text, item) for item in items])
    alone, given, left = [], [], MOST_FILLED
    for match in PARAGRAPHS.finditer(text):
        if of_laws and _is_inside(match.start(), of_laws):
            continue
        numbers = _numbers(match["numbers"], left)
        left = max(0, left - len(numbers))
        owners = row.named_before(match)
        if not owners:
            owners = row.named_after(match)
            alone.append(Citation(match.start(), match.end(), CitationSystem.PARAGRAPH, numbers[0], parts=numbers[1:]))
        given.append((owners, numbers))
    return row.with_paragraphs(given), alone


def _is_inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    before = bisect_right(spans, place, key=lambda span: span[0]) - 1
    return before >= 0 and place < spans[before][1]


def with_paragraphs_before(text: str, articles: list[Citation], paragraphs: list[Citation]) -> list[Citation]:
    """The articles, with the paragraphs that the text attributes to them.

    >>> from lexfuse.text.citation.find import find_citations
    >>> [(c.system.value, c.key, c.parts) for c in find_citations("paragraph 2 of Article 101 TFEU")]
    [('paragraph', '2', ()), ('article', '101', ('2',))]
    """
    done = list(articles)
    at = {citation.start: place for place, citation in enumerate(done) if citation.system is not CitationSystem.EU_ACT}
    for paragraph in paragraphs:
        link = _OF_ARTICLE.match(text, paragraph.end)
        place = at.get(link.end()) if link else None
        if place is not None:
            done[place] = replace(done[place], parts=(paragraph.key, *paragraph.parts, *done[place].parts))
    return done


def _decision(text: str, item: Identifier) -> Citation:
    word = _NUMBER_WORD.search(text, max(0, item.start - 20), item.start)
    return Citation(word.start() if word else item.start, item.end, item.system, item.key, parts=item.parts)


def _numbers(written: str, room: int = MOST_FILLED) -> tuple[str, ...]:
    """Paragraph numbers as written, with ranges expanded up to the limit: "12, 14 to 16" is 12, 14, 15, 16."""
    numbers: list[int] = []
    for one in _RUN.finditer(written):
        number = int(one["number"])
        if one["to"] and numbers and numbers[-1] < number <= numbers[-1] + LONGEST_RUN and len(numbers) < room:
            numbers += range(numbers[-1] + 1, number)
        numbers.append(number)
    return tuple(map(str, numbers))


class _Decisions:
    """Decisions in text order, and which neighbours are one decision: an ECLI and the case number before it.

    Each pair of neighbours is compared once, since a list of a thousand may be followed by a thousand paragraphs. The end of a
    decision moves behind its paragraphs as they are read: backward comparisons use the current ends, forward comparisons the
    original ones.
    """

    def __init__(self, text: str, cited: list[Citation]) -> None:
        self._text = text
        self._cited = cited
        self._starts = [citation.start for citation in cited]
        self._ends = [citation.end for citation in cited]
        self._first: list[int] = []  # first of the decisions up to each that are one
        self._last: dict[int, int] = {}  # last of those from each on

    def named_before(self, paragraph: re.Match[str]) -> range:
        """The decisions right before a paragraph."""
        own = bisect_right(self._starts, paragraph.start()) - 1
        if own < 0 or not self._follows(own, paragraph.start()):
            return range(0)
        while len(self._first) <= own:
            at = len(self._first)
            self._first.append(self._first[at - 1] if at and self._follows(at - 1, self._starts[at]) else at)
        self._ends[own] = paragraph.end()
        return range(self._first[own], own + 1)

    def named_after(self, paragraph: re.Match[str]) -> range:
        """The decision that follows its paragraph: paragraph 64 of the judgment in C‑60/22, EU:C:2023:373."""
        place, at = bisect_right(self._starts, paragraph.start()), paragraph.end()
        if place == len(self._starts) or not at <= self._starts[place] <= at + _FARTHEST:
            return range(0)
        if not _OF_DECISION.fullmatch(self._text, at, self._starts[place]):
            return range(0)
        last = place
        while last not in self._last and last + 1 < len(self._starts) and self._joined(last):
            last += 1
        end = self._last.get(last, last)
        self._last.update(dict.fromkeys(range(place, last + 1), end))
        return range(place, end + 1)

    def with_paragraphs(self, given: list[tuple[range, tuple[str, ...]]]) -> list[Citation]:
        """The decisions with their paragraphs; the last assignment to a decision counts."""
        parts: list[tuple[str, ...]] = [()] * len(self._cited)
        free = list(range(len(self._cited) + 1))  # the next free place at or after each
        for owners, numbers in reversed(given):
            at = _next_free(free, owners.start)
            while at < owners.stop:
                parts[at] = numbers
                free[at] = at + 1
                at = _next_free(free, at)
        rows = zip(self._cited, self._ends, parts, strict=True)
        return [replace(citation, end=end, parts=own) if own else citation for citation, end, own in rows]

    def _follows(self, index: int, at: int) -> bool:
        """Whether the text at a place belongs to the decision before it."""
        end = self._ends[index]
        return 0 <= at - end <= _FARTHEST and _SAME_DECISION.fullmatch(self._text, end, at) is not None

    def _joined(self, index: int) -> bool:
        end = self._cited[index].end
        return _SAME_DECISION.fullmatch(self._text, end, self._starts[index + 1]) is not None


def _next_free(free: list[int], at: int) -> int:
    """The first free place from here on; visited places remember it."""
    found = at
    while free[found] != found:
        found = free[found]
    while free[at] != found:
        free[at], at = found, free[at]
    return found
