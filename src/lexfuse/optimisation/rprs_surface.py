"""The value of a measure over a grid of RPRS's parameters, and the choice of a point.

RPRS (sections 5.4 and 5.5) tries n = 1…10, k1 = 0…3, b = 0…1 and depths 15…100. The plane k1 = 0 is RPRS without frequencies.
Choose on the queries of one surface, and report what another one says at that point.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.data.arrays import F64, I64
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.optimisation.cross_validation import FOLDS, CrossValidated, held_out
from lexfuse.optimisation.weight_surface import SAME
from lexfuse.rerank.rprs import Rprs


@dataclass(frozen=True, slots=True)
class RprsGrid:
    """What is tried: every combination.

    >>> RprsGrid().shape, RprsGrid(depth=(50,)).points
    ((18, 10, 16, 11), 1760)
    """

    n: tuple[int, ...] = tuple(range(1, 11))
    k1: tuple[float, ...] = tuple(step / 5 for step in range(16))
    b: tuple[float, ...] = tuple(step / 10 for step in range(11))
    depth: tuple[int, ...] = tuple(range(15, 101, 5))

    def __post_init__(self) -> None:
        """Refuse lists that are empty, not ascending, or have values that RPRS does not take."""
        lists: tuple[tuple[str, tuple[float, ...], float, float], ...] = (
            ("n", self.n, 1, np.inf),
            ("k1", self.k1, 0, np.inf),
            ("b", self.b, 0, 1),
            ("depth", self.depth, 1, np.inf),
        )
        for name, values, low, high in lists:
            if not values or list(values) != sorted(set(values)):
                raise ConfigError(f"the values of {name} must be given and ascend, got {values}")
            if values[0] < low or values[-1] > high:
                raise ConfigError(f"{name} must be from {low:g} to {high:g}, got {values[0]:g} to {values[-1]:g}")

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """How many depths, n, k1 and b."""
        return len(self.depth), len(self.n), len(self.k1), len(self.b)

    @property
    def points(self) -> int:
        """How many combinations."""
        return int(np.prod(self.shape))

    def place(self, point: RprsPoint) -> tuple[int, int, int, int]:
        """The place of a point in the grid: its depth, n, k1 and b.

        >>> RprsGrid().place(RprsPoint(3, 0.4, 1.0, 15))
        (0, 2, 2, 10)
        """
        try:
            return self.depth.index(point.depth), self.n.index(point.n), self.k1.index(point.k1), self.b.index(point.b)
        except ValueError:
            raise NotFoundError(f"{point} is not a point of the grid") from None


@dataclass(frozen=True, slots=True)
class RprsPoint:
    """One combination."""

    n: int
    k1: float
    b: float
    depth: int

    @property
    def frequency(self) -> bool:
        """Whether frequencies count: without saturation they do not, and b has no effect."""
        return self.k1 > 0

    def reranker(self, sentences: PassageRetriever) -> Rprs:
        """RPRS with these parameters over a channel of sentences."""
        return Rprs(sentences, self.n, self.k1, self.b, self.frequency, depth=self.depth)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"n": self.n, "k1": self.k1, "b": self.b, "frequency": self.frequency, "depth": self.depth}


@dataclass(frozen=True, slots=True, eq=False)
class RprsSurface:
    """The value of a measure for every point of a grid and every judged query.

    >>> grid = RprsGrid(n=(1, 2), k1=(0.0,), b=(0.0,), depth=(15,))
    >>> surface = RprsSurface(grid, "RR", ("p", "q"), np.array([[0.5, 1.0], [0.25, 0.5]]).reshape(1, 2, 1, 1, 2))
    >>> surface.best, surface.mean(surface.best), surface.on(["q"]).mean(RprsPoint(2, 0.0, 0.0, 15))
    (RprsPoint(n=1, k1=0.0, b=0.0, depth=15), 0.75, 0.5)
    """

    grid: RprsGrid
    measure: str
    queries: tuple[str, ...]
    values: F64  # depth x n x k1 x b x queries

    @property
    def means(self) -> F64:
        """The mean over queries at every point."""
        means: F64 = self.values.mean(axis=-1)
        return means

    @property
    def best(self) -> RprsPoint:
        """The point of the highest mean; of equal ones the least depth, then the least n, k1 and b."""
        return self._best(self.means)

    @property
    def best_without_frequency(self) -> RprsPoint:
        """The same among points with k1 = 0."""
        if self.grid.k1[0] != 0:
            raise ConfigError(f"RPRS without frequency is k1 = 0, and the grid begins at {self.grid.k1[0]:g}")
        return self._best(self.means[:, :, :1])

    def _best(self, means: F64) -> RprsPoint:
        highest = int(np.flatnonzero(means.ravel() >= means.max() - SAME)[0])
        depth, n, k1, b = (int(at) for at in np.unravel_index(highest, means.shape))
        return RprsPoint(self.grid.n[n], self.grid.k1[k1], self.grid.b[b], self.grid.depth[depth])

    def of_queries(self, point: RprsPoint) -> F64:
        """The value of every query at a point of the grid."""
        found: F64 = self.values[self.grid.place(point)]
        return found

    def mean(self, point: RprsPoint) -> float:
        """The mean at a point of the grid."""
        return float(self.of_queries(point).mean())

    def on(self, queries: Iterable[str]) -> RprsSurface:
        """The same over some of the queries; names that are not judged here are left out."""
        places = {id: row for row, id in enumerate(self.queries)}
        rows = [places[id] for id in queries if id in places]
        if not rows:
            raise NotFoundError("none of these queries is on the surface; give those of the judgements it was made with")
        return replace(self, queries=tuple(self.queries[row] for row in rows), values=self.values[..., rows])

    def at_edge(self, point: RprsPoint) -> tuple[str, ...]:
        """Parameters of a point beyond which a wider grid may find more.

        >>> grid = RprsGrid(n=(1, 2), k1=(0.0, 1.0), b=(0.0, 1.0), depth=(15, 20))
        >>> RprsSurface(grid, "RR", ("q",), np.zeros((2, 2, 2, 2, 1))).at_edge(RprsPoint(1, 1.0, 1.0, 20))
        ('k1', 'depth')
        """
        ends = {"n": self.grid.n, "k1": self.grid.k1, "depth": self.grid.depth}
        return tuple(name for name, tried in ends.items() if len(tried) > 1 and getattr(point, name) == tried[-1])


@dataclass(frozen=True, slots=True)
class TunedRprs:
    """What was chosen on some queries, and what it reaches there and on others."""

    point: RprsPoint
    measure: str
    train: float
    dev: float
    at_edge: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return self.point.as_json() | {
            "measure": self.measure, "train": self.train, "dev": self.dev, "at_edge": list(self.at_edge),
        }  # fmt: skip


def tuned_rprs(train: RprsSurface, dev: RprsSurface, *, frequency: bool = True) -> TunedRprs:
    """The best point for the queries of one surface, and its value on both.

    >>> grid = RprsGrid(n=(1, 2), k1=(0.0,), b=(0.0,), depth=(15,))
    >>> surface = RprsSurface(grid, "RR", ("p", "q"), np.array([[0.5, 1.0], [0.75, 0.5]]).reshape(1, 2, 1, 1, 2))
    >>> tuned_rprs(surface.on(["p"]), surface.on(["q"]))
    TunedRprs(point=RprsPoint(n=2, k1=0.0, b=0.0, depth=15), measure='RR', train=0.75, dev=0.5, at_edge=('n',))
    """
    point = train.best if frequency else train.best_without_frequency
    return TunedRprs(point, train.measure, train.mean(point), dev.mean(point), train.at_edge(point))


def cross_validated_rprs(surface: RprsSurface, folds: int = FOLDS, seed: int = 0, *, frequency: bool = True) -> CrossValidated:
    """Each fold measured with the point that is best for the other folds; its weights are n, k1, b and depth.

    >>> grid = RprsGrid(n=(1, 2), k1=(0.0,), b=(0.0,), depth=(15,))
    >>> surface = RprsSurface(grid, "RR", ("p", "q"), np.array([[0.5, 1.0], [0.75, 0.5]]).reshape(1, 2, 1, 1, 2))
    >>> sorted(cross_validated_rprs(surface, 2).values.tolist())
    [0.5, 0.5]
    """

    def choose(rest: I64) -> tuple[int, F64, F64]:
        some = replace(surface, queries=tuple(surface.queries[row] for row in rest.tolist()), values=surface.values[..., rest])
        point = some.best if frequency else some.best_without_frequency
        weights = np.array([point.n, point.k1, point.b, point.depth], dtype=np.float64)
        return int(np.ravel_multi_index(surface.grid.place(point), surface.grid.shape)), weights, surface.of_queries(point)

    return held_out(surface.queries, choose, folds, seed)
