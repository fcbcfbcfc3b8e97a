"""Profiles side by side: what moved, what is new, what is lost."""

from __future__ import annotations

from lexfuse.service.answers.search import Result, Timing
from lexfuse.service.answers.value import Value


class Move(Value):
    """Where a result of one profile stands beside the first profile: moved, new, or the same.

    >>> from lexfuse.service.answers.search import Mark
    >>> Move(result=Result(id="a", rank=1, found="bm25", score=2.0, snippet=Mark(text="")), before=3).before
    3
    """

    result: Result
    before: int | None  # its rank under the first profile; null if that does not list it: it is new


class Ranking(Value):
    """The results of one profile, with moves, and what was lost.

    >>> Ranking(profile="bm25", results=[], lost=[], timing=Timing(total=1.0)).lost
    []
    """

    profile: str
    results: list[Move]
    lost: list[Result]  # results of the first profile that this one does not list
    timing: Timing


class Comparison(Value):
    """Two or three profiles side by side; moves are told beside the first.

    >>> Comparison.model_fields["rankings"].is_required()
    True
    """

    index: str
    generation: int
    query: str
    rankings: list[Ranking]
