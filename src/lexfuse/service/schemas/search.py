"""Responses of searches: results, suggestions, comparisons and lists of profiles."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from pydantic import Field, SkipValidation

from lexfuse.service.schemas.document import DocumentCard, ResponseModel, Span
from lexfuse.storage.history.day_coverage import DayCoverage

Remark = Annotated[str, SkipValidation]  # it stays a `Note`, which the page says in its own language


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
    metadata: dict[str, Any] = Field(
        default={},
        description="Fields that only this corpus has: texts, numbers, and lists of them. A date is written 2020-01-31.",
    )


class FacetValue(ResponseModel):
    """A value of a field, and how many candidates have it."""

    value: str
    count: int
    chosen: bool = Field(default=False, description="Whether a filter of the request selects it.")
    filters: list[str] = Field(default=[], description="The filters of the request after this value is selected or deselected.")


class Facet(ResponseModel):
    """The values of one field among the candidates, most frequent first; the field's own filter is not applied to it."""

    field: str = Field(description="code, court, kind, year, language, or metadata of the index.")
    values: list[FacetValue]
    more: int = Field(default=0, description="Number of values that are not listed.")


class SearchTiming(ResponseModel):
    """How long each stage took, in milliseconds."""

    total: float
    stages: dict[str, float] = Field(default={})


class DayCoverageCard(ResponseModel):
    """What the index knows about the law of a day."""

    day: datetime.date
    documents: int = Field(description="Documents of the index.")
    in_force: int = Field(description="Documents in force on the day, or without dates.")
    unknown: int = Field(description="Documents that were not searched: the index has only versions that begin after the day.")

    @classmethod
    def of(cls, coverage: DayCoverage | None) -> DayCoverageCard | None:
        """The figures of a day; None where no day was asked for.

        >>> DayCoverageCard.of(DayCoverage(datetime.date(2010, 1, 1), 5, 2, 3)).unknown
        3
        """
        return None if coverage is None else cls.model_validate(coverage, from_attributes=True)


class WordCorrection(ResponseModel):
    """A word that no document has, and the word of the index that was probably meant."""

    word: str
    meant: str


class CorrectionCard(ResponseModel):
    """The question with its misspelt words replaced."""

    question: str
    words: list[WordCorrection]
    applied: bool = Field(description="Whether the corrected question was searched; ask with spelling=off for the original.")


class ExpansionCard(ResponseModel):
    """Everyday words of the question, and the words of the law that were searched in addition."""

    words: str
    law: list[str]
    terms: list[str] = Field(description="The terms that were added to the lexical channel.")
    weight: float = Field(description="The weight of each added term, where a word of the question has 1.")


class ConfidenceCard(ResponseModel):
    """How likely it is that the best result answers the question, by the calibration of the profile."""

    answer: float = Field(description="Probability that the best result answers.")
    topic: float = Field(description="Probability that the corpus has an answer at all.")
    answers: bool = Field(description="Whether the corpus is taken to have an answer; false: nothing here clearly answers.")
    shown: bool = Field(description="Whether the best result is likely enough to be shown as the answer.")
    passage: MarkedSpan | None = Field(
        default=None, description="The passage of the best result in whole sentences, on the first page, where it is shown."
    )


class SuggestedText(ResponseModel):
    """A text that completes what was typed."""

    text: str
    kind: str = Field(description="article, question, heading or words.")
    document: str | None = Field(default=None, description="Id of the document, if it is one.")


class SuggestionList(ResponseModel):
    """Completions of a question that is being typed, the best first."""

    index: str
    generation: int
    suggestions: list[SuggestedText]


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
    partial: bool = Field(default=False, description="Whether shards of a cluster did not answer: results may be missing.")
    correction: CorrectionCard | None = Field(default=None, description="The question with misspelt words replaced.")
    expansions: list[ExpansionCard] = Field(default=[], description="Words of the law that were added for everyday words.")
    confidence: ConfidenceCard | None = Field(default=None, description="Only of a profile that is calibrated.")
    notes: list[Remark] = Field(default=[], description="Remarks, such as documents left out.")
    coverage: DayCoverageCard | None = Field(default=None, description="With as_of: what the index knows about that day.")
    timing: SearchTiming


class RankChange(ResponseModel):
    """A result of one profile, with its rank under the first."""

    result: SearchResult
    before: int | None = Field(description="Rank under the first profile; null if that does not list it.")


class ProfileRanking(ResponseModel):
    """The results of one profile, and the results of the first that it does not list."""

    profile: str
    results: list[RankChange]
    lost: list[SearchResult] = Field(description="Results of the first profile that this one does not list.")
    timing: SearchTiming


class ProfileComparison(ResponseModel):
    """Two or three profiles side by side; changes are relative to the first."""

    index: str
    generation: int
    query: str
    rankings: list[ProfileRanking]


class ProfileCard(ResponseModel):
    """A profile: a named way to search."""

    name: str
    description: str = ""
    channels: list[str]
    evidence: dict[str, str | int | float] = Field(default={})
    usable: bool = True
    reason: str = Field(default="", description="Why it is not usable.")


class IndexCard(ResponseModel):
    """An index of the service, with its profiles."""

    name: str
    title: str
    documents: int
    generation: int
    languages: dict[str, int]
    default_profile: str
    profiles: list[ProfileCard]
    titles: dict[str, str] = Field(default={}, description="Titles by language, where they are given.")
    examples: list[str] = Field(default=[], description="Questions that the start page proposes, where they are given.")
    dated: bool = Field(default=False, description="Whether documents have periods, so that a day can be asked for.")
    progress: dict[str, float] = Field(default={}, description="Share of the documents of each channel that is not complete yet.")


class IndexList(ResponseModel):
    """The indexes of the service."""

    indexes: list[IndexCard]
