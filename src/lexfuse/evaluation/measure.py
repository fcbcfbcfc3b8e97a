"""What a measure is: a value with a cutoff and the lowest grade that counts as relevant, spelt as in ir_measures.

There are two kinds: a `QueryMeasure` has one value per query and is averaged; a `CollectionMeasure` sums over all queries first,
so it has one value, no value per query, and no paired test applies to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from lexfuse.data.arrays import F64
from lexfuse.errors import ConfigError
from lexfuse.evaluation.relevance_table import RelevanceTable


class CutoffRule(Enum):
    """Whether a measure takes a cutoff."""

    CUTOFF = "a cutoff"
    OPTIONAL_CUTOFF = "an optional cutoff"
    NO_CUTOFF = "no cutoff"


@dataclass(frozen=True, slots=True, repr=False)
class Measure(ABC):
    """A measure with its cutoff and the lowest grade that counts as relevant.

    Equal when name, cutoff and grade are; the text form reads back to an equal value.

    >>> from lexfuse.evaluation.measures import Precision
    >>> Precision(5, rel=2)
    P(rel=2)@5
    """

    cutoff: int | None = None
    rel: int = 1

    name: ClassVar[str]
    takes: ClassVar[CutoffRule] = CutoffRule.CUTOFF
    graded: ClassVar[bool] = False  # grades are gains; no threshold makes sense

    def __post_init__(self) -> None:
        """Refuse a cutoff or grade that cannot be."""
        if self.cutoff is None and self.takes is CutoffRule.CUTOFF:
            raise ConfigError(f"{self.name} needs a cutoff; write for example {self.name}@10")
        if self.cutoff is not None and self.takes is CutoffRule.NO_CUTOFF:
            raise ConfigError(f"{self.name} takes no cutoff, got @{self.cutoff}; write {self.name}")
        if self.cutoff is not None and self.cutoff < 1:
            raise ConfigError(f"the cutoff of {self.name} must be at least 1, got {self.cutoff}")
        if self.rel != 1 and self.graded:
            raise ConfigError(f"{self.name} uses every grade and takes no rel, got rel={self.rel}")
        if self.rel < 1:
            raise ConfigError(f"rel, the lowest relevant grade, must be at least 1, got {self.rel}")

    def __repr__(self) -> str:
        """The ir_measures spelling."""
        level = "" if self.rel == 1 else f"(rel={self.rel})"
        return f"{self.name}{level}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    __str__ = __repr__


class QueryMeasure(Measure):
    """A measure with one value per query; a run's value is their mean."""

    @abstractmethod
    def values(self, aligned: RelevanceTable) -> F64:
        """One value per evaluated query, in the order of `RelevanceTable.queries`."""


class CollectionMeasure(Measure):
    """A measure of a whole run: counts are summed over queries before dividing, so a single query has no value."""

    takes = CutoffRule.OPTIONAL_CUTOFF

    @abstractmethod
    def value(self, aligned: RelevanceTable) -> float:
        """The one value of the run."""
