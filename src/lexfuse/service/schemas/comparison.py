"""Profiles side by side: what moved, what is new, what is lost."""

from __future__ import annotations

from lexfuse.service.schemas.base import ResponseModel
from lexfuse.service.schemas.search import SearchResult, SearchTiming


class RankChange(ResponseModel):
    """Where a result of one profile stands beside the first profile: moved, new, or the same."""

    result: SearchResult
    before: int | None  # its rank under the first profile; null if that does not list it: it is new


class ProfileRanking(ResponseModel):
    """The results of one profile, with moves, and what was lost."""

    profile: str
    results: list[RankChange]
    lost: list[SearchResult]  # results of the first profile that this one does not list
    timing: SearchTiming


class ProfileComparison(ResponseModel):
    """Two or three profiles side by side; moves are told beside the first."""

    index: str
    generation: int
    query: str
    rankings: list[ProfileRanking]
