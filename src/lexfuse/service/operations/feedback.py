"""Judgements: which results answer a question, kept with the index, to evaluate and to tune by.

A judgement keeps the text of its question. Nothing else of the service does, unless `log_queries` is on.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import Field

from lexfuse.data.judgements import NAME_LENGTH, NAME_PATTERN, judge_name
from lexfuse.errors import NotFoundError
from lexfuse.service.parameters import IndexParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.document import Judgement, Judgements
from lexfuse.storage.feedback import FeedbackEntry, query_id

HIGHEST = 10  # grade
JUDGE = "Name of the judge: letters, digits, spaces and . ' ’ @ _ -"


class JudgementBody(IndexParameters):
    """A user's judgement of a document for a question."""

    query: str = Field(min_length=1, max_length=20_000, description="The question.", examples=["durée du préavis"])
    document: str = Field(min_length=1, max_length=500, description="The id of the document.", examples=["LEGIARTI000006901112"])
    grade: int = Field(ge=0, le=HIGHEST, description="0 for not relevant, 1 for relevant, more for better answers.", examples=[1])
    rank: int | None = Field(None, ge=1, le=1_000_000, description="Its rank among the results, if it had one.", examples=[3])
    profile: str = Field("", max_length=200, description="The profile that ranked the results.", examples=["hybrid"])
    generation: int | None = Field(
        None, ge=0, le=2**31 - 1, description="The version that was searched; the newest if not given.", examples=[4]
    )
    judge: str = Field("", max_length=NAME_LENGTH, pattern=NAME_PATTERN, description=JUDGE, examples=["Anna"])


def add_feedback(registry: IndexRegistry, given: JudgementBody) -> Judgement:
    """Keep a judgement; `NotFoundError` if the index does not have the document.

    >>> _ = add_feedback(registry, JudgementBody(query="préavis", document="lib-4", grade=1))
    >>> [(one.query, one.grade) for one in judgements(registry).judgements], judged(registry, "préavis")
    ([('préavis', 1)], {'lib-4': 1})
    """
    served = registry.index(given.index)
    generation = served.generation if given.generation is None else given.generation
    said: dict[str, Any] = {"rank": given.rank, "profile": given.profile, "judge": judge_name(given.judge)}
    kept = FeedbackEntry(given.query, given.document, given.grade, generation=generation, **said)
    with served.source.writer() as index:
        index.feedback.keep(kept)
    return _judgement(kept)


def judged(registry: IndexRegistry, query: str, index: str = "", judge: str = "") -> dict[str, int]:
    """The grades of documents for one question by one judge, the last given of each."""
    with registry.index(index).source.writer() as folder:
        return {one.doc: one.grade for one in folder.feedback.kept(query) if one.judge == judge}


def remove_feedback(registry: IndexRegistry, query: str, document: str, index: str = "", judge: str = "") -> int:
    """Remove the judgements of a document for a question by one judge; returns how many there were."""
    with registry.index(index).source.writer() as folder:
        return folder.feedback.remove(query, document, judge)


def judgements(registry: IndexRegistry, index: str = "", judge: str = "") -> Judgements:
    """Every judgement on an index, or those of a judge, in the order in which they were given."""
    served, wanted = registry.index(index), judge_name(judge)
    with served.source.writer() as folder:
        kept = folder.feedback.kept()
    chosen = [one for one in kept if not wanted or one.judge == wanted]
    if wanted and not chosen:
        raise NotFoundError(f"there are no judgements by {wanted!r}; leave the judge out to get those of all judges")
    return Judgements(index=served.name, judgements=[_judgement(one) for one in chosen])


def _judgement(one: FeedbackEntry) -> Judgement:
    values = asdict(one)
    return Judgement(query_id=query_id(one.query), document=values.pop("doc"), **values)
