"""The steps of a training: what is clipped, what is kept, what stops it, and what is done when memory ends."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from lexfuse.data.arrays import read_only
from lexfuse.errors import TrainingError
from lexfuse.train.examples.batches import Batches
from lexfuse.train.hyperparameters import Decay, Hyperparameters, ModelKind
from lexfuse.train.loop.loop import DevSet, fit, rate


def log_of(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def with_loss_times(learner, factor):
    """Multiply the loss of each step by what ``factor`` gives for it."""
    forward = learner.forward

    def changed(batch, texts, step):
        losses = forward(batch, texts, step)
        return {**losses, "loss": losses["loss"] * (factor(step) if learner.training else 1.0)}

    learner.forward = changed
    return learner


def with_memory_for(learner, queries):
    """Let memory end where a batch has more queries; gives the sizes that went through."""
    forward, sizes = learner.forward, []

    def limited(batch, texts, step):
        if len(batch) > queries:
            raise torch.OutOfMemoryError("out of memory")
        if learner.training:
            sizes.append(len(batch))
        return forward(batch, texts, step)

    learner.forward = limited
    return sizes


@pytest.mark.parametrize("spoiled", [3, 4, 5, 6])
@pytest.mark.parametrize("what", ["loss", "gradient"])
def test_a_loss_that_is_no_number_stops_and_keeps_what_was_good(what, spoiled, learner_of, short, small, tmp_path):
    training = short(ModelKind.DENSE, steps=8)
    learner = learner_of(ModelKind.DENSE, training)
    if what == "loss":
        with_loss_times(learner, lambda step: float("nan") if step + 1 == spoiled else 1.0)
    else:
        weight = learner.model.embeddings.LayerNorm.weight
        calls = iter(range(1, 99))
        weight.register_hook(lambda gradient: gradient * (float("inf") if next(calls) == spoiled else 1.0))
    with pytest.raises(TrainingError, match=r"the loss is not a number.*are kept in"):
        fit(learner, small.examples, training, tmp_path, dev=small.dev)
    for name in ("best.safetensors", f"step-{2 * ((spoiled - 1) // 2)}/model.safetensors"):
        assert all(weights.isfinite().all() for weights in load_file(tmp_path / name).values())
    assert all(np.isfinite(value) for record in log_of(tmp_path) for value in record.values())


def test_what_was_kept_before_the_loss_broke_goes_on(learner_of, short, small, tmp_path):
    training = short(ModelKind.DENSE, steps=6)
    whole = fit(learner_of(ModelKind.DENSE, training), small.examples, training, tmp_path / "whole", dev=small.dev)
    broken = with_loss_times(learner_of(ModelKind.DENSE, training), lambda step: float("nan") if step == 4 else 1.0)
    with pytest.raises(TrainingError):
        fit(broken, small.examples, training, tmp_path / "broken", dev=small.dev)
    outcome = fit(learner_of(ModelKind.DENSE, training), small.examples, training, tmp_path / "broken", dev=small.dev)
    assert outcome.measures == whole.measures


def test_a_batch_is_split_when_memory_ends(learner_of, short, small, tmp_path):
    training, told = short(ModelKind.DENSE, steps=2, batch=8), []
    learner = learner_of(ModelKind.DENSE, training)
    sizes = with_memory_for(learner, 3)
    fit(learner, small.examples, training, tmp_path, dev=DevSet(small.examples), say=told.append)
    assert sizes == [2, 2, 2, 2] * 2  # 8 do not fit, nor 4
    assert [line for line in told if "memory" in line] == [
        "out of memory: batches are split into 2 of 4, with fewer negatives in each",
        "out of memory: batches are split into 4 of 2, with fewer negatives in each",
    ]
    assert json.loads((tmp_path / "state.json").read_text())["parts"] == 4


@pytest.mark.parametrize("kind", list(ModelKind))
def test_the_gradient_of_a_split_batch_is_the_mean_over_its_parts(kind, learner_of, short, small, tmp_path):
    training = short(kind, steps=1, batch=5, clip=1e9)
    whole, limited = learner_of(kind, training).eval(), learner_of(kind, training)
    batch = next(Batches(small.examples, 5, 1, training.seed).from_start())
    texts = whole.texts(small.examples.queries, small.examples.passages)
    loss = sum(len(part) / 5 * whole(part, texts, 0)["loss"] for part in (batch.rows(0, 3), batch.rows(3, 5)))
    loss.backward()

    with_memory_for(limited, 3)
    fit(limited, small.examples, training, tmp_path)
    for (name, expected), found in zip(whole.named_parameters(), limited.parameters(), strict=True):
        if expected.grad is not None:
            assert torch.allclose(found.grad, expected.grad, atol=1e-5), name


def test_the_dev_loss_is_the_same_however_training_is_split(learner_of, short, small, tmp_path):
    """A batch of other size has other negatives; a loss over them could not be compared with the one before."""
    training = short(ModelKind.DENSE, steps=2, batch=8, learning_rate=1e-9)
    learner = learner_of(ModelKind.DENSE, training)
    forward = learner.forward

    def limited(batch, texts, step):
        if learner.training and len(batch) > 2:
            raise torch.OutOfMemoryError("out of memory")
        return forward(batch, texts, step)

    learner.forward = limited
    outcome = fit(learner, small.examples, training, tmp_path, dev=DevSet(small.examples))
    assert outcome.measures["dev loss"] == pytest.approx(outcome.start["dev loss"], rel=1e-4)


def test_too_little_memory_for_one_query(learner_of, short, small, tmp_path):
    training = short(ModelKind.DENSE)
    for dev in (DevSet(), DevSet(small.examples)):  # in a step, and in the evaluation before it
        learner = learner_of(ModelKind.DENSE, training)
        with_memory_for(learner, 0)
        with pytest.raises(TrainingError, match="too little memory for a single query"):
            fit(learner, small.examples, training, tmp_path, dev=dev)


def test_too_little_memory_for_the_documents_of_the_evaluation(learner_of, short, small, tmp_path):
    training = short(ModelKind.DENSE)
    learner = learner_of(ModelKind.DENSE, training)

    def score(texts, candidates):
        raise torch.OutOfMemoryError("out of memory")

    learner.score = score
    with pytest.raises(TrainingError, match="to read the documents of the evaluation"):
        fit(learner, small.examples, training, tmp_path, dev=small.dev)


def test_it_stops_early_and_has_the_best_weights(learner_of, short, small, tmp_path, monkeypatch):
    """Measures are given: they rise until step 2, then fall."""
    values = {0: 0.1, 1: 0.4, 2: 0.5, 3: 0.5, 4: 0.3, 5: 0.2, 6: 0.9}
    training = short(ModelKind.DENSE, steps=10, evaluate_every=1, patience=3)
    learner, told, kept = learner_of(ModelKind.DENSE, training), [], {}
    steps = iter([*range(99)])

    def measured(self, scores):
        step = next(steps)
        kept[step] = {name: weights.clone() for name, weights in learner.state_dict().items()}
        return {"R@100": values.get(step, 0.0)}

    monkeypatch.setattr(type(small.judged), "measured", measured)
    outcome = fit(learner, small.examples, training, tmp_path, dev=DevSet(None, small.judged), say=told.append)
    assert (outcome.steps, outcome.best_step, outcome.stopped_early) == (5, 2, True)
    assert "no better evaluation in 3: stopped; the weights of step 2 are kept" in told
    assert all(torch.equal(weights, kept[2][name]) for name, weights in learner.state_dict().items())
    assert not all(torch.equal(weights, kept[5][name]) for name, weights in learner.state_dict().items())


@pytest.mark.parametrize(("choose", "best"), [("R@100", 1), ("nDCG@10", 3)])
def test_weights_are_chosen_by_the_measure_that_is_asked_for(choose, best, learner_of, short, small, tmp_path, monkeypatch):
    """One measure is best after the first step, the other rises."""
    steps = itertools.count()
    monkeypatch.setattr(
        type(small.judged), "measured", lambda self, scores: {"nDCG@10": (at := next(steps)), "R@100": -abs(at - 1)}
    )
    training = short(ModelKind.DENSE, steps=3, evaluate_every=1, choose=choose)
    outcome = fit(learner_of(ModelKind.DENSE, training), small.examples, training, tmp_path, dev=DevSet(None, small.judged))
    assert outcome.best_step == best


def test_of_equal_measures_the_lower_dev_loss_is_the_best(learner_of, short, small, tmp_path, monkeypatch):
    monkeypatch.setattr(type(small.judged), "measured", lambda self, scores: {"R@100": 1.0})
    training = short(ModelKind.DENSE, steps=6)
    outcome = fit(learner_of(ModelKind.DENSE, training), small.examples, training, tmp_path, dev=small.dev)
    losses = {record["step"]: record["dev loss"] for record in log_of(tmp_path)}
    assert outcome.best_step == min(losses, key=losses.__getitem__) > 0


def test_without_anything_to_judge_by_the_last_weights_are_kept(learner_of, short, small, tmp_path):
    training = short(ModelKind.DENSE, steps=3)
    learner = learner_of(ModelKind.DENSE, training)
    outcome = fit(learner, small.examples, training, tmp_path)
    assert (outcome.best_step, outcome.measures, outcome.stopped_early) == (3, {}, False)
    last = load_file(tmp_path / "step-3" / "model.safetensors")
    assert all(torch.equal(weights, last[name]) for name, weights in learner.named_parameters())


def test_warm_up_and_decay():
    warm = Hyperparameters(steps=10, learning_rate=1.0, warm_up=0.4)
    assert [rate(warm, step) for step in range(6)] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0, 1.0])
    falling = Hyperparameters(steps=10, learning_rate=1.0, decay=Decay.LINEAR)
    assert [rate(falling, step) for step in (0, 5, 9)] == pytest.approx([1.0, 0.5, 0.1])


def test_the_learning_rate_of_a_step_is_used(learner_of, short, small, tmp_path):
    """Adam's first step moves a weight by the learning rate, whatever the gradient."""
    training = short(ModelKind.DENSE, steps=1, warm_up=1.0, learning_rate=1e-3, weight_decay=0.0)
    learner = learner_of(ModelKind.DENSE, training)
    before = learner.model.embeddings.LayerNorm.weight.detach().clone()
    fit(learner, small.examples, training, tmp_path)
    assert (learner.model.embeddings.LayerNorm.weight - before).abs().max().item() == pytest.approx(1e-3, rel=1e-2)


