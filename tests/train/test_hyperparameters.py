"""Settings of a training: FUSE's numbers, and what is refused."""

import pytest
from pydantic import ValidationError

from lexfuse.errors import ConfigError
from lexfuse.train.examples.batches import SamplingUnit
from lexfuse.train.hyperparameters import Decay, FloatPrecision, Hyperparameters, ModelKind, Similarity, TokenPooling

TABLE_8 = {  # steps, batch, learning rate, weight decay, temperature, query length, passage length
    ModelKind.DENSE: (1000, 64, 2e-5, 0.01, 0.05, 512, 512),
    ModelKind.TWO_TOWER: (1000, 64, 2e-5, 0.01, 0.05, 512, 512),
    ModelKind.SPLADE: (2000, 32, 2e-5, 0.01, 0.05, 64, 512),
    ModelKind.COLBERT: (1000, 64, 5e-6, 0.0, 1.0, 64, 512),
    ModelKind.CROSS: (2000, 64, 2e-5, 0.01, 1.0, 512, 512),
}


@pytest.mark.parametrize("kind", list(ModelKind))
def test_the_usual_numbers(kind):
    usual = Hyperparameters.usual(kind)
    names = ("steps", "batch", "learning_rate", "weight_decay", "temperature", "query_length", "passage_length")
    assert tuple(getattr(usual, name) for name in names) == TABLE_8[kind]
    assert (usual.clip, usual.negatives, usual.precision) == (1.0, 1, FloatPrecision.AUTO)
    assert (usual.similarity, usual.pooling, usual.chunk) == (Similarity.COSINE, TokenPooling.MEAN, 0)


@pytest.mark.parametrize("kind", list(ModelKind))
def test_plain_values_give_the_same_settings(kind):
    some = Hyperparameters.usual(kind, decay="linear", turn="query", shares={"headings": 2}, seed=7)
    assert Hyperparameters(**some.plain()) == some
    assert (some.decay, some.turn, some.shares) == (Decay.LINEAR, SamplingUnit.QUERY, {"headings": 2.0})
    assert all(isinstance(value, int | float | str | dict) for value in some.plain().values())


def test_changes_come_before_usual_numbers():
    assert Hyperparameters.usual(ModelKind.SPLADE, batch=8).batch == 8


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"steps": 0}, "steps must be 1 or more, got 0"),
        ({"evaluate_every": 0}, "evaluate_every must be 1 or more"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be above 0"),
        ({"temperature": -1.0}, "temperature must be above 0"),
        ({"clip": 0.0}, "clip must be above 0"),
        ({"patience": -1}, "patience must be 0 or more"),
        ({"warm_up": 1.5}, "warm_up must be at most 1, got 1.5"),
        ({"distillation": -0.1}, "distillation must be 0 or more, got -0.1"),
        ({"similarity": "euclidean"}, "similarity must be one of cosine, dot; got 'euclidean'"),
        ({"pooling": "max"}, "pooling must be one of mean, cls; got 'max'"),
        ({"chunk": -1}, "chunk must be 0 or more"),
        ({"chunk": 20, "chunk_overlap": 20}, "a chunk must be longer than its overlap by 8 tokens or more, got a chunk of 20"),
        ({"steps": 1.5}, "steps must be a whole number, got 1.5"),
        ({"steps": True}, "steps must be a whole number, got True"),
        ({"clip": "big"}, "clip must be a number, got 'big'"),
        ({"precision": "fp8"}, "precision must be one of auto, bf16, fp32; got 'fp8'"),
        ({"turn": "all"}, "turn must be one of example, query; got 'all'"),
        ({"choose": "AP"}, "choose must be one of R@10, R@100, nDCG@10, RR@100; got 'AP'"),
        ({"shares": [1]}, "shares must be a table"),
        ({"shares": {"a": "half"}}, "shares: a must be a number, got 'half'"),
        ({"rate": 1}, "there is no 'rate'; there are steps, batch"),
    ],
)
def test_what_cannot_be_is_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        Hyperparameters(**values)


def test_settings_are_values():
    with pytest.raises(ValidationError, match="frozen"):
        Hyperparameters().steps = 3
