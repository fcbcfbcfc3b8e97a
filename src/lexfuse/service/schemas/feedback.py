"""How well documents answer questions, as somebody found."""

from __future__ import annotations

import datetime

from lexfuse.service.schemas.base import ResponseModel


class Judgement(ResponseModel):
    """How well a document answers a question, as somebody found."""

    query: str
    query_id: str  # as the qrels call it
    document: str
    grade: int  # above 0: relevant
    rank: int | None = None  # among the results that were shown
    profile: str = ""
    moment: datetime.datetime
    generation: int  # of the index that was searched


class Judgements(ResponseModel):
    """What was judged on an index, in the order in which it was said; of two on one document and question the last counts."""

    index: str
    judgements: list[Judgement]
