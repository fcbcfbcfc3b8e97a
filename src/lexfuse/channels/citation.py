"""Citation lookup: the documents that a query names, by whatever spelling.

``article L. 1237-19 du code du travail``, ``C-60/22``, ``L. 1 à L. 9`` or ``C-60/22, paragraph 64`` are not words to
match but names to look up. What is named comes first, in the order in which the query names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from lexfuse.channels.channel_kind import ChannelKind, SearchOptions
from lexfuse.channels.channel_retriever import ChannelRetriever, SearchWork
from lexfuse.channels.query_context import read_once
from lexfuse.channels.retriever import Mask, ScoreBounds, checked_k, translated
from lexfuse.data.arrays import F32, I32, offsets_of
from lexfuse.data.corpus import Corpus, days
from lexfuse.data.document import DocumentKind, DocumentStatus
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.storage.catalog_file import damaged
from lexfuse.storage.document_numbers import allowed
from lexfuse.storage.document_rows import texts_of
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.citation.citation import Citation, CitationSystem
from lexfuse.text.citation.find import find_citations
from lexfuse.text.citation.resolve import CitationResolver, number_key
from lexfuse.text.note import Note

_LATIN = ("BIS", "TER", "QUATER", "QUINQUIES", "SEXIES", "SEPTIES", "OCTIES", "NONIES", "DECIES")
_SERIES = {"LO": "L", "D": "R"}  # printed among those of the other letter
_NUMBER_PART = re.compile(rf"\d+|{'|'.join(_LATIN)}|[^\W\d_]+")

Value = TypeVar("Value")


@dataclass(frozen=True)
class CitationLookup(ChannelRetriever):
    """Ranks the documents that a query names, and no others.

    What is named first scores 1, what is named second 1/2, then 1/3 and so on. Documents that one name fits (versions of
    an article, articles of that number in several codes where none is named, all paragraphs of a judgment) score the
    same; a range names its articles one after the other. A document that is named twice counts where it is first.

    >>> CitationLookup(snapshot).retrieve(Queries.of([Query("q", "les articles L. 2 et L. 1")]), 10).as_dict()
    {'q': {'lib-2': 1.0, 'lib-1': 0.5}}
    """

    snapshot: Snapshot
    name: str = field(default="citation", kw_only=True)

    at_router: ClassVar[bool] = True

    channel = "citation"
    bounds = ScoreBounds(0.0, 1.0)  # above zero for what is named, zero for what is not

    def is_quick(self, queries: Queries) -> bool:
        """Whether few queries are looked up."""
        return len(queries) == 1

    def read(self, queries: Queries) -> list[dict[int, float]]:
        """What each query names, with the scores."""
        return [self.named(text) for text in queries.text]

    def rank(self, queries: Queries, encoded: list[dict[int, float]], k: int, *, within: Mask | None = None) -> Run:
        """The first k documents that each query names, among those the mask allows; none where it names none."""
        order = self.snapshot.ids.order
        within = None if within is None else allowed(within, len(self.snapshot))
        rankings = []
        for found in encoded:
            named = [(-score, int(order[doc]), doc) for doc, score in found.items() if within is None or within[doc]]
            rankings.append(sorted(named)[: checked_k(k)])
        hits = [hit for ranking in rankings for hit in ranking]
        return Run(
            self.name,
            queries.ids,
            self.snapshot.ids,
            offsets_of(np.array([len(ranking) for ranking in rankings], dtype=np.int64)),
            np.array([doc for _, _, doc in hits], dtype=np.int32),
            np.array([-score for score, _, _ in hits], dtype=np.float32),
            low=self.bounds.lows(queries),
        )

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair of query and document in a run, in its order; 0 where the query does not name it."""
        docs = translated(pairs.docs, pairs.doc, self.snapshot.ids).tolist()
        scores = np.zeros(len(docs), dtype=np.float32)
        for row, query in enumerate(pairs.queries):
            start, stop = int(pairs.offsets[row]), int(pairs.offsets[row + 1])
            named = self.named(queries.text[queries.ids.ordinal(query)]) if stop > start else {}
            scores[start:stop] = [named.get(doc, 0.0) for doc in docs[start:stop]]
        return scores

    def work(self, queries: Queries) -> SearchWork:
        """Nothing that is counted: citations are looked up."""
        return SearchWork(0, 0)

    def unlisted(self, within: Mask | None) -> int:
        """What a query does not name scores 0."""
        return len(self.snapshot) if within is None else int(within.sum())

    def named(self, text: str) -> dict[int, float]:
        """Numbers of the documents that a text names, with their scores."""
        return self._read(text).named

    def missing(self, text: str) -> tuple[Note, ...]:
        """What a text cites although the corpus does not have it: a number that a code of the corpus lacks.

        >>> CitationLookup(snapshot).missing("l'article L. 9 du code des bibliothèques")
        ('Code des bibliothèques has no article L9',)
        """
        return self._read(text).missing

    def _read(self, text: str) -> _NamedDocuments:
        (reading,) = read_once(self.snapshot, "citations", [text], lambda texts: [self._reading(one) for one in texts])
        return reading

    def _reading(self, text: str) -> _NamedDocuments:
        place: dict[int, int] = {}
        placed = np.zeros(len(self.order), dtype=np.bool_)
        missing: dict[Note, None] = {}
        last = 0
        cited = find_citations(text)
        for citation, found in self._resolver.resolve_each(text, found=cited):
            if self._resolver.is_missing(citation, found):
                missing[_missing_note(citation, self._resolver.codes_meant(citation))] = None
            new = found[~placed[found]].tolist()
            names = [number_key(self._resolver.corpus.number[at]) if citation.last else "" for at in new]
            positions = {name: last + at for at, name in enumerate(dict.fromkeys(names), start=1)}
            place |= {at: positions[name] for name, at in zip(names, new, strict=True)}
            placed[new] = True
            last += len(positions)
        others = list(self._resolver.literal(text, cited))
        if not place and not others:
            others = [self._resolver.bare_number(text)]
        for ordinals in others:
            new = [at for at in ordinals if not placed[at]]
            placed[new] = True
            last += bool(new)
            place |= dict.fromkeys(new, last)
        return _NamedDocuments({int(self.order[at]): 1.0 / position for at, position in place.items()}, tuple(missing))

    def cited(self, text: str, *, own_code: str = "", found: Sequence[Citation] | None = None) -> Iterator[tuple[Citation, I32]]:
        """Every citation of a text with the numbers of the documents that it means, in order of place.

        A text that belongs to a code means the articles of its own code where it names no other one. `found` are the citations
        to be looked up, where they have been found before.
        """
        for citation, ordinals in self._resolver.resolve_each(text, own_code=own_code, found=found):
            yield citation, self.order[ordinals]

    @property
    def order(self) -> I32:
        """Documents in the order of codes and numbers, which is what a range runs through."""
        return self.snapshot.derived("order of codes and numbers", self._ordered)

    def _ordered(self) -> I32:
        codes, names = self.snapshot.coded("code")
        numbers, written = self.snapshot.coded("number")
        ranks = _ranks([name or "" for name in names])[codes], _ranks([article_order(one or "") for one in written])[numbers]
        return np.lexsort((ranks[1], ranks[0])).astype(np.int32)

    def _corpus(self) -> Corpus:
        """What resolving needs of the documents, in `order`: no texts are read."""
        snapshot, order = self.snapshot, self.order.tolist()
        blank, empty = ("",) * len(order), ((),) * len(order)
        undated = days([None]).repeat(len(order))
        try:
            kinds = self._column("kind", DocumentKind)
        except ValueError as error:
            raise damaged(snapshot.place, str(error)) from None
        return Corpus(
            ids=Ids(map(snapshot.ids.names.__getitem__, order)),
            title=blank,
            text=blank,
            language=blank,
            kind=kinds,
            code=self._column("code", _text),
            number=self._column("number", _text),
            headings=empty,
            court=blank,
            date=undated,
            valid_from=undated,
            valid_to=undated,
            status=(DocumentStatus.UNKNOWN,) * len(order),
            identifiers=self._column("identifiers", texts_of),
            citations=empty,
            extra=({},) * len(order),
            history=empty,
        )

    def _column(self, name: str, read: Callable[[Any], Value]) -> tuple[Value, ...]:
        """A column in `order`; every distinct value is read once."""
        codes, stored = self.snapshot.coded(name)
        values = [read(value) for value in stored]
        return tuple(values[code] for code in codes[self.order].tolist())

    @property
    def _resolver(self) -> CitationResolver:
        return self.snapshot.derived("citation resolver", lambda: CitationResolver(self._corpus()))


