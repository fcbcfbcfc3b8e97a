"""Why a document has its rank: the contributions of sources, terms and tokens to its score."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel, Span
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.service.schemas.search import MarkedSpan


class SourceShare(ResponseModel):
    """The contribution of one retriever to the score of a document."""

    source: str
    score: float | None = Field(description="Raw score; null if the source has none.")
    rank: int | None = Field(description="Rank among the candidates.")
    value: float = Field(description="Normalised score.")
    imputed: bool
    weight: float
    contribution: float


class TermShare(ResponseModel):
    """The contribution of one term to the score of a document."""

    source: str
    term: str
    in_query: float
    in_document: float
    idf: float
    contribution: float


class TokenShare(ResponseModel):
    """The token of the document that is most similar to a token of the query (late interaction)."""

    source: str
    in_query: str
    in_document: str
    similarity: float


class HitExplanation(ResponseModel):
    """Why a document has its rank, or would have it."""

    document: DocumentCard
    rank: int
    listed: bool = Field(description="Whether it is among the candidates.")
    allowed: bool = Field(default=True, description="Whether the filters and the day allow it.")
    cited: bool = Field(default=False, description="Whether the query cites it, so that it comes first whatever its score.")
    score: float
    sources: list[SourceShare]
    terms: list[TermShare] = Field(
        default=[], description="Terms of lexical and learned sparse retrievers, largest contribution first."
    )
    tokens: list[TokenShare] = Field(default=[])
    snippet: MarkedSpan | None = None
    other_ranks: dict[str, int] = Field(default={}, description="Ranks under other fusions.")
    before: HitExplanation | None = Field(default=None, description="The explanation before reranking.")
    alignment: ParagraphAlignment | None = None


class ExplainResponse(ResponseModel):
    """The explanation of a document for a question."""

    index: str
    generation: int
    profile: str
    query: str
    why: HitExplanation


class AlignedParagraph(ResponseModel):
    """A paragraph of a text, with its number if it has one."""

    number: str | None
    text: str
    span: Span


class AlignedPair(ResponseModel):
    """A paragraph of the query and one of the document with matching sentences."""

    query: AlignedParagraph
    document: AlignedParagraph
    meetings: int
    cosine: float


class ParagraphAlignment(ResponseModel):
    """How much of a query a document covers, and the reverse (RPRS), with the paragraphs that match most."""

    query_proportion: float | None
    document_proportion: float | None
    pairs: list[AlignedPair]
    more: int = 0
