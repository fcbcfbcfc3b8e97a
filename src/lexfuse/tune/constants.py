"""Constants of a fusion chosen together with its weights: eta, beta, the depth of the lists.

Each value to try is a trial, and every trial brings its whole grid of weights. One trial and one point are chosen by the measure;
the held-out values come from choosing both without the fold that they are measured on, so that trying many values does not
flatter the result. BRUCH's RRF(10, 4) and its RRF-CC (eq. 10) are such choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from lexfuse.data.arrays import F64, offsets_of
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluate.measures import Measure
from lexfuse.fuse.fusion import Fusion
from lexfuse.fuse.ranks import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fuse.union import Union
from lexfuse.tune.choosing import affordable
from lexfuse.tune.evaluator import WeightEvaluator
from lexfuse.tune.folds import FOLDS, CrossValidated, cross_validated
from lexfuse.tune.surface import SAME, WeightSurface, simplex
from lexfuse.tune.weights import STEP, TunedWeights, tune_weights, weighted


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One way to fuse that is tried: a union set and a fusion, under a name.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fuse.union import union_of
    >>> [trial.name for trial in eta_trials(union_of([Run.of("a", {"q": {"x": 3.0}})]), ReciprocalRank(), [5, 60])]
    ['eta 5', 'eta 60']
    """

    name: str
    union: Union
    fusion: Fusion


@dataclass(frozen=True, slots=True, eq=False)
class TunedConstants:
    """The best trial with its weights, what every trial reaches, and what choosing among them is worth.

    >>> TunedConstants.__slots__[:2]
    ('trials', 'values')
    """

    trials: tuple[str, ...]
    values: tuple[float, ...]  # the mean of each trial's best point of the grid
    best: int
    tuned: TunedWeights  # the weights of the best trial; its held-out values know the trial already, those below do not
    held_out: CrossValidated  # trial and weights chosen outside of each fold; points count trial after trial
    chosen: tuple[str, ...]  # the trial of each fold

    def words(self) -> str:
        """What was found, in plain words."""
        steady = "chosen in every fold" if len(set(self.chosen)) == 1 else f"in the folds: {'; '.join(self.chosen)}"
        shares = ", ".join(f"{name} {weight:g}" for name, weight in zip(self.tuned.sources, self.tuned.weights, strict=True))
        return (
            f"Of {len(self.trials)} tried, best is {self.trials[self.best]} ({steady}) with the weights {shares}: "
            f"{self.tuned.measure} {self.tuned.value:.4f} on the {len(self.held_out.queries)} queries they were chosen on, "
            f"{self.held_out.mean:.4f} on queries that neither was chosen on ({self.held_out.folds} folds)."
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "trials": dict(zip(self.trials, self.values, strict=True)),
            "best": self.trials[self.best],
            "chosen": list(self.chosen),
            "held_out": self.held_out.as_json(),
            "tuned": self.tuned.as_json(),
            "words": self.words(),
        }


def tune_constants(
    trials: Iterable[Trial], qrels: Qrels, measure: Measure | str, *, step: float = STEP, folds: int = FOLDS, seed: int = 0
) -> TunedConstants:
    """The trial and the weights with the highest mean of a measure; of equal trials the first.

    Trials are looked at one after the other and may be made on the way; only the best is kept.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fuse.union import union_of
    >>> runs = [Run.of("a", {"p": {"x": 3.0, "y": 1.0}, "q": {"x": 1.0}}), Run.of("b", {"p": {"y": 1.0}, "q": {"z": 1.0}})]
    >>> trials = eta_trials(union_of(runs), ReciprocalRank(), [5, 60])
    >>> tune_constants(trials, Qrels.of([("p", "y", 1), ("q", "z", 1)]), "RR", folds=2).values
    (1.0, 1.0)
    """
    names: list[str] = []
    surfaces: list[WeightSurface] = []
    best, kept = 0, None
    for trial in trials:
        found = _surface(trial, qrels, measure, step)
        if kept is None or found.means.max() > surfaces[best].means.max() + SAME:
            best, kept = len(surfaces), trial
        names.append(trial.name)
        surfaces.append(found)
    if kept is None:
        raise ConfigError("nothing to try; give at least one value")
    points = np.cumsum([0, *(len(one.weights) for one in surfaces)])
    values = np.concatenate([one.values for one in surfaces])
    together = replace(surfaces[0], weights=np.concatenate([one.weights for one in surfaces]), values=values)
    outside = cross_validated(together, folds, seed)
    of_fold = (np.searchsorted(points, outside.points, side="right") - 1).tolist()
    return TunedConstants(
        trials=tuple(names),
        values=tuple(float(one.means.max()) for one in surfaces),
        best=best,
        tuned=tune_weights(kept.union, kept.fusion, qrels, measure, step=step, folds=folds, seed=seed),
        held_out=outside,
        chosen=tuple(names[at] for at in of_fold),
    )


