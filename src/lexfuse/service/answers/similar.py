"""Documents like a whole document, with the terms that were searched for."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.answers.alignment import Alignment
from lexfuse.service.answers.search import Result, Timing
from lexfuse.service.answers.value import Value


class Term(Value):
    """A term of a whole document that is searched for, which the caller may edit.

    >>> Term(word="licenciement", term="licenci", count=4, informativeness=0.5, weight=1.0).count
    4
    """

    word: str
    term: str
    count: int
    informativeness: float
    weight: float


class SimilarResult(Result):
    """A document that is like the query.

    >>> from lexfuse.service.answers.search import Mark
    >>> SimilarResult(id="a", rank=1, found="bm25", score=2.0, snippet=Mark(text="")).alignment
    """

    alignment: Alignment | None = None


class SimilarPage(Value):
    """Documents like a whole document.

    >>> SimilarPage.model_fields["words"].annotation
    <class 'int'>
    """

    index: str
    generation: int
    profile: str
    words: int  # of the query
    document: str | None = None  # the id of the document that is the query, if it is one of the index
    terms: list[Term] = Field(default=[])
    distinct: int = 0  # terms of the query before the most informative were chosen
    results: list[SimilarResult]
    left_out: dict[str, int] = Field(default={})  # later and undated documents, the document itself
    notes: list[str] = Field(default=[])
    timing: Timing
