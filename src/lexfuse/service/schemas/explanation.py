"""Responses that say why a document has its rank."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.document import DocumentCard, ResponseModel, Span
from lexfuse.service.schemas.search import CorrectionCard, MarkedSpan


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
    everyday: str = Field(default="", description="The everyday word of the question for which the term was added.")


class TokenShare(ResponseModel):
    """The token of the document that is most similar to a token of the query (late interaction)."""

    source: str
    in_query: str
    in_document: str
    similarity: float


class ConditionPart(ResponseModel):
    """A part of a question with operators."""

    condition: str
    holds: bool = Field(description="Whether it holds in the document.")


class StructureSupport(ResponseModel):
    """What the section of a document and the documents that cite it add to its score."""

    path: list[str] = Field(description="The code and the headings of the section; empty for a document that is a section alone.")
    candidates: int = Field(description="Number of the section's documents that are candidates.")
    documents: int
    best_document: DocumentCard = Field(description="The best candidate of the section.")
    citing_document: DocumentCard | None = Field(default=None, description="The best candidate that cites the document.")
    own: float = Field(description="Added by the score of the document itself.")
    section: float = Field(description="Added by the score of the best document of the section.")
    cited: float = Field(description="Added by the score of the citing document.")


class HitExplanation(ResponseModel):
    """Why a document has its rank, or would have it."""

    document: DocumentCard
    rank: int
    listed: bool = Field(description="Whether it is among the candidates.")
    allowed: bool = Field(default=True, description="Whether the filters, the day and the operators of the question allow it.")
    cited: bool = Field(default=False, description="Whether the query cites it, so that it comes first whatever its score.")
    score: float
    sources: list[SourceShare]
    conditions: list[ConditionPart] = Field(default=[], description="The parts of a question with operators.")
    terms: list[TermShare] = Field(
        default=[], description="Terms of lexical and learned sparse retrievers, largest contribution first."
    )
    tokens: list[TokenShare] = Field(default=[])
    snippet: MarkedSpan | None = None
    other_ranks: dict[str, int] = Field(default={}, description="Ranks under other fusions.")
    before: HitExplanation | None = Field(default=None, description="The explanation before reranking.")
    alignment: ParagraphAlignment | None = None
    structure: StructureSupport | None = Field(
        default=None, description="What supported it, where documents were reranked by the structure of the law."
    )


class ExplainResponse(ResponseModel):
    """The explanation of a document for a question."""

    index: str
    generation: int
    profile: str
    query: str
    correction: CorrectionCard | None = Field(default=None, description="The question with misspelt words replaced.")
    why: HitExplanation


class AlignedParagraph(ResponseModel):
    """A paragraph of a text, with its number if it has one."""

    number: str | None
    text: str
    span: Span
    matches: list[Span] = Field(default=[], description="Words that the other paragraph of the pair has too.")


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
