"""Profiles side by side: what moved, appeared and disappeared."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel
from lexfuse.service.schemas.search import SearchResult, SearchTiming


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
