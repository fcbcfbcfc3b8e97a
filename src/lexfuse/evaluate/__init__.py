"""Measures, significance and comparison of runs.

    evaluate(qrels, run, "nDCG@10 R@100")                   what one run reaches
    compare(qrels, runs, "nDCG@10", baseline="bm25")        what is better, and whether that is chance

The rest are the parts: measures as values and their spelling, paired tests, intervals, corrections.
"""

from lexfuse.evaluate.bootstrap import Interval, difference_interval, mean_interval
from lexfuse.evaluate.compare import Comparison, Paired, Row, compare
from lexfuse.evaluate.correction import Correction, adjusted
from lexfuse.evaluate.evaluation import Evaluation, evaluate
from lexfuse.evaluate.measures import CollectionMeasure, Measure, QueryMeasure
from lexfuse.evaluate.significance import PairedResult, PairedTest, differences, effect_size, paired_test
from lexfuse.evaluate.spelling import known_measures, parse_measure, parse_measures

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
