"""Progress of judging and the agreement of judges, in responses."""

from __future__ import annotations

import datetime

from pydantic import Field

from lexfuse.service.schemas.document import ResponseModel


class JudgeProgress(ResponseModel):
    """What one judge has judged."""

    judge: str = Field(description="Name of the judge; empty if none was given.")
    questions: int
    results: int
    last: datetime.datetime = Field(description="Time of the last judgement.")


class QuestionProgress(ResponseModel):
    """What was judged for one question."""

    query: str
    query_id: str = Field(description="Id of the query in qrels.")
    results: int = Field(description="Judged results.")
    relevant: int = Field(description="Judged results whose merged grade is above 0.")
    judges: int


class PairAgreement(ResponseModel):
    """How two judges agree on the results that both have judged."""

    first: str
    second: str
    results: int
    equal: float = Field(description="Share of the results with the same grade.")
    kappa: float | None = Field(default=None, description="Cohen's kappa; null if all grades are the same.")
    weighted_kappa: float | None = Field(default=None, description="The same with quadratic weights.")


class JudgingSummary(ResponseModel):
    """How far the judging of an index has come, and how its judges agree."""

    index: str
    questions: int
    results: int = Field(description="Pairs of a question and a document with at least one judgement.")
    usable: int = Field(description="Questions with a relevant result: those that an evaluation counts.")
    needed: int = Field(description="Usable questions below which no advice has a verdict, unless a difference is significant.")
    judges: list[JudgeProgress] = Field(description="The judge with the most results first.")
    progress: list[QuestionProgress] = Field(description="Every judged question, the newest first.")
    shared: int = Field(description="Results with two judges or more.")
    alpha: float | None = Field(default=None, description="Krippendorff's alpha, ordinal; null if it is not defined.")
    pairs: list[PairAgreement] = Field(default=[], description="Pairs of the 12 judges with the most judgements.")
