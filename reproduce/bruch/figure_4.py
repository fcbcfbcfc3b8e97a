"""BRUCH, figure 4: the relative expansion rate (definition 4.4) when one normalisation is exchanged for another.

For normalisations that are linear in the score of a query, the ratio of differences is the ratio of slopes, so the rate is one
number a query and does not depend on the pair of documents nor, for the same ranking, on alpha. Its spread over queries is what
theorem 4.5 is about: the smaller, the nearer a constant alpha comes to the same rankings.
"""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.fusion.normalisation import Normaliser
from reproduce.bruch.candidates import Candidates, candidates
from reproduce.bruch.figure_3 import NORMALISATIONS
from reproduce.experiment import Experiment
from reproduce.plots import Labels, bars
from reproduce.result import Measured

CHANGES = (("TMM", "MM"), ("MM", "Z"), ("TMM", "Z"), ("TMM-LEX", "MM-LEX"), ("Z-LEX", "MM-LEX"), ("MM-LEX", "I"))


def measure(experiment: Experiment) -> Measured:
    """The spread of the rate over queries, relative to its mean: 0 would be a uniform rate."""
    found = candidates(experiment, experiment.dataset.tuning)
    slopes = {name: _slopes(found, pair) for name, pair in NORMALISATIONS.items()}
    rates = {}
    for before, after in CHANGES:
        lexical, semantic = slopes[after] / slopes[before]
        rates[f"{before} to {after}"] = semantic / lexical
    rows = {
        name: {
            "spread / mean": float(rate.std() / rate.mean()),
            "mean of the upper half / lower half": float(np.mean(_half(rate, upper=True)) / np.mean(_half(rate, upper=False))),
        }
        for name, rate in rates.items()
    }
    scaled = {name.replace(" to ", "→"): (1.0, float(rate.std() / rate.mean())) for name, rate in rates.items()}
    labels = Labels("", "rate / mean rate, with standard deviation", experiment.dataset.name)
    name = f"BRUCH-FIG4-{experiment.dataset.name}"
    return Measured(rows, (bars(name, "Relative expansion rates over queries", labels, {"queries": scaled}),))


def _slopes(found: Candidates, pair: tuple[Normaliser, Normaliser]) -> F64:
    """By how much a unit of score changes the normalised score, for each source (rows) and query (columns)."""
    rows = []
    for source, normaliser in enumerate(pair):
        raw, scaled = found.union.scores[source], normaliser.of(found.union, source)
        highest, lowest = (found.union.per_query(operation, raw) for operation in (np.fmax, np.fmin))
        above, below = (found.union.per_query(operation, scaled) for operation in (np.fmax, np.fmin))
        rows.append((above - below) / (highest - lowest))
    return np.stack(rows)


def _half(rate: F64, *, upper: bool) -> F64:
    ordered = np.sort(rate)
    return ordered[len(ordered) // 2 :] if upper else ordered[: len(ordered) // 2]
