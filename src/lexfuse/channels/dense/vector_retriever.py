"""What dense retrievers share, wherever the vectors are: how queries are read, the bounds of scores, the plan of passages."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, cast

import numpy as np

from lexfuse.channels.channel_retriever import Parameter, PassageRetriever
from lexfuse.channels.dense.builder import Divide, divider
from lexfuse.channels.dense.flat_search import PassagePooling
from lexfuse.channels.query_context import read_once
from lexfuse.channels.retriever import QueryVector, ScoreBounds
from lexfuse.data.arrays import F32, F64
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.encoder import Encoder, Side
from lexfuse.encode.shared_encoders import unshared
from lexfuse.encode.vector_file import VectorFile
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.passages import Passage

_LONGEST_UNIT = 1.01  # length of a vector of length one, rounded to bytes


@dataclass(frozen=True)
class VectorRetriever(PassageRetriever):
    """Search over the vectors of one channel; documents that are not encoded yet are not ranked."""

    snapshot: Snapshot
    encoder: Encoder
    channel: str = "dense"
    pool: PassagePooling = PassagePooling.BEST
    exact: bool = True  # else an approximation chooses the documents, if the channel has one
    name: str = field(default="dense", kw_only=True)

    @property
    @abstractmethod
    def longest(self) -> float:
        """The length of the longest vector of a document that is not deleted."""

    @property
    def bounds(self) -> ScoreBounds:
        """From -1 to 1 where all vectors have length one; else they depend on the length of the query's vector."""
        return ScoreBounds(-1.0, 1.0) if self.encoder.normalises and self.longest < _LONGEST_UNIT else ScoreBounds(-math.inf)

    def lows(self, queries: Queries, vectors: F32) -> F64:
        """-1 for cosines; else minus the product of the norms: of the query's vector and the longest of a document."""
        if math.isfinite(self.bounds.low):
            return self.bounds.lows(queries)
        lows: F64 = -self.longest * np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
        return lows

    def read(self, queries: Queries) -> F32:
        """The vectors of the queries; a file may have them by their ids."""
        stored = unshared(self.encoder)
        asked = list(queries.ids) if isinstance(stored, VectorFile) and not stored.by_text else queries.text
        return np.asarray(read_once(self.encoder, "vector", asked, self._encoded), dtype=np.float32)

    def query_vector(self, query: Query) -> QueryVector:
        """The vector of a query; inside a query context it is computed once."""
        [vector] = self.read(Queries.of([query]))
        settings = self.snapshot.channel(self.channel).named.settings
        return QueryVector(settings.query_fingerprint if settings.two_towers else settings.fingerprint, vector)

    def _encoded(self, texts: list[str]) -> Sequence[F32]:
        return cast("Sequence[F32]", self.encoder.encode(texts, Side.QUERY))  # its rows

    @property
    def score_parameters(self) -> Mapping[str, Parameter]:
        """How passages are pooled, where it is not by the best."""
        passages = self.pool.passages
        return {} if passages == 1 else {"pool": "mean" if passages is None else float(passages)}

    @property
    def exhaustive(self) -> Self:
        """Search in all vectors: an approximation would leave out low scores."""
        return replace(self, exact=True)

    def divided(self, query: Document) -> list[tuple[str, Passage]]:
        """A query that is as long as a document in pieces, by the plan of the channel."""
        return self._divide(query)

    @cached_property
    def _divide(self) -> Divide:
        return divider(self.snapshot.channel(self.channel).named.settings, self.encoder, Side.QUERY)
