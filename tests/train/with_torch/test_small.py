"""The small model of examples: always the same, and every kind can start from it."""

import pytest
import torch

from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.models.tiny_model import WIDTH, tiny_base


def test_it_is_the_same_every_time_and_leaves_chance_alone(tmp_path):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    one, two = (tiny_base(tmp_path / name) for name in ("one", "two"))
    assert torch.equal(torch.rand(3), expected)
    assert one.fingerprint == two.fingerprint


@pytest.mark.parametrize("kind", list(ModelKind))
def test_every_kind_starts_from_it(kind, learner_of, short, tmp_path):
    learner = learner_of(kind, short(kind), tiny_base(tmp_path))
    assert {parameter.dtype for parameter in learner.parameters()} == {torch.float32}
    assert WIDTH in {size for parameter in learner.parameters() for size in parameter.shape}
