"""Explanation of a score: what each source contributes, and the evidence in query and document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lexfuse.text.paragraphs import TextParagraph
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
class SentencePair:
    """A document sentence among the most similar ones of a query sentence."""

    query: Passage
    doc: Passage
    cosine: float
    rank: int  # among the candidate sentences of the query sentence


@dataclass(frozen=True, slots=True)
class ParagraphPair:
    """A paragraph of the query and one of the document, the number of matches of their sentences, and the best cosine."""

    query: TextParagraph
    doc: TextParagraph
    meetings: int
    cosine: float


@dataclass(frozen=True, slots=True)
class ProportionalRelevance:
    """The explanation of an RPRS score, which is None where nothing was compared."""

    doc: str
    score: float | None
    query_proportion: float | None
    document_proportion: float | None
    meetings: tuple[SentencePair, ...]  # by place in the query, then by rank
    paragraphs: tuple[ParagraphPair, ...]  # most matches first

    def as_json(self) -> dict[str, Any]:
        """Plain values: spans in characters, paragraphs by position and number."""
        return {
            "doc": self.doc,
            "score": self.score,
            "query_proportion": self.query_proportion,
            "document_proportion": self.document_proportion,
            "meetings": [
                {
                    "query": [one.query.start, one.query.end],
                    "doc": [one.doc.start, one.doc.end],
                    "cosine": one.cosine,
                    "rank": one.rank,
                }
                for one in self.meetings
            ],
            "paragraphs": [
                {
                    "query": _paragraph(pair.query),
                    "doc": _paragraph(pair.doc),
                    "meetings": pair.meetings,
                    "cosine": pair.cosine,
                }
                for pair in self.paragraphs
            ],
        }


def _paragraph(paragraph: TextParagraph) -> dict[str, Any]:
    return {"at": paragraph.at, "number": paragraph.number, "start": paragraph.start, "end": paragraph.end}


@dataclass(frozen=True, slots=True)
class StructureEvidence:
    """What each part of the structure of the law adds to a document's new score, and which documents support it."""

    path: tuple[str, ...]  # the code and the headings of its section; empty for a document that is a section alone
    candidates: int  # of the section's documents
    documents: int
    best_document: str  # the section's candidate with the highest score
    citing_document: str | None  # the candidate with the highest score that cites the document
    own: float  # added by the document's own score
    section: float  # by that of the best document of the section
    cited: float  # by the citing document


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a retriever or a reranker compared in a document with the query."""

    terms: tuple[TermPart, ...] | None = None  # largest contribution first; None where terms do not make the score
    tokens: tuple[TokenMatch, ...] | None = None  # most similar first; None where tokens do not make the score
    passage: Passage | None = None  # the nearest one, where vectors of passages are compared
    alignment: ProportionalRelevance | None = None  # the sentences and paragraphs that met, where RPRS compared them
    structure: StructureEvidence | None = None  # where documents were reranked by the structure of the law


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
class ConditionMatch:
    """A part of an expression of the query language, and whether it holds in the document."""

    condition: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """The score and rank of one document for one query, what every source adds, and the evidence for it.

    >>> from lexfuse.channels.lexical.bm25 import BM25
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
    evidence: Mapping[str, Evidence] = field(default_factory=dict)  # by the names of retrievers and rerankers
    conditions: tuple[ConditionMatch, ...] = ()  # the parts of a question with operators

    def as_json(self) -> dict[str, Any]:
        """Scores, ranks and sources as plain values; the evidence is rendered apart."""
        conditions = {"conditions": [asdict(one) for one in self.conditions]} if self.conditions else {}
        return {
            "query": self.query,
            "doc": self.doc,
            "score": self.score,
            "rank": self.rank,
            "listed": self.listed,
            "parts": [asdict(part) for part in self.parts],
            "others": dict(self.others),
            "before": self.before.as_json() if self.before else None,
            **conditions,
        }
