import json
import shutil

import pytest

from lexfuse.encode.model_folder.folder import ModelFamily, ModelFolder
from lexfuse.encode.model_folder.modules import ActivationFunction, Pooling
from lexfuse.errors import DataError, NotFoundError


def changed(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_what_a_sentence_transformers_folder_says(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m", "camembert", pooling=["cls", "max"], normalise=True, dense=16, prompts={"query": "q: "})
    folder = ModelFolder.read(path)
    assert folder.family is ModelFamily.CAMEMBERT
    assert folder.sizes.hidden == tiny.HIDDEN
    assert folder.pooling == (Pooling.CLS, Pooling.MAX)
    assert folder.normalise
    assert folder.heads[0].dimension == 16
    assert folder.heads[0].activation is ActivationFunction.TANH
    assert folder.max_length == 128
    assert folder.prompts == {"query": "q: "}
    assert folder.onnx is None


def test_a_plain_transformers_folder_has_mean_pooling(tmp_path, tiny):
    folder = ModelFolder.read(tiny.folder(tmp_path / "m", head="mlm"))
    assert folder.pooling == (Pooling.MEAN,)
    assert not folder.normalise
    assert folder.heads == ()


def test_the_newer_spelling_of_pooling(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m")
    (path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": ["mean", "lasttoken"], "include_prompt": False}))
    folder = ModelFolder.read(path)
    assert folder.pooling == (Pooling.MEAN, Pooling.LAST)
    assert not folder.pools_prompt
    (path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "median"}))
    with pytest.raises(DataError, match="pooling mode 'median' is not known; known are cls, max, mean"):
        ModelFolder.read(path)


def test_positions_of_roberta_start_after_the_padding_token(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m", "roberta")
    changed(path / "sentence_bert_config.json", max_seq_length=512)
    changed(path / "tokenizer_config.json", model_max_length=10**30)
    assert ModelFolder.read(path).max_length == tiny.POSITIONS - 2


def test_the_fingerprint_changes_with_what_changes_vectors(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m")
    before = ModelFolder.read(path).fingerprint
    copy = shutil.copytree(path, tmp_path / "elsewhere")
    assert ModelFolder.read(copy).fingerprint == before
    (path / "README.md").write_text("about")
    assert ModelFolder.read(path).fingerprint == before
    raw = bytearray((path / "model.safetensors").read_bytes())
    raw[-1] ^= 1
    (path / "model.safetensors").write_bytes(raw)
    assert ModelFolder.read(path).fingerprint != before
    changed(copy / "config_sentence_transformers.json", prompts={"query": "q: "})
    assert ModelFolder.read(copy).fingerprint != before


def test_no_folder_and_no_model_folder(tmp_path):
    with pytest.raises(NotFoundError, match="nowhere"):
        ModelFolder.read(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"not a model folder: it has no config\.json and no model\.onnx"):
        ModelFolder.read(tmp_path)


def test_another_architecture_is_refused_with_the_supported_ones(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m")
    changed(path / "config.json", model_type="t5")
    with pytest.raises(
        DataError, match="'t5' cannot be turned into a graph; supported are bert, roberta, camembert, xlm-roberta, mpnet"
    ):
        ModelFolder.read(path)
    (path / "model.onnx").write_bytes(b"x")  # an ONNX file may be of any architecture
    assert ModelFolder.read(path).family is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hidden_size": "wide"}, "a size of the model is missing or not a number"),
        ({"num_attention_heads": 5}, "impossible sizes"),
        ({"hidden_act": "swish"}, "activation 'swish' is not supported; supported are gelu"),
        ({"position_embedding_type": "relative_key"}, "only absolute ones are supported"),
    ],
)
def test_configurations_that_cannot_be(tmp_path, tiny, values, message):
    path = tiny.folder(tmp_path / "m")
    changed(path / "config.json", **values)
    with pytest.raises(DataError, match=message):
        ModelFolder.read(path)


def test_missing_weights(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m")
    (path / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"neither model\.safetensors nor model\.onnx"):
        ModelFolder.read(path)
    (path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(DataError, match="not safe to read; convert them to safetensors"):
        ModelFolder.read(path)


def test_damaged_configurations(tmp_path, tiny):
    path = tiny.folder(tmp_path / "m", dense=4)
    (path / "2_Dense" / "model.safetensors").unlink()
    with pytest.raises(DataError, match=r"the Dense module has no model\.safetensors"):
        ModelFolder.read(path)
    (path / "modules.json").write_text("{}")
    with pytest.raises(DataError, match="expected a list of modules"):
        ModelFolder.read(path)
    (path / "modules.json").write_text(json.dumps([{"type": "x.Pooling", "path": "../../etc"}]))
    with pytest.raises(DataError, match="lies outside of the folder"):
        ModelFolder.read(path)
    (path / "modules.json").unlink()
    (path / "config.json").write_text("{")
    with pytest.raises(DataError, match=r"config\.json: not valid JSON"):
        ModelFolder.read(path)
