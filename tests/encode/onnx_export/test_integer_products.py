import numpy as np
import pytest
from onnx import numpy_helper

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.graph import OnnxGraph
from lexfuse.encode.onnx_export.heads import OutputHead, build_graph
from lexfuse.encode.onnx_export.integer_products import IntegerProducts, multiplies_bytes, rounded_matrix
from lexfuse.encode.onnx_export.quantisation import stored_as_int8
from lexfuse.encode.onnx_runtime import CPU, onnx_runtime, open_session
from lexfuse.encode.tokenizer import ModelTokenizer


@pytest.fixture(autouse=True)
def small_matrices(monkeypatch):
    monkeypatch.setattr("lexfuse.encode.onnx_export.quantisation.SMALLEST", 100)


def session(model):
    options = onnx_runtime().SessionOptions()
    options.intra_op_num_threads = 1
    return open_session(model.SerializeToString(), options, CPU, unfused=True)


def outputs(model, ids, mask):
    return session(model).run(None, {"input_ids": ids, "attention_mask": mask})[0]


def product(weight):
    graph = OnnxGraph()
    values = graph.input("x", np.float32, ["n", len(weight)])
    graph.output(graph.node("MatMul", [values, graph.constant("w", weight)]), "y", np.float32, ["n", weight.shape[1]])
    return graph.model()


@pytest.mark.parametrize("integers", [True, False])
def test_a_product_is_that_of_rounded_rows(integers):
    if integers and not multiplies_bytes():
        pytest.skip("the processor cannot add products of bytes")
    rng = np.random.default_rng(1)
    weight = rng.standard_normal((96, 64)).astype(np.float32)
    rows = (rng.standard_normal((50, 96)) * 10.0 ** rng.integers(-3, 4, (50, 1))).astype(np.float32)
    rows[7] = 0
    codes, steps = rounded_matrix(weight, 1)
    scale = np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.float32(1e-30))
    expected = np.rint(rows / scale * 127).astype(np.float64) @ codes * scale / 127 * (steps if integers else 1)
    if not integers:
        expected = np.rint(rows / scale * 127).astype(np.float64) @ weight * scale / 127
    found = session(IntegerProducts(product(weight), integers=integers).rewritten()).run(None, {"x": rows})[0]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max(axis=1, keepdims=True).max())
    assert not found[7].any()


def test_a_large_row_costs_the_others_no_precision():
    weight = np.random.default_rng(2).standard_normal((64, 64)).astype(np.float32)
    rows = np.random.default_rng(3).standard_normal((4, 64)).astype(np.float32)
    run = session(IntegerProducts(product(weight)).rewritten()).run
    alone = run(None, {"x": rows})[0]
    beside = run(None, {"x": np.concatenate([rows, rows * 1e6])})[0]
    assert np.array_equal(alone, beside[:4])


@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet", "electra", "deberta-v2"])
@pytest.mark.parametrize("stored", [True, False])
def test_every_family_is_close_and_padding_changes_no_bit(tmp_path, tiny, family, stored):
    folder = ModelFolder.read(tiny.folder(tmp_path / "m", family))
    full = build_graph(folder, OutputHead.HIDDEN)
    small = IntegerProducts(stored_as_int8(full) if stored else full).rewritten()
    tokens = ModelTokenizer(folder)
    rows = tokens.ids(tiny.TEXTS)
    wide, bytes_ = (outputs(model, *tokens.padded(rows)) for model in (full, small))
    for at, row in enumerate(rows):
        one, other = wide[at, : len(row)].ravel(), bytes_[at, : len(row)].ravel()
        assert one @ other / np.linalg.norm(one) / np.linalg.norm(other) > 0.99
        assert np.array_equal(outputs(small, *tokens.padded([row]))[0], bytes_[at, : len(row)])
    assert "SkipLayerNormalization" not in {node.op_type for node in small.graph.node}


@pytest.mark.parametrize("piece", [4096, 10])
def test_largest_logits_have_one_scale_per_text(tmp_path, tiny, monkeypatch, piece):
    monkeypatch.setattr("lexfuse.encode.onnx_export.heads.PIECE", piece)
    folder = ModelFolder.read(tiny.folder(tmp_path / "m", head="mlm"))
    stored = stored_as_int8(build_graph(folder, OutputHead.MLM))
    small = IntegerProducts(stored).rewritten()
    assert not {"Gemm"} & {node.op_type for node in small.graph.node}
    tokens = ModelTokenizer(folder)
    rows = tokens.ids(tiny.TEXTS)
    wide, bytes_ = (outputs(model, *tokens.padded(rows)) for model in (stored, small))
    assert np.corrcoef(wide.ravel(), bytes_.ravel())[0, 1] > 0.99
    for row, logits in zip(rows, bytes_, strict=True):
        assert np.array_equal(outputs(small, *tokens.padded([row]))[0], logits)


def test_stored_weights_are_not_rounded_again(tmp_path, tiny):
    folder = ModelFolder.read(tiny.folder(tmp_path / "m"))
    stored = stored_as_int8(build_graph(folder, OutputHead.HIDDEN))
    before = {tensor.name: numpy_helper.to_array(tensor) for tensor in stored.graph.initializer}
    after = {tensor.name: numpy_helper.to_array(tensor) for tensor in IntegerProducts(stored).rewritten().graph.initializer}
    kept = [name for name in after if name.endswith(".int8")]
    assert kept
    assert all(np.array_equal(before[name], after[name]) for name in kept)
