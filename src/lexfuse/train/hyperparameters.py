"""Hyperparameters of a training; the defaults are those of FUSE Table 8 (its fine-tuned models)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lexfuse.errors import ConfigError
from lexfuse.train.examples.batches import SamplingUnit


class ModelKind(StrEnum):
    """The kinds of models that can be trained."""

    DENSE = "dense"
    TWO_TOWER = "two-tower"
    SPLADE = "splade"
    COLBERT = "colbert"
    CROSS = "cross"


class DevMeasure(StrEnum):
    """Measures on dev at every evaluation, by which weights can be selected."""

    R_10 = "R@10"
    R_100 = "R@100"
    NDCG_10 = "nDCG@10"
    RR_100 = "RR@100"


def selection_key(choose: DevMeasure, measures: Mapping[str, float]) -> tuple[float, float]:
    """The key that selects weights on dev, higher is better: a measure, then the dev loss.

    >>> better, worse = {"R@100": 0.5, "dev loss": 2.0}, {"R@100": 0.5, "dev loss": 3.0}
    >>> selection_key(DevMeasure.R_100, better) > selection_key(DevMeasure.R_100, worse)
    True
    """
    return measures.get(choose, 0.0), -measures.get("dev loss", 0.0)


class Decay(StrEnum):
    """The learning rate after the warm-up."""

    LINEAR = "linear"
    CONSTANT = "constant"


class FloatPrecision(StrEnum):
    """Number format of the computation: 16 bits if the processor supports it well, else 32."""

    AUTO = "auto"
    BF16 = "bf16"
    FP32 = "fp32"


class Similarity(StrEnum):
    """The comparison of two vectors, in training and in search."""

    COSINE = "cosine"
    DOT = "dot"


class TokenPooling(StrEnum):
    """How the vectors of a text's tokens become one, for dense encoders."""

    MEAN = "mean"
    CLS = "cls"  # the first token's


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """The numbers of a training; `Hyperparameters.usual` has those of FUSE for each kind.

    >>> Hyperparameters.usual(ModelKind.COLBERT).learning_rate
    5e-06
    >>> Hyperparameters(batch=0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: batch must be 1 or more, got 0
    """

    steps: int = 1000
    batch: int = 64  # queries
    learning_rate: float = 2e-5
    decay: Decay = Decay.CONSTANT
    warm_up: float = 0.0  # share of the steps
    weight_decay: float = 0.01
    clip: float = 1.0  # of the gradient's length
    similarity: Similarity = Similarity.COSINE  # of dense and of sparse vectors
    temperature: float = 0.05
    pooling: TokenPooling = TokenPooling.MEAN  # dense encoders alone, as the next two
    chunk: int = 0  # tokens that are read at once, special ones included; a text is the mean of its chunks; 0 = one chunk
    chunk_overlap: int = 20  # tokens that a chunk shares with the one before
    negatives: int = 1  # hard ones for each query at a step
    turn: SamplingUnit = SamplingUnit.EXAMPLE
    shares: Mapping[str, float] = field(default_factory=dict)  # of the batches, by source of examples
    query_length: int = 512  # tokens
    passage_length: int = 512
    flops_queries: float = 3e-4  # weights of the FLOPS regularisation, SPLADE alone
    flops_passages: float = 1e-4
    flops_warm_up: float = 0.33  # share of the steps in which these weights rise as a square
    start_active: int = 2000  # entries of the vocabulary that a passage starts with, SPLADE alone; 0 = as the base has it
    dimension: int = 128  # of a token's vector, ColBERT alone
    distillation: float = 0.0  # weight of a teacher's scores beside the loss of the kind, from 0 to 1
    precision: FloatPrecision = FloatPrecision.AUTO
    seed: int = 1
    evaluate_every: int = 100  # steps
    choose: DevMeasure = DevMeasure.R_100  # what the best weights have most of, on dev
    patience: int = 5  # evaluations without a better one, then it stops; 0 = never

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        for name in ("steps", "batch", "query_length", "passage_length", "dimension", "evaluate_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, got {getattr(self, name)}")
        for name in ("learning_rate", "temperature", "clip"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in _NOT_NEGATIVE:
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be 0 or more, got {getattr(self, name)}")
        if self.chunk and self.chunk < self.chunk_overlap + LEAST_CHUNK:
            raise ConfigError(
                f"a chunk must be longer than its overlap by {LEAST_CHUNK} tokens or more, got a chunk of {self.chunk} and an "
                f"overlap of {self.chunk_overlap}; 200 and 20 are usual"
            )
        for name in ("warm_up", "flops_warm_up", "distillation"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must lie between 0 and 1, got {getattr(self, name)}")

    @classmethod
    def usual(cls, kind: ModelKind, **changes: Any) -> Hyperparameters:
        """The usual numbers of a kind, with changes.

        >>> Hyperparameters.usual(ModelKind.SPLADE, steps=10).batch
        32
        """
        return cls.of({**_USUAL[kind], **changes})

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Hyperparameters:
        """From plain values, such as a TOML table.

        >>> Hyperparameters.of({"decay": "linear"}).decay
        <Decay.LINEAR: 'linear'>
        >>> Hyperparameters.of({"rate": 1})
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: training has no setting 'rate'; it has steps, batch, learning_rate, ...
        """
        known = {entry.name: entry for entry in dataclasses.fields(cls)}
        if unknown := [name for name in values if name not in known]:
            raise ConfigError(f"training has no setting {unknown[0]!r}; it has {', '.join(known)}")
        return cls(**{name: _read(name, value) for name, value in values.items()})

    def plain(self) -> dict[str, Any]:
        """Plain values for TOML and JSON."""
        values = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        return {name: str(value) if isinstance(value, StrEnum) else value for name, value in values.items()}


LEAST_CHUNK = 8  # tokens that a chunk has of its own, special ones included
_NOT_NEGATIVE = (
    "weight_decay", "negatives", "flops_queries", "flops_passages", "start_active", "seed", "patience", "chunk", "chunk_overlap",
)  # fmt: skip
# Settings that only some kinds have a use for; they are refused for others unless they are as usual.
KINDS_OF: Mapping[str, frozenset[ModelKind]] = {
    "similarity": frozenset({ModelKind.DENSE, ModelKind.TWO_TOWER, ModelKind.SPLADE}),
    **dict.fromkeys(("pooling", "chunk", "chunk_overlap"), frozenset({ModelKind.DENSE, ModelKind.TWO_TOWER})),
}

_USUAL: Mapping[ModelKind, Mapping[str, Any]] = {
    ModelKind.DENSE: {},
    ModelKind.TWO_TOWER: {},
    ModelKind.SPLADE: {"steps": 2000, "batch": 32, "query_length": 64},
    ModelKind.COLBERT: {"learning_rate": 5e-6, "weight_decay": 0.0, "temperature": 1.0, "query_length": 64},
    # It only orders candidates, often no more than 100 of them, so their recall says little of it.
    ModelKind.CROSS: {"steps": 2000, "temperature": 1.0, "choose": DevMeasure.NDCG_10},
}
_NAMED: Mapping[str, type[StrEnum]] = {
    "choose": DevMeasure,
    "decay": Decay,
    "pooling": TokenPooling,
    "precision": FloatPrecision,
    "similarity": Similarity,
    "turn": SamplingUnit,
}
_WHOLE = frozenset(
    {
        "steps",
        "batch",
        "chunk",
        "chunk_overlap",
        "negatives",
        "query_length",
        "passage_length",
        "dimension",
        "start_active",
        "seed",
        "evaluate_every",
        "patience",
    }
)


def _read(name: str, value: Any) -> Any:
    """One value of the right type."""
    if name in _NAMED:
        try:
            return _NAMED[name](value)
        except ValueError:
            raise ConfigError(f"{name} is {value!r}; it can be {', '.join(_NAMED[name])}") from None
    if name == "shares":
        if not isinstance(value, Mapping) or not all(isinstance(share, int | float) for share in value.values()):
            raise ConfigError(f"shares must be a table of numbers by source, got {value!r}")
        return {str(source): float(share) for source, share in value.items()}
    if isinstance(value, bool) or not isinstance(value, int if name in _WHOLE else int | float):
        raise ConfigError(f"{name} must be a {'whole ' if name in _WHOLE else ''}number, got {value!r}")
    return value
