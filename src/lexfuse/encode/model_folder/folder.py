"""A model folder: its content, read and checked once, without loading weights.

Supported are transformers folders (``config.json``, ``tokenizer.json``, ``model.safetensors``), the sentence-transformers layout
around them, and folders with an ONNX file, which is used as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from lexfuse.data.files import existing
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.deberta_settings import DebertaSettings
from lexfuse.encode.model_folder.modules import DenseHead, Modules, Pooling, json_object, read_modules
from lexfuse.encode.model_folder.tensors import weight_files
from lexfuse.errors import DataError

_PROMPTS = {Side.QUERY: ("query",), Side.PASSAGE: ("document", "passage", "corpus")}  # names in use, the preferred first
ONNX_FILES = ("model.onnx", "onnx/model.onnx")
CHUNKS_FILE = "chunks.json"
LEAST_OWN = 4  # tokens of a chunk that are not shared, including special tokens
USUAL_LENGTH = 512  # tokens, the default of a folder with an ONNX file


class ModelFamily(StrEnum):
    """Architectures that can be converted into a graph, by the ``model_type`` of their configuration."""

    BERT = "bert"
    ROBERTA = "roberta"
    CAMEMBERT = "camembert"
    XLM_R = "xlm-roberta"
    MPNET = "mpnet"
    ELECTRA = "electra"
    DEBERTA = "deberta-v2"  # also version 3

    @property
    def offsets_positions(self) -> bool:
        """Whether positions start at the padding id plus one, as in RoBERTa."""
        return self not in (ModelFamily.BERT, ModelFamily.ELECTRA, ModelFamily.DEBERTA)


@dataclass(frozen=True, slots=True)
class ModelSizes:
    """The dimensions of a transformer."""

    hidden: int
    embedding: int  # width of the vectors of tokens: ELECTRA and DeBERTa may project them to the hidden width
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int = 0
    padding: int = 0  # id of the padding token
    epsilon: float = 1e-12
    activation: str = "gelu"
    buckets: int = 32  # of relative distances, MPNet only
    deberta: DebertaSettings | None = None  # DeBERTa only


@dataclass(frozen=True, slots=True)
class Chunks:
    """How a model reads long texts in chunks, whose vectors are averaged; from ``chunks.json`` of its folder."""

    size: int  # tokens, special ones included
    overlap: int

    @classmethod
    def read(cls, path: Path, window: int) -> Chunks | None:
        """The settings in a folder's file, ``None`` if it has none."""
        values = json_object(path)
        if not values:
            return None
        size, overlap = values.get("size"), values.get("overlap")
        if type(size) is not int or type(overlap) is not int or not 0 <= overlap < size - LEAST_OWN or size > window:
            expected = f"expected a size up to the window of {window} tokens and an overlap that leaves more than {LEAST_OWN}"
            raise DataError(f"impossible chunks of {size!r} tokens that share {overlap!r}; {expected}", path=path)
        return cls(size, overlap)


@dataclass(frozen=True, slots=True, eq=False)
class ModelFolder:
    """A model on disk. ``family`` and ``sizes`` are ``None`` if it is known only as an ONNX file.

    >>> ModelFolder.read("/")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: /: not a model folder: it has no config.json and no model.onnx; ...
    """

    path: Path
    transformer: Path  # folder of the transformer and its tokenizer: this one or a subfolder
    family: ModelFamily | None
    sizes: ModelSizes | None
    pooling: tuple[Pooling, ...]
    pools_prompt: bool
    heads: tuple[DenseHead, ...]
    normalise: bool
    others: Mapping[str, Path]  # steps that a dense encoder does not support, and their folders
    max_length: int  # tokens, special ones included
    lowercase: bool
    prompts: Mapping[str, str]
    default_prompt: str | None
    similarity: str | None  # of vectors: "cosine", "dot", …; None if the folder does not say
    chunks: Chunks | None
    onnx: Path | None
    weights: tuple[Path, ...]
    fingerprint: str  # equal if and only if the vectors are equal

    @classmethod
    def read(cls, path: str | Path) -> ModelFolder:
        """Read a folder; a `DataError` names what is missing or unsupported.

        >>> ModelFolder.read("fr-legal-dense").max_length  # doctest: +SKIP
        320
        """
        path = existing(path)
        modules = read_modules(path)
        inner = path / modules.transformer
        onnx = next((inner / name for name in ONNX_FILES if (inner / name).is_file()), None)
        configuration = inner / "config.json"
        if not configuration.is_file() and onnx is None:
            raise DataError(
                "not a model folder: it has no config.json and no model.onnx; give the folder that holds the model's files",
                path=path,
            )
        values = json_object(configuration)
        family = _family(configuration, values, needed=onnx is None)
        sizes = _sizes(configuration, values, family) if family else None
        weights = tuple(weight_files(inner)) if onnx is None else ()
        if onnx is None and not weights:
            raise DataError(_without_weights(inner), path=inner)
        settings = json_object(inner / "sentence_bert_config.json")
        prompting = json_object(path / "config_sentence_transformers.json")
        max_length = _max_length(inner, settings, family, sizes)
        return cls(
            path=path,
            transformer=inner,
            family=family,
            sizes=sizes,
            pooling=modules.pooling,
            pools_prompt=modules.pools_prompt,
            heads=modules.heads,
            normalise=modules.normalise,
            others=modules.others,
            max_length=max_length,
            lowercase=bool(settings.get("do_lower_case", False)),
            prompts=_prompts(path / "config_sentence_transformers.json", prompting.get("prompts") or {}),
            default_prompt=prompting.get("default_prompt_name"),
            similarity=prompting.get("similarity_fn_name"),
            chunks=Chunks.read(path / CHUNKS_FILE, max_length),
            onnx=onnx,
            weights=weights,
            fingerprint=_fingerprint(path, inner, onnx, weights, modules),
        )

    def prompt(self, side: Side) -> str:
        """The text that the model expects before the texts of a side."""
        for name in _PROMPTS[side]:
            if name in self.prompts:
                return self.prompts[name]
        return self.prompts.get(self.default_prompt or "", "")


