import numpy as np
import pytest
from onnx import numpy_helper

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.heads import OutputHead, build_graph
from lexfuse.encode.onnx_export.quantisation import computed_as_int8, stored_as_int8, widened, write_small_model
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.encode.transformer import Transformer
from lexfuse.errors import DataError


@pytest.fixture(autouse=True)
def small_matrices(monkeypatch):
    monkeypatch.setattr("lexfuse.encode.onnx_export.quantisation.SMALLEST", 100)


def test_stored_weights_are_rounded_by_at_most_half_a_step(tmp_path, tiny):
    model = build_graph(ModelFolder.read(tiny.folder(tmp_path / "m")), OutputHead.HIDDEN)
    back = widened(stored_as_int8(model))
    before = {constant.name: numpy_helper.to_array(constant) for constant in model.graph.initializer}
    after = {constant.name: numpy_helper.to_array(constant) for constant in back.graph.initializer}
    assert set(before) == set(after)
    changed = [name for name in before if not np.array_equal(before[name], after[name])]
    assert len(changed) == 1 + 4 * tiny.LAYERS
    for name in changed:
        assert np.abs(before[name] - after[name]).max() <= np.abs(before[name]).max() / 127 / 2 * 1.001


def test_a_small_model_folder_gives_nearly_the_same_vectors(tmp_path, tiny, own_cache):
    source = tiny.folder(tmp_path / "m", "roberta", dense=16, normalise=True, prompts={"query": "q: "})
    write_small_model(ModelFolder.read(source), OutputHead.HIDDEN, tmp_path / "small")
    assert not (tmp_path / "small" / "model.safetensors").exists()
    full, small = (DenseEncoder.load(path, threads=1) for path in (source, tmp_path / "small"))
    assert small.transformer.graph == tmp_path / "small" / "model.onnx"
    assert small.dimension == 16
    cosines = (full.encode(tiny.TEXTS, Side.QUERY) * small.encode(tiny.TEXTS, Side.QUERY)).sum(axis=1)
    assert 0.999 < cosines.min() < 0.9999999


def test_a_small_model_folder_for_logits(tmp_path, tiny, own_cache):
    source = ModelFolder.read(tiny.folder(tmp_path / "m", head="mlm"))
    write_small_model(source, OutputHead.MLM, tmp_path / "small")
    small = ModelFolder.read(tmp_path / "small")
    tokens = ModelTokenizer(small)
    batch = tokens.padded(tokens.ids(tiny.TEXTS))
    ours, full = (Transformer.load(folder, OutputHead.MLM, threads=1).run(*batch) for folder in (small, source))
    assert np.corrcoef(ours.ravel(), full.ravel())[0, 1] > 0.999


def test_the_same_folder_is_written_byte_for_byte(tmp_path, tiny):
    source = ModelFolder.read(tiny.folder(tmp_path / "m"))
    for name in ("a", "b"):
        write_small_model(source, OutputHead.HIDDEN, tmp_path / name)
    assert (tmp_path / "a" / "model.onnx").read_bytes() == (tmp_path / "b" / "model.onnx").read_bytes()


def test_int8_arithmetic_from_a_small_folder(tmp_path, tiny, own_cache):
    source = tiny.folder(tmp_path / "m", normalise=True)
    write_small_model(ModelFolder.read(source), OutputHead.HIDDEN, tmp_path / "small")
    full = DenseEncoder.load(source, threads=1)
    fast = DenseEncoder.load(tmp_path / "small", threads=1, int8=True)
    assert (full.encode(tiny.TEXTS, Side.QUERY) * fast.encode(tiny.TEXTS, Side.QUERY)).sum(axis=1).min() > 0.95


def test_a_graph_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(DataError, match="cannot be quantised"):
        computed_as_int8(tmp_path / "model.onnx", tmp_path)
