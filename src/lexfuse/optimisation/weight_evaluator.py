"""A measure for any weights of the sources of a union set, without ranking anything.

A measure looks only at the ranks of relevant documents, and the rank of a document is one more than the number of candidates
with a higher fused score. So the candidates of a query are fused for every point and counted, never sorted.

A source of weight 0 takes no part in a fusion (`lexfuse.fusion.fusion`). So every face of the simplex has its own union set,
and a corner, all weight on one source, has the evaluation of that source alone.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from lexfuse.data.arrays import F64, I32, I64, offsets_of
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import Measure, QueryMeasure
from lexfuse.evaluation.measure_names import parse_measure
from lexfuse.evaluation.relevance_table import RelevanceTable, relevance_table
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Union
from lexfuse.kernels.compilation import read_only_view
from lexfuse.kernels.threads import cores


@dataclass(frozen=True, slots=True, eq=False)
class WeightEvaluator:
    """What a measure says about points of weights, for the values that a fusion gives each source, or for any other values.

    >>> from lexfuse.fusion.convex import Convex
    >>> union = union_of([Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0, "x": 1.0}})])
    >>> evaluator = WeightEvaluator.of_fusion(union, Convex(), Qrels.of([("q", "y", 1)]), "RR")
    >>> evaluator.at(np.array([[0.2, 0.8], [0.9, 0.1]])).tolist()
    [[1.0], [0.5]]
    """

    union: Union
    values: F64  # sources x candidates
    qrels: Qrels
    measure: QueryMeasure
    template: RelevanceTable  # of the union set, its hits in the order of `hits`
    hits: I64  # candidates that are relevant, query after query of the union
    starts: I64  # of the hits of every query of the union
    fusion: Fusion | None = None  # None where the values are no fusion's: then a weight of 0 is a number like others
    faces: dict[tuple[int, ...], WeightEvaluator] = field(default_factory=dict)  # by the sources that have a weight

    @classmethod
    def of_fusion(cls, union: Union, fusion: Fusion, qrels: Qrels, measure: Measure | str) -> WeightEvaluator:
        """For the values of a fusion; its own weights do not matter."""
        return replace(cls.of(union, fusion.values(union), qrels, measure), fusion=fusion, faces={})

    @classmethod
    def of(cls, union: Union, values: F64, qrels: Qrels, measure: Measure | str) -> WeightEvaluator:
        """Find the relevant candidates; `ConfigError` for a measure without a value per query."""
        chosen = parse_measure(measure) if isinstance(measure, str) else measure
        if not isinstance(chosen, QueryMeasure):
            raise ConfigError(f"{chosen} has no value per query, so weights cannot be tuned on it; take nDCG@10 or R@100")
        candidates = Run("union", union.queries, union.docs, union.offsets, union.doc, np.zeros(len(union), dtype=np.float32))
        found = relevance_table(qrels, candidates)
        row = union.queries.ordinals(found.queries)[found.hit_query].astype(np.int64)
        hits = union.offsets[row] + found.hit_rank - 1
        order = np.argsort(hits, kind="stable")
        starts = offsets_of(np.bincount(row, minlength=len(union.queries)))
        ordered = replace(found, hit_query=found.hit_query[order], hit_grade=found.hit_grade[order])
        return cls(union, values, qrels, chosen, ordered, hits[order], starts)

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the evaluated queries: those with a relevant document, in the order of the judgements."""
        return tuple(self.template.queries)

    def at(self, weights: F64) -> F64:
        """The value of every query (columns) for every row of weights."""
        found = np.empty((len(weights), len(self.template.queries)))
        groups: dict[tuple[int, ...], list[int]] = {}
        for point, row in enumerate(weights):
            groups.setdefault(tuple(np.flatnonzero(row).tolist()), []).append(point)
        for sources, points in groups.items():
            face = self._face(sources)
            for point, ranks in zip(points, face._ranks(weights[points]), strict=True):
                found[point] = face.measure.values(face.template.with_ranks(ranks))
        return found

    def _face(self, sources: tuple[int, ...]) -> WeightEvaluator:
        """The same over the candidates of the sources that have a weight; of one source in the order of its own list."""
        if self.fusion is None or not 0 < len(sources) < len(self.values):
            return self
        if sources not in self.faces:
            some = self.union.select(self.union.listed_by(list(sources)))
            values = -some.places.astype(np.float64) if len(sources) == 1 else self.fusion.values(some)
            self.faces[sources] = WeightEvaluator.of(some, values, self.qrels, self.measure)
        return self.faces[sources]

    def _ranks(self, weights: F64) -> I32:
        """The ranks of all hits for every point, computed on all cores."""
        from lexfuse.kernels.weight_tuning_numba import hit_ranks

        columns = read_only_view(self.union.offsets), read_only_view(self.values), read_only_view(self.union.order)
        hits = read_only_view(self.starts), read_only_view(self.hits)
        blocks = [block for block in np.array_split(weights, min(4 * cores(), max(len(weights), 1))) if len(block)]
        with ThreadPoolExecutor(cores()) as pool:
            found = list(pool.map(lambda block: hit_ranks(*columns, read_only_view(block), *hits), blocks))
        return np.concatenate(found) if found else np.empty((0, len(self.hits)), dtype=np.int32)
