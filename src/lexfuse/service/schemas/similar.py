"""Documents like a whole document, with the terms that were searched for."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel
from lexfuse.service.schemas.explanation import ParagraphAlignment
from lexfuse.service.schemas.search import SearchResult, SearchTiming


class QueryTerm(ResponseModel):
    """A term of a whole document that is searched for, which the caller may edit."""

    word: str
    term: str
    count: int
    informativeness: float
    weight: float


class SimilarResult(SearchResult):
    """A document that is like the query."""

    alignment: ParagraphAlignment | None = None


class SimilarPage(ResponseModel):
    """Documents like a whole document."""

    index: str
    generation: int
    profile: str
    words: int  # of the query
    document: str | None = None  # the id of the document that is the query, if it is one of the index
    terms: list[QueryTerm] = Field(default=[])
    distinct: int = 0  # terms of the query before the most informative were chosen
    results: list[SimilarResult]
    left_out: dict[str, int] = Field(default={})  # later and undated documents, the document itself
    notes: list[str] = Field(default=[])
    timing: SearchTiming
