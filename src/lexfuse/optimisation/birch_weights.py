"""The a and the weights of Birch (RPRS eq. 9) that suit judged queries best: every point of a grid, sentences scored once.

The score of a document is linear in its own score and those of its sentences, so a point costs no more than weights of a fusion
do (`lexfuse.optimisation.weight_evaluator`). The weight of the best sentence is 1, those of the others lie between 0 and 1, as
in Birch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from lexfuse.data.arrays import F64, I32, I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation.weight_evaluator import WeightEvaluator
from lexfuse.optimisation.weight_surface import tied_highest
from lexfuse.rerank.birch import Birch, check_birch

TENTHS = tuple(number / 10 for number in range(11))


@dataclass(frozen=True, slots=True, eq=False)
class TunedBirch:
    """The best point of a grid as a reranker, and the grid."""

    birch: Birch
    measure: str
    queries: int  # how many were judged
    points: F64  # a, then the weights, a row each
    means: F64  # of the measure at every point

    @property
    def value(self) -> float:
        """What the best point reaches, on the queries it was chosen on."""
        return float(self.means.max())


def tune_birch(
    birch: Birch,
    queries: Queries,
    run: Run,
    qrels: Qrels,
    measure: Measure | str,
    *,
    a_s: Sequence[float] = TENTHS,
    weights: Sequence[float] = TENTHS,
) -> TunedBirch:
    """Choose a and the weights of as many sentences as Birch has, for the rankings of a first stage; of equal points the first.

    >>> import tempfile
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.rerank.birch import CrossEncoderSentences
    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> class Short:  # a scorer that likes few words
    ...     def scores(self, query, texts, aggregate=None, *, heads=()):
    ...         return np.array([1 / len(text.split()) for text in texts], np.float32)
    >>> documents = [Document("a", text="La loi, oui.", language="fr"), Document("b", text="Oui. La loi dit non.", language="fr")]
    >>> queries = Queries.of([Query("q", "loi", "fr")])
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         run = BM25(snapshot).retrieve(queries, 10)
    ...         birch = Birch(CrossEncoderSentences(snapshot, Short()), weights=(1.0,))
    ...         tuned = tune_birch(birch, queries, run, Qrels.of([("q", "b", 1)]), "RR")
    >>> tuned.birch.a, tuned.birch.weights, tuned.value, tuned.means.min().item()
    (0.0, (1.0,), 1.0, 0.5)
    """
    grid = [(a, 1.0, *rest) for a, *rest in product(a_s, *[weights] * (len(birch.weights) - 1))]
    if not grid:
        raise ConfigError("there is nothing to choose from; give at least one a and one weight")
    for a, *some in grid:
        check_birch(a, some)
    union = union_of([run])
    evaluator = WeightEvaluator.of(
        union, _values(birch, queries, run)[:, _places(run, union.offsets, union.places[0])], qrels, measure
    )
    points = np.array(grid)
    shares = np.column_stack([points[:, :1], (1 - points[:, :1]) * points[:, 1:], np.ones(len(points))])
    means = evaluator.at(shares).mean(axis=1)
    best = int(tied_highest(means)[0])
    chosen = replace(birch, a=grid[best][0], weights=grid[best][1:])
    return TunedBirch(chosen, str(evaluator.measure), len(evaluator.queries), points, means)


def _values(birch: Birch, queries: Queries, run: Run) -> F64:
    """S_doc, S_1, S_2 … of every document of a run, and a row that keeps those that are not scored below the others."""
    counts = np.diff(run.offsets)
    place = np.arange(len(run)) - np.repeat(run.offsets[:-1], counts)
    evidence = birch.evidence(queries, run, birch.depth)
    values = np.zeros((len(birch.weights) + 2, len(run)))
    within = place < birch.depth
    values[0, within], values[1:-1, within] = evidence.document, evidence.best.T
    unknown = ~within | np.isnan(values[1])
    values[:-1, unknown] = 0.0
    step = 4.0 * float(np.abs(values).sum(axis=0).max(initial=0.0)) + 1.0
    values[-1, unknown] = -step * (place[unknown] + 1)
    return values


def _places(run: Run, offsets: I64, places: I32) -> I64:
    """The place of every candidate of the union set of one run."""
    return np.repeat(run.offsets[:-1], np.diff(offsets)) + places - 1
