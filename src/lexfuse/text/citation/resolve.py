"""Resolve citations to the documents of a corpus."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import DocumentKind
from lexfuse.deadline import check
from lexfuse.text.citation.citation import PRESENT, STATUTES, Citation, CitationSystem
from lexfuse.text.citation.code_names import matching_codes
from lexfuse.text.citation.decisions import LONGEST_RUN
from lexfuse.text.citation.declared_names import declared_names
from lexfuse.text.citation.find import find_citations
from lexfuse.text.citation.laws import mean_the_same
from lexfuse.text.citation.literal import BareNumbers, LiteralIdentifiers, bare_number_of
from lexfuse.text.citation.parent_law import SAME, Mention, mentions
from lexfuse.text.citation.reports import reports
from lexfuse.text.citation.scanner import scan
from lexfuse.text.short_text_cache import cached_if_short

_ACT_LETTERS = {"directive": "L", "regulation": "R", "decision": "DF"}  # of CELEX numbers; F: framework decisions
_ARTICLES = STATUTES - {CitationSystem.EU_ACT, CitationSystem.US_CODE}


class CitationResolver:
    """Looks up citations in one corpus; results are ordinals in document order.

    >>> corpus = Corpus.of([Document(f"a{n}", kind=DocumentKind.STATUTE, code="Code du travail", number=f"L{n}") for n in (1,
    ...     2, 3)])
    >>> CitationResolver(corpus).resolve_text("les articles L. 1 à L. 3 du code du travail")
    [0, 1, 2]
    """

    def __init__(self, corpus: Corpus) -> None:
        """Build lookup tables of the corpus's numbers and identifiers."""
        self.corpus = corpus
        self._codes = sorted({code for code in corpus.code if code})
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._titles = {code: title["title"] or title["first"] for code in self._codes if (title := _US_TITLE.search(code))}
        self._identifiers: dict[str, list[int]] = defaultdict(list)
        self._meant = lru_cache(maxsize=4096)(self._codes_named)
        keys = {number: number_key(number) for number in set(corpus.number)}
        for ordinal, (number, kind) in enumerate(zip(corpus.number, corpus.kind, strict=True)):
            if number and kind is not DocumentKind.PARAGRAPH:
                self._numbers[keys[number]].append(ordinal)
        for ordinal, identifiers in enumerate(corpus.identifiers):
            for identifier in identifiers:
                self._identifiers[identifier_key(identifier)].append(ordinal)

    def _codes_named(self, cited: str) -> frozenset[str]:
        """The codes of the corpus that a name means, by their own name or by one that their documents declare."""
        declared = (code for code, name in self._declared_names.items() if mean_the_same(cited, name))
        return matching_codes(cited, self._codes) | frozenset(declared)

    @cached_property
    def _declared_names(self) -> dict[str, str]:
        return declared_names(self.corpus)

    def resolve(self, citation: Citation, *, own_code: str = "") -> list[int]:
        """The documents that a citation means; none if its code or number is not in the corpus.

        Without a named code it means the citing text's code if that is given, else any code.

        >>> CitationResolver(Corpus.of([Document("x", identifiers=("C-60/22",))])).resolve(find_citations("affaire C‑60/22")[0])
        [0]
        """
        found: list[int] = self.ordinals(citation, own_code=own_code).tolist()
        return found

    def ordinals(self, citation: Citation, *, own_code: str = "") -> I64:
        """`resolve` as an array: a range may have tens of thousands of articles."""
        if citation.system in _ARTICLES:
            return self._articles(citation, own_code)
        if citation.system is CitationSystem.US_CODE:
            return _array(self._us_code(citation))
        return _array(self._decisions(citation))

    def is_missing(self, citation: Citation, found: I64) -> bool:
        """Whether a citation names a code of the corpus and a number that this code does not have.

        >>> resolver = CitationResolver(Corpus.of([Document("x", number="L1", code="Code du travail")]))
        >>> citation = find_citations("article L. 2 du code du travail")[0]
        >>> resolver.is_missing(citation, resolver.ordinals(citation))
        True
        """
        named = citation.code not in ("", PRESENT, SAME) and citation.system in _ARTICLES
        return named and not len(found) and bool(self._meant(citation.code))

    def codes_meant(self, citation: Citation) -> list[str]:
        """The codes of the corpus that a citation names."""
        return sorted(self._meant(citation.code)) if citation.code else []

    def resolve_text(self, text: str, *, own_code: str = "") -> list[int]:
        """The documents that a text cites, each once, in citation order."""
        seen: dict[int, None] = {}
        for _, found in self.resolve_each(text, own_code=own_code):
            seen |= dict.fromkeys(found.tolist())
        return list(seen)

    def resolve_each(
        self, text: str, *, own_code: str = "", found: Sequence[Citation] | None = None
    ) -> Iterator[tuple[Citation, I64]]:
        """Each citation of a text, in text order, with the documents that it means (possibly none).

        It is a generator, since a text may have thousands of ranges with thousands of articles each. ``found`` passes citations
        that were already found.

        >>> resolver = CitationResolver(Corpus.of([Document("x", number="21", code="Constitution of India")]))
        >>> [(citation.key, found.tolist()) for citation, found in resolver.resolve_each("Articles 21 and 99")]
        [('21', [0]), ('99', [])]
        """
        for citation in find_citations(text) if found is None else found:
            check()
            ordinals = self.ordinals(citation, own_code=own_code)
            if not len(ordinals) and own_code and not citation.code and citation.system in _ARTICLES:
                ordinals = self._in_nearest(citation, mentions(text))
            yield citation, ordinals

    def _in_nearest(self, citation: Citation, named: tuple[Mention, ...]) -> I64:
        """The article in the nearest named code: (dispositions du code du travail prévues à l')article R. 1."""
        after = bisect_left(named, citation.start, key=lambda mention: mention.start)
        around = named[max(after - 1, 0) : after + 1]
        if not around:
            return _array([])
        nearest = min(around, key=lambda mention: max(mention.start - citation.end, citation.start - mention.end))
        return _array([]) if nearest.name == PRESENT else self._articles(replace(citation, code=nearest.name), "")

    def _articles(self, citation: Citation, own_code: str) -> I64:
        first = self._numbered(citation.key, citation.code, own_code)
        if not citation.last:
            if not first and not own_code and citation.system in (CitationSystem.ARTICLE, CitationSystem.SECTION):
                first = self._numbers_without_letter.unique(citation.key, self._meant(citation.code) if citation.code else None)
            return _array(first)
        last = self._numbered(citation.last, citation.code, own_code)
        code = self.corpus.code
        stops: dict[str, list[int]] = defaultdict(list)
        for stop in last:
            stops[code[stop]].append(stop)
        for start in first:
            same = stops[code[start]]
            if (at := bisect_left(same, start)) < len(same):
                return self._between(start, same[at])
        return _array(sorted({*first, *last}))

    def _between(self, start: int, stop: int) -> I64:
        """A range of articles of one code, in the series of its ends."""
        (code, series), inside = self._places, slice(start, stop + 1)
        kept = (code[inside] == code[start]) & np.isin(series[inside], (series[start], series[stop]))
        return start + np.flatnonzero(kept)

    @cached_property
    def _places(self) -> tuple[I64, I64]:
        """Code and series of every document as numbers, for vectorised comparison."""
        return _numbers(self.corpus.code), _numbers(map(_series, self.corpus.number))

    def _numbered(self, number: str, cited: str, own_code: str) -> list[int]:
        candidates = self._numbers.get(number_key(number), [])
        code = self.corpus.code
        if cited == PRESENT or (cited == SAME and not own_code):
            cited = own_code
        if cited:
            meant = self._meant(cited)
            return [ordinal for ordinal in candidates if code[ordinal] in meant]
        return [ordinal for ordinal in candidates if code[ordinal] == own_code] if own_code else candidates

    @cached_property
    def _numbers_without_letter(self) -> BareNumbers:
        return BareNumbers(self.corpus, self._numbers)

    @cached_property
    def _literal_identifiers(self) -> LiteralIdentifiers:
        return LiteralIdentifiers(self.corpus.identifiers)

    def bare_number(self, text: str) -> list[int]:
        """The article that a text names by nothing but its number, if the corpus has only one of this number.

        >>> resolver = CitationResolver(Corpus.of([Document("x", number="L3141-3"), Document("y", number="L3141-4")]))
        >>> resolver.bare_number("3141-3"), resolver.bare_number("3141-3 jours")
        ([0], [])
        """
        bare = bare_number_of(text)
        if bare is None:
            return []
        meant = self._meant(bare.code) if bare.code else None
        return [] if meant == frozenset() else self._numbers_without_letter.unique(bare.number, meant)

    def literal(self, text: str, found: Sequence[Citation]) -> Iterator[list[int]]:
        """The documents whose identifiers a text contains, in any spelling, outside the citations already found.

        >>> resolver = CitationResolver(Corpus.of([Document("x", identifiers=("HR-2019-123-A",))]))
        >>> list(resolver.literal("see hr 2019 123 a", []))
        [[0]]
        """
        for ordinals in self._literal_identifiers.named_in(text, [(one.start, one.end) for one in found]):
            whole = [ordinal for ordinal in ordinals if self.corpus.kind[ordinal] is not DocumentKind.PARAGRAPH]
            yield whole or ordinals

    def _us_code(self, citation: Citation) -> list[int]:
        """Sections of the United States Code: documents with such an identifier, or a number in a code that is its title."""
        title, _, first = citation.key.partition(" U.S.C. § ")
        last = citation.last.rpartition(" ")[2]
        numbers = [first]
        if last.isdigit() and first.isdigit():
            numbers = [str(number) for number in range(int(first), min(int(last), int(first) + LONGEST_RUN) + 1)]
        found: list[int] = []
        for number in numbers:
            found += self._decisions(replace(citation, key=f"{title} U.S.C. § {number}"))
            numbered = self._numbers.get(number_key(number), ())
            found += [ordinal for ordinal in numbered if self._titles.get(self.corpus.code[ordinal]) == title]
        return sorted(set(found))

    def _decisions(self, citation: Citation) -> list[int]:
        keys = celex_of_act(citation) if citation.system is CitationSystem.EU_ACT else [identifier_key(citation.key)]
        found = sorted({ordinal for key in keys for ordinal in self._identifiers.get(key, ())})
        whole = [ordinal for ordinal in found if self.corpus.kind[ordinal] is not DocumentKind.PARAGRAPH]
        if not citation.parts or citation.system is CitationSystem.US_CODE:
            return whole or found
        return [ordinal for ordinal in found if self.corpus.number[ordinal] in citation.parts] or whole


