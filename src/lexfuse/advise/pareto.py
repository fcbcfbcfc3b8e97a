"""The Pareto front: what nothing else beats in every respect at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.errors import ConfigError


def pareto_front(points: Sequence[tuple[float, ...]], maximise: Sequence[bool]) -> tuple[bool, ...]:
    """For every point, whether none is at least as good in every coordinate and better in one; equal points stand together.

    `maximise` says for every coordinate whether more is better (quality) or less (milliseconds, bytes).

    >>> pareto_front([(0.5, 10.0), (0.6, 30.0), (0.4, 20.0)], [True, False])
    (True, True, False)
    """
    for point in points:
        if len(point) != len(maximise):
            raise ConfigError(f"every point must have {len(maximise)} coordinates, one for each direction, got {point}")
    table = np.array(points, dtype=np.float64).reshape(len(points), len(maximise))
    if np.isnan(table).any():
        at = int(np.flatnonzero(np.isnan(table).any(axis=1))[0])
        raise ConfigError(f"point {at} of the Pareto front has a coordinate that is NaN, got {points[at]}; leave it out")
    gain = np.where(maximise, table, -table)
    return tuple(not bool(((gain >= own).all(axis=1) & (gain > own).any(axis=1)).any()) for own in gain)
