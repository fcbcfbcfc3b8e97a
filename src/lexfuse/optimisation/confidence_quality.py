"""How good a calibrated confidence is on some questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F64
from lexfuse.optimisation.confidence_examples import ConfidenceExamples
from lexfuse.search.spec.confidence_spec import Confidence

BINS = 10  # of the expected calibration error, each with as many questions
DRAWS = 1000  # of answers, for the error of exact probabilities
CONFIDENT = 0.95  # share of the draws below `chance_limit`


@dataclass(frozen=True, slots=True)
class ConfidenceQuality:
    """How good a calibration is on some questions."""

    questions: int
    off_topic: int
    calibration_error: float  # expected, of the probability that the best result answers
    chance_error: float  # the error of probabilities that are exactly right, on as many questions: the mean
    chance_limit: float  # … and what it exceeds once in twenty times
    recognised: float  # share of off-topic questions that are refused
    refused: float  # share of judged questions that are refused
    log_loss: float  # mean, of the same probability; the lower the better, and less subject to chance than the calibration error


def confidence_quality(examples: ConfidenceExamples, judged: Sequence[Confidence]) -> ConfidenceQuality:
    """The quality of the confidences that questions got; questions that others judged count for nothing.

    >>> rows = tuple({"coverage": float(at)} for at in range(4))
    >>> right = np.array([1.0, 1.0, 0.0, 0.0])
    >>> sure, none = Confidence(1.0, 1.0, True, True), Confidence(0.0, 0.0, False, False)
    >>> found = confidence_quality(ConfidenceExamples(rows, right, right), [sure, sure, none, none])
    >>> found.calibration_error, found.recognised, found.refused
    (0.0, 1.0, 0.0)
    """
    places = examples.own
    known, given = examples.some(places), [judged[at] for at in places.tolist()]
    answers = np.array([one.answers for one in given])
    predicted = np.array([one.answer for one in given])
    real = known.on_topic > 0
    draws = np.random.default_rng(0).random((DRAWS, len(predicted))) < predicted
    chance = [calibration_error(predicted, one.astype(np.float64), known.weights) for one in draws]
    return ConfidenceQuality(
        int(real.sum()),
        int((~real).sum()),
        calibration_error(predicted, known.relevant, known.weights),
        float(np.mean(chance)),
        float(np.quantile(chance, CONFIDENT)),
        float((~answers[~real]).mean()) if (~real).any() else math.nan,
        float((~answers[real]).mean()) if real.any() else math.nan,
        log_loss(predicted, known.relevant, known.weights),
    )


def log_loss(predicted: F64, right: F64, weights: F64) -> float:
    """Mean negative logarithm of the probability of what is the case.

    >>> round(log_loss(np.array([0.5, 1.0]), np.array([0.0, 1.0]), np.ones(2)), 4)
    0.3466
    """
    of_truth = np.clip(np.where(right > 0, predicted, 1 - predicted), 1e-12, 1.0)
    return float(-(weights * np.log(of_truth)).sum() / weights.sum())


def calibration_error(predicted: F64, right: F64, weights: F64, bins: int = BINS) -> float:
    """Expected calibration error: the mean difference of predicted and observed shares, over bins with as many questions each.

    >>> calibration_error(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.ones(2))
    0.0
    """
    order = np.argsort(predicted, kind="stable")
    total, error = float(weights.sum()), 0.0
    for part in np.array_split(order, min(bins, len(order))):
        weight = weights[part]
        error += abs(float((weight * (predicted[part] - right[part])).sum())) / total
    return error
