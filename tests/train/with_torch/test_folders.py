"""What a saved folder holds, and that it is the same for the same weights."""

import json

import pytest

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.model_folder.tensors import TensorFiles
from lexfuse.train.hyperparameters import ModelKind


@pytest.fixture
def saved(learner_of, short, tmp_path, own_cache):
    def made(kind, name="model", family="bert", **changes):
        learner_of(kind, short(kind, **changes), family=family).save(tmp_path / name)
        return tmp_path / name

    return made


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", list(ModelKind))
def test_the_same_weights_give_the_same_bytes(kind, saved):
    assert contents(saved(kind, "one")) == contents(saved(kind, "two"))


@pytest.mark.parametrize("kind", list(ModelKind))
def test_a_folder_has_weights_tokenizer_and_graph_and_nothing_pickled(kind, saved):
    folder = saved(kind)
    for place in [folder / "queries", folder / "passages"] if kind is ModelKind.TWO_TOWER else [folder]:
        names = set(contents(place))
        assert {"model.safetensors", "config.json", "tokenizer.json", "onnx/model.onnx"} <= names
        assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl"))]
        assert {numbers.dtype.name for numbers in TensorFiles.read([place / "model.safetensors"]).values()} == {"float32"}


@pytest.mark.parametrize(
    ("kind", "steps"), [(ModelKind.DENSE, ["Transformer", "Pooling", "Normalize"]), (ModelKind.COLBERT, ["Transformer", "Dense"])]
)
def test_the_steps_after_the_transformer(kind, steps, saved):
    listed = json.loads((saved(kind) / "modules.json").read_text())
    assert [step["type"].rsplit(".", 1)[-1] for step in listed] == steps


@pytest.mark.parametrize(("lengths", "window"), [((24, 60), 60), ((60, 24), 24), ((500, 500), 128)])
def test_the_window_is_the_one_of_the_training(lengths, window, saved):
    """That of passages, and never more than the base reads."""
    assert ModelFolder.read(saved(ModelKind.DENSE, query_length=lengths[0], passage_length=lengths[1])).max_length == window


def test_late_interaction_says_how_it_reads(saved):
    settings = json.loads(
        (saved(ModelKind.COLBERT, query_length=20, passage_length=40) / "config_sentence_transformers.json").read_text()
    )
    assert (settings["query_length"], settings["document_length"], settings["attend_to_expansion_tokens"]) == (20, 40, False)


@pytest.mark.parametrize(("family", "typed"), [("bert", True), ("roberta", False)])
def test_a_cross_encoder_says_whether_it_is_told_the_two_texts_apart(family, typed, saved):
    settings = json.loads((saved(ModelKind.CROSS, family=family) / "tokenizer_config.json").read_text())
    assert ("token_type_ids" in settings["model_input_names"]) is typed
