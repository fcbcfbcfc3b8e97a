"""What learned sparse retrievers share, wherever the vectors are: how queries are read, and the bounds of scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever, Parameter
from lexfuse.channels.query_context import read_once
from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.arrays import F32, I32
from lexfuse.data.queries import Queries
from lexfuse.encode.encoder import Side
from lexfuse.encode.query_table import QueryTable
from lexfuse.encode.sparse_encoder import SparseEncoder, SparseVector
from lexfuse.storage.snapshot import Snapshot


class QueryWeights(NamedTuple):
    """A query as weights of terms of the channel, without terms that no document holds."""

    terms: I32
    weights: F32


@dataclass(frozen=True)
class LearnedWeights(ChannelRetriever):
    """Search over a channel of learned sparse vectors, by dot product or cosine."""

    snapshot: Snapshot
    encoder: SparseEncoder | QueryTable = field(kw_only=True)
    channel: str = field(default="splade", kw_only=True)
    cosine: bool = field(default=False, kw_only=True)
    name: str = field(default="splade", kw_only=True)

    @property
    @abstractmethod
    def term_numbers(self) -> I32:
        """The number in the channel of every term of the model, -1 for one that no document holds."""

    @property
    def bounds(self) -> ScoreBounds:
        """Weights are not negative."""
        return ScoreBounds(0.0, 1.0) if self.cosine else ScoreBounds(0.0)

    @property
    def score_parameters(self) -> Mapping[str, Parameter]:
        """How vectors are compared."""
        return {"cosine": self.cosine}

    def query_weights(self, queries: Queries) -> Iterator[QueryWeights]:
        """The activated terms of every query that a document holds too, with their weights."""
        numbers = self.term_numbers
        for terms, weights in read_once(self.encoder, "weights", queries.text, self._encoded):
            length = float(np.sqrt(np.square(weights, dtype=np.float64).sum())) if self.cosine else 1.0
            known = numbers[terms]
            yield QueryWeights(known[known >= 0], (weights[known >= 0] / (length or 1.0)).astype(np.float32))

    def _encoded(self, texts: list[str]) -> list[SparseVector]:
        return self.encoder.encode(texts, Side.QUERY)
