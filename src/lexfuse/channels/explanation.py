"""Explanation of a score: what each source contributes, and the evidence in query and document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lexfuse.text.passages import Passage


@dataclass(frozen=True, slots=True)
class TermPart:
    """What one query term adds to a score."""

    term: str
    in_query: float  # its weight there; for BM25 and TF-IDF how often it occurs
    in_document: float  # how often it occurs, times the weight of its field; 0 where it does not
    idf: float
    contribution: float


@dataclass(frozen=True, slots=True)
class TokenMatch:
    """A token of the query, the most similar token of the document, and how similar they are."""

    in_query: str
    in_document: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a retriever compared in a document with the query."""

    terms: tuple[TermPart, ...] | None = None  # largest contribution first; None where terms do not make the score
    tokens: tuple[TokenMatch, ...] | None = None  # most similar first; None where tokens do not make the score
    passage: Passage | None = None  # the nearest one, where vectors of passages are compared


@dataclass(frozen=True, slots=True)
class SourceContribution:
    """What one source adds to a fused score."""

    source: str
    score: float | None  # the raw score; None where the source does not know it
    rank: int | None  # among the candidates, from 1
    value: float  # normalised score, reciprocal rank, points …
    imputed: bool  # whether the value replaces a score that the source did not give
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The score and rank of one document for one query, what every source adds, and the evidence of every retriever.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> from lexfuse.data.queries import Query
    >>> [found] = BM25(snapshot).explain(Query("q", "retard de prêt", "fr"), ["lib-4"])
    >>> found.rank, found.listed, [part.term for part in found.evidence["bm25"].terms]
    (1, True, ['retard', 'pret'])
    """

    query: str
    doc: str
    score: float
    rank: int  # among the candidates, or the rank it would have
    listed: bool  # whether some source lists it
    parts: tuple[SourceContribution, ...]
    others: Mapping[str, int] = field(default_factory=dict)  # its rank under other fusions, by their names
    before: Explanation | None = None  # before it was reranked
    evidence: Mapping[str, Evidence] = field(default_factory=dict)  # of the last stage, by the names of its retrievers

    def as_json(self) -> dict[str, Any]:
        """Scores, ranks and sources as plain values; the evidence is rendered apart."""
        return {
            "query": self.query,
            "doc": self.doc,
            "score": self.score,
            "rank": self.rank,
            "listed": self.listed,
            "parts": [asdict(part) for part in self.parts],
            "others": dict(self.others),
            "before": self.before.as_json() if self.before else None,
        }
