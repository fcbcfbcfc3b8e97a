"""Hyperparameters of a training; the defaults are those of FUSE Table 8 (its fine-tuned models)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from lexfuse.data.validation import Amount, Count, Model, Share
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


class RankingLoss(StrEnum):
    """What a cross-encoder learns from its pairs."""

    POINTWISE = "pointwise"  # each pair is relevant or not (monoBERT, FUSE eq. 16)
    PAIRWISE = "pairwise"  # the relevant document against each other one (MTFT-BERT)


Positive = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
BY_NAME = Field(strict=False)  # an enumeration whose values may be given as text


class Hyperparameters(Model):
    """The numbers of a training; `Hyperparameters.usual` has those of FUSE for each kind.

    >>> Hyperparameters(decay="linear").decay
    <Decay.LINEAR: 'linear'>
    >>> Hyperparameters(batch=0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: batch must be 1 or more, got 0
    """

    steps: Count = 1000
    batch: Count = 64  # queries
    learning_rate: Positive = 2e-5
    decay: Annotated[Decay, BY_NAME] = Decay.CONSTANT
    warm_up: Share = 0.0  # of the steps
    weight_decay: Weight = 0.01
    clip: Positive = 1.0  # of the gradient's length
    similarity: Annotated[Similarity, BY_NAME] = Similarity.COSINE  # of dense and of sparse vectors
    temperature: Positive = 0.05
    pooling: Annotated[TokenPooling, BY_NAME] = TokenPooling.MEAN  # dense encoders alone, as the next two
    chunk: Amount = 0  # tokens that are read at once, special ones included; a text is the mean of its chunks; 0 = one chunk
    chunk_overlap: Amount = 20  # tokens that a chunk shares with the one before
    negatives: Amount = 1  # hard ones for each query at a step
    turn: Annotated[SamplingUnit, BY_NAME] = SamplingUnit.EXAMPLE
    shares: dict[str, float] = Field(default_factory=dict)  # of the batches, by source of examples
    query_length: Count = 512  # tokens
    passage_length: Count = 512
    flops_queries: Weight = 3e-4  # of the FLOPS regularisation, SPLADE alone
    flops_passages: Weight = 1e-4
    flops_warm_up: Share = 0.33  # of the steps, in which these weights rise as a square
    start_active: Amount = 2000  # entries of the vocabulary that a passage starts with, SPLADE alone; 0 = as the base has it
    query_table: bool = False  # queries are weighted by a table that is learned, without a model; SPLADE alone, as the next
    table_learning_rate: Positive = 1e-3  # the peak for the table, which has one number per term
    dimension: Count = 128  # of a token's vector, ColBERT alone
    ranking_loss: Annotated[RankingLoss, BY_NAME] = RankingLoss.POINTWISE  # cross-encoders alone, as the next two
    representation: Weight = 0.0  # of a second task: queries near relevant documents, far from others, each read alone
    margin: Positive = 1.0  # of the second task, in Euclidean distance
    distillation: Share = 0.0  # weight of a teacher's scores next to the loss of the kind
    precision: Annotated[FloatPrecision, BY_NAME] = FloatPrecision.AUTO
    seed: Amount = 1
    evaluate_every: Count = 100  # steps
    choose: Annotated[DevMeasure, BY_NAME] = DevMeasure.R_100  # what the best weights have most of, on dev
    patience: Amount = 5  # evaluations without a better one, then it stops; 0 = never

    def check(self) -> None:
        """Refuse chunks that hardly go beyond their overlap."""
        if self.chunk and self.chunk < self.chunk_overlap + LEAST_CHUNK:
            raise ConfigError(
                f"a chunk must be longer than its overlap by {LEAST_CHUNK} tokens or more, got a chunk of {self.chunk} and an "
                f"overlap of {self.chunk_overlap}; 200 and 20 are usual"
            )

    @classmethod
    def usual(cls, kind: ModelKind, **changes: Any) -> Hyperparameters:
        """The usual numbers of a kind, with changes.

        >>> Hyperparameters.usual(ModelKind.SPLADE, steps=10).batch
        32
        """
        return cls(**{**_USUAL[kind], **changes})

    def plain(self) -> dict[str, Any]:
        """Plain values for TOML and JSON."""
        return self.model_dump(mode="json")


# The usual numbers of a stage that learns the vectors of a teacher: there are many pairs, and nothing is known of the space yet.
TEACHING: Mapping[str, Any] = {
    "steps": 2000, "batch": 128, "learning_rate": 1e-4, "decay": Decay.LINEAR, "warm_up": 0.05, "negatives": 0,
}  # fmt: skip
LEAST_CHUNK = 8  # tokens of a chunk beyond the overlap, special tokens included
# Settings that only some kinds have a use for; they are refused for others unless they are as usual.
KINDS_OF: Mapping[str, frozenset[ModelKind]] = {
    "similarity": frozenset({ModelKind.DENSE, ModelKind.TWO_TOWER, ModelKind.SPLADE}),
    **dict.fromkeys(("pooling", "chunk", "chunk_overlap"), frozenset({ModelKind.DENSE, ModelKind.TWO_TOWER})),
    **dict.fromkeys(("query_table", "table_learning_rate"), frozenset({ModelKind.SPLADE})),
    **dict.fromkeys(("ranking_loss", "representation", "margin"), frozenset({ModelKind.CROSS})),
}

_USUAL: Mapping[ModelKind, Mapping[str, Any]] = {
    ModelKind.DENSE: {},
    ModelKind.TWO_TOWER: {},
    ModelKind.SPLADE: {"steps": 2000, "batch": 32, "query_length": 64},
    ModelKind.COLBERT: {"learning_rate": 5e-6, "weight_decay": 0.0, "temperature": 1.0, "query_length": 64},
    # It only orders candidates, often no more than 100 of them, so their recall says little of it.
    ModelKind.CROSS: {"steps": 2000, "temperature": 1.0, "choose": DevMeasure.NDCG_10},
}
