"""How a channel is to be built: by which model, with which options of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, init=False)
class ChannelPlan:
    """A model, perhaps another one for queries, and options; the kind of the channel checks them.

    >>> ChannelPlan("fr-legal-dense", storage="int8").options
    {'storage': 'int8'}
    """

    model: str  # the default of the channel if it is empty
    query_model: str  # for two towers; empty where one model encodes both sides
    options: Mapping[str, Any]  # fields of the kind's `build_options`

    def __init__(self, model: str = "", query_model: str = "", **options: Any) -> None:
        """Keep the options as they are given."""
        for name, value in {"model": model, "query_model": query_model, "options": options}.items():
            object.__setattr__(self, name, value)

    def with_model(self, model: str) -> ChannelPlan:
        """The same plan with another model."""
        return ChannelPlan(model, self.query_model, **self.options)
