"""Find and mask citations, with their code, range and subdivisions.

The scanner (`lexfuse.text.citation.scanner`) finds identifiers one by one; this module adds their context. In ``articles L. 1 à
L. 3 et R. 5 du code du travail`` both citations belong to the code du travail, and the first is a range. In ``C‑60/22,
EU:C:2023:373, paragraph 64`` case number and ECLI name the same paragraph.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace

from lexfuse.text.citation.citation import DECISIONS, EVERYTHING, STATUTES, Citation, CitationSystem
from lexfuse.text.citation.decisions import decisions, with_paragraphs_before
from lexfuse.text.citation.reports import reports
from lexfuse.text.citation.scanner import scan
from lexfuse.text.citation.sections import sections
from lexfuse.text.citation.statutes import statutes


def find_citations(text: str) -> list[Citation]:
    """Every citation in a text, in text order.

    >>> [(c.key, c.last, c.code) for c in find_citations("les articles L. 1 à L. 3 et R. 5 du code du travail")]
    [('L1', 'L3', 'code du travail'), ('R5', '', 'code du travail')]
    >>> [(c.key, c.parts) for c in find_citations("judgment of 4 May 2023, C‑60/22, EU:C:2023:373, paragraphs 64 and 66")]
    [('C-60/22', ('64', '66')), ('ECLI:EU:C:2023:373', ('64', '66'))]
    >>> [str(c) for c in find_citations("§ 543 Abs. 2 BGB; ss. 299 and 300 of the Indian Penal Code; [2020] UKSC 5")]
    ['§ 543(2) BGB', '§ 299 Indian Penal Code', '§ 300 Indian Penal Code', '[2020] UKSC 5']
    """
    items = list(scan(text))
    known = [_us_range(text, one) for one in statutes(text, [item for item in items if item.system in STATUTES])]
    articles = _merged([one for one in known if not _is_quantity(text, one)], sections(text))
    cited = sorted((*(item for item in items if item.system in DECISIONS), *reports(text)), key=lambda item: item.start)
    # "Paragraph 4(6) of the DSG" is both: a section and a paragraph.
    signs = [one for one in articles if one.system is CitationSystem.SECTION and (one.code or text[one.start] == "§")]
    of_laws = [(one.start, one.end) for one in signs if text[one.start] not in "pP"]
    cases, paragraphs = decisions(text, cited, of_laws)
    articles = with_paragraphs_before(text, articles, paragraphs)
    return list(_without_overlaps(text, [*_outside(articles, cases), *cases, *paragraphs]))


_US_RANGE = re.compile(r"([0-9]+ U\.S\.C\. § )([0-9]+)-([0-9]+)")


def _us_range(text: str, citation: Citation) -> Citation:
    """42 U.S.C. §§ 1981-1983 is a range, since the sign is doubled; § 2000e-5 is one section."""
    bounds = _US_RANGE.fullmatch(citation.key) if citation.system is CitationSystem.US_CODE else None
    if bounds and int(bounds[2]) < int(bounds[3]) and re.search(r"§\s?§|ss\.|[Ss]ections", text[citation.start : citation.end]):
        return replace(citation, key=bounds[1] + bounds[2], last=bounds[1] + bounds[3])
    return citation


_UNIT = re.compile(r"\s?(?:kg|g|km|cm|mm|m[²³]|€|%|Euro|EUR)(?!\w)")


def _is_quantity(text: str, citation: Citation) -> bool:
    """An article for sale: "Art. 5 kg"."""
    return citation.system is CitationSystem.ARTICLE and not citation.code and _UNIT.match(text, citation.end) is not None


def _merged(known: list[Citation], others: list[Citation]) -> list[Citation]:
    """Citations of two scanners in text order; of two at one place, the one that names its law."""
    if not others:
        return known
    kept: list[Citation] = []
    starts = [citation.start for citation in known]
    replaced: set[int] = set()
    for citation in others:
        first = max(0, bisect_left(starts, citation.start) - 1)
        places = [place for place in range(first, bisect_left(starts, citation.end)) if known[place].end > citation.start]
        if any(known[place].code or known[place].system is CitationSystem.US_CODE for place in places):
            continue
        replaced.update(places)
        kept.append(citation)
    kept += [citation for place, citation in enumerate(known) if place not in replaced]
    return sorted(kept, key=lambda citation: citation.start)


def _outside(articles: list[Citation], cases: list[Citation]) -> Iterator[Citation]:
    """Articles without the sections that are paragraphs of a decision: [2020] UKSC 5, § 64."""
    starts = [case.start for case in cases]
    for article in articles:
        before = bisect_right(starts, article.start) - 1
        inside = before >= 0 and cases[before].end >= article.end
        if not (inside and article.system is CitationSystem.SECTION):
            yield article


def mask_citations(text: str, systems: frozenset[CitationSystem] = EVERYTHING, *, parentheses: bool = True) -> str:
    """The text without its citations, for a fair test of text matching.

    A parenthesis with a citation of a decision is removed completely, since it also names the parties and the date; with
    ``parentheses=False`` only identifiers are removed.

    >>> mask_citations("It must be strict (judgment of 4 May 2023, X, C‑60/22, EU:C:2023:373, paragraph 64).", DECISIONS)
    'It must be strict.'
    >>> mask_citations("It is C‑60/22 (see L. 1).", DECISIONS)
    'It is (see L. 1).'
    """
    hidden = [citation for citation in find_citations(text) if citation.system in systems]
    if not hidden:
        return text
    spans = [(citation.start, citation.end) for citation in hidden]
    around = [citation.start for citation in hidden if citation.system in DECISIONS - {CitationSystem.PARAGRAPH}]
    whole = [span for span in _parentheses(text) if _holds_one(span, around)] if parentheses else []
    masked = _without(text, spans + whole)
    # If all words are in parentheses, keep the parentheses.
    return masked if not whole or _WORD.search(masked) else _without(text, spans)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept, at = [], 0
    for start, end in sorted(spans):
        kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at:])
    joined = _SPACE_BEFORE_MARK.sub("", _SPACES.sub(" ", "".join(kept)))
    return _LEFT_OVER.sub("", joined).strip()


_WORD = re.compile(r"[^\W\d_]{2}")
_SPACES = re.compile(r"[^\S\n]{2,}")
# Both start at the beginning of a run of white space or commas and read it once: starting anywhere would be quadratic.
_SPACE_BEFORE_MARK = re.compile(r"(?<!\s)\s++(?=[,.;:)])")
# Empty parentheses; commas before another mark; all but the last comma of a run.
_LEFT_OVER = re.compile(r"\(\s*+\)|,[\s,]*+(?=[.;)])|,[\s,]*(?=,)")


def _holds_one(span: tuple[int, int], places: list[int]) -> bool:
    """Whether one of the ascending places is inside a span."""
    return bisect_right(places, span[0]) < bisect_left(places, span[1])


def _without_overlaps(text: str, citations: list[Citation]) -> Iterator[Citation]:
    """The earlier and longer citation wins: "article 6 § 1" is one citation, not an article and a paragraph."""
    end = 0
    for citation in sorted(citations, key=lambda c: (c.start, -c.end)):
        if citation.start >= end or citation.system is not CitationSystem.PARAGRAPH:
            yield citation
            if citation.system is not CitationSystem.SECTION or text[citation.start] not in "pP":
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
