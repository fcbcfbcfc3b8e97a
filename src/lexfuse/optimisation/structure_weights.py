"""The weights of reranking by structure that suit judged queries best: every point of a grid, candidates ranked once.

The new score of a document is linear in its own score and in those of its section and of the documents that cite it, so a point
costs no more than weights of a fusion do (`lexfuse.optimisation.weight_evaluator`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.data.files import write_json
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure
from lexfuse.fusion.run_union import union_of
from lexfuse.index import Index
from lexfuse.optimisation.cross_validation import (
    FOLDS,
    CrossValidated,
    PairedDifference,
    cross_validated,
    paired_difference,
)
from lexfuse.optimisation.weight_evaluator import WeightEvaluator
from lexfuse.optimisation.weight_surface import WeightSurface, simplex
from lexfuse.rerank.reranker import first_documents
from lexfuse.rerank.structure import DEPTH, PARTS, Structure, StructureWeights
from lexfuse.search.spec.reranker_specs import StructureSpec
from lexfuse.search.spec.spec import SearchSpec


@dataclass(frozen=True, slots=True, eq=False)
class TunedStructure:
    """The best weights, what they reach, and the search that uses them; `print` shows it in words."""

    surface: WeightSurface  # over the weights of the parts that the index has
    weights: StructureWeights
    first: float  # what the first stage reaches
    held_out: CrossValidated
    gain: PairedDifference  # of weights that were chosen without each query, over the first stage
    spec: SearchSpec

    @property
    def value(self) -> float:
        """What the best weights reach on the queries that they were chosen on."""
        return float(self.surface.means.max())

    def __str__(self) -> str:
        """What was found, in plain words."""
        chosen = ", ".join(f"{name} {getattr(self.weights, name):g}" for name in PARTS)
        return "\n".join(
            [
                f"best of {len(self.surface.weights):,}: {chosen}",
                f"{self.surface.measure} {self.value:.4f} on {len(self.surface.queries):,} queries; "
                f"{self.held_out.mean:.4f} held out ({self.held_out.folds} folds); first stage {self.first:.4f}",
                f"held out, {self.gain.outcome('the first stage')}: {self.gain.words()}",
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "weights": {name: getattr(self.weights, name) for name in PARTS},
            "measure": self.surface.measure,
            "value": self.value,
            "first": self.first,
            "held_out": self.held_out.as_json(),
            "gain": self.gain.as_json(),
        }

    def save(self, path: str | Path) -> None:
        """Write everything as JSON, complete or not at all."""
        write_json(path, self.as_json())


def structure_grid(parts: Sequence[str], step: float) -> F64:
    """Weights of the parts of a score that add up to 1 and leave something to a document's own score.

    >>> structure_grid(("own", "cited"), 0.5).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    grid = simplex(len(parts), step)
    return grid[grid[:, 0] > 0]


def structure_evaluator(structure: Structure, ranked: Run, qrels: Qrels, measure: Measure | str) -> WeightEvaluator:
    """The measure for any weights of the parts that the index has, over the first documents of a ranking.

    >>> import lexfuse as lf
    >>> queries, qrels = lf.read_queries("examples/questions.csv"), lf.read_qrels("examples/test.tsv")
    >>> with lf.Index.build(folder / "law.index", lf.read_corpus("examples/articles.csv")) as index:
    ...     evaluator = structure_evaluator(Structure(index.snapshot), index.run(queries, channels=["bm25"]), qrels, "R@5")
    >>> evaluator.at(np.array([[1.0, 0.0], [0.5, 0.5]])).shape  # of two weights, for each judged query
    (2, 3)
    """
    run = first_documents(ranked, structure.depth)
    values = np.zeros((len(structure.parts), len(run)))
    for start, stop in zip(run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True):
        scores = structure.scores(run.doc[start:stop], run.score[start:stop])
        values[:, start:stop] = [getattr(scores, name) for name in structure.parts]
    union = union_of([run])
    places = np.repeat(run.offsets[:-1], np.diff(union.offsets)) + union.places[0] - 1
    return WeightEvaluator.of(union, values[:, places], qrels, measure)


def tune_structure(
    index: Index,
    queries: Queries,
    qrels: Qrels,
    measure: Measure | str = "R@100",
    *,
    first: SearchSpec | None = None,
    step: float = 0.05,
    depth: int = DEPTH,
    before_query_date: bool = False,
    folds: int = FOLDS,
) -> TunedStructure:
    """The weights of sections and citations that are best on judged queries, over the ranking of a first stage.

    `first` is a search without rerankers; without it, BM25. With `before_query_date`, only documents dated before a query are
    ranked.

    >>> import lexfuse as lf
    >>> queries, qrels = lf.read_queries("examples/questions.csv"), lf.read_qrels("examples/test.tsv")
    >>> with lf.Index.build(folder / "law.index", lf.read_corpus("examples/articles.csv")) as index:
    ...     tuned = tune_structure(index, queries, qrels, "RR", step=0.5, folds=2)
    >>> tuned.spec.rerank[0].section == tuned.weights.section
    True
    """
    stage = first or SearchSpec.of("bm25")
    if stage.rerank:
        raise ConfigError("the first stage has rerankers already; structure is tuned on a search without them")
    structure = Structure(index.snapshot, depth=depth)
    if len(structure.parts) == 1:
        raise ConfigError(
            "the index has neither articles of codes below headings nor citations between documents, which lexfuse import records"
        )
    run = index.run(queries, depth=max(stage.depth, depth), profile=stage, before_query_date=before_query_date)
    parts = structure.parts
    evaluator = structure_evaluator(structure, run, qrels, measure)
    grid = structure_grid(parts, step)
    surface = WeightSurface(parts, str(evaluator.measure), grid, evaluator.at(grid), evaluator.queries)
    chosen = dict.fromkeys(PARTS[1:], 0.0) | dict(zip(parts[1:], grid[surface.best][1:].tolist(), strict=True))
    held_out = cross_validated(surface, folds)
    alone = surface.values[int(grid[:, 0].argmax())]  # all weight on the document's own score
    return TunedStructure(
        surface,
        StructureWeights(**chosen),
        float(alone.mean()),
        held_out,
        paired_difference(held_out.values, alone),
        stage.model_copy(update={"rerank": (StructureSpec(depth=depth, **chosen),)}),
    )
