"""Damaged model folders: whatever is wrong with one, it is told as a `DataError` that names the folder."""

import copy
import json
import random

import numpy as np
import pytest

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.graph import OnnxGraph
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.transformer import graph_file
from lexfuse.errors import DataError, LexFuseError

TEXTS = ["l'article L. 1, zß€", "", "court " * 200]


@pytest.fixture
def folder(tmp_path, tiny, own_cache):
    return tiny.folder(tmp_path / "m", dense=8)


def encoded(folder, encoder=DenseEncoder):
    return encoder.load(folder, threads=1).encode(TEXTS, Side.QUERY)


def changed(path, change):
    values = json.loads(path.read_text("utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        ("tokenizer.json", lambda v: v["post_processor"]["special_tokens"].pop("[SEP]"), "the tokenizer fails"),  # a panic
        ("tokenizer.json", lambda v: v["model"].update(vocab={}), "tokenizer"),
        (
            "tokenizer.json",
            lambda v: v["model"]["vocab"].update({"court": 10**9}),
            r"the graph failed on \d+ texts of \d+ tokens",
        ),
        ("config.json", lambda v: v.update(model_type=[]), r"model type \[\] cannot"),
        ("config_sentence_transformers.json", lambda v: v.update(prompts="x"), "prompts must be an object"),
        ("1_Pooling/config.json", lambda v: v.update(pooling_mode_max_tokens=True), "takes vectors of 32 .* before it have 64"),
    ],
)
@pytest.mark.parametrize("encoder", [DenseEncoder, LateEncoder])
def test_files_that_do_not_belong_together(folder, file, change, told, encoder):
    if encoder is LateEncoder and "Pooling" in file:
        return  # it does not pool
    if not (folder / file).exists():
        (folder / file).write_text("{}", encoding="utf-8")
    changed(folder / file, change)
    with pytest.raises(DataError, match=told) as raised:
        encoded(folder, encoder)
    assert str(folder) in str(raised.value)


@pytest.mark.parametrize("raw", [b"", b"no graph", b"\x08"])
def test_a_graph_that_cannot_be_loaded(folder, raw, capfd):
    (folder / "model.onnx").write_bytes(raw)
    with pytest.raises(DataError, match="ONNX Runtime cannot load the graph"):
        encoded(folder)
    assert capfd.readouterr() == ("", "")  # nothing but the error: standard output may be JSON


def test_a_graph_that_gives_other_numbers_than_it_says(folder):
    graph = OnnxGraph()
    for name in ("input_ids", "attention_mask"):
        graph.input(name, np.int64, ["n", "m"])
    graph.output(graph.node("Cast", ["input_ids"], to=1), "last_hidden_state", np.float32, ["n", "m", 32])
    (folder / "model.onnx").write_bytes(graph.model().SerializeToString())
    with pytest.raises(DataError, match=r"gives numbers of shape \d+ x \d+ for \d+ texts"):
        encoded(folder)


def test_nothing_but_errors_of_ours_comes_of_damage(folder):
    """Every file of the folder, damaged in many ways; the same ways every time."""
    draw = random.Random(0)  # noqa: S311
    (folder / "onnx").mkdir()
    graph = graph_file(ModelFolder.read(folder), OutputHead.HIDDEN).read_bytes()
    files = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()} | {
        folder / "onnx/model.onnx": graph
    }
    tried = failed = 0
    for path, whole in files.items():
        for damaged in _damages(path, whole, draw):
            path.write_bytes(damaged)
            tried += 1
            try:
                encoded(folder)
            except LexFuseError:
                failed += 1
        path.write_bytes(whole) if path.suffix != ".onnx" else path.unlink()
    assert tried > 100
    assert failed > tried // 2


def _damages(path, whole, draw):
    yield from (b"", b"[]", b"null", b"\xff\xfe", whole[: len(whole) // 2])
    if path.suffix == ".json":
        values = json.loads(whole)
        places = [place for place in _places(values) if place]
        for place in draw.sample(places, min(12, len(places))):
            yield json.dumps(_replaced(values, place, draw.choice((None, -1, 10**12, "x", [], {})))).encode()
    else:
        for _ in range(12):
            spoiled = bytearray(whole)
            spoiled[draw.randrange(min(len(whole), 3000))] = draw.randrange(256)
            yield bytes(spoiled)


def _places(values, place=()):
    yield place
    below = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for name, value in list(below)[:12]:
        yield from _places(value, (*place, name))


def _replaced(values, place, value):
    changed = copy.deepcopy(values)
    inner = changed
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    return changed
