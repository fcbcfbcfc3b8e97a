"""BRUCH, figure 2: what a convex combination makes of every pair of scores. It needs no data."""

from __future__ import annotations

import numpy as np

from reproduce.experiment import Experiment
from reproduce.plots import Labels, heat_maps
from reproduce.result import Measured

ALPHAS = (0.6, 0.8)


def measure(_: Experiment) -> Measured:
    """The plane of normalised scores under two weights."""
    lexical, semantic = np.mgrid[0:1:60j, 0:1:60j]
    maps = {f"alpha = {alpha}": alpha * semantic + (1 - alpha) * lexical for alpha in ALPHAS}
    labels = Labels("semantic score", "lexical score")
    return Measured({}, (heat_maps("BRUCH-FIG2", "Convex combinations of two scores", labels, maps, (0, 1, 0, 1)),))
