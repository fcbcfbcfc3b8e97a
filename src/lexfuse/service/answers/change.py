"""What became of a document that was written."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from lexfuse.service.answers.judgement import Judgement
from lexfuse.service.answers.value import Value
from lexfuse.service.outcomes import State
from lexfuse.service.problems import Problem


class Change(StrEnum):
    """What became of a document.

    >>> Change("created")
    <Change.CREATED: 'created'>
    """

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    DELETED = "deleted"


class Written(Value):
    """What became of a document that was written, and from which version of the index on.

    >>> Written(index="i", generation=2, id="a", change=Change.DELETED).etag
    """

    index: str
    generation: int
    id: str
    change: Change
    etag: str | None = None  # of the document as it is now; null for one that is gone
    notes: list[str] = Field(default=[])  # what is left to do: channels that do not hold it yet


class PendingChange(Value):
    """A change that took longer than a request may: what is known of it.

    >>> PendingChange(id="a", state=State.PENDING).result
    """

    id: str
    state: State
    result: Written | Judgement | None = None  # as the answer would have been; null until it is done
    problem: Problem | None = None  # why it failed; nothing was changed then
