import shutil

import numpy as np
import pytest

from lexfuse.deadline import Deadline, limited
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.flops import forward_flops
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.encode.transformer import Transformer, graph_file
from lexfuse.errors import ConfigError, DataError, DeadlineError


def loaded(path, head=OutputHead.HIDDEN, **options):
    folder = ModelFolder.read(path)
    return ModelTokenizer(folder), Transformer.load(folder, head, threads=1, **options)


def test_padding_does_not_change_a_text(tmp_path, tiny, own_cache):
    tokens, model = loaded(tiny.folder(tmp_path / "m"))
    rows = tokens.ids(tiny.TEXTS)
    together = model.run(*tokens.padded(rows))
    for row, states in zip(rows, together, strict=True):
        alone = model.run(*tokens.padded([row]))[0]
        np.testing.assert_allclose(states[: len(row)], alone, atol=2e-6)


def test_the_maximum_of_logits_leaves_padding_out(tmp_path, tiny, own_cache):
    tokens, model = loaded(tiny.folder(tmp_path / "m", head="mlm"), OutputHead.MLM)
    rows = tokens.ids(tiny.TEXTS)
    together = model.run(*tokens.padded(rows))
    assert together.shape == (len(rows), model.width)
    for row, logits in zip(rows, together, strict=True):
        np.testing.assert_allclose(logits, model.run(*tokens.padded([row]))[0], atol=1e-5)


def test_the_vocabulary_in_pieces_is_the_same(tmp_path, tiny, own_cache, monkeypatch):
    path = tiny.folder(tmp_path / "m", head="mlm")
    tokens, model = loaded(path, OutputHead.MLM)
    batch = tokens.padded(tokens.ids(tiny.TEXTS))
    whole = model.run(*batch)
    shutil.rmtree(own_cache)
    monkeypatch.setattr("lexfuse.encode.onnx_export.heads.PIECE", 7)
    np.testing.assert_allclose(loaded(path, OutputHead.MLM)[1].run(*batch), whole, atol=1e-6)


def test_half_precision_weights_are_widened(tmp_path, tiny, own_cache):
    tokens, full = loaded(tiny.folder(tmp_path / "a"))
    _, half = loaded(tiny.folder(tmp_path / "b", kind="F16"))
    batch = tokens.padded(tokens.ids(tiny.TEXTS[:2]))
    ours = half.run(*batch)
    assert ours.dtype == np.float32
    difference = np.abs(ours - full.run(*batch)).max()
    assert 0 < difference < 0.01


def test_names_before_tensors_and_older_names_are_understood(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m")
    tokens, plain = loaded(path)
    named = tiny.tensors("bert", tokens.vocabulary_size)
    older = {f"model.bert.{name}".replace("LayerNorm.weight", "LayerNorm.gamma"): values for name, values in named.items()}
    tiny.safetensors(path / "model.safetensors", older)
    batch = tokens.padded(tokens.ids(tiny.TEXTS[:3]))
    assert np.array_equal(loaded(path)[1].run(*batch), plain.run(*batch))


def test_the_graph_is_built_once(tmp_path, tiny, own_cache):
    folder = ModelFolder.read(tiny.folder(tmp_path / "m"))
    file = graph_file(folder, OutputHead.HIDDEN)
    assert file.is_relative_to(own_cache)
    first = file.read_bytes()
    file.write_bytes(b"kept")
    assert graph_file(folder, OutputHead.HIDDEN).read_bytes() == b"kept"
    file.unlink()
    assert graph_file(folder, OutputHead.HIDDEN).read_bytes() == first


def test_an_onnx_file_is_used_as_it_is(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m")
    tokens, built = loaded(path)
    batch = tokens.padded(tokens.ids(tiny.TEXTS[:3]))
    (path / "onnx").mkdir()
    shutil.copy(built.graph, path / "onnx" / "model.onnx")
    (path / "model.safetensors").unlink()
    _, model = loaded(path)
    assert model.graph == path / "onnx" / "model.onnx"
    assert np.array_equal(model.run(*batch), built.run(*batch))
    with pytest.raises(DataError, match="the graph gives last_hidden_state; a mlm head needs max_logits or logits"):
        loaded(path, OutputHead.MLM)


def test_an_onnx_file_with_logits_of_every_token_and_token_types(tmp_path, tiny, own_cache):
    from onnx import TensorProto, helper, save

    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in names]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", "s", 1])
    nodes = [
        helper.make_node("Add", ["input_ids", "token_type_ids"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["float"], to=TensorProto.FLOAT),
        helper.make_node("Constant", [], ["last"], value_ints=[2]),
        helper.make_node("Unsqueeze", ["float", "last"], ["logits"]),
    ]
    graph = helper.make_graph(nodes, "g", inputs, [output])
    path = tiny.folder(tmp_path / "m")
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path / "model.onnx"))
    _, model = loaded(path, OutputHead.MLM)
    ids, mask = np.array([[3, 9, 50], [7, 2, 1]]), np.array([[1, 1, 0], [1, 1, 1]])
    assert model.run(ids, mask).tolist() == [[9.0], [7.0]]


