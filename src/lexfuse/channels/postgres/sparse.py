"""Learned sparse retrieval by pgvector's `sparsevec`: the scores of `lexfuse.channels.sparse`, computed in the server."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lexfuse.channels.channel_retriever import SearchWork
from lexfuse.channels.explanation import Evidence, TermPart
from lexfuse.channels.postgres.hnsw import compares_all, scan_settings
from lexfuse.channels.postgres.rows import condition, numbers_of, pair_scores, ranked, sparse_text
from lexfuse.channels.retriever import Mask, checked_k
from lexfuse.channels.sparse.learned_weights import LearnedWeights, QueryWeights
from lexfuse.data.arrays import F32, I32
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.deadline import check
from lexfuse.encode.flops import query_flops
from lexfuse.storage.postgres.database import Row
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.postgres.tables import terms_table, weights_table

if TYPE_CHECKING:
    from psycopg.sql import Composed


@dataclass(frozen=True)
class PostgresSparse(LearnedWeights):
    """Search over a channel of learned sparse vectors in PostgreSQL."""

    shows_terms: ClassVar[bool] = True

    snapshot: PostgresSnapshot
    exact: bool = field(default=True, kw_only=True)

    @cached_property
    def _terms(self) -> list[str]:
        statement = self.snapshot.sql("SELECT term FROM {terms} ORDER BY place", terms=terms_table(self.channel))
        return [term for (term,) in self.snapshot.rows(statement)]

    @cached_property
    def term_numbers(self) -> I32:
        """The place in the channel's vectors of every term of the model, -1 for one that no document holds."""
        known = {term: place for place, term in enumerate(self._terms)}
        return np.array([known.get(term, -1) for term in self.encoder.terms], dtype=np.int32)

    def read(self, queries: Queries) -> list[QueryWeights]:
        """The activated terms of every query that a document holds too, with their weights."""
        return list(self.query_weights(queries))

    def rank(self, queries: Queries, encoded: list[QueryWeights], k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before; documents with a score above zero are ranked."""
        found = []
        for query in encoded:
            check()
            found.append(self._best(query, checked_k(k), within) if len(query.terms) else [])
        return ranked(self.name, queries, self.snapshot, found, self.bounds.lows(queries))

    def _best(self, query: QueryWeights, k: int, within: Mask | None) -> list[Row]:
        where, documents = condition(within, len(self.snapshot))
        vector, scores = self._text(query), f"SELECT ordinal, {self._score} AS score FROM {{weights}} WHERE {where}"  # noqa: S608
        held = self.snapshot.exported_channel(self.channel).documents
        if not self.exact and not compares_all(k, held, within):
            nearest = self._sql(f"{scores} ORDER BY weights <#> %s::sparsevec LIMIT %s")
            near = self.snapshot.rows(nearest, [vector, *documents, vector, k], settings=scan_settings(k))
            if len(near) >= min(k, held):
                return [row for row in near if row[1] > 0]
        best = f"SELECT * FROM ({scores}) AS every WHERE score > 0 ORDER BY score DESC, ordinal LIMIT %s"  # noqa: S608
        return self.snapshot.rows(self._sql(best), [vector, *documents, k])

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair in a run, in its order; NaN where the channel does not hold the document."""
        encoded = self.read(queries)

        def score(at: int, documents: list[int]) -> dict[int, float]:
            text = f"SELECT ordinal, {self._score} FROM {{weights}} WHERE ordinal = ANY(%s::int[])"  # noqa: S608 -- constants
            return dict(self.snapshot.rows(self._sql(text), [self._text(encoded[at]), documents]))

        return pair_scores(queries, pairs, self.snapshot, score, math.nan)

    @property
    def _score(self) -> str:
        return "-(weights <#> %s::sparsevec)" + (" / length" if self.cosine else "")

    def _sql(self, text: str) -> Composed:
        return self.snapshot.sql(text, weights=weights_table(self.channel))

    def _text(self, query: QueryWeights) -> str:
        return sparse_text(query.terms, query.weights, self.snapshot.exported_channel(self.channel).size)

    def work(self, queries: Queries) -> SearchWork:
        """The forward pass; what the server does with the vectors is not counted."""
        return SearchWork(self.snapshot.exported_channel(self.channel).documents, query_flops(self.encoder, queries.text))

    @property
    def exhaustive(self) -> PostgresSparse:
        """Compare all vectors."""
        return replace(self, exact=True)

    def unlisted(self, within: Mask | None) -> int:
        """What holds no term of a query scores 0."""
        holds = self.snapshot.channel_numbering(self.channel).raw >= 0
        return int((holds if within is None else holds & within).sum())

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """What each term of a query adds to the documents' scores, largest first."""
        (asked,), numbers = self.read(Queries.of([query])), numbers_of(self.snapshot, docs)
        text = "SELECT ordinal, weights::text, length FROM {weights} WHERE ordinal = ANY(%s::int[])"
        rows = self.snapshot.rows(self._sql(text), [numbers])
        held = {ordinal: (_parsed(weights), length if self.cosine else 1.0) for ordinal, weights, length in rows}
        return [Evidence(terms=self._parts(asked, *held.get(number, ({}, 1.0)))) for number in numbers]

    def _parts(self, asked: QueryWeights, held: Mapping[int, float], length: float) -> tuple[TermPart, ...]:
        parts = []
        for place, weight in zip(asked.terms.tolist(), asked.weights.tolist(), strict=True):
            own = held.get(place, 0.0)
            parts.append(TermPart(self._terms[place], weight, own, 1.0, weight * own / length))
        return tuple(sorted(parts, key=lambda part: (-part.contribution, part.term)))


def _parsed(text: str) -> dict[int, float]:
    """The weights of a sparse vector by place, from 0.

    >>> _parsed("{2:2,5:0.5}/10")
    {1: 2.0, 4: 0.5}
    """
    inside = text[1 : text.index("}")]
    pairs = (pair.split(":") for pair in inside.split(",") if pair)
    return {int(place) - 1: float(weight) for place, weight in pairs}
