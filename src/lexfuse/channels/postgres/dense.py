"""Dense retrieval by pgvector: the same scores as `lexfuse.channels.dense`, computed in the server.

Every vector is compared, unless the channel was exported with an HNSW index and `exact` is not asked for. Then HNSW chooses the
documents, and their scores are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.channels.channel_retriever import PassageVectors, SearchWork
from lexfuse.channels.dense.vector_retriever import VectorRetriever
from lexfuse.channels.explanation import Evidence
from lexfuse.channels.postgres.hnsw import compares_all, scan_settings
from lexfuse.channels.postgres.rows import LISTED, condition, numbers_of, pair_scores, ranked, vector_text
from lexfuse.channels.retriever import Mask, checked_k
from lexfuse.data.arrays import F32, I64
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.deadline import check
from lexfuse.encode.flops import query_flops
from lexfuse.storage.postgres.database import Row
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.postgres.tables import vectors_table
from lexfuse.text.passages import Passage

if TYPE_CHECKING:
    from psycopg.sql import Composed

_SCORES = "SELECT ordinal, -(embedding <#> %s::vector) AS score FROM {table} WHERE "
_BEST = "SELECT ordinal, max(score) FROM ({scores}) AS every GROUP BY ordinal"
_MEAN = "SELECT ordinal, avg(score) FROM ({scores}) AS every GROUP BY ordinal"
_FEW = (
    "SELECT ordinal, avg(score) FROM (SELECT ordinal, score,"
    " row_number() OVER (PARTITION BY ordinal ORDER BY score DESC) AS place"
    " FROM ({scores}) AS every) AS placed WHERE place <= %s GROUP BY ordinal"
)


@dataclass(frozen=True)
class PostgresDense(VectorRetriever):
    """Search over the vectors of one channel in PostgreSQL; documents that are not encoded are not ranked."""

    snapshot: PostgresSnapshot

    @property
    def longest(self) -> float:
        """The length of the longest vector."""
        return self.snapshot.exported_channel(self.channel).longest

    def rank(self, queries: Queries, encoded: F32, k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before."""
        found = []
        for vector in encoded:
            check()
            search = self._every if self.exact else self._nearest
            found.append(search(vector_text(vector), checked_k(k), within))
        return ranked(self.name, queries, self.snapshot, found, self.lows(queries, encoded))

    def _every(self, vector: str, k: int, within: Mask | None) -> list[Row]:
        """The best k documents of all."""
        where, documents = condition(within, len(self.snapshot))
        statement = self._pooled(where, " ORDER BY 2 DESC, 1 LIMIT %s")
        return self.snapshot.rows(statement, [vector, *documents, *self._few, k])

    def _nearest(self, vector: str, k: int, within: Mask | None) -> list[Row]:
        """The best k documents among those of the nearest passages; of all documents where these are fewer than k."""
        exported, (where, documents) = self.snapshot.exported_channel(self.channel), condition(within, len(self.snapshot))
        held = exported.named.passages
        passages = min(2 * k * math.ceil(held / max(exported.documents, 1)), held)
        if compares_all(passages, held, within):
            return self._every(vector, k, within)
        statement = self.snapshot.sql(f"{_SCORES}{where} ORDER BY embedding <#> %s::vector LIMIT %s", table=self._table)
        near = self.snapshot.rows(statement, [vector, *documents, vector, passages], settings=scan_settings(passages))
        found = sorted({ordinal for ordinal, _ in near})
        if len(found) < min(k, exported.documents):
            return self._every(vector, k, within)
        return sorted(self._scores(vector, found).items(), key=lambda pair: (-pair[1], pair[0]))[:k]

    def _scores(self, vector: str, documents: list[int]) -> dict[int, float]:
        return dict(self.snapshot.rows(self._pooled(LISTED, ""), [vector, documents, *self._few]))

    def _pooled(self, where: str, end: str) -> Composed:
        pooled = {1: _BEST, None: _MEAN}.get(self.pool.passages, _FEW)
        scores = self.snapshot.sql(_SCORES + where, table=self._table)
        return self.snapshot.database.sql(pooled + end, scores=scores)

    @property
    def _few(self) -> list[int]:
        return [] if self.pool.passages in (1, None) else [self.pool.passages]

    @property
    def _table(self) -> str:
        return vectors_table(self.channel)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair in a run, in its order; NaN where the channel does not hold the document."""
        vectors = [vector_text(vector) for vector in self.read(queries)]
        return pair_scores(queries, pairs, self.snapshot, lambda at, documents: self._scores(vectors[at], documents), math.nan)

    def work(self, queries: Queries) -> SearchWork:
        """The forward pass, and a product with every vector."""
        exported = self.snapshot.exported_channel(self.channel)
        passages = exported.named.passages
        return SearchWork(passages, query_flops(self.encoder, queries.text) + (2 * exported.size - 1) * passages)

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """The nearest passage of each document that is encoded."""
        vector = vector_text(self.read(Queries.of([query]))[0])
        statement = (
            "SELECT DISTINCT ON (ordinal) ordinal, starts, ends FROM {table} WHERE ordinal = ANY(%s::int[])"
            " ORDER BY ordinal, embedding <#> %s::vector, passage"
        )
        numbers = numbers_of(self.snapshot, docs)
        rows = self.snapshot.rows(self.snapshot.sql(statement, table=self._table), [numbers, vector])
        found = {ordinal: Passage(start, end) for ordinal, start, end in rows}
        return [Evidence(passage=found.get(number)) for number in numbers]

    def passages_of(self, docs: Sequence[int]) -> list[PassageVectors]:
        """The passages of documents, given by their numbers in the snapshot."""
        statement = (
            "SELECT ordinal, starts, ends, embedding::text FROM {table} WHERE ordinal = ANY(%s::int[]) ORDER BY ordinal, passage"
        )
        held: dict[int, list[Row]] = {}
        for row in self.snapshot.rows(self.snapshot.sql(statement, table=self._table), [list(map(int, docs))]):
            held.setdefault(row[0], []).append(row[1:])
        return [self._passages(held.get(int(doc), [])) for doc in docs]

    def _passages(self, rows: list[Row]) -> PassageVectors:
        size = self.snapshot.exported_channel(self.channel).size
        texts = [np.fromstring(text[1:-1], dtype=np.float32, sep=",") for _, _, text in rows]
        vectors = np.array(texts, dtype=np.float32).reshape(len(rows), size)
        norms = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1)).astype(np.float32)
        return PassageVectors(vectors, norms, np.array([row[:2] for row in rows], dtype=np.int32).reshape(-1, 2))

    @cached_property
    def passage_counts(self) -> I64:
        """How many passages each document of the channel has."""
        statement = self.snapshot.sql("SELECT count(*) FROM {table} GROUP BY ordinal ORDER BY ordinal", table=self._table)
        return np.array([count for (count,) in self.snapshot.rows(statement)], dtype=np.int64)
