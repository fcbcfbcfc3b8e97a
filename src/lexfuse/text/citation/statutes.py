"""Statute citations: identifiers joined into ranges and lists, with the code or law they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lexfuse.deadline import check
from lexfuse.text.citation.citation import Citation, CitationSystem
from lexfuse.text.citation.grammar import AND, NUMBER_TAIL, both_forms, plain_number
from lexfuse.text.citation.identifiers import Identifier
from lexfuse.text.citation.parent_law import FILLER, LARGEST_CONVENTION_ARTICLE, ParentLaw, parent_law_of

_ARTICLE_WORD = re.compile(r"\b(?:articles?|arts?\.?)\s?$", re.IGNORECASE)
_PLURAL = re.compile(r"(?:articles|arts)\b", re.IGNORECASE)
_RANGE = re.compile(both_forms(r"\s(?:à|au|to|through)\s(?:l['’]|aux?\s)?(?:articles?\s)?"), re.IGNORECASE)
_JOINED = re.compile(
    both_forms(
        r"(?:\s?[,;]\s?(?:et|ou|and|or)?|\s(?:et|ou|and|or|ainsi\sque(?:\sde)?|et/ou))\s?"
        r"(?:(?:à|de|of|in)\s)?(?:l['’]|les\s|aux\s|des\s|du\s|the\s)?(?:articles?\s|arts?\.\s)?"
    ),
    re.IGNORECASE,
)
_OF_ACT = re.compile(both_forms(rf"{FILLER}\s(?:of|du|des|de)\s(?:the\s|la\s|l['’])?\[?(?:[A-Z]\w+\s){{0,3}}"))
_MORE = re.compile(
    both_forms(rf"{AND}(?:(?:à|de)\s)?(?P<first>[0-9]+{NUMBER_TAIL})(?:\sà\s(?P<last>[0-9]+{NUMBER_TAIL}))?(?=\s(?:du|de)\s)")
)
_SAME_ARTICLE = re.compile(both_forms(r"\bmêmes?\s$"))
_WHOLE = frozenset({CitationSystem.EU_ACT, CitationSystem.US_CODE})  # they include the name of their text


def statutes(text: str, items: list[Identifier]) -> list[Citation]:
    """Citations from the identifiers of statutes, in text order.

    >>> from lexfuse.text.citation.scanner import scan
    >>> text = "les articles L. 1 à L. 3 et R. 5 du code du travail"
    >>> [(c.key, c.last, c.code) for c in statutes(text, list(scan(text)))]
    [('L1', 'L3', 'code du travail'), ('R5', '', 'code du travail')]
    """
    done: list[Citation] = []
    for group, following in _groups(text, _ranges(text, items)):
        check()
        belonging = _belonging(text, group, following)
        members = [_given(text, citation, belonging) for citation in group]
        members[-1] = replace(members[-1], end=max(belonging.end, members[-1].end))
        done += members
        if belonging.code:
            done += _more(text, members[-1].end)
    return _same_articles(text, done)


def _same_articles(text: str, citations: list[Citation]) -> list[Citation]:
    """In "l'article L. 1 du code civil (…) du même article L. 1" the second has the code of the first."""
    codes: dict[str, str] = {}
    for place, citation in enumerate(citations):
        if citation.code:
            codes[citation.key] = citation.code
        elif citation.key in codes and _SAME_ARTICLE.search(text, max(0, citation.start - 8), citation.start):
            citations[place] = replace(citation, code=codes[citation.key])
    return citations


def _ranges(text: str, items: list[Identifier]) -> list[Citation]:
    """Join the two ends of a range into one citation."""
    citations: list[Citation] = []
    for item in items:
        before = citations[-1] if citations else None
        if (
            before
            and not before.last
            and before.system is item.system is not CitationSystem.EU_ACT
            and _is_range(text, before, item)
        ):
            citations[-1] = replace(before, end=item.end, last=item.key)
        else:
            word = _ARTICLE_WORD.search(text, max(0, item.start - 10), item.start)
            start = word.start() if word else item.start
            citations.append(Citation(start, item.end, item.system, item.key, code=item.kind, parts=item.parts))
    return citations


def _is_range(text: str, before: Citation, item: Identifier) -> bool:
    return item.ranges or _RANGE.fullmatch(text, before.end, item.start) is not None


def _groups(text: str, citations: list[Citation]) -> Iterator[tuple[list[Citation], Citation | None]]:
    """Lists of citations that share a code, each with the citation after it."""
    group: list[Citation] = []
    for position, citation in enumerate(citations):
        group.append(citation)
        following = citations[position + 1] if position + 1 < len(citations) else None
        if (
            following is None
            or _is_act_of(text, citation, following)
            or not _JOINED.fullmatch(text, citation.end, following.start)
        ):
            yield group, following
            group = []


def _is_act_of(text: str, article: Citation, act: Citation) -> bool:
    return (
        act.system is CitationSystem.EU_ACT is not article.system and _OF_ACT.fullmatch(text, article.end, act.start) is not None
    )


def _belonging(text: str, group: list[Citation], following: Citation | None) -> ParentLaw:
    first, last = group[0], group[-1]
    if last.system in _WHOLE:
        return ParentLaw("", last.end)
    if following and _is_act_of(text, last, following):
        return ParentLaw(f"{following.code} {following.key}", last.end)
    found = parent_law_of(text, first.start, last.end)
    if not found.code and first.system is CitationSystem.EU_ACT and re.fullmatch(r",\s", text[first.end : group[1].start]):
        return ParentLaw(f"{first.code} {first.key}", last.end)
    return found


def _given(text: str, citation: Citation, belonging: ParentLaw) -> Citation:
    if citation.system in _WHOLE:
        return citation
    if citation.system is not CitationSystem.ARTICLE or not belonging.european:
        return replace(citation, code=belonging.code)
    key, _, second = citation.key.partition("-")
    if not key.isdigit() or int(key) > LARGEST_CONVENTION_ARTICLE:
        return replace(citation, code="Convention")  # a convention other than that on human rights
    citation = replace(citation, system=CitationSystem.ECHR, key=key, code=belonging.code)
    if second and _PLURAL.match(text, citation.start):
        return replace(citation, last=second)
    return replace(citation, parts=(second, *citation.parts)) if second else citation


def _more(text: str, at: int) -> Iterator[Citation]:
    """Numbers of another code without the word "article": (article 6 du code civil) et 700 du code de procédure civile."""
    while more := _MORE.match(text, at):
        belonging = parent_law_of(text, more.start("first"), more.end())
        if not belonging.code or belonging.end <= more.end():
            return
        citation = Citation(
            more.start("first"),
            belonging.end,
            CitationSystem.ARTICLE,
            plain_number(more["first"]),
            last=plain_number(more["last"] or ""),
        )
        yield _given(text, citation, belonging)
        at = belonging.end
