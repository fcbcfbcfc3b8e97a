"""Find, mask: citations with the code they belong to, their ranges and their finer places.

The scanner (`lexfuse.text.scan`) sees identifiers one by one; here they are put into context. In
``articles L. 1 à L. 3 et R. 5 du code du travail`` both citations belong to the code du travail, and the
first is a range. In ``C‑60/22, EU:C:2023:373, paragraph 64`` case number and ECLI name the same paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from lexfuse.text.citation import DECISIONS, EVERYTHING, PRESENT, STATUTES, Citation, System
from lexfuse.text.codes import code_pattern
from lexfuse.text.scan import HYPHEN, Item, scan

_ARTICLE_WORDS = re.compile(r"\b(?:articles?|arts?\.?)\s?$", re.IGNORECASE)
_NUMBER_WORDS = re.compile(r"\b(?:n(?:os?|[°º])\.?|pourvois?|cases?|affaires?(?:\sjointes)?|aff\.|joined\scases)\s?$", re.IGNORECASE)
_RANGE = re.compile(r"\s(?:à|au|to|through)\s(?:l['’]|aux?\s)?(?:articles?\s)?", re.IGNORECASE)
_JOINED = re.compile(
    r"(?:\s?[,;]\s?(?:et|ou|and|or)?|\s(?:et|ou|and|or|ainsi\sque(?:\sde)?|et/ou))\s?"
    r"(?:(?:à|de|of|in)\s)?(?:l['’]|les\s|aux\s|des\s|du\s|the\s)?(?:articles?\s|arts?\.\s)?",
    re.IGNORECASE,
)
_SAME_DECISION = re.compile(r"(?:\s\([^()]*\))?\s?,?\s?")
_FILLER = r"(?:\s?,?\s(?:I{1,3}|IV|VI{0,3}|IX|X|[0-9]{1,2}°|[a-z]\)|alinéas?\s[0-9]+|al\.\s?[0-9]+|(?:premier|deuxième|second|troisième|dernier)\salinéa))*\s?,?"
_NUMBERS = rf"[0-9]{{1,4}}(?![0-9/])(?:(?:\s?,\s?(?:(?:et|and|ou|or)\s)?|\s(?:et|and|ou|or|à|to)\s|\s?{HYPHEN}\s?)[0-9]{{1,4}}(?![\w/°]))*"
LONGEST_RUN = 200  # paragraphs; more is a misprint, and only its ends are taken
PARAGRAPHS = re.compile(rf"(?:\b(?:paragraph(?:e?s?)|paras?\.?|points?|pts?\.?)\s|§{{1,2}}\s?)({_NUMBERS})", re.IGNORECASE)


def find(text: str) -> list[Citation]:
    """Every citation in the text, in order of place.

    >>> [(c.key, c.last, c.code) for c in find("les articles L. 1 à L. 3 et R. 5 du code du travail")]
    [('L1', 'L3', 'code du travail'), ('R5', '', 'code du travail')]
    >>> [(c.key, c.parts) for c in find("judgment of 4 May 2023, C‑60/22, EU:C:2023:373, paragraphs 64 and 66")]
    [('C-60/22', ('64', '66')), ('ECLI:EU:C:2023:373', ('64', '66'))]
    """
    items = list(scan(text))
    statutes = _with_codes(text, _ranges(text, [item for item in items if item.system in STATUTES]))
    decisions = _with_paragraphs(text, [item for item in items if item.system in DECISIONS])
    found = [*statutes, *decisions]
    return sorted(_without_overlaps(found), key=lambda citation: citation.start)


def mask(text: str, systems: frozenset[System] = EVERYTHING, *, parentheses: bool = True) -> str:
    """The text without its citations, for a fair test of text matching.

    A parenthesis that holds a citation of a decision goes as a whole (it names the parties and the date
    too); with ``parentheses=False`` only the identifiers go.

    >>> mask("It must be strict (judgment of 4 May 2023, X, C‑60/22, EU:C:2023:373, paragraph 64).", DECISIONS)
    'It must be strict.'
    >>> mask("It is C‑60/22 (see L. 1).", DECISIONS)
    'It is (see L. 1).'
    """
    hidden = [citation for citation in find(text) if citation.system in systems]
    spans = [(citation.start, citation.end) for citation in hidden]
    if parentheses:
        around = [citation.start for citation in hidden if citation.system in DECISIONS - {System.PARAGRAPH}]
        spans += [span for span in _parentheses(text) if any(span[0] < at < span[1] for at in around)]
    kept, at = [], 0
    for start, end in sorted(spans):
        kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    if len(kept) == 1:
        return text
    joined = re.sub(r"\s+([,.;:)])", r"\1", re.sub(r"[^\S\n]{2,}", " ", "".join(kept)))
    return re.sub(r"\(\s*\)|(?:,\s*)+(?=[,.;)])", "", joined).strip()


def _ranges(text: str, items: list[Item]) -> list[Citation]:
    """Statute citations, the two ends of a range made one."""
    citations: list[Citation] = []
    for item in items:
        before = citations[-1] if citations else None
        if before and not before.last and before.system is item.system is not System.EU_ACT and _is_range(text, before, item):
            citations[-1] = replace(before, end=item.end, last=item.key)
        else:
            word = _ARTICLE_WORDS.search(text, max(0, item.start - 10), item.start)
            start = word.start() if word else item.start
            citations.append(Citation(start, item.end, item.system, item.key, code=item.kind, parts=item.parts))
    return citations


def _is_range(text: str, before: Citation, item: Item) -> bool:
    return item.ranges or _RANGE.fullmatch(text, before.end, item.start) is not None


@cache
def _code_after() -> re.Pattern[str]:
    """What may follow the numbers: the code, "du présent code", or another text that is no code."""
    other = r"(?:loi|décret|ordonnance|arrêté|règlement|directive|convention|traité|accord|charte|annexe|statut|protocole|instruction)\b[^,;.()]{0,60}"
    european = (
        r"(?:convention\s(?:européenne\s)?(?:de\ssauvegarde\s)?des\sdroits\sde\sl['’]homme[\w\s'’]{0,40}|CEDH|CESDH|Conv\.\s?EDH)"
        r"|(?:European\s)?Convention(?:\s(?:on|for)\s(?:the\sProtection\sof\s)?Human\sRights(?:\sand\sFundamental\sFreedoms)?)?"
        r"(?!\s(?:implementing|of\b|on\b|relating|concerning|signed|applying|for\b))|ECHR"
    )
    return re.compile(
        rf"{_FILLER}\s(?:(?:du|de\sla|de\sl['’]|des|de|of\sthe|of|à\sla|dudit|d['’])\s?)?"
        rf"(?:(?P<present>présent(?:e)?s?\s(?:code|livre|titre|chapitre|section|loi))|(?P<same>(?:même|dit|ledit)?\s?code(?=\W|$)(?!\s(?:d[eu]|g[ée]n|civ|p[ée]n|rur|mon|[ée]l|for|min)))"
        rf"|(?P<protocol>(?:Protocol|Protocole)\s(?:[Nn]o\.?\s?|n[°º]\s?|additionnel\sn[°º]\s?)?(?P<protocol_number>[0-9]{{1,2}}))"
        rf"|(?P<code>{code_pattern()}|(?:TFEU|TEU|TFUE|TUE|TCE|GDPR|RGPD)\b|(?:the\s)?Charter\b|Constitution(?:\s(?:of|de)\s(?:la\s)?\w+)?)"
        rf"|(?P<european>{european})|(?P<unknown>[Cc]ode\s(?:d[eu]s?\s|de\sl['’]|d['’])?[\w'’-]+(?:\s[\w'’-]+)?)|(?P<other>{other}))",
        re.IGNORECASE,
    )


@cache
def _code_before() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)({code_pattern()})\s?,?\s?$", re.IGNORECASE)


def _with_codes(text: str, citations: list[Citation]) -> list[Citation]:
    """Give every citation of a list the code that stands after the last one, or before the first."""
    done: list[Citation] = []
    group: list[Citation] = []
    last_code = ""
    for position, citation in enumerate(citations):
        group.append(citation)
        following = citations[position + 1] if position + 1 < len(citations) else None
        if following and _JOINED.fullmatch(text, citation.end, following.start):
            continue
        code, end, european = _code_of(text, group, last_code)
        for member in group[:-1]:
            done.append(_in_code(member, code, european))
        done.append(replace(_in_code(group[-1], code, european), end=max(end, group[-1].end)))
        last_code = code if code and code != PRESENT else last_code
        group = []
    return done


def _in_code(citation: Citation, code: str, european: bool) -> Citation:
    if european and citation.system is System.ARTICLE:
        key, _, part = citation.key.partition("-")
        return replace(citation, system=System.ECHR, key=key, code=code, parts=(part, *citation.parts) if part else citation.parts)
    return citation if citation.code else replace(citation, code=code)


def _code_of(text: str, group: list[Citation], last_code: str) -> tuple[str, int, bool]:
    """The code of a group, where its name ends, and whether it is the European human rights convention."""
    if group[-1].system in (System.EU_ACT, System.US_CODE):
        return "", group[-1].end, False
    after = _code_after().match(text, group[-1].end)
    if after is None:
        before = _code_before().search(text, max(0, group[0].start - 80), group[0].start)
        return (before[1] if before else "", group[-1].end, False)
    if after["present"]:
        return PRESENT, after.end(), False
    if after["same"]:
        return (last_code, after.end(), False) if last_code else ("", group[-1].end, False)
    if after["protocol"]:
        return f"Protocol {after['protocol_number']}", after.end(), True
    if after["european"]:
        return "ECHR", after.end(), True
    named: str = after["code"] or after["unknown"] or after["other"]
    return " ".join(named.split()), after.end(), False


def _with_paragraphs(text: str, items: list[Item]) -> Iterator[Citation]:
    """Decisions with the paragraphs cited of them, and paragraphs that stand alone."""
    decisions = [_decision(text, item) for item in items]
    for match in PARAGRAPHS.finditer(text):
        numbers = _numbers(match[1])
        owners = _owners(text, decisions, match.start())
        for owner in owners:
            decisions[owner] = replace(decisions[owner], parts=numbers)
        if owners:
            decisions[owners[0]] = replace(decisions[owners[0]], end=match.end())
        else:
            yield Citation(match.start(), match.end(), System.PARAGRAPH, numbers[0], parts=numbers[1:])
    yield from decisions


def _numbers(written: str) -> tuple[str, ...]:
    """Paragraph numbers as written, runs filled in: "12, 14 to 16" is 12, 14, 15, 16."""
    numbers: list[int] = []
    for to, digits in re.findall(rf"(\s?(?:à|to|{HYPHEN})\s?)?([0-9]+)", written):
        number = int(digits)
        if to and numbers and numbers[-1] < number <= numbers[-1] + LONGEST_RUN:
            numbers += range(numbers[-1] + 1, number)
        numbers.append(number)
    return tuple(map(str, numbers))


def _decision(text: str, item: Item) -> Citation:
    word = _NUMBER_WORDS.search(text, max(0, item.start - 18), item.start)
    return Citation(word.start() if word else item.start, item.end, item.system, item.key)


def _owners(text: str, decisions: list[Citation], at: int) -> list[int]:
    """The decisions right before a place, nearest first: an ECLI and the case number before it are one."""
    owners: list[int] = []
    for index in range(len(decisions) - 1, -1, -1):
        if decisions[index].end > at:
            continue
        if not _SAME_DECISION.fullmatch(text, decisions[index].end, at):
            break
        owners.append(index)
        at = decisions[index].start
    return owners


def _without_overlaps(citations: list[Citation]) -> Iterator[Citation]:
    """Earlier and longer wins: "article 6 § 1" is one citation, not an article and a paragraph."""
    end = 0
    for citation in sorted(citations, key=lambda c: (c.start, -c.end)):
        if citation.start >= end or citation.system is not System.PARAGRAPH:
            yield citation
            end = max(end, citation.end)


def _parentheses(text: str) -> Iterator[tuple[int, int]]:
    """Outermost balanced parentheses."""
    depth, start = 0, 0
    for bracket in re.finditer(r"[()]", text):
        if bracket.group() == "(":
            start = bracket.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, bracket.end()
