"""Operations of a forward pass, counted from the graph and by hand: the same model in every form it can be stored in."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from lexfuse.encode.flops import forward_flops
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.onnx_export.quantisation import write_small_model
from lexfuse.encode.transformer import graph_file


def by_hand(tokens, *, hidden, inner, layers, head=0):
    """2 for each number of a weight matrix and token; 2 for each of the two products in which tokens meet each other."""
    weights = layers * (4 * hidden * hidden + 2 * hidden * inner) + head
    return 2 * tokens * weights + layers * 2 * (2 * tokens * tokens * hidden)


@pytest.fixture
def sizes(tiny):
    return {"hidden": tiny.HIDDEN, "inner": tiny.INNER, "layers": tiny.LAYERS}


@pytest.mark.parametrize("tokens", [1, 17, 128])
@pytest.mark.parametrize("family", ["bert", "roberta", "camembert", "xlm-roberta", "mpnet"])
def test_a_graph_built_from_weights(tmp_path, tiny, own_cache, sizes, family, tokens):
    file = graph_file(ModelFolder.read(tiny.folder(tmp_path / "m", family)), OutputHead.HIDDEN)
    assert forward_flops(file, tokens) == by_hand(tokens, **sizes)


@pytest.mark.parametrize("piece", [4096, 50])  # the vocabulary at once, and piece by piece
def test_a_masked_language_head(tmp_path, tiny, own_cache, sizes, monkeypatch, piece):
    monkeypatch.setattr("lexfuse.encode.onnx_export.heads.PIECE", piece)
    folder = ModelFolder.read(tiny.folder(tmp_path / "m", head="mlm"))
    head = tiny.HIDDEN * tiny.HIDDEN + folder.sizes.vocabulary * tiny.HIDDEN
    assert forward_flops(graph_file(folder, OutputHead.MLM), 20) == by_hand(20, **sizes, head=head)


@pytest.mark.parametrize("head", [OutputHead.HIDDEN, OutputHead.MLM])
def test_weights_stored_or_computed_as_bytes(tmp_path, tiny, own_cache, monkeypatch, head):
    monkeypatch.setattr("lexfuse.encode.onnx_export.quantisation.SMALLEST", 100)
    source = ModelFolder.read(tiny.folder(tmp_path / "m", head="mlm" if head is OutputHead.MLM else ""))
    expected = forward_flops(graph_file(source, head), 30)
    write_small_model(source, head, tmp_path / "small")
    assert forward_flops(tmp_path / "small" / "model.onnx", 30) == expected
    assert forward_flops(graph_file(source, head, int8=True), 30) == expected
    assert forward_flops(graph_file(ModelFolder.read(tmp_path / "small"), head, int8=True), 30) == expected


def test_an_attention_written_out_in_plain_products(tmp_path):
    """As exporters write it: query, key, value and output by matrices, and two products of tokens with tokens."""
    width, inner = 16, 24
    shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width)}
    shapes |= {"up": (width, inner), "down": (inner, width)}
    weights = [numpy_helper.from_array(np.zeros(shape, dtype=np.float32), name) for name, shape in shapes.items()]
    nodes = [helper.make_node("MatMul", ["x", name], [f"x{name}"]) for name in "qkv"]
    nodes += [
        helper.make_node("Transpose", ["xk"], ["xkt"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["xq", "xkt"], ["met"]),
        helper.make_node("Softmax", ["met"], ["shares"]),
        helper.make_node("MatMul", ["shares", "xv"], ["mixed"]),
        helper.make_node("MatMul", ["mixed", "o"], ["attended"]),
        helper.make_node("MatMul", ["attended", "up"], ["inner"]),
        helper.make_node("MatMul", ["inner", "down"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "length", width]) for name in "xy"]
    save(helper.make_model(helper.make_graph(nodes, "plain", ends[:1], ends[1:], weights)), str(tmp_path / "plain.onnx"))
    assert forward_flops(tmp_path / "plain.onnx", 10) == by_hand(10, hidden=width, inner=inner, layers=1)


@pytest.mark.parametrize("name", ["fr-legal-dense", "fr-legal-splade"])
def test_the_shipped_models(name):
    folder = locate_model(name)
    config = json.loads((folder / "config.json").read_text())
    hidden = config["hidden_size"]
    head = hidden * hidden + config["vocab_size"] * hidden if name.endswith("splade") else 0
    expected = by_hand(
        15, hidden=hidden, inner=config["intermediate_size"], layers=config["num_hidden_layers"], head=head
    )  # fmt: skip
    assert forward_flops(folder / "model.onnx", 15) == expected
