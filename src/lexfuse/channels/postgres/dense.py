"""Dense retrieval by pgvector: the same scores as `lexfuse.channels.dense`, computed in the server.

Every vector is compared, unless the channel was exported with an HNSW index and `exact` is not asked for. Then HNSW chooses the
documents, and their scores are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from lexfuse.channels.channel_retriever import Parameter, PassageRetriever, PassageVectors, SearchWork
from lexfuse.channels.dense.builder import Divide, divider
from lexfuse.channels.dense.flat_search import PassagePooling
from lexfuse.channels.dense.retriever import LONGEST_UNIT
from lexfuse.channels.explanation import Evidence
from lexfuse.channels.postgres.rows import LISTED, condition, numbers_of, pair_scores, ranked, vector_text
from lexfuse.channels.query_context import read_once
from lexfuse.channels.retriever import Mask, ScoreBounds, checked_k
from lexfuse.data.arrays import F32, F64, I64
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.deadline import check
from lexfuse.encode.encoder import Encoder, Side
from lexfuse.encode.flops import query_flops
from lexfuse.encode.shared_encoders import unshared
from lexfuse.encode.vector_file import VectorFile
from lexfuse.storage.postgres.database import Row
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.postgres.tables import vectors_table
from lexfuse.text.passages import Passage

if TYPE_CHECKING:
    from psycopg.sql import Composed

_SCANNED = 1000  # vectors that HNSW keeps in view, at most: the limit of pgvector
_SCORES = "SELECT ordinal, -(embedding <#> %s::vector) AS score FROM {table} WHERE "
_BEST = "SELECT ordinal, max(score) FROM ({scores}) AS every GROUP BY ordinal"
_MEAN = "SELECT ordinal, avg(score) FROM ({scores}) AS every GROUP BY ordinal"
_FEW = (
    "SELECT ordinal, avg(score) FROM (SELECT ordinal, score,"
    " row_number() OVER (PARTITION BY ordinal ORDER BY score DESC) AS place"
    " FROM ({scores}) AS every) AS placed WHERE place <= %s GROUP BY ordinal"
)


@dataclass(frozen=True)
class PostgresDense(PassageRetriever):
    """Search over the vectors of one channel in PostgreSQL; documents that are not encoded are not ranked."""

    snapshot: PostgresSnapshot
    encoder: Encoder
    channel: str = "dense"
    pool: PassagePooling = PassagePooling.BEST
    exact: bool = True
    name: str = field(default="dense", kw_only=True)

    @property
    def bounds(self) -> ScoreBounds:
        """From -1 to 1 where all vectors have length one; else they depend on the length of the query's vector."""
        return ScoreBounds(-1.0, 1.0) if self.encoder.normalises and self._longest < LONGEST_UNIT else ScoreBounds(-math.inf)

    @property
    def _longest(self) -> float:
        return self.snapshot.exported_channel(self.channel).longest

    def read(self, queries: Queries) -> F32:
        """The vectors of the queries; a file may have them by their ids."""
        stored = unshared(self.encoder)
        asked = list(queries.ids) if isinstance(stored, VectorFile) and not stored.by_text else queries.text
        return np.asarray(read_once(self.encoder, "vector", asked, self._encoded), dtype=np.float32)

    def _encoded(self, texts: list[str]) -> Sequence[F32]:
        return cast("Sequence[F32]", self.encoder.encode(texts, Side.QUERY))

    def rank(self, queries: Queries, encoded: F32, k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before."""
        found = []
        for vector in encoded:
            check()
            search = self._every if self.exact else self._nearest
            found.append(search(vector_text(vector), checked_k(k), within))
        return ranked(self.name, queries, self.snapshot, found, self._lows(queries, encoded))

    def _every(self, vector: str, k: int, within: Mask | None) -> list[Row]:
        """The best k documents of all."""
        where, documents = condition(within, len(self.snapshot))
        statement = self._pooled(where, " ORDER BY 2 DESC, 1 LIMIT %s")
        return self.snapshot.rows(statement, [vector, *documents, *self._few, k])

    def _nearest(self, vector: str, k: int, within: Mask | None) -> list[Row]:
        """The best k documents among those of the nearest passages."""
        exported, (where, documents) = self.snapshot.exported_channel(self.channel), condition(within, len(self.snapshot))
        passages = min(k * math.ceil(exported.named.passages / max(exported.documents, 1)), exported.named.passages)
        text = f"{_SCORES}{where} ORDER BY embedding <#> %s::vector LIMIT %s"
        settings = {"hnsw.ef_search": str(min(max(2 * passages, 100), _SCANNED)), "hnsw.iterative_scan": "strict_order"}
        settings |= {"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off"}
        values = [vector, *documents, vector, passages]
        near = self.snapshot.rows(self.snapshot.sql(text, table=self._table), values, settings=settings)
        scores = self._scores(vector, sorted({ordinal for ordinal, _ in near}))
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]

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

    def _lows(self, queries: Queries, vectors: F32) -> F64:
        if math.isfinite(self.bounds.low):
            return self.bounds.lows(queries)
        lows: F64 = -self._longest * np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
        return lows

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair in a run, in its order; NaN where the channel does not hold the document."""
        vectors = [vector_text(vector) for vector in self.read(queries)]
        return pair_scores(queries, pairs, self.snapshot, lambda at, documents: self._scores(vectors[at], documents), math.nan)

    def work(self, queries: Queries) -> SearchWork:
        """The forward pass, and a product with every vector."""
        exported = self.snapshot.exported_channel(self.channel)
        passages = exported.named.passages
        return SearchWork(passages, query_flops(self.encoder, queries.text) + (2 * exported.size - 1) * passages)

    @property
    def score_parameters(self) -> Mapping[str, Parameter]:
        """How passages are pooled, where it is not by the best."""
        passages = self.pool.passages
        return {} if passages == 1 else {"pool": "mean" if passages is None else float(passages)}

    @property
    def exhaustive(self) -> PostgresDense:
        """Compare all vectors: HNSW would leave out low scores."""
        return replace(self, exact=True)

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

    def divided(self, query: Document) -> list[tuple[str, Passage]]:
        """A query that is as long as a document in pieces, by the plan of the channel."""
        return self._divide(query)

    @cached_property
    def _divide(self) -> Divide:
        return divider(self.snapshot.channel(self.channel).named.settings, self.encoder, Side.QUERY)

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