def _surface(trial: Trial, qrels: Qrels, measure: Measure | str, step: float) -> WeightSurface:
    sources = len(trial.union.names)
    points = simplex(sources, affordable(sources, step))
    values: F64 = weighted(trial.fusion, (1 / sources,) * sources).values(trial.union)
    evaluator = WeightEvaluator.of(trial.union, values, qrels, measure)
    return WeightSurface(trial.union.names, str(evaluator.measure), points, evaluator.at(points), evaluator.queries)


def eta_trials(
    union: Union,
    fusion: ReciprocalRank | SmoothReciprocalRank,
    etas: Sequence[float],
    betas: Sequence[float] = (),
    *,
    each: bool = False,
) -> Iterator[Trial]:
    """A trial for every eta (with `each`, for every combination of one eta a source) and, for smooth ranks, every beta.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fuse.union import union_of
    >>> union = union_of([Run.of("a", {"q": {"x": 3.0}}), Run.of("b", {"q": {"x": 3.0}})])
    >>> [trial.name for trial in eta_trials(union, ReciprocalRank(), [4, 10], each=True)]
    ['eta 4 4', 'eta 4 10', 'eta 10 4', 'eta 10 10']
    >>> [trial.name for trial in eta_trials(union, SmoothReciprocalRank(), [60], [40, 100])]
    ['eta 60, beta 40', 'eta 60, beta 100']
    """
    if betas and not isinstance(fusion, SmoothReciprocalRank):
        raise ConfigError(f"the fusion {fusion.name} has no beta; take srrf")
    sources = len(union.names)
    wanted = list(product(etas, repeat=sources if each else 1)) or [tuple(np.atleast_1d(fusion.eta).tolist())]
    for eta in wanted:
        one = replace(fusion, eta=eta if len(eta) > 1 else float(eta[0]))
        name = "eta " + " ".join(f"{value:g}" for value in eta)
        if not isinstance(one, SmoothReciprocalRank) or not betas:
            yield Trial(name, union, one)
            continue
        for beta in betas:
            yield Trial(f"{name}, beta {beta:g}", union, replace(one, beta=float(beta)))


def depth_trials(union: Union, fusion: Fusion, depths: Sequence[int]) -> Iterator[Trial]:
    """A trial for every depth that lists are cut to.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fuse.union import union_of
    >>> union = union_of([Run.of("a", {"q": {"x": 3.0, "y": 1.0}})])
    >>> [(trial.name, len(trial.union)) for trial in depth_trials(union, ReciprocalRank(), [1, 2])]
    [('depth 1', 1), ('depth 2', 2)]
    """
    for depth in depths:
        yield Trial(f"depth {depth}", cut(union, depth), fusion)


def cut(union: Union, depth: int) -> Union:
    """The union set that lists of this depth had given: what stands deeper is no candidate by that list.

    A source that can be asked still knows the score of a candidate that it ranks deeper; a file does not.

    >>> from lexfuse.data.run import Run
    >>> from lexfuse.fuse.union import union_of
    >>> found = cut(union_of([Run.of("a", {"q": {"x": 3.0, "y": 1.0}}), Run.of("b", {"q": {"y": 2.0}})]), 1)
    >>> found.places.tolist(), found.scores.tolist()
    ([[1, 0], [0, 1]], [[3.0, nan], [nan, 2.0]])
    """
    if depth < 1:
        raise ConfigError(f"the depth must be at least 1, got {depth}")
    deeper = union.places > depth
    places = np.where(deeper, 0, union.places).astype(np.int32)
    scores = np.where(deeper & ~np.array(union.asked)[:, None], np.nan, union.scores)
    kept = (places > 0).any(axis=0)
    return replace(
        union,
        offsets=offsets_of(np.bincount(union.query[kept], minlength=len(union.offsets) - 1)),
        doc=union.doc[kept],
        scores=scores[:, kept],
        places=places[:, kept],
    )
