"""Constants of a fusion chosen on judged queries, alone or together with its weights: eta, beta, the depth of the lists.

Each value to try is a trial. At equal weights a trial is one point; with weights it brings its whole grid of them. One trial and
one point are chosen by the measure; the held-out values come from choosing both without the fold that they are measured on, so
that trying many values does not flatter the result.

BRUCH tunes the etas of reciprocal ranks at equal weights (Fig. 7; RRF(10, 4) in Table 2) and compares with eta 60, the usual
trial. Its RRF-CC (eq. 10) has weights as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.union import Union
from lexfuse.optimisation.cross_validation import FOLDS, CrossValidated, PairedDifference, cross_validated, paired_difference
from lexfuse.optimisation.fusion_weights import STEP, TunedWeights, evaluator_of, tune_weights
from lexfuse.optimisation.weight_choice import affordable
from lexfuse.optimisation.weight_surface import SAME, WeightSurface, simplex


@dataclass(frozen=True, slots=True, eq=False)
class ConstantTrial:
    """One way to fuse that is tried: a union set and a fusion, under a name."""

    name: str
    union: Union
    fusion: Fusion


@dataclass(frozen=True, slots=True, eq=False)
class TunedConstants:
    """The best trial, what every trial reaches, and what choosing among them is worth."""

    trials: tuple[str, ...]
    values: tuple[float, ...]  # the mean of each trial, at its best point of the grid where weights are tuned too
    best: int
    fusion: Fusion  # of the best trial, with its weights
    sources: tuple[str, ...]
    measure: str
    tuned: TunedWeights | None  # weights of the best trial; their held-out values know the trial already; None: equal ones
    held_out: CrossValidated  # trial and weights chosen outside of each fold; points count trial after trial
    chosen: tuple[str, ...]  # the trial of each fold
    usual: tuple[str, float] | None = None  # what the held-out values are compared with, and its mean
    versus_usual: PairedDifference | None = None

    @property
    def value(self) -> float:
        """The mean of the best trial on the queries that it was chosen on."""
        return self.values[self.best] if self.tuned is None else self.tuned.value

    def words(self) -> str:
        """What was found, in plain words."""
        steady = "chosen in every fold" if len(set(self.chosen)) == 1 else f"in the folds: {'; '.join(self.chosen)}"
        weights = "at equal weights"
        if self.tuned is not None:
            shares = zip(self.tuned.sources, self.tuned.weights, strict=True)
            weights = "with the weights " + ", ".join(f"{name} {weight:g}" for name, weight in shares)
        found = (
            f"Of {len(self.trials)} tried, best is {self.trials[self.best]} ({steady}) {weights}: {self.measure} "
            f"{self.value:.4f} on the {len(self.held_out.queries)} queries that it was chosen on, {self.held_out.mean:.4f} on "
            f"queries that it was not chosen on ({self.held_out.folds} folds)."
        )
        if self.usual is None or self.versus_usual is None:
            return found
        outcome = self.versus_usual.outcome(self.usual[0])
        return f"{found} There it is {outcome} ({self.usual[1]:.4f}): {self.versus_usual.words()}."

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "trials": dict(zip(self.trials, self.values, strict=True)),
            "best": self.trials[self.best],
            "sources": list(self.sources),
            "measure": self.measure,
            "value": self.value,
            "chosen": list(self.chosen),
            "held_out": self.held_out.as_json(),
            "weights": "equal" if self.tuned is None else "tuned",
            "tuned": None if self.tuned is None else self.tuned.as_json(),
            "usual": None if self.usual is None else {"trial": self.usual[0], "value": self.usual[1]},
            "versus_usual": None if self.versus_usual is None else self.versus_usual.as_json(),
            "words": self.words(),
        }


def tune_constants(
    trials: Iterable[ConstantTrial],
    qrels: Qrels,
    measure: Measure | str,
    *,
    with_weights: bool = True,
    usual: ConstantTrial | None = None,
    step: float = STEP,
    folds: int = FOLDS,
    seed: int = 0,
) -> TunedConstants:
    """The trial and the weights (or the trial at equal weights) with the highest mean of a measure; of equal trials the first.

    `usual` is what the held-out values are compared with, at equal weights.

    Trials are looked at one after the other and may be made on the way; only the best is kept.

    >>> runs = [Run.of("a", {"p": {"x": 3.0, "y": 1.0}, "q": {"x": 1.0}}), Run.of("b", {"p": {"y": 1.0}, "q": {"z": 1.0}})]
    >>> trials = eta_trials(union_of(runs), ReciprocalRank(), [5, 60])
    >>> tune_constants(trials, Qrels.of([("p", "y", 1), ("q", "z", 1)]), "RR", folds=2).values
    (1.0, 1.0)
    """
    names: list[str] = []
    surfaces: list[WeightSurface] = []
    best, kept = 0, None
    for trial in trials:
        found = _surface(trial, qrels, measure, step if with_weights else None)
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
    before = _surface(usual, qrels, measure, None).values[0] if usual is not None else None
    tuned = tune_weights(kept.union, kept.fusion, qrels, measure, step=step, folds=folds, seed=seed) if with_weights else None
    return TunedConstants(
        trials=tuple(names),
        values=tuple(float(one.means.max()) for one in surfaces),
        best=best,
        fusion=tuned.fusion if tuned is not None else kept.fusion,
        sources=together.sources,
        measure=together.measure,
        tuned=tuned,
        held_out=outside,
        chosen=tuple(names[at] for at in of_fold),
        usual=None if before is None or usual is None else (usual.name, float(before.mean())),
        versus_usual=None if before is None else paired_difference(outside.values, before, seed=seed),
    )


def _surface(trial: ConstantTrial, qrels: Qrels, measure: Measure | str, step: float | None) -> WeightSurface:
    """The measure over a grid of weights; without a step at equal weights alone."""
    sources = len(trial.union.names)
    points = np.ones((1, sources)) if step is None else simplex(sources, affordable(sources, step))
    evaluator = evaluator_of(trial.union, trial.fusion, qrels, measure)
    return WeightSurface(trial.union.names, str(evaluator.measure), points, evaluator.at(points), evaluator.queries)


def eta_trials(
    union: Union,
    fusion: ReciprocalRank | SmoothReciprocalRank,
    etas: Sequence[float],
    betas: Sequence[float] = (),
    *,
    each: bool = False,
) -> Iterator[ConstantTrial]:
    """A trial for every eta (with `each`, for every combination of one eta a source) and, for smooth ranks, every beta.

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
            yield ConstantTrial(name, union, one)
            continue
        for beta in betas:
            yield ConstantTrial(f"{name}, beta {beta:g}", union, replace(one, beta=float(beta)))