def test_gradients_are_clipped(learner_of, short, small, tmp_path):
    training = short(ModelKind.DENSE, steps=1, clip=1e-3)
    learner = learner_of(ModelKind.DENSE, training)
    fit(learner, small.examples, training, tmp_path)
    length = torch.stack([weights.grad.norm() for weights in learner.parameters() if weights.grad is not None]).norm()
    assert length.item() == pytest.approx(1e-3, rel=1e-3)
    assert log_of(tmp_path)[-1]["gradient"] > 2e-3  # its length before


def test_biases_and_scales_do_not_decay(learner_of, short, small, tmp_path):
    training = short(ModelKind.DENSE, steps=1, learning_rate=1e-4, weight_decay=1000.0)
    learner = learner_of(ModelKind.DENSE, training)
    layer = learner.model.encoder.layer[0].output
    before = [weights.detach().clone() for weights in (layer.dense.weight, layer.LayerNorm.weight)]
    fit(learner, small.examples, training, tmp_path)
    assert torch.allclose(layer.dense.weight, 0.9 * before[0], atol=2e-4)
    assert torch.allclose(layer.LayerNorm.weight, before[1], atol=2e-4)


@pytest.mark.parametrize("kind", [ModelKind.DENSE, ModelKind.CROSS])
def test_distillation_brings_scores_to_those_of_a_teacher(kind, learner_of, short, small, tmp_path):
    """A teacher that prefers the second negative, against the labels."""
    teacher = read_only(np.tile(np.array([0.0, 1.0, 3.0], np.float32), (8, 1)))
    examples = replace(small.examples, teacher=teacher)
    training = short(kind, steps=20, evaluate_every=10, negatives=2, distillation=1.0, temperature=0.5)
    fit(learner_of(kind, training), examples, training, tmp_path, dev=DevSet(examples))
    records = log_of(tmp_path)
    assert records[-1]["teacher"] < 0.7 * records[1]["teacher"]
    assert records[-1]["dev loss"] < 0.7 * records[0]["dev loss"]


@pytest.mark.parametrize("kind", list(ModelKind))
def test_half_precision_comes_near_to_full(kind, learner_of, short, small, tmp_path):
    found = {}
    for precision in ("fp32", "bf16"):
        training = short(kind, steps=2, precision=precision)
        learner = learner_of(kind, training)
        outcome = fit(learner, small.examples, training, tmp_path / precision, dev=small.dev)
        assert {weights.dtype for weights in learner.parameters()} == {torch.float32}
        found[precision] = outcome.start["dev loss"]
    assert found["bf16"] != found["fp32"]
    assert found["bf16"] == pytest.approx(found["fp32"], rel=0.1)


@pytest.mark.parametrize("kind", list(ModelKind))
def test_every_weight_that_is_used_learns(kind, learner_of, short, small, tmp_path):
    training = short(kind, steps=1, negatives=2)
    learner = learner_of(kind, training)
    fit(learner, small.examples, training, tmp_path)
    still = [name for name, weights in learner.named_parameters() if weights.grad is None or not weights.grad.abs().sum()]
    assert [name for name in still if "pooler" not in name] == []