def _numbers(values: Iterable[str]) -> I64:
    """Number the values; equal values get the same number."""
    known: dict[str, int] = {}
    return _array([known.setdefault(value, len(known)) for value in values])


def _array(ordinals: list[int]) -> I64:
    return np.array(ordinals, dtype=np.int64)


@cached_if_short  # versions of an index have nearly the same numbers
def number_key(number: str) -> str:
    """The comparison form of an article number: no "§" or "Art.", spaces or stars, dots only between digits, upper case.

    >>> number_key("R.* 123-4"), number_key("39 bis"), number_key("L. 1234‑5")
    ('R123-4', '39BIS', 'L1234-5')
    >>> number_key("§ 312j"), number_key("304-A"), number_key("Art. 5.69"), number_key("Section 3")
    ('312J', '304A', '5.69', '3')
    """
    plain = re.sub(r"[‐‑‒–−]", "-", _NUMBER_NOISE.sub("", _NUMBER_WORD.sub("", number))).upper()
    return _LETTER_APART.sub("", plain)


_NUMBER_WORD = re.compile(r"^\s*(?:§+|(?:section|sec|article|artikel|art)\b\.?)\s*(?=[A-Z0-9])", re.IGNORECASE)
_NUMBER_NOISE = re.compile(r"[\s*]|(?<![0-9])\.|\.(?![0-9])")
_LETTER_APART = re.compile(r"(?<=[0-9])-(?=[A-Z])")
_US_TITLE = re.compile(r"\b(?:title\s(?P<title>[0-9]{1,2})\b|(?P<first>[0-9]{1,2})\sU\.?\s?S\.?\s?C)", re.IGNORECASE)


