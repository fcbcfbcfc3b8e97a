"""Evaluation of a model in training on judged queries: the loss of their examples, and recall over a pool of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import DataError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.train.examples.date_filter import QueryDates
from lexfuse.train.hyperparameters import DevMeasure

if TYPE_CHECKING:
    from torch import Tensor

MEASURES = " ".join(DevMeasure)
DEPTH = 1000


@dataclass(frozen=True, slots=True, eq=False)
class DevQueries:
    """Queries with their judgements and the passages that are ranked for them; a document scores as its best passage.

    ``candidates`` are the passages that a cross-encoder scores for each query (-1 for padding). With ``dates``, only documents
    earlier than a query are ranked for it.

    >>> qrels = Qrels.of([("q", "d", 1)])
    >>> docs, owner = ("L'employeur.", "Le bail."), np.array([0, 1], np.int32)
    >>> judged = DevQueries(Ids(["q"]), ("Qui paie ?",), Ids(["d", "e"]), docs, owner, qrels)
    >>> judged.measured(np.array([[0.2, 0.9]], np.float32))["RR@100"]
    0.5
    """

    queries: Ids
    questions: tuple[str, ...]
    docs: Ids
    passages: tuple[str, ...]
    owner: I32  # the document of each passage
    qrels: Qrels
    candidates: I32 | None = None
    dates: QueryDates | None = None

    def __post_init__(self) -> None:
        """Refuse data that cannot be measured."""
        if not self.questions or not self.passages:
            raise DataError("there is nothing to evaluate on: no judged query, or no document")

    @property
    def most(self) -> int:
        """The maximum number of ranked documents per query."""
        return len(self.docs) if self.dates is None else self.dates.most

    def run(self, scores: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> Run:
        """The best documents of every query by the scores of their passages; -inf means not scored."""
        best = np.full((len(self.questions), len(self.docs)), -np.inf, dtype=np.float32)
        for row, found in zip(best, scores, strict=True):
            np.maximum.at(row, self.owner, found)
        if self.dates is not None:
            best[~self.dates.earlier] = -np.inf
        depth = min(DEPTH, len(self.docs))
        top = np.argpartition(-best, depth - 1, axis=1)[:, :depth].astype(np.int32)
        value = np.take_along_axis(best, top, axis=1)
        kept = np.isfinite(value)
        query = np.repeat(np.arange(len(self.questions), dtype=np.int32), depth).reshape(top.shape)
        return Run.from_arrays("model", self.queries, self.docs, query[kept], top[kept], value[kept])

    def measured(
        self, scores: Tensor | np.ndarray[tuple[int, int], np.dtype[np.float32]], measures: str = MEASURES
    ) -> dict[str, float]:
        """Means over the queries."""
        found = evaluate(self.qrels, self.run(np.asarray(scores)), measures)
        return {str(measure): float(value) for measure, value in found.means.items()}
