"""The weights of a model that has only a graph: the inverse of `lexfuse.encode.onnx_export`, for models of BERT's kind.

The models of the package are graphs with int8 weights, a quarter of the size. Widened to 32 bits they are a start for training.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32
from lexfuse.data.downloads import cache_folder
from lexfuse.data.files import written_folder
from lexfuse.encode.model_folder.folder import ModelFamily, ModelFolder, ModelSizes
from lexfuse.encode.onnx_export.layers import WORDS
from lexfuse.encode.onnx_export.quantisation import widened
from lexfuse.errors import DataError, StorageError

_THREE = ("query", "key", "value")
_MATRICES = {"output": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense"}
_HEAD = "cls.predictions.transform."


def widened_folder(read: ModelFolder) -> Path:
    """The folder of a graph's weights in the cache folder, written once; the model's own folder is never changed.

    >>> widened_folder(ModelFolder.read("fr-legal-dense")).name  # doctest: +SKIP
    'fr-legal-dense'
    """
    target = cache_folder() / "weights" / read.fingerprint[:16] / read.path.resolve().name
    if target.is_dir():
        return target
    try:
        write_weights(read.path, target)
    except StorageError:
        if not target.is_dir():  # else another process was faster
            raise
    return target


def write_weights(graph: Path, folder: Path) -> None:
    """Copy a model folder with safetensors weights taken from its graph; the graph itself is left out.

    >>> write_weights(Path("fr-legal-dense"), Path("fr-legal-dense-weights"))  # doctest: +SKIP
    """
    from onnx import load, numpy_helper
    from safetensors.numpy import save_file

    read = ModelFolder.read(graph)
    if read.family is not ModelFamily.BERT or read.sizes is None or read.onnx is None:
        raise DataError("only a graph of a BERT model, as LexFuse writes it, has its weights under known names", path=graph)
    constants = {one.name: numpy_helper.to_array(one) for one in widened(load(read.onnx)).graph.initializer}
    if f"encoder.layer.{read.sizes.layers - 1}.attention" not in constants:
        raise DataError("the graph was not written by LexFuse, so its weights have other names", path=read.onnx)
    try:
        state = _state(constants, read.sizes)
    except KeyError as missing:
        raise DataError(f"the graph has no weights {missing}; write it again with this version", path=read.onnx) from None
    with written_folder(folder) as out:
        shutil.copytree(graph, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.onnx", "onnx"))
        place = out / read.transformer.relative_to(read.path)
        save_file(state, place / "model.safetensors", metadata={"format": "pt"})


def _state(constants: dict[str, F32], sizes: ModelSizes) -> dict[str, F32]:
    """The tensors by the names of transformers; where the graph reads no types of tokens, the first is part of the positions."""
    headed, classified = "head.dense" in constants, "labels" in constants
    prefix, width = "bert." if headed or classified else "", sizes.hidden
    types = constants.get("types", np.zeros((max(1, sizes.types), width), np.float32))
    state = {
        WORDS: constants[WORDS],
        "embeddings.position_embeddings.weight": constants["positions"],
        "embeddings.token_type_embeddings.weight": types,
        "embeddings.LayerNorm.weight": constants["embeddings.norm.weight"],
        "embeddings.LayerNorm.bias": constants["embeddings.norm.bias"],
    }
    for number in range(sizes.layers):
        place = f"encoder.layer.{number}"
        weights = np.split(constants[f"{place}.attention"].T, 3)
        biases = np.split(constants[f"{place}.attention.bias"], 3)
        for name, weight, bias in zip(_THREE, weights, biases, strict=True):
            state |= {f"{place}.attention.self.{name}.weight": weight, f"{place}.attention.self.{name}.bias": bias}
        state |= {f"{place}.{theirs}.weight": constants[f"{place}.{ours}"].T for ours, theirs in _MATRICES.items()}
        state[f"{place}.intermediate.dense.bias"] = constants[f"{place}.up.bias"]
        for part in ("attention.output", "output"):
            names = (f"{place}.{part}.{name}" for name in ("dense.bias", "LayerNorm.weight", "LayerNorm.bias"))
            state |= {name: constants[name] for name in names}
    state = {prefix + name: values for name, values in state.items()}
    if headed:
        state |= {
            f"{_HEAD}dense.weight": constants["head.dense"].T,
            f"{_HEAD}dense.bias": constants["head.dense.bias"],
            f"{_HEAD}LayerNorm.weight": constants["head.norm.weight"],
            f"{_HEAD}LayerNorm.bias": constants["head.norm.bias"],
            "cls.predictions.bias": constants["head.bias"],
        }
    if "head.words" in constants:  # not tied to the word embeddings
        state["cls.predictions.decoder.weight"] = constants["head.words"]
    for ours, theirs in {"pooler": "bert.pooler.dense", "labels": "classifier"}.items() if classified else ():
        state |= {f"{theirs}.weight": constants[ours].T, f"{theirs}.bias": constants[f"{ours}.bias"]}
    return {name: np.ascontiguousarray(values, dtype=np.float32) for name, values in state.items()}
