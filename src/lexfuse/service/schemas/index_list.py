"""The indexes that can be searched, and the ways to search them."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.base import ResponseModel


class ProfileCard(ResponseModel):
    """A way to search that the service offers."""

    name: str
    description: str = ""
    channels: list[str]
    evidence: dict[str, str | int | float] = Field(default={})
    usable: bool = True
    reason: str = ""  # why it is not


class IndexCard(ResponseModel):
    """An index that the service offers, and how it can be searched."""

    name: str
    title: str
    documents: int
    generation: int
    languages: dict[str, int]
    default_profile: str
    profiles: list[ProfileCard]


class IndexList(ResponseModel):
    """Everything that can be searched, and how."""

    indexes: list[IndexCard]
