"""A page of results, with the facets of all candidates."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel, Span
from lexfuse.service.schemas.document import DocumentCard


class MarkedSpan(ResponseModel):
    """A part of the text of a document, with the spans to mark in it."""

    text: str
    matches: list[Span] = Field(default=[], description="Words and citations of the query.")
    best: Span | None = Field(default=None, description="The best matching sentence.")
    cut_before: bool = Field(default=False, description="Whether the document has more text before it.")
    cut_after: bool = False


class SearchResult(DocumentCard):
    """A document that was found."""

    rank: int
    found: str = Field(description='"citation" for a document that the query cites, else the retriever.')
    score: float
    snippet: MarkedSpan
    sources: dict[str, float | None] = Field(default={}, description="Raw score of each fused source; null if it has none.")


class FacetValue(ResponseModel):
    """A value of a field, and how many candidates have it."""

    value: str
    count: int
    chosen: bool = Field(default=False, description="Whether a filter of the request selects it.")
    filters: list[str] = Field(default=[], description="The filters of the request after this value is selected or deselected.")


class Facet(ResponseModel):
    """The values of one field among the candidates, most frequent first; the field's own filter is not applied to it."""

    field: str = Field(description="code, court, kind, year or language.")
    values: list[FacetValue]
    more: int = Field(default=0, description="Number of values that are not listed.")


class SearchTiming(ResponseModel):
    """How long each stage took, in milliseconds."""

    total: float
    stages: dict[str, float] = Field(default={})


class SearchPage(ResponseModel):
    """One page of results."""

    index: str
    generation: int = Field(description="Version of the index that answered.")
    profile: str
    query: str
    results: list[SearchResult]
    facets: list[Facet] = Field(default=[])
    candidates: int | None = Field(default=None, description="Number of ranked documents, which the facets count.")
    next_cursor: str | None = None
    notes: list[str] = Field(default=[], description="Remarks, such as documents left out.")
    timing: SearchTiming
