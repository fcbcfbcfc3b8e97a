"""Calibrates the confidence of a search on judged questions and on questions that the corpus does not answer.

Two logistic regressions with a small ridge penalty: one says whether the best result is judged relevant, the other whether the
question is one of the judged ones at all. Questions that the corpus does not answer count as a third of all, however many there
are. The threshold refuses a share of the judged questions (`REFUSED`). A best result is shown as an answer if it is likelier to
answer than that of the average judged question, or at least as likely as not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lexfuse.channels.query_context import query_context
from lexfuse.data.arrays import F64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError
from lexfuse.search.asked_question import read_question
from lexfuse.search.confidence import SEEN, confidence_features
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.results import find_documents
from lexfuse.search.spec.confidence_spec import ConfidenceSpec
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.search.words.correction import Spelling

OFF_TOPIC_SHARE = 1 / 3  # of all questions
REFUSED = 0.04  # judged questions that the threshold may refuse: below the 5 % that are allowed on other questions
RIDGE = 3.0
BINS = 10  # of the expected calibration error, each with as many questions
FEWEST = 20  # questions of each kind


@dataclass(frozen=True, eq=False)
class ConfidenceExamples:
    """Features of questions, whether the best result of each is relevant, and whether the corpus answers it at all."""

    features: tuple[Mapping[str, float], ...]
    relevant: F64
    on_topic: F64
    without: int = 0  # questions that had no results or no words

    def matrix(self, names: Sequence[str]) -> F64:
        """A row each question."""
        return np.array([[one[name] for name in names] for one in self.features], dtype=np.float64).reshape(-1, len(names))

    @property
    def weights(self) -> F64:
        """The weight of each question: off-topic ones are a third of all."""
        real = float(self.on_topic.sum())
        off = len(self.on_topic) - real
        each = real * OFF_TOPIC_SHARE / (1 - OFF_TOPIC_SHARE) / off if off else 0.0
        return np.where(self.on_topic > 0, 1.0, each)


@dataclass(frozen=True, slots=True)
class ConfidenceQuality:
    """How good a calibration is on some questions."""

    questions: int
    off_topic: int
    calibration_error: float  # expected, of the probability that the best result answers
    recognised: float  # share of off-topic questions that are refused
    refused: float  # share of judged questions that are refused


@dataclass(frozen=True, eq=False)
class TunedConfidence:
    """A calibration, its profile, and its quality on the questions it was made from and on others."""

    spec: SearchSpec
    calibration: ConfidenceQuality
    held_out: ConfidenceQuality | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)  # questions without results or words

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        from dataclasses import asdict

        held = None if self.held_out is None else asdict(self.held_out)
        return {
            "profile": self.spec.as_json(),
            "calibration": asdict(self.calibration),
            "held_out": held,
            "skipped": dict(self.skipped),
        }


def tune_confidence(
    version: IndexVersion,
    profile: str | SearchSpec,
    judged: tuple[Queries, Qrels],
    off_topic: Queries,
    *,
    held_out: tuple[Queries, Qrels, Queries] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> TunedConfidence:
    """The profile with a calibrated confidence; too few questions are a `ConfigError`.

    >>> tune_confidence(IndexVersion(snapshot), "bm25", (Queries.of([]), Qrels.of([])), Queries.of([]))
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a calibration needs at least 20 judged and 20 off-topic questions with results, got 0 and 0
    """
    spec = version.specs[profile] if isinstance(profile, str) and profile in version.specs else profile
    if isinstance(spec, str):
        raise ConfigError(f"there is no profile {spec!r}; there are {', '.join(version.specs)}")
    examples = read_examples(version, spec, *judged, off_topic, progress=progress)
    real = int(examples.on_topic.sum())
    off = len(examples.on_topic) - real
    if min(real, off) < FEWEST:
        counts = f"at least {FEWEST} judged and {FEWEST} off-topic questions with results, got {real} and {off}"
        raise ConfigError(f"a calibration needs {counts}")
    fitted = fit_confidence(examples)
    known = quality(fitted, examples)
    others, other = None, None
    if held_out is not None:
        others = read_examples(version, spec, *held_out, progress=progress)
        other = quality(fitted, others)
    evidence = dict(spec.evidence) | _evidence("confidence", known) | (_evidence("held-out confidence", other) if other else {})
    skipped = {"calibration": examples.without, **({"held_out": others.without} if others else {})}
    return TunedConfidence(spec.replace(confidence=fitted, evidence=evidence), known, other, skipped)


def read_examples(
    version: IndexVersion,
    spec: SearchSpec,
    queries: Queries,
    qrels: Qrels,
    off_topic: Queries,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> ConfidenceExamples:
    """The features of judged and of off-topic questions, read as `search` reads them.

    >>> queries, none = Queries.of([Query("q", "retard de prêt", "fr")]), Queries.of([])
    >>> found = read_examples(IndexVersion(snapshot), SearchSpec.of("bm25"), queries, Qrels.of([("q", "lib-4", 1)]), none)
    >>> found.relevant.tolist(), found.on_topic.tolist()
    ([1.0], [1.0])
    """
    own = set(qrels.queries)
    asked = [(query, {doc for doc, grade in qrels.judged(query.id).items() if grade > 0}) for query in queries if query.id in own]
    features, relevant, on_topic, without = [], [], [], 0
    for number, (query, right, real) in enumerate(_every(asked, off_topic), start=1):
        best, found = _answered(version, spec, query)
        progress(number)
        if found is None:
            without += 1
            continue
        features.append(found)
        relevant.append(float(best in right))
        on_topic.append(float(real))
    return ConfidenceExamples(tuple(features), np.array(relevant), np.array(on_topic), without)


def _every(asked: Iterable[tuple[Query, set[str]]], off_topic: Queries) -> Iterable[tuple[Query, set[str], bool]]:
    yield from ((query, right, True) for query, right in asked)
    yield from ((query, set[str](), False) for query in off_topic)


def _answered(version: IndexVersion, spec: SearchSpec, query: Query) -> tuple[str, Mapping[str, float] | None]:
    opened = version.search_by(spec, everyday=True)
    question = read_question(version, query, spelling=Spelling.AUTO, by_words=opened.by_words(query)).ranked
    with query_context():
        found = find_documents(opened.retriever, question, SEEN, within=opened.within, citations=version.citations)
        features = confidence_features(version, opened.retriever, question, found)
    return (found[0].hit.doc if found else ""), features


def fit_confidence(examples: ConfidenceExamples) -> ConfidenceSpec:
    """A calibration on examples.

    >>> rows = tuple({"coverage": at / 10} for at in range(10))
    >>> right = np.array([float(at > 4) for at in range(10)])
    >>> fit_confidence(ConfidenceExamples(rows, right, right)).judge({"coverage": 0.9}).answers
    True
    """
    names = tuple(name for name in examples.features[0] if all(name in one for one in examples.features))
    rows = examples.matrix(names)
    spread = rows.std(axis=0)
    varying = [at for at in range(len(names)) if spread[at] > 1e-6]
    centre, scale = rows.mean(axis=0)[varying], spread[varying]
    scaled = (rows[:, varying] - centre) / scale
    answer = logistic_regression(scaled, examples.relevant, examples.weights)
    topic = logistic_regression(scaled, examples.on_topic, examples.weights)
    real = scaled[examples.on_topic > 0]
    threshold = float(np.quantile(probabilities(topic, real), REFUSED, method="lower"))
    return ConfidenceSpec(
        features=tuple(names[at] for at in varying),
        centre=_rounded(centre),
        scale=_rounded(scale),
        answer=_rounded(answer),
        topic=_rounded(topic),
        threshold=float(f"{threshold * (1 - 1e-6):.6g}"),
        shown=float(f"{min(examples.relevant[examples.on_topic > 0].mean(), 0.5):.6g}"),
    )


def logistic_regression(rows: F64, wanted: F64, weights: F64, ridge: float = RIDGE) -> F64:
    """Intercept and weights of a logistic regression with a ridge penalty, by Newton's method.

    >>> found = logistic_regression(np.array([[-1.0], [1.0]]), np.array([0.0, 1.0]), np.ones(2))
    >>> bool(found[1] > 0), bool(abs(found[0]) < 1e-6)
    (True, True)
    """
    design = np.column_stack([np.ones(len(rows)), rows])
    penalty = np.array([1e-6, *([ridge] * rows.shape[1])])
    found = np.zeros(design.shape[1])

    def loss(at: F64) -> float:
        signed = np.where(wanted > 0, 1.0, -1.0) * (design @ at)
        return float((weights * np.logaddexp(0.0, -signed)).sum() + 0.5 * (penalty * at**2).sum())

    for _ in range(100):
        predicted = probabilities(found, rows)
        slope = design.T @ (weights * (predicted - wanted)) + penalty * found
        curvature = (design * (weights * predicted * (1 - predicted))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        before = loss(found)
        while loss(found - step) > before and float(np.abs(step).max()) > 1e-12:
            step = step / 2  # a whole step would go too far
        found = found - step
        if float(np.abs(step).max()) < 1e-10:
            break
    return found


def probabilities(weights: F64, rows: F64) -> F64:
    """The probabilities of a logistic regression.

    >>> probabilities(np.zeros(2), np.ones((1, 1))).tolist()
    [0.5]
    """
    total = np.clip(weights[0] + rows @ weights[1:], -700, 700)
    return np.asarray(1 / (1 + np.exp(-total)), dtype=np.float64)


def quality(spec: ConfidenceSpec, examples: ConfidenceExamples) -> ConfidenceQuality:
    """How good a calibration is on examples.

    >>> rows = tuple({"coverage": at / 10} for at in range(10))
    >>> right = np.array([float(at > 4) for at in range(10)])
    >>> examples = ConfidenceExamples(rows, right, right)
    >>> quality(fit_confidence(examples), examples).recognised
    1.0
    """
    judged = [spec.judge(one) for one in examples.features]
    answers = np.array([one.answers for one in judged])
    real = examples.on_topic > 0
    return ConfidenceQuality(
        int(real.sum()),
        int((~real).sum()),
        calibration_error(np.array([one.answer for one in judged]), examples.relevant, examples.weights),
        float((~answers[~real]).mean()) if (~real).any() else math.nan,
        float((~answers[real]).mean()) if real.any() else math.nan,
    )


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


def _rounded(values: F64) -> tuple[float, ...]:
    """Numbers as a profile writes them: six digits are enough, and the same on every machine."""
    return tuple(float(f"{value:.6g}") for value in values.tolist())


def _evidence(name: str, found: ConfidenceQuality) -> dict[str, str | int | float]:
    return {
        f"{name} questions": found.questions,
        f"{name} off-topic questions": found.off_topic,
        f"{name} expected calibration error": round(found.calibration_error, 4),
        f"{name} off-topic recognised": round(found.recognised, 4),
        f"{name} judged refused": round(found.refused, 4),
    }
