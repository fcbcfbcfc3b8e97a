"""BM25 in PostgreSQL: ranked by the index of pg_textsearch, or from the table of lexemes.

Both score by the equation of `lexfuse.channels.lexical.bm25`. The index of pg_textsearch has its own k1 and b and rounds the
lengths of documents to a byte; other parameters, a choice of terms, and `exact` compute scores from the table of lexemes instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lexfuse.channels.lexical.bm25 import BM25Formula, IdfForm
from lexfuse.channels.lexical.chosen_terms import HeldTerms, TermChooser
from lexfuse.channels.postgres.lexemes import Impact, LexemeRetriever, Lexemes, storable
from lexfuse.channels.postgres.rows import LISTED
from lexfuse.channels.query_context import read_once
from lexfuse.data.arrays import F64, offsets_of
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.postgres.database import Row
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.postgres.tables import DOCUMENTS, LEXEMES

# pg_textsearch gives the score of the row that its index scan is at; any other plan would give none.
_INDEX_SCAN = {"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off", "enable_material": "off"}
_BY_INDEX = (
    "SELECT ordinal, -bm25_get_current_score() / %s AS score FROM {documents} ORDER BY words <@> to_bm25query(%s, %s) LIMIT %s"
)
# Reads the text of each document again, a third of a millisecond: sooner than a whole scan for a few.
_BY_DOCUMENT = (
    "WITH asked AS MATERIALIZED (SELECT %s::float8 AS scale, to_bm25query(%s, %s) AS question)"
    " SELECT ordinal, -(words <@> question) / scale FROM {documents}, asked WHERE ordinal = ANY(%s::int[])"
)
_FEW = 50  # documents
_OCCURRENCES = "SELECT lexeme, occurrences FROM {lexemes} WHERE lexeme = ANY(%s::text[])"


@dataclass(frozen=True)
class PostgresBM25(TermChooser, BM25Formula, LexemeRetriever):
    """BM25 over the lexemes of an index in PostgreSQL."""

    snapshot: PostgresSnapshot
    exact: bool = field(default=False, kw_only=True)

    @property
    def by_index(self) -> bool:
        """Whether the index of pg_textsearch answers."""
        words = self.snapshot.exported.words
        same = math.isclose(self.k1, words.k1) and math.isclose(self.b, words.b) and self.idf is IdfForm.LUCENE
        return bool(words.bm25_index) and same and not self.exact and self.choice is None

    @property
    def impact(self) -> Impact:
        """The equation, without its idf."""
        mean = self.snapshot.exported.words.mean_length or 1.0
        text = "%s * held.frequency / (held.frequency + %s * (1 - %s + %s * held.length / %s))"
        return Impact(text, (self.scale, self.k1, self.b, self.b, mean))

    def infima(self, encoded: list[tuple[str, Lexemes]]) -> F64:
        """The infimum of every question: with Robertson's idf what its frequent lexemes take away at most."""
        known = self.idf_of(sorted({lexeme for _, asked in encoded for lexeme in asked})) if self.bounds.low < 0 else {}
        rows = [[(known[lexeme], weight) for lexeme, weight in asked.items() if lexeme in known] for _, asked in encoded]
        starts = offsets_of(np.array([len(row) for row in rows], dtype=np.int64))
        pairs = np.array([pair for row in rows for pair in row], dtype=np.float64).reshape(-1, 2)
        return self.lows(pairs[:, 0], pairs[:, 1].astype(np.float32), starts)

    def best(self, question: str, lexemes: Lexemes, k: int, where: str, documents: list[Any]) -> list[Row]:
        """The best k documents that meet a condition."""
        if not self.by_index:
            return super().best(question, lexemes, k, where, documents)
        inside = self.snapshot.sql(_BY_INDEX, documents=DOCUMENTS)
        if not documents:
            return self.snapshot.rows(inside, [*self._index_values(question), k], settings=_INDEX_SCAN)
        # The index scan goes through all documents that match, best first, since the filter comes after it.
        text = f"SELECT * FROM ({{inside}}) AS found WHERE {where} LIMIT %s"  # noqa: S608 -- constants
        values = [*self._index_values(question), len(self.snapshot), *documents, k]
        return self.snapshot.rows(self.snapshot.database.sql(text, inside=inside), values, settings=_INDEX_SCAN)

    def scores_of(self, question: str, lexemes: Lexemes, documents: list[int]) -> dict[int, float]:
        """The scores of given documents that have a lexeme of the question."""
        if not self.by_index:
            return super().scores_of(question, lexemes, documents)
        if len(documents) > _FEW:
            return dict(self.best(question, lexemes, len(documents), LISTED, [documents]))
        statement = self.snapshot.sql(_BY_DOCUMENT, documents=DOCUMENTS)
        return dict(self.snapshot.rows(statement, [*self._index_values(question), documents]))

    def _index_values(self, question: str) -> list[Any]:
        """Scores are given without the constant factor k1 + 1, as Lucene and the index folder do."""
        words = self.snapshot.exported.words
        index = self.snapshot.sql("{index}", index=words.bm25_index).as_string(None)
        return [words.k1 + 1.0, storable(question), index]

    def read(self, queries: Queries) -> list[tuple[str, Lexemes]]:
        """The questions with their lexemes, or with those that the choice takes."""
        if (choice := self.choice) is None:
            return super().read(queries)

        def chosen(asked: list[tuple[str, str]]) -> list[dict[str, float]]:
            some = Queries.of(Query(str(at), text, language) for at, (text, language) in enumerate(asked))
            return self.chosen_weights(choice, some)

        asked = list(zip(queries.text, queries.language, strict=True))
        return list(zip(queries.text, read_once(self.snapshot, ("kli", choice), asked, chosen), strict=True))

    def held_terms(self, queries: Queries) -> Iterator[HeldTerms]:
        """The lexemes of every question that documents have."""
        total = round(self.snapshot.exported.words.mean_length * len(self.snapshot))
        for _, lexemes in super().read(queries):
            collection = self._occurrences(list(lexemes))
            known = [lexeme for lexeme in lexemes if lexeme in collection]
            counts = np.array([lexemes[lexeme] for lexeme in known], dtype=np.float64)
            yield HeldTerms(known, counts, np.array([collection[lexeme] for lexeme in known], dtype=np.float64), float(total))

    def _occurrences(self, lexemes: list[str]) -> dict[str, int]:
        """How often each lexeme that a document has occurs in all of them."""
        return dict(self.snapshot.rows(self.snapshot.sql(_OCCURRENCES, lexemes=LEXEMES), [lexemes]))

    def terms_of_words(self, query: Query, words: Sequence[str]) -> list[list[str]]:
        """Each word as lexemes that documents have."""
        found = self.lexemes_of(list(words)) if words else []
        known = self._occurrences(sorted({lexeme for lexemes in found for lexeme in lexemes}))
        return [[lexeme for lexeme in lexemes if lexeme in known] for lexemes in found]

    def spelled_terms(self, query: Query, text: str) -> Iterable[tuple[str, str]]:
        """Every lexeme of a text with its spelling there."""
        return ((lexeme, spelled.word) for spelled in self.spelled_words(query, text) for lexeme in spelled.lexemes)
