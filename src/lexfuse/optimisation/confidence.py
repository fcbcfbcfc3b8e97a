"""Calibrates the confidence of a search on judged questions and on questions that the corpus does not answer.

Two logistic regressions with a small ridge penalty: one says whether the best result is judged relevant, the other whether the
question is one of the judged ones at all. Where the search has vectors, a third one over the vectors of the questions gives both
a feature: what the questions are about that the corpus answers. On the questions of the calibration, that feature comes from the
other nine tenths of them, as it does for questions that are new.

Questions that the corpus does not answer count as a third of all, however many there are. The threshold refuses a share of the
judged questions (`REFUSED`). A best result is shown as an answer if it is likelier to answer than that of the average judged
question, or at least as likely as not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lexfuse.channels.query_context import query_context
from lexfuse.channels.retriever import QueryVector
from lexfuse.data.arrays import F64, I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError
from lexfuse.kernels.threads import one_core_each
from lexfuse.search.asked_question import read_question
from lexfuse.search.confidence import SEEN, confidence_features, query_vector
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.results import find_documents
from lexfuse.search.spec.confidence_spec import QUESTION, Confidence, ConfidenceSpec, unit_length
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.search.words.correction import Spelling

OFF_TOPIC_SHARE = 1 / 3  # of all questions
REFUSED = 0.03  # judged questions that the threshold may refuse: below the 5 % that are allowed on other questions
RIDGE = 3.0
VECTOR_RIDGE = 0.3  # of vectors of length one
FOLDS = 10
DRAWS = 100  # of answers, for the error of exact probabilities
BINS = 10  # of the expected calibration error, each with as many questions
FEWEST = 20  # questions of each kind


@dataclass(frozen=True, eq=False)
class ConfidenceExamples:
    """Features of questions, whether the best result of each is relevant, and whether the corpus answers it at all."""

    features: tuple[Mapping[str, float], ...]
    relevant: F64
    on_topic: F64
    without: int = 0  # questions that had no results or no words
    vectors: F64 | None = None  # of the questions, of length one, where the search compares vectors
    model: str = ""  # that made them

    def matrix(self, names: Sequence[str]) -> F64:
        """A row each question."""
        return np.array([[one[name] for name in names] for one in self.features], dtype=np.float64).reshape(-1, len(names))

    def some(self, chosen: I64) -> ConfidenceExamples:
        """Some of the questions, by their places."""
        vectors = None if self.vectors is None else self.vectors[chosen]
        features = tuple(self.features[at] for at in chosen.tolist())
        return ConfidenceExamples(features, self.relevant[chosen], self.on_topic[chosen], 0, vectors, self.model)

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
    chance_error: float  # the error of probabilities that are exactly right, on as many questions
    recognised: float  # share of off-topic questions that are refused
    refused: float  # share of judged questions that are refused


@dataclass(frozen=True, eq=False)
class TunedConfidence:
    """A calibration, its profile, and its quality on the questions it was made from and on others."""

    spec: SearchSpec
    calibration: ConfidenceQuality
    cross_validated: ConfidenceQuality  # each tenth of the questions judged by the calibration of the others
    held_out: ConfidenceQuality | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)  # questions without results or words

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        from dataclasses import asdict

        held = None if self.held_out is None else asdict(self.held_out)
        return {
            "profile": self.spec.as_json(),
            "calibration": asdict(self.calibration),
            "cross_validated": asdict(self.cross_validated),
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
    known, validated = quality(fitted, examples), cross_validated(examples)
    others, other = None, None
    if held_out is not None:
        others = read_examples(version, spec, *held_out, progress=progress)
        other = quality(fitted, others)
    evidence = dict(spec.evidence) | _evidence("confidence", known) | _evidence("cross-validated confidence", validated)
    evidence |= _evidence("held-out confidence", other) if other else {}
    skipped = {"calibration": examples.without, **({"held_out": others.without} if others else {})}
    return TunedConfidence(spec.replace(confidence=fitted, evidence=evidence), known, validated, other, skipped)


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
    features, relevant, on_topic, vectors, without = [], [], [], [], 0
    for number, (query, right, real) in enumerate(_every(asked, off_topic), start=1):
        best, found, vector = _answered(version, spec, query)
        progress(number)
        if found is None:
            without += 1
            continue
        features.append(found)
        relevant.append(float(best in right))
        on_topic.append(float(real))
        vectors += [] if vector is None else [vector]
    rows = np.array([unit_length(one.vector) for one in vectors]) if vectors and len(vectors) == len(features) else None
    model = vectors[0].model if rows is not None else ""
    return ConfidenceExamples(tuple(features), np.array(relevant), np.array(on_topic), without, rows, model)


def _every(asked: Iterable[tuple[Query, set[str]]], off_topic: Queries) -> Iterable[tuple[Query, set[str], bool]]:
    yield from ((query, right, True) for query, right in asked)
    yield from ((query, set[str](), False) for query in off_topic)


def _answered(
    version: IndexVersion, spec: SearchSpec, query: Query
) -> tuple[str, Mapping[str, float] | None, QueryVector | None]:
    opened = version.search_by(spec, everyday=True)
    question = read_question(version, query, spelling=Spelling.AUTO, by_words=opened.by_words(query)).ranked
    with query_context():
        found = find_documents(opened.retriever, question, SEEN, within=opened.within, citations=version.citations)
        features = confidence_features(version, opened.retriever, question, found)
        vector = query_vector(opened.retriever, question)
    return (found[0].hit.doc if found else ""), features, vector


def fit_confidence(examples: ConfidenceExamples) -> ConfidenceSpec:
    """A calibration on examples.

    >>> rows = tuple({"coverage": at / 10} for at in range(10))
    >>> right = np.array([float(at > 4) for at in range(10)])
    >>> fit_confidence(ConfidenceExamples(rows, right, right)).judge({"coverage": 0.9}).answers
    True
    """
    direction: tuple[float, ...] = ()
    if examples.vectors is not None:
        direction = _rounded(_direction(examples.vectors, examples.on_topic, examples.weights))
        known = _held_out_values(examples.vectors, examples.on_topic, examples.weights)
        examples = replace(examples, features=_with_question(examples.features, known))
    names = tuple(name for name in examples.features[0] if all(name in one for one in examples.features))
    rows = examples.matrix(names)
    spread = rows.std(axis=0)
    varying = [at for at in range(len(names)) if spread[at] > 1e-6]
    centre, scale = rows.mean(axis=0)[varying], spread[varying]
    scaled = (rows[:, varying] - centre) / scale
    answer = logistic_regression(scaled, examples.relevant, examples.weights)
    topic = logistic_regression(scaled, examples.on_topic, examples.weights)
    real = scaled[examples.on_topic > 0]
    used = direction if any(names[at] == QUESTION for at in varying) else ()
    threshold = float(np.quantile(probabilities(topic, real), REFUSED, method="lower"))
    return ConfidenceSpec(
        features=tuple(names[at] for at in varying),
        centre=_rounded(centre),
        scale=_rounded(scale),
        answer=_rounded(answer),
        topic=_rounded(topic),
        threshold=float(f"{threshold * (1 - 1e-6):.6g}"),
        shown=float(f"{min(examples.relevant[examples.on_topic > 0].mean(), 0.5):.6g}"),
        model=examples.model if used else "",
        question=used,
    )


def _direction(vectors: F64, on_topic: F64, weights: F64) -> F64:
    """Intercept and weights that tell questions which the corpus answers from others, by their vectors."""
    return logistic_regression(vectors, on_topic, weights, VECTOR_RIDGE)


def _held_out_values(vectors: F64, on_topic: F64, weights: F64) -> F64:
    """The value of each question along the direction of the questions in other folds."""
    found = np.zeros(len(vectors))
    for held, others in _folds(on_topic):
        direction = _direction(vectors[others], on_topic[others], weights[others])
        found[held] = direction[0] + vectors[held] @ direction[1:]
    return found


def _folds(on_topic: F64) -> Iterator[tuple[I64, I64]]:
    """The questions of each fold, and all others; folds are runs of neighbours, which may be about the same thing."""
    kinds = [np.array_split(np.flatnonzero(on_topic == kind), FOLDS) for kind in (1.0, 0.0)]
    for parts in zip(*kinds, strict=True):
        held = np.concatenate(parts)
        yield held, np.setdiff1d(np.arange(len(on_topic)), held)


def _with_question(features: Sequence[Mapping[str, float]], values: F64) -> tuple[Mapping[str, float], ...]:
    return tuple({**one, QUESTION: value} for one, value in zip(features, values.tolist(), strict=True))


@one_core_each()  # its products are small: on a busy machine, waiting for another core takes longer
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
    return _quality(examples, _judged(spec, examples))


def cross_validated(examples: ConfidenceExamples) -> ConfidenceQuality:
    """How good a calibration is on a tenth of the examples that it was not made from, for each tenth.

    >>> rows = tuple({"coverage": at / 40} for at in range(40))
    >>> right = np.array([float(at > 19) for at in range(40)])
    >>> cross_validated(ConfidenceExamples(rows, right, right)).questions
    20
    """
    judged: dict[int, Confidence] = {}
    for held, others in _folds(examples.on_topic):
        fitted = fit_confidence(examples.some(others))
        judged |= zip(held.tolist(), _judged(fitted, examples.some(held)), strict=True)
    return _quality(examples, [judged[at] for at in range(len(judged))])


def _judged(spec: ConfidenceSpec, examples: ConfidenceExamples) -> list[Confidence]:
    features = examples.features
    if spec.question and examples.vectors is not None:
        features = _with_question(features, spec.question[0] + examples.vectors @ np.array(spec.question[1:]))
    return [spec.judge(one) for one in features]


def _quality(examples: ConfidenceExamples, judged: Sequence[Confidence]) -> ConfidenceQuality:
    answers = np.array([one.answers for one in judged])
    real = examples.on_topic > 0
    predicted = np.array([one.answer for one in judged])
    draws = np.random.default_rng(0).random((DRAWS, len(predicted))) < predicted
    chance = [calibration_error(predicted, one.astype(np.float64), examples.weights) for one in draws]
    return ConfidenceQuality(
        int(real.sum()),
        int((~real).sum()),
        calibration_error(predicted, examples.relevant, examples.weights),
        float(np.mean(chance)),
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
        f"{name} calibration error by chance": round(found.chance_error, 4),
        f"{name} off-topic recognised": round(found.recognised, 4),
        f"{name} judged refused": round(found.refused, 4),
    }
