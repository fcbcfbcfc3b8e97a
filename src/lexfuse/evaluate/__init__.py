"""Measures, significance and comparison of runs.

    evaluate(qrels, run, "nDCG@10 R@100")                   what one run reaches
    compare(qrels, runs, "nDCG@10", baseline="bm25")        what is better, and whether that is chance

The rest are the parts: measures as values and their spelling, paired tests, intervals, corrections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.lazy import lazy

if TYPE_CHECKING:
    from lexfuse.evaluate.bootstrap import Interval, difference_interval, mean_interval
    from lexfuse.evaluate.choices import Correction, PairedTest
    from lexfuse.evaluate.comparison import Comparison, Paired, Row, compare
    from lexfuse.evaluate.correction import adjusted
    from lexfuse.evaluate.evaluation import Evaluation, evaluate
    from lexfuse.evaluate.measures import CollectionMeasure, Measure, QueryMeasure
    from lexfuse.evaluate.significance import PairedResult, differences, effect_size, paired_test
    from lexfuse.evaluate.spelling import known_measures, parse_measure, parse_measures

_HOMES = {
    "Interval": "lexfuse.evaluate.bootstrap",
    "difference_interval": "lexfuse.evaluate.bootstrap",
    "mean_interval": "lexfuse.evaluate.bootstrap",
    "Correction": "lexfuse.evaluate.choices",
    "PairedTest": "lexfuse.evaluate.choices",
    "Comparison": "lexfuse.evaluate.comparison",
    "Paired": "lexfuse.evaluate.comparison",
    "Row": "lexfuse.evaluate.comparison",
    "compare": "lexfuse.evaluate.comparison",
    "adjusted": "lexfuse.evaluate.correction",
    "Evaluation": "lexfuse.evaluate.evaluation",
    "evaluate": "lexfuse.evaluate.evaluation",
    "CollectionMeasure": "lexfuse.evaluate.measures",
    "Measure": "lexfuse.evaluate.measures",
    "QueryMeasure": "lexfuse.evaluate.measures",
    "PairedResult": "lexfuse.evaluate.significance",
    "differences": "lexfuse.evaluate.significance",
    "effect_size": "lexfuse.evaluate.significance",
    "paired_test": "lexfuse.evaluate.significance",
    "known_measures": "lexfuse.evaluate.spelling",
    "parse_measure": "lexfuse.evaluate.spelling",
    "parse_measures": "lexfuse.evaluate.spelling",
}
__all__ = [
    "CollectionMeasure",
    "Comparison",
    "Correction",
    "Evaluation",
    "Interval",
    "Measure",
    "Paired",
    "PairedResult",
    "PairedTest",
    "QueryMeasure",
    "Row",
    "adjusted",
    "compare",
    "difference_interval",
    "differences",
    "effect_size",
    "evaluate",
    "known_measures",
    "mean_interval",
    "paired_test",
    "parse_measure",
    "parse_measures",
]
__getattr__ = lazy("lexfuse.evaluate", _HOMES)
