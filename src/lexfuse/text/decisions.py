"""Decisions with the paragraphs cited of them, and paragraphs that stand alone or belong to an article."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace

from lexfuse.text.citation import Citation, System
from lexfuse.text.items import Item
from lexfuse.text.spellings import HYPHEN, both_forms

LONGEST_RUN = 200  # paragraphs; more is a misprint, and only its ends are taken
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


def decisions(text: str, items: list[Item]) -> tuple[list[Citation], list[Citation]]:
    """Decisions, and paragraphs that do not come right after one.

    >>> from lexfuse.text.scan import scan
    >>> text = "C‑60/22, paragraph 64, and paragraph 12 above"
    >>> cited, alone = decisions(text, list(scan(text)))
    >>> cited[0].parts, alone[0].key
    (('64',), '12')
    """
    cited = [_decision(text, item) for item in items]
    starts = [citation.start for citation in cited]
    alone = []
    for match in PARAGRAPHS.finditer(text):
        numbers = _numbers(match["numbers"])
        place = bisect_right(starts, match.start())
        if owners := _named_before(text, cited, place, match.start()):
            cited[owners[0]] = replace(cited[owners[0]], end=match.end())
        else:
            owners = _named_after(text, cited, place, match.end())
            alone.append(Citation(match.start(), match.end(), System.PARAGRAPH, numbers[0], parts=numbers[1:]))
        for owner in owners:
            cited[owner] = replace(cited[owner], parts=numbers)
    return cited, alone


def with_paragraphs_before(text: str, articles: list[Citation], paragraphs: list[Citation]) -> list[Citation]:
    """The articles, with the paragraphs that are said to be of them.

    >>> from lexfuse.text.citations import find
    >>> [(c.system.value, c.key, c.parts) for c in find("paragraph 2 of Article 101 TFEU")]
    [('paragraph', '2', ()), ('article', '101', ('2',))]
    """
    done = list(articles)
    at = {citation.start: place for place, citation in enumerate(done) if citation.system is not System.EU_ACT}
    for paragraph in paragraphs:
        link = _OF_ARTICLE.match(text, paragraph.end)
        place = at.get(link.end()) if link else None
        if place is not None:
            done[place] = replace(done[place], parts=(paragraph.key, *paragraph.parts, *done[place].parts))
    return done


def _decision(text: str, item: Item) -> Citation:
    word = _NUMBER_WORD.search(text, max(0, item.start - 20), item.start)
    return Citation(word.start() if word else item.start, item.end, item.system, item.key)


def _numbers(written: str) -> tuple[str, ...]:
    """Paragraph numbers as written, runs filled in: "12, 14 to 16" is 12, 14, 15, 16."""
    numbers: list[int] = []
    for one in _RUN.finditer(written):
        number = int(one["number"])
        if one["to"] and numbers and numbers[-1] < number <= numbers[-1] + LONGEST_RUN:
            numbers += range(numbers[-1] + 1, number)
        numbers.append(number)
    return tuple(map(str, numbers))


def _named_before(text: str, cited: list[Citation], place: int, at: int) -> list[int]:
    """The decisions right before a place, nearest first: an ECLI and the case number before it are one."""
    owners: list[int] = []
    for index in range(place - 1, -1, -1):
        end = cited[index].end
        if not 0 <= at - end <= _FARTHEST or not _SAME_DECISION.fullmatch(text, end, at):
            break
        owners.append(index)
        at = cited[index].start
    return owners


def _named_after(text: str, cited: list[Citation], place: int, at: int) -> list[int]:
    """The decision that a paragraph is said to be of: paragraph 64 of the judgment in C‑60/22, EU:C:2023:373."""
    if place == len(cited) or not at <= cited[place].start <= at + _FARTHEST:
        return []
    if not _OF_DECISION.fullmatch(text, at, cited[place].start):
        return []
    owners = [place]
    while owners[-1] + 1 < len(cited) and _SAME_DECISION.fullmatch(text, cited[owners[-1]].end, cited[owners[-1] + 1].start):
        owners.append(owners[-1] + 1)
    return owners
