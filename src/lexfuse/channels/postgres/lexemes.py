"""Words in PostgreSQL as its text search reads them: scores are sums over the posting lists in the table of lexemes.

What differs from an index folder is what a word is: PostgreSQL's parser, stems and stop words, of one language for all documents.
docs/postgres.md has measured differences.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever, SearchWork
from lexfuse.channels.explanation import Evidence, TermPart
from lexfuse.channels.postgres.rows import LISTED, condition, numbers_of, pair_scores, ranked
from lexfuse.channels.postgres.word_pieces import word_pieces
from lexfuse.channels.query_context import read_once
from lexfuse.channels.query_terms import QueryLanguages
from lexfuse.channels.retriever import Mask, checked_k
from lexfuse.data.arrays import F32, F64, I64
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.deadline import check
from lexfuse.storage.postgres.database import Row
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.postgres.tables import LEXEMES
from lexfuse.text.analysis.analyser import Analyser

if TYPE_CHECKING:
    from psycopg.sql import Composed

Lexemes = Mapping[str, float]  # of a question, with their weights: how often each occurs, or any other

_PARTS = (
    "SELECT asked.lexeme, held.ordinal, held.frequency, asked.weight * asked.idf * {impact} AS part"
    " FROM unnest(%s::text[], %s::float8[], %s::float8[]) AS asked(lexeme, weight, idf)"
    " JOIN {lexemes} AS list ON list.lexeme = asked.lexeme,"
    " LATERAL unnest(list.documents, list.counts, list.lengths) AS held(ordinal, frequency, length) WHERE {where}"
)
_SCORES = "SELECT ordinal, sum(part) AS score FROM ({parts}) AS every GROUP BY ordinal"
_BEST = "SELECT * FROM ({scores}) AS scored WHERE score > %s ORDER BY score DESC, ordinal LIMIT %s"


class Impact(NamedTuple):
    """What one posting adds to a score: an expression over `held.frequency` and `held.length`, and its bound values."""

    expression: str
    values: Sequence[float] = ()


class SpelledWord(NamedTuple):
    """A word of a text: as it is written there, as the index folder would have it, and as lexemes."""

    word: str
    term: str
    lexemes: Sequence[str]


@dataclass(frozen=True)
class LexemeRetriever(ChannelRetriever):
    """A retriever over the lexemes of an index in PostgreSQL; a subclass says what a posting adds."""

    shows_terms: ClassVar[bool] = True

    snapshot: PostgresSnapshot

    @property
    @abstractmethod
    def impact(self) -> Impact:
        """What a posting adds, without the idf of its lexeme."""

    @abstractmethod
    def inverse_frequency(self, documents: int, frequency: I64) -> F64:
        """The inverse document frequency of lexemes that this many documents have."""

    def idf_of(self, lexemes: Sequence[str]) -> dict[str, float]:
        """The inverse document frequency of every lexeme that a document has."""
        statement = "SELECT lexeme, frequency FROM {lexemes} WHERE lexeme = ANY(%s::text[])"
        found = self.snapshot.rows(self.snapshot.sql(statement, lexemes=LEXEMES), [list(lexemes)])
        values = self.inverse_frequency(len(self.snapshot), np.array([frequency for _, frequency in found], dtype=np.int64))
        return dict(zip([lexeme for lexeme, _ in found], values.tolist(), strict=True))

    def read(self, queries: Queries) -> list[tuple[str, Lexemes]]:
        """The questions with their lexemes."""
        found = read_once(self.snapshot, "lexemes", queries.text, self.lexemes_of)
        return list(zip(queries.text, found, strict=True))

    def lexemes_of(self, texts: list[str]) -> list[dict[str, int]]:
        """The lexemes of every text, with how often each occurs."""
        statement = self.snapshot.sql(
            "SELECT number, lexeme, sum(cardinality(positions))::int FROM unnest(%s::int[], %s::text[]) AS asked(number, piece),"
            " LATERAL unnest(to_tsvector(%s::regconfig, piece)) GROUP BY number, lexeme ORDER BY number, lexeme"
        )
        pieces = [(number, piece) for number, text in enumerate(texts) for piece in word_pieces(storable(text))]
        values = [[number for number, _ in pieces], [piece for _, piece in pieces], self.snapshot.exported.words.config]
        found: list[dict[str, int]] = [{} for _ in texts]
        for number, lexeme, count in self.snapshot.rows(statement, values):
            found[number][lexeme] = count
        return found

    def rank(self, queries: Queries, encoded: list[tuple[str, Lexemes]], k: int, *, within: Mask | None = None) -> Run:
        """`retrieve` for queries that `read` has read before; documents that have a lexeme of the question are ranked."""
        where, documents = condition(within, len(self.snapshot))
        found = []
        for question, lexemes in encoded:
            check()
            found.append(self.best(question, lexemes, checked_k(k), where, documents) if lexemes else [])
        return ranked(self.name, queries, self.snapshot, found, self.infima(encoded))

    def infima(self, encoded: list[tuple[str, Lexemes]]) -> F64:
        """The infimum of the scores of every question."""
        return np.full(len(encoded), self.bounds.low)

    def best(self, question: str, lexemes: Lexemes, k: int, where: str, documents: list[Any]) -> list[Row]:
        """The best k documents that meet a condition."""
        statement, values = self._scores(lexemes, where, documents)
        return self.snapshot.rows(self.snapshot.database.sql(_BEST, scores=statement), [*values, self.bounds.low, k])

    def scores_of(self, question: str, lexemes: Lexemes, documents: list[int]) -> dict[int, float]:
        """The scores of given documents that have a lexeme of the question."""
        return dict(self.snapshot.rows(*self._scores(lexemes, LISTED, [documents])))

    def _scores(self, lexemes: Lexemes, where: str, documents: list[Any]) -> tuple[Composed, list[Any]]:
        parts, values = self._parts(lexemes, self.idf_of(list(lexemes)), where, documents)
        return self.snapshot.database.sql(_SCORES, parts=parts), values

    def _parts(self, lexemes: Lexemes, idf: Mapping[str, float], where: str, documents: list[Any]) -> tuple[Composed, list[Any]]:
        """A statement that has a row for every posting of the lexemes, and its values."""
        impact = self.impact
        text = _PARTS.replace("{impact}", impact.expression).replace("{where}", where.replace("ordinal", "held.ordinal"))
        asked = [list(idf), [float(lexemes[lexeme]) for lexeme in idf], list(idf.values())]
        return self.snapshot.sql(text, lexemes=LEXEMES), [*impact.values, *asked, *documents]

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair of query and document in a run, in its order; 0 where they share no lexeme."""
        encoded = self.read(queries)

        def score(at: int, documents: list[int]) -> dict[int, float]:
            question, lexemes = encoded[at]
            return self.scores_of(question, lexemes, documents) if lexemes else {}

        return pair_scores(queries, pairs, self.snapshot, score, 0.0)

    def work(self, queries: Queries) -> SearchWork:
        """4 for every lexeme of the query and every document."""
        lexemes = sum(sum(found.values()) for _, found in self.read(queries)) / max(len(queries), 1)
        statement = self.snapshot.sql("SELECT coalesce(sum(frequency), 0)::bigint FROM {lexemes}", lexemes=LEXEMES)
        return SearchWork(int(self.snapshot.rows(statement)[0][0]), round(4 * lexemes * len(self.snapshot)))

    def unlisted(self, within: Mask | None) -> int:
        """What has no lexeme of a query scores 0."""
        return len(self.snapshot) if within is None else int(within.sum())

    def evidence(self, query: Query, docs: Sequence[str]) -> list[Evidence]:
        """What each word of a query adds to the documents' scores, largest first; also words that a document lacks."""
        ((question, lexemes),), numbers = self.read(Queries.of([query])), numbers_of(self.snapshot, docs)
        if not lexemes or not numbers:
            return [Evidence(terms=())] * len(docs)
        idf, terms = self.idf_of(list(lexemes)), self._terms(query)
        held: dict[int, dict[str, tuple[int, float]]] = {number: {} for number in numbers}
        for lexeme, number, frequency, part in self.snapshot.rows(*self._parts(lexemes, idf, LISTED, [numbers])):
            held[number][lexeme] = frequency, part
        scores, found = self.scores_of(question, lexemes, numbers), []
        for number in numbers:
            total = sum(part for _, part in held[number].values())
            scale = scores.get(number, 0.0) / total if total else 1.0  # an index that rounds has other scores
            parts = [
                TermPart(terms.get(lexeme, lexeme), float(lexemes[lexeme]), float(frequency), idf[lexeme], scale * part)
                for lexeme, (frequency, part) in ((lexeme, held[number].get(lexeme, (0, 0.0))) for lexeme in idf)
            ]
            found.append(Evidence(terms=tuple(sorted(parts, key=lambda part: (-part.contribution, part.term)))))
        return found

    def _terms(self, query: Query) -> dict[str, str]:
        """Each lexeme of a query as LexFuse writes the word: snippets and explanations mark words by that."""
        found: dict[str, str] = {}
        for spelled in self.spelled_words(query, query.text):
            for lexeme in spelled.lexemes:
                found.setdefault(lexeme, spelled.term)
        return found

    def spelled_words(self, query: Query, text: str) -> Iterator[SpelledWord]:
        """The words of a text that LexFuse would index, in the language of a query, with their lexemes."""
        tokens = [token for token in self._analyser(query).tokens(text) if token.terms]
        words = list(dict.fromkeys(token.text for token in tokens))
        lexemes = dict(zip(words, self.lexemes_of(words), strict=True)) if words else {}
        for token in tokens:
            yield SpelledWord(token.text if token.citation else token.exact, token.terms[0], list(lexemes[token.text]))

    def _analyser(self, query: Query) -> Analyser:
        return self.snapshot.settings.analyser(self._languages.of(query.text, query.language))

    @cached_property
    def _languages(self) -> QueryLanguages:
        return QueryLanguages(self.snapshot)


def storable(text: str) -> str:
    r"""A text as PostgreSQL takes it: without the character NUL, which it refuses, and without halves of characters.

    >>> storable("loi\0 du travail")
    'loi  du travail'
    """
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
