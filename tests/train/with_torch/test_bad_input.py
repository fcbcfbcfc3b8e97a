"""What cannot be trained is refused before the first step, with what to do."""

import json

import numpy as np
import pytest

from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.loop.loop import DevSet, fit
from lexfuse.train.models.base_model import StartingModel


def test_a_base_that_is_not_there(tmp_path):
    with pytest.raises(NotFoundError):
        StartingModel.read(tmp_path / "nothing")


@pytest.mark.parametrize(("family", "reason"), [("roberta", "only a graph of a BERT model"), ("bert", "not written by LexFuse")])
def test_a_base_with_the_onnx_file_of_another_program(family, reason, learner_of, short, tmp_path, own_cache):
    import onnx

    learner_of(ModelKind.DENSE, short(ModelKind.DENSE), family=family).save(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    graph = onnx.load(tmp_path / "model" / "onnx" / "model.onnx")
    for constant in graph.graph.initializer:
        constant.name = f"onnx::{constant.name}"
    onnx.save(graph, tmp_path / "model" / "onnx" / "model.onnx")
    with pytest.raises(DataError, match=f"no safetensors weights to train on.*{reason}"):
        StartingModel.read(tmp_path / "model")
    assert not own_cache.exists()


def test_a_base_without_masked_language_head_for_splade(learner_of, short, bases):
    with pytest.raises(DataError, match=r"no masked-language head.*adapt mlm"):
        learner_of(ModelKind.SPLADE, short(ModelKind.SPLADE), bases(ModelKind.DENSE))


def test_a_base_without_mask_token_for_colbert(tiny, learner_of, short, tmp_path):
    folder = tiny.folder(tmp_path / "model", "bert")
    text = (folder / "tokenizer.json").read_text("utf-8").replace("[MASK]", "[M]")
    (folder / "tokenizer.json").write_text(text, "utf-8")
    with pytest.raises(DataError, match="no mask token"):
        learner_of(ModelKind.COLBERT, short(ModelKind.COLBERT), StartingModel.read(folder))


def test_a_base_with_other_labels_starts_a_new_classifier(tiny, learner_of, short, tmp_path):
    base = StartingModel.read(tiny.folder(tmp_path / "model", "bert", head="classes"))
    assert learner_of(ModelKind.CROSS, short(ModelKind.CROSS), base).model.classifier.weight.shape == (1, tiny.HIDDEN)


def test_a_damaged_base(tiny, tmp_path):
    folder = tiny.folder(tmp_path / "model", "bert")
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(DataError):
        StartingModel.read(folder).masked()


@pytest.mark.parametrize("kind", list(ModelKind))
def test_no_examples(kind, learner_of, short, tmp_path):
    training = short(kind)
    with pytest.raises(ConfigError, match="no examples to learn from"):
        fit(learner_of(kind, training), Examples.of([]), training, tmp_path)


def test_a_cross_encoder_without_candidates(learner_of, short, small, tmp_path):
    training, judged = short(ModelKind.CROSS), small.judged
    bare = DevQueries(judged.queries, judged.questions, judged.docs, judged.passages, judged.owner, judged.qrels)
    with pytest.raises(ConfigError, match="ranks candidates"):
        fit(learner_of(ModelKind.CROSS, training), small.examples, training, tmp_path, dev=DevSet(None, bare))


def test_shares_of_a_source_that_has_no_examples(learner_of, short, small, tmp_path):
    training = short(ModelKind.DENSE, shares={"other": 1.0})
    with pytest.raises(ConfigError, match="no source is called 'other'; there are small"):
        fit(learner_of(ModelKind.DENSE, training), small.examples, training, tmp_path)


@pytest.mark.parametrize("kind", list(ModelKind))
def test_empty_texts_and_one_example_are_trained_on(kind, learner_of, short, tmp_path):
    """Nothing to tell apart is a loss of 0 for all but a cross-encoder, and never no number."""
    examples = Examples.of_pairs({"a": [TrainingPair("", ""), TrainingPair("?", "!")]})
    training = short(kind, steps=2, batch=8)
    outcome = fit(learner_of(kind, training), examples, training, tmp_path, dev=DevSet(examples))
    assert np.isfinite(outcome.measures["dev loss"])
    assert json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])["step"] == 2
