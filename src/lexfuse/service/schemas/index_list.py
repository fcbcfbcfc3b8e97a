"""The indexes of the service and their profiles."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel


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


class IndexList(ResponseModel):
    """The indexes of the service."""

    indexes: list[IndexCard]
