import json

import numpy as np
import pytest

from lexfuse.encode.model_folder.tensors import TensorFiles, weight_files
from lexfuse.errors import DataError


def written(path, header, data):
    raw = json.dumps(header).encode()
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + data)
    return path


def test_every_float_type_is_widened(tmp_path):
    values = np.array([1.5, -2.0, 0.0], dtype=np.float32)
    halves = (values.view(np.uint32) >> 16).astype("<u2")
    data = values.tobytes() + values.astype("<f2").tobytes() + halves.tobytes() + values.astype("<f8").tobytes()
    header = {
        "f32": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
        "f16": {"dtype": "F16", "shape": [3, 1], "data_offsets": [12, 18]},
        "bf16": {"dtype": "BF16", "shape": [1, 3], "data_offsets": [18, 24]},
        "f64": {"dtype": "F64", "shape": [3], "data_offsets": [24, 48]},
        "none": {"dtype": "F32", "shape": [0, 4], "data_offsets": [48, 48]},
    }
    weights = TensorFiles.read([written(tmp_path / "model.safetensors", header, data)])
    for name in ("f32", "f16", "bf16", "f64"):
        assert weights[name].dtype == np.float32
        assert weights[name].ravel().tolist() == [1.5, -2.0, 0.0]
    assert weights["f16"].shape == (3, 1)
    assert weights["none"].shape == (0, 4)
    assert weights.ending("16") == ["bf16", "f16"]


def test_whole_numbers_are_refused_when_asked_for(tmp_path):
    header = {"ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}}
    weights = TensorFiles.read([written(tmp_path / "a.safetensors", header, bytes(8))])
    with pytest.raises(DataError, match="'ids' has type I64"):
        weights["ids"]


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},  # beyond the file
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},  # too few bytes
        {"dtype": "F32", "shape": [-1], "data_offsets": [8, 4]},
        {"dtype": "Q4", "shape": [1], "data_offsets": [0, 4]},
        {"dtype": "F32"},
        "nothing",
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, entry):
    path = written(tmp_path / "model.safetensors", {"w": entry}, bytes(8))
    with pytest.raises(DataError, match=r"model\.safetensors: not a safetensors file, or a damaged one"):
        TensorFiles.read([path])


@pytest.mark.parametrize(
    "raw", [b"", b"\x01\x02", b"\xff" * 40, (4).to_bytes(8, "little") + b"[1]x", (2).to_bytes(8, "little") + b"[]"]
)
def test_bytes_that_are_no_safetensors_are_refused(tmp_path, raw):
    path = tmp_path / "model.safetensors"
    path.write_bytes(raw)
    with pytest.raises(DataError, match="not a safetensors file"):
        TensorFiles.read([path])


def test_a_model_in_several_files(tmp_path, tiny):
    tiny.safetensors(tmp_path / "a.safetensors", {"x": np.ones(2)})
    tiny.safetensors(tmp_path / "b.safetensors", {"y": np.zeros(3)})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}))
    assert sorted(TensorFiles.read(weight_files(tmp_path))) == ["x", "y"]
    (tmp_path / "b.safetensors").unlink()
    with pytest.raises(DataError, match=r"names b\.safetensors, which the folder lacks"):
        weight_files(tmp_path)
    index.write_text("[]")
    with pytest.raises(DataError, match="not an index"):
        weight_files(tmp_path)
