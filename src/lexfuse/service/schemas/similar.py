"""Responses of the search by a whole document."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.document import DocumentCard, ResponseModel
from lexfuse.service.schemas.explanation import HitExplanation, ParagraphAlignment
from lexfuse.service.schemas.search import DayCoverageCard, Remark, SearchResult, SearchTiming


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
    why: HitExplanation | None = Field(default=None, description="With explain: why it has its rank.")


class SimilarPage(ResponseModel):
    """Documents similar to a whole document."""

    index: str
    generation: int
    profile: str
    words: int = Field(description="Number of words of the query.")
    document: str | None = Field(default=None, description="Id of the document that is the query, if it is in the index.")
    terms: list[QueryTerm] = Field(default=[])
    set_aside: list[QueryTerm] = Field(default=[], description="With drop_boilerplate: dates and common words.")
    cited: list[DocumentCard] = Field(default=[], description="Documents of the index that the query cites.")
    language: str = Field(default="", description="Language of the query.")
    language_known: bool = Field(default=True, description="Whether the index has documents in that language.")
    sentences: bool = Field(default=False, description="Whether the index has the channel by which sentences are compared.")
    distinct: int = Field(default=0, description="Number of distinct terms before the most informative were selected.")
    results: list[SimilarResult]
    left_out: dict[str, int] = Field(default={}, description="Numbers of later and undated documents and of the document itself.")
    notes: list[Remark] = Field(default=[])
    coverage: DayCoverageCard | None = Field(default=None, description="With as_of: what the index knows about that day.")
    timing: SearchTiming
