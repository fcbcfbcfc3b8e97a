"""Dense retrieval: a document scores as its passages do, a passage by the dot product of its vector with the query's.

With vectors of length one that is the cosine. The score of a document is that of its best passage, the mean over its
passages (BSARD, section 5), or the mean over its best few. Search is exact, unless the channel was made with clusters and they
are to be used; scores are exact either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexfuse.channels.channel_retriever import PassageVectors, SearchWork
from lexfuse.channels.dense.approximate_search import ApproximateSearch
from lexfuse.channels.dense.flat_search import FlatSearch
from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.channels.dense.vector_retriever import VectorRetriever
from lexfuse.channels.explanation import Evidence
from lexfuse.channels.retriever import Mask, checked_k, held_scores, requested_pairs
from lexfuse.data.arrays import F32, I64
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.flops import query_flops
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.storage.document_numbers import Numbering
from lexfuse.text.passages import Passage


@dataclass(frozen=True)
class DenseRetriever(VectorRetriever):
    """Exact search over the vectors of one channel; documents that are not encoded yet are not ranked.

    >>> from lexfuse.channels.registry import open_retriever
    >>> dense = open_retriever(snapshot, "dense")  # doctest: +SKIP
    >>> dense.retrieve(Queries.of([Query("q", "délai de préavis")]), 10).hits("q")[0].doc  # doctest: +SKIP
    'LEGIARTI000006901112'
    """

    @cached_property
    def longest(self) -> float:
        """The length of the longest vector of a document that is not deleted."""
        alive, bases = self.numbering.alive, self.numbering.bases.tolist()
        held = [
            part.norms[np.repeat(alive[base : base + len(part)], np.diff(part.starts))]
            for base, part in zip(bases, self.parts, strict=False)
        ]
        return max((float(norms.max(initial=0)) for norms in held), default=0.0)

    @property
    def numbering(self) -> Numbering:
        """The raw numbers of the documents in the channel."""
        return self.snapshot.channel_numbering(self.channel)

    @cached_property
    def parts(self) -> list[VectorPart]:
        """The vectors, part by part."""
        return [content for part in self.snapshot.channel(self.channel).parts if isinstance(content := part.content, VectorPart)]

    @cached_property
    def search(self) -> FlatSearch:
        """Exact search over the raw numbers."""
        if self.parts and self.parts[0].dimension != self.encoder.dimension:
            raise ConfigError(
                f"the channel {self.channel!r} has vectors of {self.parts[0].dimension} numbers, the encoder gives "
                f"{self.encoder.dimension}; open the channel with the model it was made by"
            )
        clusters = [part.clusters for part in self.parts]
        if self.exact or not any(clusters):
            return FlatSearch(self.parts, self.numbering.order)
        return ApproximateSearch(self.parts, self.numbering.order, clusters)

    def rank(self, queries: Queries, vectors: F32, k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before."""
        numbering = self.numbering
        offsets, docs, scores = self.search.best(vectors, checked_k(k), self.pool, numbering.mask(within))
        places = numbering.places[docs]
        return Run(self.name, queries.ids, self.snapshot.ids, offsets, places, scores, low=self.lows(queries, vectors))

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair in a run, in its order; NaN where the channel does not hold the document."""
        query, doc = requested_pairs(queries, pairs, self.snapshot.ids)
        raw = self.numbering.raw[doc]
        return held_scores(raw, lambda held: self.search.pair_scores(self.read(queries), query[held], raw[held], self.pool))

    def prepare(self) -> None:
        """Copy the rows in bytes, by which single queries are answered."""
        self.search.prepare()

    def work(self, queries: Queries) -> SearchWork:
        """The forward pass, and a product with every vector."""
        rows = sum(part.rows for part in self.parts)
        return SearchWork(rows, query_flops(self.encoder, queries.text) + (2 * self.encoder.dimension - 1) * rows)

    def holds(self, doc: str) -> bool:
        """Whether a document of the snapshot is encoded."""
        return bool(self.numbering.raw[self.snapshot.ids.ordinal(doc)] >= 0)

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """The nearest passage of each document that is encoded."""
        raws = [int(self.numbering.raw[self.snapshot.ids.ordinal(doc)]) for doc in docs]
        held = [raw for raw in raws if raw >= 0]
        nearest = self.search.best_passages(self.read(Queries.of([query]))[0], held)
        found = {raw: self._passage(raw, at) for raw, at in zip(held, nearest, strict=True)}
        return [Evidence(passage=found.get(raw)) for raw in raws]

    def best_passages(self, vector: F32, docs: Sequence[str]) -> list[Passage]:
        """The passage of each document's text that is nearest to the vector of a query; `NotFoundError` for one without any."""
        raws = self.numbering.raw[[self.snapshot.ids.ordinal(doc) for doc in docs]].tolist()
        if min(raws, default=0) < 0:
            raise NotFoundError(
                f"document {docs[raws.index(min(raws))]!r} is not in the channel {self.channel!r} yet; fill the channel"
            )
        return [self._passage(raw, at) for raw, at in zip(raws, self.search.best_passages(vector, raws), strict=True)]

    def _passage(self, raw: int, at: int) -> Passage:
        part, rows = self._rows(raw)
        start, end = part.spans[rows.start + at].tolist()
        return Passage(start, end)

    def _rows(self, raw: int) -> tuple[VectorPart, slice]:
        """The part that holds a document, and the document's rows in it."""
        number = int(np.searchsorted(self.numbering.bases, raw, side="right")) - 1
        part, own = self.parts[number], raw - int(self.numbering.bases[number])
        return part, slice(int(part.starts[own]), int(part.starts[own + 1]))

    def passages_of(self, docs: Sequence[int]) -> list[PassageVectors]:
        """The passages of documents, given by their numbers in the snapshot."""
        return [self._passages(doc) for doc in docs]

    def _passages(self, doc: int) -> PassageVectors:
        if (raw := int(self.numbering.raw[doc])) < 0:
            empty = np.empty((0, self.encoder.dimension), dtype=np.float32)
            return PassageVectors(empty, np.empty(0, dtype=np.float32), np.empty((0, 2), dtype=np.int32))
        part, rows = self._rows(raw)
        return PassageVectors(part.block(rows.start, rows.stop), part.norms[rows], part.spans[rows])

    @cached_property
    def passage_counts(self) -> I64:
        """How many passages each document of the channel has."""
        counts = [np.empty(0, dtype=np.int64), *(np.diff(part.starts) for part in self.parts)]
        return np.concatenate(counts)[self.numbering.alive]
