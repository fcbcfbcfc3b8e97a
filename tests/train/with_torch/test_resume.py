"""A training that was interrupted ends as one that was not; the same seed gives the same bytes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lexfuse.data.arrays import read_only
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.loop.loop import DevSet, fit


class InterruptionError(Exception):
    """What a test stops a training with."""


def stopping_at(step, error):
    def progress(at):
        if at == step:
            raise error

    return progress


@pytest.fixture
def trained(learner_of, short, small):
    """Train in a folder; gives the outcome, the bytes of the best weights and the lines of the log."""

    def train(kind, folder, *, dev=None, examples=None, progress=lambda _: None, **changes):
        training = short(kind, **changes)
        learner = learner_of(kind, training)
        outcome = fit(learner, examples or small.examples, training, folder, dev=dev or small.dev, progress=progress)
        return outcome, (folder / "best.safetensors").read_bytes(), (folder / "log.jsonl").read_text().splitlines()

    return train


@pytest.mark.parametrize("kind", list(ModelKind))
def test_interrupted_and_uninterrupted_are_the_same(kind, trained, tmp_path):
    whole = trained(kind, tmp_path / "whole")
    for step, error in (
        (3, InterruptionError()),
        (6, KeyboardInterrupt()),
    ):  # after the first evaluation, and just before the last
        with pytest.raises(type(error)):
            trained(kind, tmp_path / "parts", progress=stopping_at(step, error))
    outcome, weights, log = trained(kind, tmp_path / "parts")
    assert weights == whole[1]
    assert log == whole[2]
    assert [json.loads(line)["step"] for line in log] == [0, 2, 4, 6]
    assert replace(outcome, seconds=0.0) == replace(whole[0], seconds=0.0)


def test_interrupted_before_the_first_checkpoint(trained, tmp_path):
    whole = trained(ModelKind.DENSE, tmp_path / "whole")
    with pytest.raises(InterruptionError):
        trained(ModelKind.DENSE, tmp_path / "parts", progress=stopping_at(1, InterruptionError()))
    assert (tmp_path / "parts" / "log.jsonl").read_text()  # the evaluation before the first step, which is made again
    assert trained(ModelKind.DENSE, tmp_path / "parts")[1:] == whole[1:]


def test_killed_between_the_log_and_the_checkpoint(trained, tmp_path, monkeypatch):
    from lexfuse.train.loop.checkpoint import Checkpoints

    whole = trained(ModelKind.DENSE, tmp_path / "whole")

    def killed(self, model, optimizer, state, save=Checkpoints.save):
        if state.step == 4:
            with (self.folder / "log.jsonl").open("a") as log:
                log.write('{"step": 4, "learn')  # not written to its end
            raise KeyboardInterrupt
        save(self, model, optimizer, state)

    with monkeypatch.context() as patched:
        patched.setattr(Checkpoints, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            trained(ModelKind.DENSE, tmp_path / "parts")
    assert trained(ModelKind.DENSE, tmp_path / "parts")[1:] == whole[1:]


def test_a_finished_training_is_not_done_again(trained, tmp_path):
    first = trained(ModelKind.DENSE, tmp_path)
    steps = []
    assert trained(ModelKind.DENSE, tmp_path, progress=steps.append) == first
    assert steps == []


@pytest.mark.parametrize("kind", list(ModelKind))
def test_the_seed_decides(kind, trained, tmp_path):
    one, again, other = (trained(kind, tmp_path / str(at), seed=seed, steps=2) for at, seed in enumerate((1, 1, 2)))
    assert one[1:] == again[1:]
    assert one[1] != other[1]


@pytest.mark.parametrize("change", ["settings", "kind", "examples", "teacher", "dev"])
def test_another_training_in_the_same_folder_is_refused(change, trained, small, tmp_path):
    trained(ModelKind.DENSE, tmp_path, steps=2)
    scores = read_only(np.zeros((8, 3), dtype=np.float32))
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file())
    kind = ModelKind.TWO_TOWER if change == "kind" else ModelKind.DENSE
    other = {
        "settings": {"learning_rate": 0.5},
        "examples": {"examples": small.examples.select([0, 1])},
        "teacher": {"examples": replace(small.examples, teacher=scores)},
        "dev": {"dev": DevSet(small.examples)},
    }.get(change, {})
    with pytest.raises(ConfigError, match="another training"):
        trained(kind, tmp_path, steps=2, **other)
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.rglob("*") if path.is_file()) == before


@pytest.mark.parametrize("damage", ["step-2/model.safetensors", "step-2/optimizer.safetensors", "state.json"])
def test_a_damaged_checkpoint_says_what_to_do(damage, trained, tmp_path):
    trained(ModelKind.DENSE, tmp_path, steps=2)
    (tmp_path / damage).write_bytes(b'{"nothing": 1}')
    with pytest.raises(DataError, match="remove the folder"):
        trained(ModelKind.DENSE, tmp_path, steps=2)


def test_one_checkpoint_is_kept(trained, tmp_path):
    trained(ModelKind.DENSE, tmp_path)
    assert [path.name for path in tmp_path.glob("step-*")] == ["step-6"]
    assert not list(tmp_path.glob("*.partial"))