def depth_trials(union: Union, fusion: Fusion, depths: Sequence[int]) -> Iterator[ConstantTrial]:
    """A trial for every depth that lists are cut to.

    >>> union = union_of([Run.of("a", {"q": {"x": 3.0, "y": 1.0}})])
    >>> [(trial.name, len(trial.union)) for trial in depth_trials(union, ReciprocalRank(), [1, 2])]
    [('depth 1', 1), ('depth 2', 2)]
    """
    for depth in depths:
        yield ConstantTrial(f"depth {depth}", cut_depth(union, depth), fusion)


def cut_depth(union: Union, depth: int) -> Union:
    """The union set that lists of this depth had given: what is deeper is not a candidate of that list.

    A source that can be asked still knows the score of a candidate that it ranks deeper; a file does not.

    >>> found = cut_depth(union_of([Run.of("a", {"q": {"x": 3.0, "y": 1.0}}), Run.of("b", {"q": {"y": 2.0}})]), 1)
    >>> found.places.tolist(), found.scores.tolist()
    ([[1, 0], [0, 1]], [[3.0, nan], [nan, 2.0]])
    """
    if depth < 1:
        raise ConfigError(f"the depth must be at least 1, got {depth}")
    deeper = union.places > depth
    places = np.where(deeper, 0, union.places).astype(np.int32)
    scores = np.where(deeper & ~np.array(union.asked)[:, None], np.nan, union.scores)
    shallow = replace(union, scores=scores, places=places)
    return shallow.select(shallow.listed_by(range(len(union.names))))
