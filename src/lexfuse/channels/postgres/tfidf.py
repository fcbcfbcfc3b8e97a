"""TF-IDF in PostgreSQL: the equation of `lexfuse.channels.lexical.tfidf` over the table of lexemes."""

from __future__ import annotations

from dataclasses import dataclass, field

from lexfuse.channels.lexical.tfidf import log_ratio
from lexfuse.channels.postgres.lexemes import Impact, LexemeRetriever
from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.arrays import F64, I64


@dataclass(frozen=True)
class PostgresTfIdf(LexemeRetriever):
    """TF-IDF over the lexemes of an index in PostgreSQL."""

    name: str = field(default="tfidf", kw_only=True)

    channel = "tfidf"
    bounds = ScoreBounds(0.0)
    impact = Impact("held.frequency")

    def inverse_frequency(self, documents: int, frequency: I64) -> F64:
        """ln(N / df)."""
        return log_ratio(documents, frequency)
