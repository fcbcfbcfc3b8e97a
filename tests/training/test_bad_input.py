"""What cannot be trained is refused before the first step, with what to do."""

import json

import numpy as np
import pytest

from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.train.base import Base
from lexfuse.train.examples import Examples, Pair
from lexfuse.train.judging import Judged
from lexfuse.train.loop import Dev, fit
from lexfuse.train.settings import Kind


def test_a_base_that_is_not_there(tmp_path):
    with pytest.raises(NotFoundError):
        Base.read(tmp_path / "nothing")


def test_a_base_with_an_onnx_file_alone(learner_of, short, tmp_path, own_cache):
    training = short(Kind.DENSE)
    learner_of(Kind.DENSE, training).save(tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    with pytest.raises(DataError, match="an ONNX file alone cannot be trained"):
        Base.read(tmp_path / "model")


def test_a_base_without_masked_language_head_for_splade(learner_of, short, bases):
    with pytest.raises(DataError, match=r"no masked-language head.*adapt mlm"):
        learner_of(Kind.SPLADE, short(Kind.SPLADE), bases(Kind.DENSE))


def test_a_base_without_mask_token_for_colbert(tiny, learner_of, short, tmp_path):
    folder = tiny.folder(tmp_path / "model", "bert")
    text = (folder / "tokenizer.json").read_text("utf-8").replace("[MASK]", "[M]")
    (folder / "tokenizer.json").write_text(text, "utf-8")
    with pytest.raises(DataError, match="no mask token"):
        learner_of(Kind.COLBERT, short(Kind.COLBERT), Base.read(folder))


def test_a_base_with_other_labels_starts_a_new_classifier(tiny, learner_of, short, tmp_path):
    base = Base.read(tiny.folder(tmp_path / "model", "bert", head="classes"))
    assert learner_of(Kind.CROSS, short(Kind.CROSS), base).model.classifier.weight.shape == (1, tiny.HIDDEN)


def test_a_damaged_base(tiny, tmp_path):
    folder = tiny.folder(tmp_path / "model", "bert")
    (folder / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(DataError):
        Base.read(folder).masked()


@pytest.mark.parametrize("kind", list(Kind))
def test_no_examples(kind, learner_of, short, tmp_path):
    training = short(kind)
    with pytest.raises(ConfigError, match="no examples to learn from"):
        fit(learner_of(kind, training), Examples.of([]), training, tmp_path)


def test_a_cross_encoder_without_candidates(learner_of, short, small, tmp_path):
    training, judged = short(Kind.CROSS), small.judged
    bare = Judged(judged.queries, judged.questions, judged.docs, judged.passages, judged.owner, judged.qrels)
    with pytest.raises(ConfigError, match="ranks candidates"):
        fit(learner_of(Kind.CROSS, training), small.examples, training, tmp_path, dev=Dev(None, bare))


def test_shares_of_a_source_that_has_no_examples(learner_of, short, small, tmp_path):
    training = short(Kind.DENSE, shares={"other": 1.0})
    with pytest.raises(ConfigError, match="no source is called 'other'; there are small"):
        fit(learner_of(Kind.DENSE, training), small.examples, training, tmp_path)


@pytest.mark.parametrize("kind", list(Kind))
def test_empty_texts_and_one_example_are_trained_on(kind, learner_of, short, tmp_path):
    """Nothing to tell apart is a loss of 0 for all but a cross-encoder, and never no number."""
    examples = Examples.of_pairs({"a": [Pair("", ""), Pair("?", "!")]})
    training = short(kind, steps=2, batch=8)
    outcome = fit(learner_of(kind, training), examples, training, tmp_path, dev=Dev(examples))
    assert np.isfinite(outcome.measures["dev loss"])
    assert json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])["step"] == 2