@cached_if_short
def identifier_key(identifier: str) -> str:
    """The comparison form of an identifier: canonical if the scanner knows it, else upper case.

    >>> identifier_key("EU:C:2023:373"), identifier_key("c‑60/22 P"), identifier_key("2010/12"), identifier_key("175 C.L.R. 1")
    ('ECLI:EU:C:2023:373', 'C-60/22', '2010/12', '175 CLR 1')
    """
    known = next(scan(identifier), None) or next(iter(reports(identifier)), None)
    return known.key if known else identifier.strip().upper()


def celex_of_act(citation: Citation) -> list[str]:
    """The possible CELEX numbers of an act, numbered year/number or, in older regulations, number/year.

    >>> celex_of_act(find_citations("Directive 2004/18/EC")[0]), celex_of_act(find_citations("Regulation (EC) No 1/2003")[0])
    (['32004L0018'], ['32003R0001'])
    """
    first, second = citation.key.split("/")
    orders = [(_year(year), number) for year, number in ((first, second), (second, first)) if _year(year)]
    return [f"3{year}{letter}{int(number):04d}" for year, number in orders for letter in _ACT_LETTERS[citation.code]]


def _year(digits: str) -> str:
    if len(digits) == 4 and 1950 <= int(digits) <= 2099:
        return digits
    return f"19{digits}" if len(digits) == 2 and int(digits) >= 50 else ""


def _series(number: str) -> str:
    """The series of a number: a range of L articles excludes R articles, other letters and annexes."""
    letters = re.match(r"[A-Z]*", number_key(number))
    return letters.group() if letters else ""


def cited_ids(corpus: Corpus, resolver: CitationResolver, ordinal: int) -> Iterable[str]:
    """Ids of the documents that a document's text cites, without itself.

    >>> corpus = Corpus.of([Document("a", text="voir l'article 2", number="1"), Document("b", number="2")])
    >>> list(cited_ids(corpus, CitationResolver(corpus), 0))
    ['b']
    """
    for cited in resolver.resolve_text(corpus.text[ordinal], own_code=corpus.code[ordinal]):
        if cited != ordinal:
            yield corpus.ids[cited]
