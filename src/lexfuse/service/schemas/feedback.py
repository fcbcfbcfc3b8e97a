"""Judgements of how well documents answer questions."""

from __future__ import annotations

import datetime

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel


class Judgement(ResponseModel):
    """A judgement of how well a document answers a question."""

    query: str
    query_id: str = Field(description="Id of the query in qrels.")
    document: str
    grade: int = Field(description="Above 0: relevant.")
    rank: int | None = Field(default=None, description="Rank among the results that were shown.")
    profile: str = ""
    moment: datetime.datetime
    generation: int = Field(description="Version of the index that was searched.")


class Judgements(ResponseModel):
    """The judgements on an index, oldest first; for one document and question the last counts."""

    index: str
    judgements: list[Judgement]
