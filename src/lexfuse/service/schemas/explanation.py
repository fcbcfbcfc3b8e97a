"""Why a document stands where it stands: what sources, terms and tokens add to its score."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel, Span
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.service.schemas.search import MarkedSpan


class SourceShare(ResponseModel):
    """What one retriever adds to the score of a document."""

    source: str
    score: float | None  # raw; null where the source does not know it
    rank: int | None  # among the candidates
    value: float  # normalised
    imputed: bool
    weight: float
    contribution: float


class TermShare(ResponseModel):
    """What one term adds to a score that terms make."""

    source: str
    term: str
    in_query: float
    in_document: float
    idf: float
    contribution: float


class TokenShare(ResponseModel):
    """Which token of the document a token of the query met, where tokens make the score."""

    source: str
    in_query: str
    in_document: str
    similarity: float


class HitExplanation(ResponseModel):
    """Why a document stands where it stands, or would stand."""

    document: DocumentCard
    rank: int
    listed: bool  # whether it is among the candidates
    allowed: bool = True  # whether the filters and the day let it through
    cited: bool = False  # whether the query names it, so that it stands first whatever its score
    score: float
    sources: list[SourceShare]
    terms: list[TermShare] = Field(default=[])  # of lexical and learned sparse retrievers, those that add most first
    tokens: list[TokenShare] = Field(default=[])
    snippet: MarkedSpan | None = None
    other_ranks: dict[str, int] = Field(default={})  # under other fusions
    before: HitExplanation | None = None  # before it was reranked
    alignment: ParagraphAlignment | None = None


class ExplainResponse(ResponseModel):
    """The answer to why, or why not."""

    index: str
    generation: int
    profile: str
    query: str
    why: HitExplanation


class AlignedParagraph(ResponseModel):
    """A paragraph of a text: its number, if it has one, and its words."""

    number: str | None
    text: str
    span: Span


class AlignedPair(ResponseModel):
    """A paragraph of the query and one of the document whose sentences met."""

    query: AlignedParagraph
    document: AlignedParagraph
    meetings: int
    cosine: float


class ParagraphAlignment(ResponseModel):
    """How much of a query a document covers, and the reverse (RPRS), with the paragraphs that met most."""

    query_proportion: float | None
    document_proportion: float | None
    pairs: list[AlignedPair]
    more: int = 0
