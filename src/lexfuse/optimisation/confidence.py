"""Calibrates the confidence of a search on judged questions and on questions that the corpus does not answer.

Two logistic regressions with a small ridge penalty: one says whether the best result is judged relevant, the other whether the
question is one that the corpus answers at all. Where the search has vectors, a third one over the vectors of the questions gives
both a feature: what the questions are about that the corpus answers. On the questions of the calibration, that feature comes from
the other nine tenths of them, as it does for questions that are new.

How often a best result is judged relevant depends on who judged. Questions that others judged therefore teach the weights of the
features; the intercept of the first regression is then fitted to the own questions alone.

Questions that the corpus does not answer count as a third of all, however many there are. The threshold refuses a share of the
judged questions (`REFUSED`). A best result is shown as an answer if it is likelier to answer than that of the average judged
question, or at least as likely as not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from lexfuse.data.arrays import F64, I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.errors import ConfigError
from lexfuse.kernels.threads import one_core_each
from lexfuse.optimisation.confidence_examples import NO_JUDGEMENTS, ConfidenceExamples, read_examples
from lexfuse.optimisation.confidence_quality import ConfidenceQuality, confidence_quality
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.spec.confidence_spec import QUESTION, Confidence, ConfidenceSpec
from lexfuse.search.spec.spec import SearchSpec

REFUSED = 0.03  # questions on the topic that the threshold may refuse: below the 5 % that are allowed on other questions
RIDGE = 3.0
VECTOR_RIDGE = 0.3  # of vectors of length one
FOLDS = 10
FEWEST = 20  # questions of each kind


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
    further: Qrels = NO_JUDGEMENTS,
    held_out: tuple[Queries, Qrels, Queries] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> TunedConfidence:
    """The profile with a calibrated confidence; too few questions are a `ConfigError`.

    Judgements `further` are those of others, on other questions among the same queries.

    >>> tune_confidence(IndexVersion(snapshot), "bm25", (Queries.of([]), Qrels.of([])), Queries.of([]))
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a calibration needs at least 20 judged and 20 off-topic questions with results, got 0 and 0
    """
    spec = version.specs[profile] if isinstance(profile, str) and profile in version.specs else profile
    if isinstance(spec, str):
        raise ConfigError(f"there is no profile {spec!r}; there are {', '.join(version.specs)}")
    if both := sorted(set(judged[1].queries) & set(further.queries)):
        raise ConfigError(f"question {both[0]!r} has judgements and further judgements; give one of both")
    examples = read_examples(version, spec, *judged, off_topic, further, progress=progress)
    _check_numbers("a calibration", FEWEST, examples)
    fitted = fit_confidence(examples)
    known, validated = quality(fitted, examples), cross_validated(examples)
    others, other = None, None
    if held_out is not None:
        others = read_examples(version, spec, *held_out, progress=progress)
        _check_numbers("a test of it", 1, others)
        other = quality(fitted, others)
    evidence = dict(spec.evidence) | _evidence("confidence", known) | _evidence("cross-validated confidence", validated)
    evidence |= _evidence("held-out confidence", other) if other else {}
    skipped = {"calibration": examples.without, **({"held_out": others.without} if others else {})}
    return TunedConfidence(spec.replace(confidence=fitted, evidence=evidence), known, validated, other, skipped)


def _check_numbers(what: str, fewest: int, examples: ConfidenceExamples) -> None:
    """An error if there are too few questions of a kind; questions without results say nothing."""
    real, off = (int((examples.kinds == kind).sum()) for kind in (2, 0))
    if min(real, off) < fewest:
        counts = f"at least {fewest} judged and {fewest} off-topic questions with results, got {real} and {off}"
        raise ConfigError(f"{what} needs {counts}")


def fit_confidence(examples: ConfidenceExamples, ridge: float = RIDGE) -> ConfidenceSpec:
    """A calibration on examples; `ridge` is the penalty of the regression that says whether the best result is relevant.

    >>> rows = tuple({"coverage": at / 10} for at in range(10))
    >>> right = np.array([float(at > 4) for at in range(10)])
    >>> fit_confidence(ConfidenceExamples(rows, right, right)).judge({"coverage": 0.9}).answers
    True
    """
    direction: tuple[float, ...] = ()
    if examples.vectors is not None:
        direction = _rounded(_direction(examples.vectors, examples.on_topic, examples.weights))
        known = _held_out_values(examples)
        examples = replace(examples, features=_with_question(examples.features, known))
    names = tuple(name for name in examples.features[0] if all(name in one for one in examples.features))
    rows = examples.matrix(names)
    spread = rows.std(axis=0)
    varying = [at for at in range(len(names)) if spread[at] > 1e-6]
    centre, scale = rows.mean(axis=0)[varying], spread[varying]
    scaled = (rows[:, varying] - centre) / scale
    answer = logistic_regression(scaled, examples.relevant, examples.weights, ridge)
    if (own := examples.own).size < len(scaled):
        answer[0] += level(answer, scaled[own], examples.relevant[own], examples.some(own).weights)
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
        shown=float(f"{min(examples.relevant[examples.kinds == 2].mean(), 0.5):.6g}"),
        model=examples.model if used else "",
        question=used,
    )


def _direction(vectors: F64, on_topic: F64, weights: F64) -> F64:
    """Intercept and weights that tell questions which the corpus answers from others, by their vectors."""
    return logistic_regression(vectors, on_topic, weights, VECTOR_RIDGE)


def _held_out_values(examples: ConfidenceExamples) -> F64:
    """The value of each question along the direction of the questions in other folds."""
    vectors, on_topic, weights = examples.vectors, examples.on_topic, examples.weights
    found = np.zeros(len(on_topic))
    if vectors is None:
        return found
    for held, others in _folds(examples.kinds):
        direction = _direction(vectors[others], on_topic[others], weights[others])
        found[held] = direction[0] + vectors[held] @ direction[1:]
    return found


def _folds(kinds: I64) -> Iterator[tuple[I64, I64]]:
    """The questions of each fold, and all others; folds are runs of neighbours, which may be about the same thing."""
    parts = [np.array_split(np.flatnonzero(kinds == kind), FOLDS) for kind in (2, 1, 0)]
    for some in zip(*parts, strict=True):
        held = np.concatenate(some)
        yield held, np.setdiff1d(np.arange(len(kinds)), held)


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


def level(found: F64, rows: F64, wanted: F64, weights: F64) -> float:
    """What to add to the intercept of a logistic regression, so that its mean probability is the share that is wanted.

    >>> round(level(np.zeros(2), np.zeros((4, 1)), np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4)), 4)
    1.0986
    """
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        excess = float((weights * (probabilities(found + np.eye(len(found))[0] * middle, rows) - wanted)).sum())
        low, high = (low, middle) if excess > 0 else (middle, high)
    return (low + high) / 2


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
    return confidence_quality(examples, _judged(spec, examples))


def cross_validated(
    examples: ConfidenceExamples, fit: Callable[[ConfidenceExamples], ConfidenceSpec] = fit_confidence
) -> ConfidenceQuality:
    """How good a calibration is on a tenth of the examples that it was not made from, for each tenth.

    >>> rows = tuple({"coverage": at / 40} for at in range(40))
    >>> right = np.array([float(at > 19) for at in range(40)])
    >>> cross_validated(ConfidenceExamples(rows, right, right)).questions
    20
    """
    judged: dict[int, Confidence] = {}
    for held, others in _folds(examples.kinds):
        fitted = fit(examples.some(others))
        judged |= zip(held.tolist(), _judged(fitted, examples.some(held)), strict=True)
    return confidence_quality(examples, [judged[at] for at in range(len(judged))])


def _judged(spec: ConfidenceSpec, examples: ConfidenceExamples) -> list[Confidence]:
    features = examples.features
    if spec.question and examples.vectors is not None:
        features = _with_question(features, spec.question[0] + examples.vectors @ np.array(spec.question[1:]))
    return [spec.judge(one) for one in features]


def _rounded(values: F64) -> tuple[float, ...]:
    """Numbers as a profile writes them: six digits are enough, and the same on every machine."""
    return tuple(float(f"{value:.6g}") for value in values.tolist())


def _evidence(name: str, found: ConfidenceQuality) -> dict[str, str | int | float]:
    return {
        f"{name} questions": found.questions,
        f"{name} off-topic questions": found.off_topic,
        f"{name} expected calibration error": round(found.calibration_error, 4),
        f"{name} calibration error by chance": round(found.chance_error, 4),
        f"{name} calibration error by chance, at most": round(found.chance_limit, 4),
        f"{name} off-topic recognised": round(found.recognised, 4),
        f"{name} judged refused": round(found.refused, 4),
        f"{name} log loss": round(found.log_loss, 4),
    }
