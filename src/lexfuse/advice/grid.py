"""Every subset of the sources by every fusion (FUSE Tables 3 and 6), each with its value for every query.

FUSE's eight recipes are Borda's count, reciprocal ranks, and normalised score fusion by min-max, z-score and percentile with
equal and with tuned weights: 88 configurations of four sources. Theoretical min-max makes two more of each subset: TM2C2 as it
is, and with tuned weights. What is tuned is measured on queries it was not tuned on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lexfuse.advice.findings import Configuration, ConfigurationResult
from lexfuse.advice.inputs import alone
from lexfuse.data.arrays import F64
from lexfuse.data.qrels import Qrels
from lexfuse.errors import ConfigError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.normalisation import MinMax, Normaliser, Percentile, TheoreticalMinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.union import Union
from lexfuse.optimisation.fusion_weights import TunedWeights, tune_weights, weighted


@dataclass(frozen=True, slots=True)
class FusionRecipe:
    """A fusion to try, and whether its weights are tuned."""

    name: str
    fusion: Fusion
    tuned: bool = False
    normaliser: Normaliser | None = None

    def of(self, lexical: int) -> Fusion:
        """The fusion for a subset that begins with this many lexical sources.

        >>> FusionRecipe("tm2c2", TM2C2()).of(2).lexical
        2
        """
        return TM2C2(lexical=lexical) if isinstance(self.fusion, TM2C2) else self.fusion


def _recipes() -> Iterator[FusionRecipe]:
    yield FusionRecipe("borda", Borda())
    yield FusionRecipe("rrf", ReciprocalRank())
    for normaliser in (MinMax(), ZScore(), Percentile()):
        yield FusionRecipe(f"{normaliser.name}, equal", Convex(None, normaliser), False, normaliser)
        yield FusionRecipe(f"{normaliser.name}, tuned", Convex(None, normaliser), True, normaliser)
    yield FusionRecipe("tm2c2", TM2C2(), False, TheoreticalMinMax())
    yield FusionRecipe("tm2c2, tuned", Convex(None, TheoreticalMinMax()), True, TheoreticalMinMax())


RECIPES = {recipe.name: recipe for recipe in _recipes()}


@dataclass(frozen=True, slots=True, eq=False)
class GridTrial:
    """A configuration, the fusion to use it with, and what it reaches on every query."""

    configuration: Configuration
    fusion: Fusion | None  # with weights tuned on all queries, where they are tuned; None for a single source
    weights: tuple[float, ...]
    values: F64  # held out where something was tuned
    tuned: bool = False
    words: str = ""  # how tuned weights compare with equal ones

    @property
    def mean(self) -> float:
        """The mean over queries."""
        return float(self.values.mean())


def trials(
    union: Union,
    qrels: Qrels,
    measure: str,
    *,
    lexical: frozenset[str] = frozenset(),
    recipes: Sequence[str] = tuple(RECIPES),
    folds: int = 5,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> list[GridTrial]:
    """Single sources first, then every subset of two and more by every recipe; sources named `lexical` must come first.

    A source that lists nothing for any query has nothing to say to a fusion, and is tried alone only.

    >>> rankings = {f"q{n}": {"x": 2.0, "y": 1.0} for n in range(5)}, {f"q{n}": {"y": 3.0, "z": 1.0} for n in range(5)}
    >>> union = union_of([Run.of("a", rankings[0]), Run.of("b", rankings[1])])
    >>> found = trials(union, Qrels.of([(f"q{n}", "y", 1) for n in range(5)]), "RR", recipes=["rrf", "min-max, equal"])
    >>> [(trial.configuration.name, trial.mean) for trial in found]
    [('a', 0.5), ('b', 1.0), ('a + b, rrf', 1.0), ('a + b, min-max, equal', 0.5)]
    """
    found = [_single(union, at, qrels, measure) for at in range(len(union.names))]
    contributing = contributing_sources(union)
    for size in range(2, len(contributing) + 1):
        for rows in combinations(contributing, size):
            some = union.only(rows)
            for name in recipes:
                found.append(_tried(some, RECIPES[name], qrels, measure, lexical, folds, seed))
                progress(len(found) - len(union.names))
    return found


def contributing_sources(union: Union) -> list[int]:
    """The sources that list something for some query.

    >>> contributing_sources(union_of([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {}})]))
    [0]
    """
    return np.flatnonzero((union.places > 0).any(axis=1)).tolist()


def usable_recipes(union: Union) -> tuple[list[str], list[str]]:
    """The recipes that these sources allow, and notes about what is left out.

    >>> usable_recipes(union_of([Run.of("a", {"q": {"x": 1.0}})]))[1]
    []
    """
    try:
        for levels in union.levels:
            levels()
    except ConfigError as error:
        kept = [name for name, recipe in RECIPES.items() if not isinstance(recipe.normaliser, Percentile)]
        return kept, [f"percentile was left out: {error}"]
    return list(RECIPES), []


def configurations(sources: int, recipes: int = len(RECIPES)) -> int:
    """How many configurations of two and more sources there are.

    >>> configurations(4, 8), configurations(6)
    (88, 570)
    """
    return ((1 << sources) - sources - 1) * recipes


def fusion_tried(tried: ConfigurationResult, lexical: frozenset[str] = frozenset()) -> Fusion | None:
    """The fusion of a configuration that was tried, with the weights shown; None for a single source.

    >>> fusion_tried(ConfigurationResult(Configuration(("a", "b"), "tm2c2, tuned"), (0.25, 0.75), 0.4)).source_weights(2).tolist()
    [0.25, 0.75]
    """
    if not tried.configuration.method:
        return None
    recipe = RECIPES[tried.configuration.method]
    if recipe.tuned:
        return weighted(recipe.fusion, tried.weights)
    return recipe.of(sum(name in lexical for name in tried.configuration.members))


def versus_equal_weights(tuned: TunedWeights) -> str:
    """How tuned weights compare with equal ones on queries they were not tuned on, in plain words.

    >>> docs = {"x": 3.0, "y": 1.0, "z": 0.0}, {"y": 4.0, "x": 2.0, "z": 0.0}
    >>> runs = [Run.of(name, {f"q{n}": scores for n in range(4)}) for name, scores in zip("ab", docs)]
    >>> versus_equal_weights(tune_weights(union_of(runs), Convex(), Qrels.of([(f"q{n}", "x", 1) for n in range(4)]), "RR",
    ...     folds=2))
    'not distinguishable from equal weights (+0.000 on queries they were not tuned on)'
    """
    outcome = tuned.versus_equal.outcome("equal weights")
    return f"{outcome} ({tuned.versus_equal.mean:+.3f} on queries they were not tuned on)"


def _single(union: Union, at: int, qrels: Qrels, measure: str) -> GridTrial:
    """A source alone, as it ranks."""
    return GridTrial(Configuration((union.names[at],)), None, (1.0,), evaluate(qrels, alone(union, at), measure).values(measure))


def _tried(
    union: Union, recipe: FusionRecipe, qrels: Qrels, measure: str, lexical: frozenset[str], folds: int, seed: int
) -> GridTrial:
    configuration = Configuration(union.names, recipe.name)
    if recipe.tuned:
        tuned = tune_weights(union, recipe.fusion, qrels, measure, folds=folds, seed=seed)
        weights = tuple(float(weight) for weight in tuned.weights)
        return GridTrial(configuration, tuned.fusion, weights, tuned.held_out.values, True, versus_equal_weights(tuned))
    fusion = recipe.of(sum(name in lexical for name in union.names))
    values = evaluate(qrels, fusion.fused(union, max(1, len(union))), measure).values(measure)
    return GridTrial(configuration, fusion, tuple(fusion.source_weights(len(union.names)).tolist()), values)
