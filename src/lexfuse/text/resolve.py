"""Resolve citations: from what a text names to the documents of a corpus that are meant."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Kind
from lexfuse.text.belonging import SAME, Mention, mentions
from lexfuse.text.citation import PRESENT, STATUTES, Citation, System
from lexfuse.text.citations import find
from lexfuse.text.codes import matching_codes
from lexfuse.text.scan import scan

_ACT_LETTERS = {"directive": "L", "regulation": "R", "decision": "DF"}  # of CELEX numbers; F: framework decisions
_ARTICLES = STATUTES - {System.EU_ACT, System.US_CODE}


class Resolver:
    """Looks up citations in one corpus; answers are ordinals in document order.

    >>> from lexfuse.data.document import Document
    >>> corpus = Corpus.of([Document(f"a{n}", kind=Kind.STATUTE, code="Code du travail", number=f"L{n}") for n in (1, 2, 3)])
    >>> Resolver(corpus).resolve_text("les articles L. 1 à L. 3 du code du travail")
    [0, 1, 2]
    """

    def __init__(self, corpus: Corpus) -> None:
        """Read numbers and identifiers of the corpus into tables."""
        self._corpus = corpus
        self._codes = sorted({code for code in corpus.code if code})
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._identifiers: dict[str, list[int]] = defaultdict(list)
        self._meant: dict[str, frozenset[str]] = {}
        for ordinal in range(len(corpus)):
            if corpus.number[ordinal] and corpus.kind[ordinal] is not Kind.PARAGRAPH:
                self._numbers[number_key(corpus.number[ordinal])].append(ordinal)
            for identifier in corpus.identifiers[ordinal]:
                self._identifiers[identifier_key(identifier)].append(ordinal)

    def resolve(self, citation: Citation, *, own_code: str = "") -> list[int]:
        """Documents that a citation means; none when its code or its number is not in the corpus.

        Without a named code the citing text's own code is meant if that is given, else any code.

        >>> from lexfuse.data.document import Document
        >>> Resolver(Corpus.of([Document("x", identifiers=("C-60/22",))])).resolve(find("affaire C‑60/22")[0])
        [0]
        """
        if citation.system in _ARTICLES:
            return self._articles(citation, own_code)
        return self._decisions(citation)

    def resolve_text(self, text: str, *, own_code: str = "") -> list[int]:
        """Documents that a text cites, each once, in the order it names them.

        >>> from lexfuse.data.document import Document
        >>> Resolver(Corpus.of([Document("x", number="21", code="Constitution of India")])).resolve_text("Article 21")
        [0]
        """
        return list(dict.fromkeys(ordinal for _, found in self.resolve_each(text, own_code=own_code) for ordinal in found))

    def resolve_each(self, text: str, *, own_code: str = "") -> list[tuple[Citation, list[int]]]:
        """Every citation of a text with the documents that it means, in order of place; none for one that means no document.

        >>> from lexfuse.data.document import Document
        >>> resolver = Resolver(Corpus.of([Document("x", number="21", code="Constitution of India")]))
        >>> [(citation.key, found) for citation, found in resolver.resolve_each("Articles 21 and 99")]
        [('21', [0]), ('99', [])]
        """
        found = []
        for citation in find(text):
            ordinals = self.resolve(citation, own_code=own_code)
            if not ordinals and own_code and not citation.code and citation.system in _ARTICLES:
                ordinals = self._in_nearest(citation, mentions(text))
            found.append((citation, ordinals))
        return found

    def _in_nearest(self, citation: Citation, named: tuple[Mention, ...]) -> list[int]:
        """The article in the code that is named nearest: (dispositions du code du travail prévues à l')article R. 1."""
        if not named:
            return []
        nearest = min(named, key=lambda mention: max(mention.start - citation.end, citation.start - mention.end))
        return [] if nearest.name == PRESENT else self._articles(replace(citation, code=nearest.name), "")

    def _articles(self, citation: Citation, own_code: str) -> list[int]:
        first = self._numbered(citation.key, citation.code, own_code)
        if not citation.last:
            return first
        last = self._numbered(citation.last, citation.code, own_code)
        code, number = self._corpus.code, self._corpus.number
        for start in first:
            for stop in last:
                if start <= stop and code[start] == code[stop]:
                    series = {_series(number[start]), _series(number[stop])}
                    return [n for n in range(start, stop + 1) if code[n] == code[start] and _series(number[n]) in series]
        return sorted({*first, *last})

    def _numbered(self, number: str, cited: str, own_code: str) -> list[int]:
        candidates = self._numbers.get(number_key(number), [])
        code = self._corpus.code
        if cited == PRESENT or (cited == SAME and not own_code):
            cited = own_code
        if cited:
            if cited not in self._meant:
                self._meant[cited] = matching_codes(cited, self._codes)
            return [ordinal for ordinal in candidates if code[ordinal] in self._meant[cited]]
        return [ordinal for ordinal in candidates if code[ordinal] == own_code] if own_code else candidates

    def _decisions(self, citation: Citation) -> list[int]:
        keys = celex_of_act(citation) if citation.system is System.EU_ACT else [identifier_key(citation.key)]
        found = sorted({ordinal for key in keys for ordinal in self._identifiers.get(key, ())})
        whole = [ordinal for ordinal in found if self._corpus.kind[ordinal] is not Kind.PARAGRAPH]
        if not citation.parts or citation.system is System.US_CODE:
            return whole or found
        return [ordinal for ordinal in found if self._corpus.number[ordinal] in citation.parts] or whole


@lru_cache(maxsize=65536)  # a new version of an index has nearly the same numbers
def number_key(number: str) -> str:
    """The form of an article number that is compared: no spaces, dots or stars, plain hyphens, capitals.

    >>> number_key("R.* 123-4"), number_key("39 bis"), number_key("L. 1234‑5")
    ('R123-4', '39BIS', 'L1234-5')
    """
    return re.sub(r"[‐‑‒–−]", "-", re.sub(r"[\s.*]", "", number)).upper()


@lru_cache(maxsize=65536)
def identifier_key(identifier: str) -> str:
    """The form of an identifier that is compared: canonical where the scanner knows it, else capitals.

    >>> identifier_key("EU:C:2023:373"), identifier_key("c‑60/22 P"), identifier_key("2010/12")
    ('ECLI:EU:C:2023:373', 'C-60/22', '2010/12')
    """
    known = next(scan(identifier), None)
    return known.key if known else identifier.strip().upper()


def celex_of_act(citation: Citation) -> list[str]:
    """CELEX numbers an act may have: its number is year/number or, in older regulations, number/year.

    >>> celex_of_act(find("Directive 2004/18/EC")[0]), celex_of_act(find("Regulation (EC) No 1/2003")[0])
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
    """L articles run with L articles, R with R; annexes and articles of another letter stay out of a range."""
    letters = re.match(r"[A-Z]*", number_key(number))
    return letters.group() if letters else ""


def cited_ids(corpus: Corpus, resolver: Resolver, ordinal: int) -> Iterable[str]:
    """Ids of the documents that a document's text cites, itself left out.

    >>> from lexfuse.data.document import Document
    >>> corpus = Corpus.of([Document("a", text="voir l'article 2", number="1"), Document("b", number="2")])
    >>> list(cited_ids(corpus, Resolver(corpus), 0))
    ['b']
    """
    for cited in resolver.resolve_text(corpus.text[ordinal], own_code=corpus.code[ordinal]):
        if cited != ordinal:
            yield corpus.ids[cited]
