"""BM25 in PostgreSQL: words as its text search reads them, ranked by pg_textsearch's index or from the posting lists.

Both score by the equation of `lexfuse.channels.lexical.bm25`. What differs from an index folder is what a word is: PostgreSQL's
parser, stems and stop words, of one language for all documents. The index of pg_textsearch has its own k1 and b and rounds the
lengths of documents to a byte; other parameters, and `exact`, compute scores from the table of lexemes instead. docs/postgres.md
has measured differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever, Parameter, SearchWork
from lexfuse.channels.explanation import Evidence, TermPart
from lexfuse.channels.lexical.bm25 import K1, B, IdfForm, check_parameters
from lexfuse.channels.postgres.rows import LISTED, condition, numbers_of, pair_scores, ranked
from lexfuse.channels.query_context import read_once
from lexfuse.channels.query_terms import QueryLanguages
from lexfuse.channels.retriever import Mask, ScoreBounds, checked_k
from lexfuse.data.arrays import F32, F64
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.deadline import check
from lexfuse.storage.postgres.database import Row
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.postgres.tables import DOCUMENTS, LEXEMES
from lexfuse.storage.segments.segment import LEXICAL

if TYPE_CHECKING:
    from psycopg.sql import Composed

Lexemes = Mapping[str, int]  # of a question, with how often each occurs

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
_BY_LEXEMES = (
    "SELECT held.ordinal, sum(asked.weight * asked.idf * held.frequency"
    " / (held.frequency + %s * (1 - %s + %s * held.length / %s))) AS score"
    " FROM unnest(%s::text[], %s::float8[], %s::float8[]) AS asked(lexeme, weight, idf)"
    " JOIN {lexemes} AS list ON list.lexeme = asked.lexeme,"
    " LATERAL unnest(list.documents, list.counts, list.lengths) AS held(ordinal, frequency, length)"
    " WHERE {where} GROUP BY held.ordinal"
)


@dataclass(frozen=True)
class PostgresBM25(ChannelRetriever):
    """BM25 over the lexemes of an index in PostgreSQL."""

    marks_words: ClassVar[bool] = True

    snapshot: PostgresSnapshot
    k1: float = K1
    b: float = B
    idf: IdfForm = IdfForm.LUCENE
    exact: bool = False
    name: str = field(default="bm25", kw_only=True)

    channel = LEXICAL

    def __post_init__(self) -> None:
        """Refuse parameters outside their range."""
        check_parameters(self.k1, self.b)

    @property
    def bounds(self) -> ScoreBounds:
        """Zero with Lucene's idf; below it with Robertson's."""
        return ScoreBounds(0.0 if self.idf is IdfForm.LUCENE else -math.inf)

    @property
    def by_index(self) -> bool:
        """Whether the index of pg_textsearch answers."""
        words = self.snapshot.exported.words
        same = math.isclose(self.k1, words.k1) and math.isclose(self.b, words.b) and self.idf is IdfForm.LUCENE
        return bool(words.bm25_index) and same and not self.exact

    def read(self, queries: Queries) -> list[tuple[str, Lexemes]]:
        """The questions with their lexemes."""
        found = read_once(self.snapshot, "lexemes", queries.text, self._lexemes)
        return list(zip(queries.text, found, strict=True))

    def _lexemes(self, texts: list[str]) -> list[Lexemes]:
        statement = self.snapshot.sql(
            "SELECT number, lexeme, cardinality(positions) FROM unnest(%s::text[]) WITH ORDINALITY AS asked(question, number),"
            " LATERAL unnest(to_tsvector(%s::regconfig, question))"
        )
        found: list[dict[str, int]] = [{} for _ in texts]
        for number, lexeme, count in self.snapshot.rows(statement, [list(map(storable, texts)), self._config]):
            found[number - 1][lexeme] = count
        return list(found)

    @property
    def _config(self) -> str:
        return self.snapshot.exported.words.config

    def rank(self, queries: Queries, encoded: list[tuple[str, Lexemes]], k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before; documents that have a lexeme of the question are ranked."""
        where, documents = condition(within, len(self.snapshot))
        found = []
        for question, lexemes in encoded:
            check()
            found.append(self._best(question, lexemes, checked_k(k), where, documents) if lexemes else [])
        return ranked(self.name, queries, self.snapshot, found, self._lows(encoded))

    def _lows(self, encoded: list[tuple[str, Lexemes]]) -> F64:
        """The infimum of every query: with Robertson's idf what its frequent lexemes take away at most."""
        if self.idf is IdfForm.LUCENE:
            return np.zeros(len(encoded))
        below = [sum(min(idf, 0.0) * asked[lexeme] for lexeme, idf in self._idf(list(asked)).items()) for _, asked in encoded]
        return (self.k1 + 1.0) * np.array(below, dtype=np.float64)

    def _best(self, question: str, lexemes: Lexemes, k: int, where: str, documents: list[Any]) -> list[Row]:
        if not self.by_index:
            return self._by_lexemes(lexemes, where, documents, k)
        if not documents:
            return self._by_index(question, k)
        # The index scan goes through all documents that match, best first, since the filter comes after it.
        inside = self.snapshot.sql(_BY_INDEX, documents=DOCUMENTS)
        text = f"SELECT * FROM ({{inside}}) AS found WHERE {where} LIMIT %s"  # noqa: S608 -- constants
        values = [*self._index_values(question), len(self.snapshot), *documents, k]
        return self.snapshot.rows(self.snapshot.database.sql(text, inside=inside), values, settings=_INDEX_SCAN)

    def _scores(self, question: str, lexemes: Lexemes, documents: list[int]) -> dict[int, float]:
        """The scores of given documents that have a lexeme of the question."""
        if self.by_index and len(documents) <= _FEW:
            values = [*self._index_values(question), documents]
            return dict(self.snapshot.rows(self.snapshot.sql(_BY_DOCUMENT, documents=DOCUMENTS), values))
        return dict(self._best(question, lexemes, len(documents), LISTED, [documents]))

    def _by_index(self, question: str, k: int) -> list[Row]:
        statement = self.snapshot.sql(_BY_INDEX, documents=DOCUMENTS)
        return self.snapshot.rows(statement, [*self._index_values(question), k], settings=_INDEX_SCAN)

    def _index_values(self, question: str) -> list[Any]:
        """Scores are given without the constant factor k1 + 1, as Lucene and the index folder do."""
        words = self.snapshot.exported.words
        index = self.snapshot.sql("{index}", index=words.bm25_index).as_string(None)
        return [words.k1 + 1.0, storable(question), index]

    def _by_lexemes(self, lexemes: Lexemes, where: str, documents: list[Any], k: int | None) -> list[Row]:
        idf = self._idf(list(lexemes))
        condition_text = where.replace("ordinal", "held.ordinal")
        statement: Composed = self.snapshot.sql(_BY_LEXEMES.replace("{where}", condition_text), lexemes=LEXEMES)
        asked = [list(idf), [float(lexemes[lexeme]) for lexeme in idf], [self._scale * value for value in idf.values()]]
        values = [self.k1, self.b, self.b, self.snapshot.exported.words.mean_length or 1.0, *asked, *documents]
        if k is None:
            return self.snapshot.rows(statement, values)
        best = self.snapshot.database.sql("{every} ORDER BY score DESC, ordinal LIMIT %s", every=statement)
        return self.snapshot.rows(best, [*values, k])

    @property
    def _scale(self) -> float:
        return 1.0 if self.idf is IdfForm.LUCENE else self.k1 + 1.0

    def _idf(self, lexemes: Sequence[str]) -> dict[str, float]:
        """The inverse document frequency of every lexeme that a document has."""
        statement = self.snapshot.sql(
            "SELECT lexeme, cardinality(documents) FROM {lexemes} WHERE lexeme = ANY(%s::text[])", lexemes=LEXEMES
        )
        found, documents = self.snapshot.rows(statement, [list(lexemes)]), len(self.snapshot)
        odds = {lexeme: (documents - frequency + 0.5) / (frequency + 0.5) for lexeme, frequency in found}
        lucene = self.idf is IdfForm.LUCENE
        return {lexeme: math.log1p(value) if lucene else math.log(value) for lexeme, value in odds.items()}

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair of query and document in a run, in its order; 0 where they share no lexeme."""
        encoded = self.read(queries)

        def score(at: int, documents: list[int]) -> dict[int, float]:
            question, lexemes = encoded[at]
            return self._scores(question, lexemes, documents) if lexemes else {}

        return pair_scores(queries, pairs, self.snapshot, score, 0.0)

    def work(self, queries: Queries) -> SearchWork:
        """4 for every lexeme of the query and every document."""
        lexemes = sum(sum(found.values()) for _, found in self.read(queries)) / max(len(queries), 1)
        statement = self.snapshot.sql("SELECT coalesce(sum(cardinality(documents)), 0)::bigint FROM {lexemes}", lexemes=LEXEMES)
        return SearchWork(int(self.snapshot.rows(statement)[0][0]), round(4 * lexemes * len(self.snapshot)))

    @property
    def score_parameters(self) -> Mapping[str, Parameter]:
        """k1 and b, and the form of the idf where it is not Lucene's."""
        other = {} if self.idf is IdfForm.LUCENE else {"idf": self.idf.value}
        return {"k1": float(self.k1), "b": float(self.b), **other}

    def unlisted(self, within: Mask | None) -> int:
        """What has no lexeme of a query scores 0."""
        return len(self.snapshot) if within is None else int(within.sum())

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """What each word of a query adds to the documents' scores, largest first.

        The index rounds the lengths of documents, so the parts are scaled by a few percent to add up to its scores.
        """
        ((question, lexemes),), numbers = self.read(Queries.of([query])), numbers_of(self.snapshot, docs)
        if not lexemes or not numbers:
            return [Evidence(terms=())] * len(docs)
        idf, terms, words = self._idf(list(lexemes)), self._terms(query, lexemes), self.snapshot.exported.words
        statement = self.snapshot.sql(
            "SELECT lexeme, held.ordinal, held.frequency, held.length FROM {lexemes},"
            " LATERAL unnest(documents, counts, lengths) AS held(ordinal, frequency, length)"
            " WHERE lexeme = ANY(%s::text[]) AND held.ordinal = ANY(%s::int[])",
            lexemes=LEXEMES,
        )
        parts: dict[int, dict[str, TermPart]] = {number: {} for number in numbers}
        for lexeme, number, frequency, length in self.snapshot.rows(statement, [list(idf), numbers]):
            norm = self.k1 * (1 - self.b + self.b * length / (words.mean_length or 1.0))
            gain = lexemes[lexeme] * self._scale * idf[lexeme] * frequency / (frequency + norm)
            parts[number][lexeme] = TermPart(terms[lexeme], float(lexemes[lexeme]), float(frequency), idf[lexeme], gain)
        scores = self._scores(question, lexemes, numbers)
        return [Evidence(terms=self._every(parts[number], scores.get(number, 0.0), lexemes, terms, idf)) for number in numbers]

    def _every(
        self, held: Mapping[str, TermPart], score: float, lexemes: Lexemes, terms: Mapping[str, str], idf: Mapping[str, float]
    ) -> tuple[TermPart, ...]:
        """The parts of all lexemes that some document has, also of those that this one lacks."""
        total = sum(part.contribution for part in held.values())
        scale = score / total if total else 1.0
        parts = [
            replace(held[lexeme], contribution=scale * held[lexeme].contribution)
            if lexeme in held
            else TermPart(terms[lexeme], float(lexemes[lexeme]), 0.0, idf[lexeme], 0.0)
            for lexeme in idf
        ]
        return tuple(sorted(parts, key=lambda part: (-part.contribution, part.term)))

    @cached_property
    def _languages(self) -> QueryLanguages:
        return QueryLanguages(self.snapshot)

    def _terms(self, query: Query, lexemes: Lexemes) -> dict[str, str]:
        """Each lexeme as LexFuse writes the word: snippets and explanations mark words by that."""
        analyser = self.snapshot.settings.analyser(self._languages.of(query.text, query.language))
        statement = self.snapshot.sql("SELECT token, lexemes FROM ts_debug(%s::regconfig, %s) WHERE cardinality(lexemes) > 0")
        found = {lexeme: lexeme for lexeme in lexemes}
        for token, own in self.snapshot.rows(statement, [self._config, storable(query.text)]):
            terms = analyser.terms(token)
            found |= {lexeme: terms[0] for lexeme in own if terms}
        return found


def storable(text: str) -> str:
    r"""A text as PostgreSQL takes it: without the character NUL, which it refuses, and without halves of characters.

    >>> storable("loi\0 du travail")
    'loi  du travail'
    """
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