def _prompts(path: Path, values: object) -> dict[str, str]:
    if not isinstance(values, Mapping):
        raise DataError(f"prompts must be an object of names and texts, got {values!r}; fetch the model again", path=path)
    return {str(name): str(prompt) for name, prompt in values.items()}


def _family(path: Path, values: Mapping[str, Any], *, needed: bool) -> ModelFamily | None:
    kind = values.get("model_type")
    if isinstance(kind, str) and kind in set(ModelFamily):
        return ModelFamily(kind)
    if needed:
        raise DataError(
            f"model type {kind!r} cannot be turned into a graph; supported are {', '.join(ModelFamily)}; "
            "for any other, export the model to ONNX and put model.onnx into the folder",
            path=path,
        )
    return None


def _sizes(path: Path, values: Mapping[str, Any], family: ModelFamily) -> ModelSizes:
    try:
        sizes = ModelSizes(
            hidden=int(values["hidden_size"]),
            embedding=_embedding(values, family),
            layers=int(values["num_hidden_layers"]),
            heads=int(values["num_attention_heads"]),
            inner=int(values["intermediate_size"]),
            vocabulary=int(values["vocab_size"]),
            positions=int(values["max_position_embeddings"]),
            types=int(values.get("type_vocab_size", 0)),
            padding=1 if family is ModelFamily.MPNET else int(values.get("pad_token_id") or 0),  # fixed in MPNet's code
            epsilon=float(values.get("layer_norm_eps", 1e-7 if family is ModelFamily.DEBERTA else 1e-12)),
            activation=str(values.get("hidden_act", "gelu")),
            buckets=int(values.get("relative_attention_num_buckets", 32)),
            deberta=DebertaSettings.read(path, values) if family is ModelFamily.DEBERTA else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"a size of the model is missing or not a number ({error}); fetch the model again", path=path) from None
    least = min(sizes.hidden, sizes.embedding, sizes.layers, sizes.heads, sizes.inner, sizes.vocabulary)
    if least < 1 or sizes.hidden % sizes.heads:
        raise DataError(f"impossible sizes: {sizes}; fetch the model again", path=path)
    if values.get("position_embedding_type", "absolute") != "absolute":
        raise DataError(f"positions of type {values['position_embedding_type']!r}, only absolute ones are supported", path=path)
    if sizes.activation not in ACTIVATIONS:
        raise DataError(f"activation {sizes.activation!r} is not supported; supported are {', '.join(ACTIVATIONS)}", path=path)
    return sizes


ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")


def _embedding(values: Mapping[str, Any], family: ModelFamily) -> int:
    if family is ModelFamily.ELECTRA:
        return int(values.get("embedding_size", 128))
    return int(values.get("embedding_size", values["hidden_size"]) if family is ModelFamily.DEBERTA else values["hidden_size"])


def _max_length(inner: Path, settings: Mapping[str, Any], family: ModelFamily | None, sizes: ModelSizes | None) -> int:
    """The maximum number of tokens: what the files say, limited by the number of positions."""
    said = [settings.get("max_seq_length"), json_object(inner / "tokenizer_config.json").get("model_max_length")]
    lengths = [int(length) for length in said if isinstance(length, int | float) and 0 < length < 1_000_000]
    if sizes is not None and family is not None:
        lengths.append(sizes.positions - (sizes.padding + 1 if family.offsets_positions else 0))
    return min(lengths, default=USUAL_LENGTH)


def _without_weights(inner: Path) -> str:
    pickled = [name for name in ("pytorch_model.bin", "model.pt") if (inner / name).is_file()]
    if pickled:
        return (
            f"the weights are pickled ({', '.join(pickled)}), which is not safe to read; convert them to safetensors, "
            "or export the model to ONNX"
        )
    return "the folder has no weights: neither model.safetensors nor model.onnx; fetch the model again"


def _fingerprint(path: Path, inner: Path, onnx: Path | None, weights: tuple[Path, ...], modules: Modules) -> str:
    """A digest of every file that affects the vectors, with its name in the folder."""
    names = ("config.json", "tokenizer.json", "tokenizer_config.json", "sentence_bert_config.json")
    files = [inner / name for name in names] + [path / "config_sentence_transformers.json", *modules.files, *weights]
    files.append(path / CHUNKS_FILE)
    if onnx is not None:
        files += [onnx, *sorted(onnx.parent.glob("*.onnx_data")), *sorted(onnx.parent.glob("*.onnx.data"))]
    digest = hashlib.sha256()
    for file in files:
        if file.is_file():
            with file.open("rb") as stream:
                digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:32]
