"""The calibration of a search's confidence as data: two logistic regressions over features of the best results.

    [confidence]
    features = ["coverage", "score"]
    centre = [0.61, 0.42]            # of each feature on the questions of the calibration
    scale = [0.25, 0.11]
    answer = [-0.8, 0.9, 0.4]        # intercept, then a weight for each feature: that the best result answers
    topic = [2.1, 1.7, 0.6]          # that the corpus has an answer at all
    threshold = 0.31                 # of the latter, below which nothing is called an answer
    shown = 0.22                     # of the former, from which on the best result is shown as the answer
    model = "3f2a…"                  # fingerprint of the model whose vectors of questions count too
    question = [0.3, -0.1, …]        # intercept, then a weight for each number of such a vector: the feature "question"

`lexfuse tune confidence` makes it (`lexfuse.optimisation.confidence`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator

from lexfuse.channels.retriever import QueryVector
from lexfuse.data.arrays import F32, F64
from lexfuse.data.validation import Model, Share, Texts, expect
from lexfuse.errors import ConfigError


def _finite_numbers(value: Any) -> tuple[float, ...]:
    given = value if isinstance(value, list | tuple) else [value]
    if not all(type(one) in (int, float) and math.isfinite(one) for one in given):
        expect("a list of finite numbers")
    return tuple(map(float, given))


QUESTION = "question"  # the feature that the vector of a question gives
FiniteNumbers = Annotated[tuple[float, ...], BeforeValidator(_finite_numbers)]


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely it is that the best result answers a question, and that the corpus has an answer at all."""

    answer: float  # probability that the best result answers
    topic: float  # probability that the corpus has an answer
    answers: bool  # whether the corpus is taken to have an answer; otherwise nothing here clearly answers
    shown: bool  # whether the best result is likely enough to be shown as the answer


class ConfidenceSpec(Model):
    """A calibration; the features are those of `lexfuse.search.confidence`.

    >>> weights = {"answer": [0.0, 1.0], "topic": [0.0, 2.0]}
    >>> spec = ConfidenceSpec(features=["coverage"], centre=[0.5], scale=[0.1], threshold=0.5, **weights)
    >>> spec.judge({"coverage": 0.6}).answers, round(spec.judge({"coverage": 0.4}).topic, 3)
    (True, 0.119)
    """

    features: Texts
    centre: FiniteNumbers
    scale: FiniteNumbers
    answer: FiniteNumbers
    topic: FiniteNumbers
    threshold: Share
    shown: Share = 0.0
    model: str = ""
    question: FiniteNumbers = ()

    def check(self) -> None:
        """Refuse lists that do not belong together."""
        count = len(self.features)
        for name, wanted in (("centre", count), ("scale", count), ("answer", count + 1), ("topic", count + 1)):
            if len(given := getattr(self, name)) != wanted:
                raise ConfigError(f"{name} has {len(given)} numbers for {count} features; {wanted} are expected")
        if not count or min(self.scale) <= 0:
            raise ConfigError("a calibration needs at least one feature, and a scale above 0 for each")
        if bool(self.model) != bool(self.question) or bool(self.question) != (QUESTION in self.features):
            raise ConfigError(f"model, question and the feature {QUESTION!r} belong together; give all of them or none")

    def along(self, found: QueryVector | None) -> float:
        """The feature "question": the vector of a question along the direction of the calibration, of length one.

        >>> weights = {"answer": [0.0, 1.0], "topic": [0.0, 2.0], "model": "3f2a", "question": [0.5, 1.0, 0.0]}
        >>> spec = ConfidenceSpec(features=["question"], centre=[0.5], scale=[0.1], threshold=0.5, **weights)
        >>> spec.along(QueryVector("3f2a", np.array([3.0, 4.0], dtype=np.float32)))
        1.1
        """
        if found is None or found.model != self.model or len(found.vector) + 1 != len(self.question):
            raise ConfigError("the vectors of questions are not those of the calibration; calibrate the confidence again")
        return self.question[0] + float(unit_length(found.vector) @ np.array(self.question[1:]))

    def judge(self, values: Mapping[str, float]) -> Confidence:
        """The confidence for the features of a question; one that is missing is a `ConfigError`."""
        if missing := [name for name in self.features if name not in values]:
            raise ConfigError(f"the search gives no {missing[0]!r}; calibrate the confidence of this profile again")
        pairs = zip(self.features, self.centre, self.scale, strict=True)
        row = [(values[name] - centre) / scale for name, centre, scale in pairs]
        answer, topic = logistic(self.answer, row), logistic(self.topic, row)
        return Confidence(answer, topic, topic >= self.threshold, topic >= self.threshold and answer >= self.shown)


def unit_length(vector: F32) -> F64:
    """A vector divided by its length; a vector of zeros stays as it is.

    >>> unit_length(np.array([3.0, 4.0], dtype=np.float32)).tolist()
    [0.6, 0.8]
    """
    exact = np.asarray(vector, dtype=np.float64)
    return exact / (math.sqrt(float(exact @ exact)) or 1.0)


def logistic(weights: Sequence[float], row: Sequence[float]) -> float:
    """The probability by a logistic regression with an intercept.

    >>> logistic([0.0, 1.0], [0.0])
    0.5
    """
    total = weights[0] + math.fsum(weight * value for weight, value in zip(weights[1:], row, strict=True))
    return 1 / (1 + math.exp(-total)) if total >= 0 else math.exp(total) / (1 + math.exp(total))
