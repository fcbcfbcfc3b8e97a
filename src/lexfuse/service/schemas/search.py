"""A page of results, with the facets of all candidates."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel, Span
from lexfuse.service.schemas.document import DocumentCard


class MarkedSpan(ResponseModel):
    """A part of the text of a document that is shown, with what to mark in it."""

    text: str
    matches: list[Span] = Field(default=[])  # words and citations of the query
    best: Span | None = None  # the sentence that answers best
    cut_before: bool = False  # whether the document's text goes on before it
    cut_after: bool = False


class SearchResult(DocumentCard):
    """A document that was found."""

    rank: int
    found: str  # "citation" for a document that the query names, else the retriever
    score: float
    snippet: MarkedSpan
    sources: dict[str, float | None] = Field(default={})  # raw score of each source that was fused; null where it has none


class FacetValue(ResponseModel):
    """A value of a field, and how many candidates have it."""

    value: str
    count: int
    chosen: bool = False  # whether a filter of the request asks for it
    filters: list[str] = Field(default=[])  # those of the request after this value is chosen, or let go


class Facet(ResponseModel):
    """The values of one field among the candidates, most frequent first; the field's own filter is not applied to it."""

    field: str  # code, court, kind, year or language
    values: list[FacetValue]
    more: int = 0  # values that are not listed


class SearchTiming(ResponseModel):
    """How long each stage took, in milliseconds."""

    total: float
    stages: dict[str, float] = Field(default={})


class SearchPage(ResponseModel):
    """One page of results."""

    index: str
    generation: int  # the version of the index that answered
    profile: str
    query: str
    results: list[SearchResult]
    facets: list[Facet] = Field(default=[])
    candidates: int | None = None  # how many documents were ranked; the facets count these
    next_cursor: str | None = None
    notes: list[str] = Field(default=[])  # what the reader should know: documents left out, words without effect
    timing: SearchTiming