def test_a_damaged_graph_is_named(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m")
    (path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(DataError, match=r"model\.onnx: ONNX Runtime cannot load the graph"):
        loaded(path)


def test_a_missing_tensor_is_named(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m")
    named = tiny.tensors("bert", ModelTokenizer(ModelFolder.read(path)).vocabulary_size)
    del named["encoder.layer.1.output.dense.weight"]
    tiny.safetensors(path / "model.safetensors", named)
    with pytest.raises(DataError, match=r"tensor 'encoder\.layer\.1\.output\.dense\.weight' is missing"):
        loaded(path)
    with pytest.raises(DataError, match=r"tensor 'cls\.predictions\.transform\.dense\.weight' is missing"):
        loaded(tiny.folder(tmp_path / "other"), OutputHead.MLM)
    assert not list(own_cache.rglob("*.onnx"))


def test_a_tensor_of_another_shape_and_other_weights(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m")
    named = tiny.tensors("bert", 7)
    tiny.safetensors(path / "model.safetensors", named)
    with pytest.raises(DataError, match=r"has the shape \(7, 32\), config\.json says"):
        loaded(path)
    tiny.safetensors(path / "model.safetensors", {"x": np.ones(2)})
    with pytest.raises(DataError, match="the weights are not those of a BERT, RoBERTa, MPNet, ELECTRA or DeBERTa model"):
        loaded(path)


def test_threads_must_be_positive(tmp_path, tiny, own_cache):
    with pytest.raises(ConfigError, match="threads must be at least 1, got 0"):
        Transformer.load(ModelFolder.read(tiny.folder(tmp_path / "m")), OutputHead.HIDDEN, threads=0)


@pytest.mark.parametrize("int8", [False, True])
def test_a_cache_that_cannot_be_written(tmp_path, tiny, own_cache, monkeypatch, caplog, int8):
    path = tiny.folder(tmp_path / "m", normalise=True)
    kept = DenseEncoder.load(path, threads=1, int8=int8)
    expected, flops = kept.encode(tiny.TEXTS, Side.QUERY), forward_flops(kept.transformer.graph, 10)
    monkeypatch.setenv("LEXFUSE_CACHE", f"/proc/nowhere-{int8}")
    for _ in range(2):
        encoder = DenseEncoder.load(path, threads=1, int8=int8)
        assert np.array_equal(encoder.encode(tiny.TEXTS, Side.QUERY), expected)
        assert isinstance(encoder.transformer.graph, bytes)
        assert forward_flops(encoder.transformer.graph, 10) == flops
    told = [record.getMessage().split(",")[0] for record in caplog.records]
    assert told == [f"/proc/nowhere-{int8}/graphs is not writable"]  # once


def test_int8_without_any_folder_to_write_to(tmp_path, tiny, own_cache, monkeypatch):
    path = tiny.folder(tmp_path / "m")
    monkeypatch.setenv("LEXFUSE_CACHE", "/proc/nowhere")
    monkeypatch.setattr("tempfile.tempdir", "/proc/nowhere")
    assert isinstance(DenseEncoder.load(path, threads=1, int8=True).transformer.graph, bytes)


@pytest.mark.parametrize("head", ["", "mlm"])
def test_threads_that_run_a_batch_each_change_no_bit(tmp_path, tiny, own_cache, monkeypatch, head):
    path = tiny.folder(tmp_path / "m", head=head) if head else tiny.folder(tmp_path / "m")
    kind = SparseEncoder if head else DenseEncoder
    texts = [" ".join(tiny.TEXTS[: 1 + at % len(tiny.TEXTS)]) + " mot" * (at % 7) for at in range(40)]
    alone = kind.load(path, threads=1, int8=True)
    expected = [alone.encode([text], Side.PASSAGE)[0] for text in texts]
    monkeypatch.setattr("lexfuse.encode.transformer.MOST_TOKENS_INT8", 64)
    seen: list[int] = []
    found = kind.load(path, threads=3, int8=True).encode(texts, Side.PASSAGE, progress=seen.append)
    for one, other in zip(found, expected, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(one, other, strict=True)) if head else np.array_equal(one, other)
    assert seen == sorted(seen)
    assert seen[-1] == len(texts)


def test_a_deadline_ends_the_work_of_all_threads(tmp_path, tiny, own_cache, monkeypatch):
    monkeypatch.setattr("lexfuse.encode.transformer.MOST_TOKENS_INT8", 1)
    encoder = DenseEncoder.load(tiny.folder(tmp_path / "m"), threads=2, int8=True)
    with pytest.raises(DeadlineError), limited(Deadline(1e-9)):
        encoder.encode([f"texte {number}" for number in range(50)], Side.PASSAGE)
