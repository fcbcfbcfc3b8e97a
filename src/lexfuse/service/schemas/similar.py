"""Documents similar to a whole document, with the terms that were searched for."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel
from lexfuse.service.schemas.explanation import ParagraphAlignment
from lexfuse.service.schemas.search import SearchResult, SearchTiming


class QueryTerm(ResponseModel):
    """A term of a whole document that is searched for."""

    word: str
    term: str
    count: int
    informativeness: float
    weight: float


class SimilarResult(SearchResult):
    """A document that is similar to the query."""

    alignment: ParagraphAlignment | None = None


class SimilarPage(ResponseModel):
    """Documents similar to a whole document."""

    index: str
    generation: int
    profile: str
    words: int = Field(description="Number of words of the query.")
    document: str | None = Field(default=None, description="Id of the document that is the query, if it is in the index.")
    terms: list[QueryTerm] = Field(default=[])
    distinct: int = Field(default=0, description="Number of distinct terms before the most informative were selected.")
    results: list[SimilarResult]
    left_out: dict[str, int] = Field(default={}, description="Numbers of later and undated documents and of the document itself.")
    notes: list[str] = Field(default=[])
    timing: SearchTiming