class _NamedDocuments(NamedTuple):
    """What a text names: documents with their scores, and articles that their codes do not have."""

    named: dict[int, float]
    missing: tuple[Note, ...]


def _missing_note(citation: Citation, codes: Sequence[str]) -> Note:
    word = "section" if citation.system is CitationSystem.SECTION else "article"
    values = {"code": ", ".join(codes), "first": citation.key, "last": citation.last}
    number = "{first} to {last}" if citation.last else "{first}"
    text = f"{' and '.join(codes)} {'have' if len(codes) > 1 else 'has'} no {word} ".replace("{", "{{").replace("}", "}}")
    return Note(f"no-{word}s" if citation.last else f"no-{word}", text + number, **values)


@lru_cache(maxsize=65536)  # a new version of an index has nearly the same numbers
def article_order(number: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts article numbers as a code prints them.

    Numbers go by value, ``-1`` before ``bis``; R and D articles are in one sequence, and so are L and LO. A letter at the
    end was put in before the article (L1 A, L1), but in codes whose numbers have no letter in front after it (39, 39 A).

    >>> sorted(["L10-1", "L2-9 bis", "L2-9", "L2-9 A", "L2-9-1", "D5", "R4", "R6"], key=article_order)
    ['L2-9 A', 'L2-9', 'L2-9-1', 'L2-9 bis', 'L10-1', 'R4', 'D5', 'R6']
    """
    parts = _NUMBER_PART.findall(number_key(number))
    series = parts.pop(0) if parts and parts[0].isalpha() else ""
    inserted = -1 if series else 2
    places = [
        (1, int(part), "") if part.isdecimal() else (2, _LATIN.index(part), "") if part in _LATIN else (inserted, 0, part)
        for part in parts
    ]
    return ((0, 0, _SERIES.get(series, series)), *places, (0, 0, series))


def _text(stored: str | None) -> str:
    return stored or ""


def _ranks(keys: Sequence[Any]) -> I32:
    """The rank of each key among all; equal keys have the same."""
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return np.array([ranks[key] for key in keys], dtype=np.int32)


class CitationKind(ChannelKind):
    """Citation lookup, which every index has."""

    name = "citation"
    channels = ("citation",)
    lexical = True

    def open(
        self, snapshot: Snapshot, channel: str, options: SearchOptions, *, name: str, threads: int | None = None
    ) -> CitationLookup:
        """Citation lookup; it has no parameters."""
        return CitationLookup(snapshot, name=name)
