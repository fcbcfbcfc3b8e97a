"""BRUCH, figure 8: what reciprocal ranks make of every pair of ranks. It needs no data."""

from __future__ import annotations

import numpy as np

from reproduce.experiment import Experiment
from reproduce.plots import Labels, heat_maps
from reproduce.result import Measured

ETAS = ((60, 60), (10, 4), (4, 10))
RANKS = 100


def measure(_: Experiment) -> Measured:
    """The plane of ranks under three pairs of constants."""
    lexical, semantic = np.mgrid[1 : RANKS + 1, 1 : RANKS + 1]
    maps = {f"RRF({lex}, {sem})": 1 / (lex + lexical) + 1 / (sem + semantic) for lex, sem in ETAS}
    labels = Labels("semantic rank", "lexical rank")
    description = "Reciprocal ranks of two sources"
    return Measured({}, (heat_maps("BRUCH-FIG8", description, labels, maps, (1, RANKS, 1, RANKS)),))
