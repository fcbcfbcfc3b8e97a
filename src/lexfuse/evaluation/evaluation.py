"""A run measured against judgements: aligned values per query, their means, and what was out of the ordinary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from lexfuse.data.arrays import F64, read_only
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.evaluation.measure import CollectionMeasure, Measure, QueryMeasure
from lexfuse.evaluation.measure_names import parse_measure, parse_measures
from lexfuse.evaluation.measures import MeanPercentileRank
from lexfuse.evaluation.relevance_table import RelevanceTable, relevance_table

MEASURES = "nDCG@10 R@100 RR@10 AP@100"
_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What one run reaches, per query and on average; `print` shows the means, then what was out of the ordinary.

    Arrays of all measures, and of all runs evaluated with the same qrels, are aligned: position i is query `queries[i]`.

    >>> qrels = Qrels.of([("q1", "d1", 1), ("q2", "d2", 1)])
    >>> evaluation = evaluate(qrels, Run.of("bm25", {"q1": {"d1": 2.0, "d2": 1.0}}), "RR@10 R@100")
    >>> evaluation.mean("RR@10"), evaluation.value("RR@10", "q1"), evaluation.missing
    (0.5, 1.0, ('q2',))
    """

    run: str
    queries: Ids
    measures: tuple[Measure, ...]
    per_query: Mapping[QueryMeasure, F64]
    per_collection: Mapping[CollectionMeasure, float]
    missing: tuple[str, ...]  # queries that the run does not rank; each counts as zero
    unjudged: tuple[str, ...]  # queries of the run without judgements; left out
    without_relevant: tuple[str, ...]  # queries whose judgements name no relevant document; left out
    without_grade: Mapping[Measure, int]  # for a measure with rel=: queries with no such document; each counts as zero
    unranked: Mapping[Measure, int]  # for MPR: relevant documents that the run does not rank; left out

    def mean(self, measure: Measure | str) -> float:
        """The value of the run: the mean over queries, or the one value of a collection measure."""
        measure = self._known(measure)
        if isinstance(measure, CollectionMeasure):
            return self.per_collection[measure]
        return float(self.values(measure).mean())

    @property
    def means(self) -> dict[Measure, float]:
        """The value of every measure, in the order asked for."""
        return {measure: self.mean(measure) for measure in self.measures}

    def values(self, measure: Measure | str) -> F64:
        """One value per query in the order of `queries`; a collection measure has none and is a `ConfigError`."""
        measure = self._known(measure)
        if not isinstance(measure, QueryMeasure):
            raise ConfigError(
                f"{measure} is taken over the whole collection and has no values per query; use F1, P, R or macroMPR instead"
            )
        return self.per_query[measure]

    def value(self, measure: Measure | str, query: str) -> float:
        """The value of one query; `NotFoundError` if it was not evaluated."""
        return float(self.values(measure)[self.queries.ordinal(query)])

    def __str__(self) -> str:
        """One line for each measure, then the notes."""
        width = max(len(str(measure)) for measure in self.measures)
        return "\n".join([*(f"{measure!s:<{width}}  {mean:.4f}" for measure, mean in self.means.items()), *self.notes()])

    def notes(self) -> list[str]:
        """What a reader of the means must know: queries that count as zero, and queries left out.

        >>> evaluate(Qrels.of([("q", "d", 1)]), Run.of("x", {"p": {"d": 1.0}}), "R@5").notes()
        ['1 of 1 queries missing from the run, counted as zero: q', '1 query of the run without judgements, left out: p']
        """
        total = len(self.queries)
        notes = []
        if self.missing:
            notes.append(f"{len(self.missing)} of {total} queries missing from the run, counted as zero: {_some(self.missing)}")
        if self.unjudged:
            notes.append(f"{_count(self.unjudged)} of the run without judgements, left out: {_some(self.unjudged)}")
        if self.without_relevant:
            named = _some(self.without_relevant)
            notes.append(f"{_count(self.without_relevant)} judged without a relevant document, left out: {named}")
        for measure, count in self.without_grade.items():
            notes.append(f"{count} of {total} queries have no document of grade {measure.rel} and count as zero in {measure}")
        for measure, count in self.unranked.items():
            documents = "document is" if count == 1 else "documents are"
            notes.append(f"{count:,} relevant {documents} not ranked and left out of {measure}; macroMPR counts them as zero")
        return notes

    def as_json(self) -> dict[str, Any]:
        """Means and notes as plain values."""
        return {
            "run": self.run,
            "queries": len(self.queries),
            "means": {str(measure): mean for measure, mean in self.means.items()},
            "missing": list(self.missing),
            "unjudged": list(self.unjudged),
            "without_relevant": list(self.without_relevant),
            "unranked": {str(measure): count for measure, count in self.unranked.items()},
        }

    def _known(self, measure: Measure | str) -> Measure:
        if isinstance(measure, str):
            measure = parse_measure(measure)
        if measure not in self.measures:
            raise NotFoundError(f"{measure} was not evaluated; there are {', '.join(map(str, self.measures))}")
        return measure


class EvaluationTable(tuple[Evaluation, ...]):
    """Evaluations of several runs under the same measures; `print` shows a table, then the notes of each run."""

    __slots__ = ()

    def __str__(self) -> str:
        """A line for each run."""
        head = ["run", *map(str, self[0].measures)] if self else []
        rows = [[each.run, *(f"{mean:.4f}" for mean in each.means.values())] for each in self]
        return "\n".join([*aligned_lines([head, *rows]), *self.notes()])

    def notes(self) -> list[str]:
        """What was out of the ordinary, run by run."""
        return [f"{each.run}: {note}" for each in self for note in each.notes()]


@overload
def evaluate(qrels: Qrels, run: Run, measures: str | Sequence[Measure] = MEASURES) -> Evaluation: ...


@overload
def evaluate(qrels: Qrels, run: Sequence[Run], measures: str | Sequence[Measure] = MEASURES) -> EvaluationTable: ...


def evaluate(
    qrels: Qrels, run: Run | Sequence[Run], measures: str | Sequence[Measure] = MEASURES
) -> Evaluation | EvaluationTable:
    """Measure a run, or several under the same measures.

    The queries that count are those of the qrels with at least one relevant document (grade 1 or more), matched by id:

    - one that the run does not rank counts as zero and is named in `missing`;
    - one that the qrels judge without naming a relevant document has no defined recall or gain: it is left out of every mean
      and named in `without_relevant` (pytrec_eval gives it 0, so its means are lower on such collections);
    - one that only the run has is left out and named in `unjudged`;
    - in a measure with a higher grade, as P(rel=2)@5, a query without a document of that grade counts as zero, as trec_eval
      has it, so that all arrays stay aligned; how many there are is in `without_grade`.

    >>> qrels = Qrels.of([("q1", "L1", 1), ("q1", "L2", 2)])
    >>> run = Run.of("bm25", {"q1": {"L2": 3.0, "L9": 2.0, "L1": 1.0}})
    >>> print(evaluate(qrels, run, "P@2 RR"))
    P@2  0.5000
    RR   1.0000
    >>> print(evaluate(qrels, [run, Run.of("dense", {"q1": {"L1": 0.9, "L2": 0.8}})], "P@2 RR"))
    run    P@2     RR
    bm25   0.5000  1.0000
    dense  1.0000  1.0000
    """
    chosen = parse_measures(measures) if isinstance(measures, str) else tuple(dict.fromkeys(measures))
    if not chosen:
        raise ConfigError("no measure given; name at least one, for example nDCG@10")
    if isinstance(run, Run):
        return _evaluate(qrels, run, chosen)
    check_names(run)
    return EvaluationTable(_evaluate(qrels, one, chosen) for one in run)


def check_names(runs: Sequence[Run]) -> None:
    """Refuse runs of the same name, and no run at all."""
    names = [run.name for run in runs]
    if not names:
        raise ConfigError("no run given; give at least one")
    if len(set(names)) != len(names):
        raise ConfigError(f"runs must have different names, got {', '.join(names)}; rename one")


def aligned_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines whose columns are aligned.

    >>> aligned_lines([["run", "RR"], ["bm25", "0.5"]])
    ['run   RR', 'bm25  0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _evaluate(qrels: Qrels, run: Run, chosen: tuple[Measure, ...]) -> Evaluation:
    cutoffs = [measure.cutoff for measure in chosen]
    depth = None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)
    aligned = relevance_table(qrels, run, depth)
    return Evaluation(
        run=run.name,
        queries=aligned.queries,
        measures=chosen,
        per_query={measure: read_only(measure.values(aligned)) for measure in chosen if isinstance(measure, QueryMeasure)},
        per_collection={measure: measure.value(aligned) for measure in chosen if isinstance(measure, CollectionMeasure)},
        missing=aligned.missing,
        unjudged=aligned.unjudged,
        without_relevant=aligned.without_relevant,
        without_grade=_without_grade(chosen, aligned),
        unranked=_unranked(chosen, aligned),
    )


def _without_grade(measures: Sequence[Measure], aligned: RelevanceTable) -> dict[Measure, int]:
    counts = {measure: int(np.sum(aligned.relevant(measure.rel) == 0)) for measure in measures if measure.rel > 1}
    return {measure: count for measure, count in counts.items() if count and isinstance(measure, QueryMeasure)}


def _unranked(measures: Sequence[Measure], aligned: RelevanceTable) -> dict[Measure, int]:
    counts = {measure: measure.left_out(aligned) for measure in measures if isinstance(measure, MeanPercentileRank)}
    return {measure: count for measure, count in counts.items() if count}


def _count(names: Sequence[str]) -> str:
    return "1 query" if len(names) == 1 else f"{len(names)} queries"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
