"""The steps after the transformer in a sentence-transformers folder: pooling, Dense layers, normalisation.

``modules.json`` lists the steps; each has a folder with a configuration and possibly weights. A folder without it is a plain
transformer, read as by sentence-transformers: mean pooling, nothing after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.data.archives import parse_json
from lexfuse.data.arrays import F32
from lexfuse.data.files import read_bytes
from lexfuse.encode.model_folder.tensors import TensorFiles, weight_files
from lexfuse.errors import DataError


class Pooling(StrEnum):
    """How the vectors of a text's tokens become one."""

    CLS = "cls"
    MAX = "max"
    MEAN = "mean"
    MEAN_SQRT = "mean_sqrt_len_tokens"
    WEIGHTED_MEAN = "weightedmean"
    LAST = "lasttoken"

    def of(self, states: F32, skipped: int = 0) -> F32:
        """The vector of a text from the states of its tokens (no padding); the first ``skipped`` tokens do not count.

        Sums run over tokens in order, so that a text always gets the same bytes.

        >>> Pooling.MEAN.of(np.array([[1.0], [3.0]], dtype=np.float32)).tolist()
        [2.0]
        """
        counted = states[skipped:]
        if self is Pooling.CLS or self is Pooling.LAST:
            one: F32 = counted[0 if self is Pooling.CLS else -1]
            return one
        if self is Pooling.MAX:
            highest: F32 = counted.max(axis=0)
            return highest
        weight = np.float32(len(counted))
        if self is Pooling.WEIGHTED_MEAN:  # by position, counted from 1 over all tokens
            weights = np.arange(skipped + 1, len(states) + 1, dtype=np.float32)
            counted, weight = counted * weights[:, None], weights.sum()
        total: F32 = counted.sum(axis=0)
        return total / (np.sqrt(weight) if self is Pooling.MEAN_SQRT else weight)


class ActivationFunction(StrEnum):
    """The activation of a Dense layer, by the name of the torch class."""

    IDENTITY = "Identity"
    TANH = "Tanh"
    RELU = "ReLU"
    SIGMOID = "Sigmoid"

    def of(self, values: F32) -> F32:
        """The function of each value."""
        if self is ActivationFunction.TANH:
            return np.tanh(values)
        if self is ActivationFunction.RELU:
            return np.maximum(values, np.float32(0))
        if self is ActivationFunction.SIGMOID:
            return np.float32(1) / (np.float32(1) + np.exp(-values))
        return values


@dataclass(frozen=True, slots=True, eq=False)
class DenseHead:
    """A linear layer after pooling (in late interaction, after the tokens), with its activation."""

    weight: F32  # out x in
    bias: F32 | None
    activation: ActivationFunction
    residual: bool = False

    @property
    def dimension(self) -> int:
        """Length of its output vectors."""
        return int(self.weight.shape[0])

    def of(self, vectors: F32) -> F32:
        """The layer's output for rows of vectors."""
        out = vectors @ self.weight.T
        if self.bias is not None:
            out = out + self.bias
        out = self.activation.of(out)
        return out + vectors if self.residual else out


def final_dimension(heads: Sequence[DenseHead], width: int, path: Path) -> int:
    """Length of the vectors after consecutive layers; a `DataError` if one does not fit the one before.

    >>> final_dimension([DenseHead(np.ones((3, 2), dtype=np.float32), None, ActivationFunction.TANH)], 2, Path("mine"))
    3
    """
    for head in heads:
        if head.weight.shape[1] != width:
            reason = f"a layer takes vectors of {head.weight.shape[1]} numbers, and those before it have {width}"
            raise DataError(f"{reason}; its files belong to different models: fetch the model again", path=path)
        width = head.dimension
    return width


@dataclass(frozen=True, slots=True, eq=False)
class Modules:
    """The steps after the transformer.

    ``others`` has the steps that dense encoders do not support (SPLADE pooling, LSTM, …), with their folders.
    """

    pooling: tuple[Pooling, ...] = (Pooling.MEAN,)
    pools_prompt: bool = True  # whether the tokens of a prompt count in the pooling
    heads: tuple[DenseHead, ...] = ()
    normalise: bool = False
    others: Mapping[str, Path] = field(default_factory=dict)
    files: tuple[Path, ...] = ()  # that determine the steps
    transformer: str = ""  # folder of the transformer, relative to that of the model


def read_modules(folder: Path) -> Modules:
    """The steps of a model folder, in the order of its ``modules.json``."""
    listing = folder / "modules.json"
    if not listing.is_file():
        return Modules()
    steps = parse_json(read_bytes(listing), str(listing))
    if not isinstance(steps, list) or not all(isinstance(step, dict) and isinstance(step.get("type"), str) for step in steps):
        raise DataError("expected a list of modules, each with a type and a path; fetch the model again", path=listing)
    found: dict[str, Any] = {"heads": (), "others": {}, "files": (listing,)}
    for step in steps:
        kind = step["type"].rsplit(".", 1)[-1]
        place = folder / str(step.get("path", ""))
        if folder.resolve() not in (place.resolve(), *place.resolve().parents):
            raise DataError(f"module {kind} lies outside of the folder ({step.get('path')!r}); not read", path=listing)
        _add(found, kind, place, str(step.get("path", "")))
    return Modules(**found)


def _add(found: dict[str, Any], kind: str, place: Path, relative: str) -> None:
    """Add one step."""
    if kind in ("Transformer", "MLMTransformer"):
        found["transformer"] = relative
    elif kind == "Pooling":
        configuration = place / "config.json"
        found["pooling"], found["pools_prompt"] = _pooling(configuration)
        found["files"] += (configuration,)
    elif kind == "Dense":
        found["heads"] += (_dense(place),)
        found["files"] += (place / "config.json", *weight_files(place))
    elif kind == "Normalize":
        found["normalise"] = True
    elif kind != "Dropout":  # no effect outside of training
        found["others"][kind] = place


_FLAGS = {  # the older spelling, one flag per mode, in the order of concatenation
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_max_tokens": Pooling.MAX,
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_mean_sqrt_len_tokens": Pooling.MEAN_SQRT,
    "pooling_mode_weightedmean_tokens": Pooling.WEIGHTED_MEAN,
    "pooling_mode_lasttoken": Pooling.LAST,
}


def _pooling(path: Path) -> tuple[tuple[Pooling, ...], bool]:
    values = json_object(path, needed=True)
    named = values.get("pooling_mode")
    try:
        if named is not None:
            modes = tuple(Pooling(mode) for mode in ([named] if isinstance(named, str) else named))
        else:
            modes = tuple(mode for flag, mode in _FLAGS.items() if values.get(flag))
    except (ValueError, TypeError):
        known = ", ".join(mode.value for mode in Pooling)
        raise DataError(f"pooling mode {named!r} is not known; known are {known}", path=path) from None
    return modes or (Pooling.MEAN,), bool(values.get("include_prompt", True))


def _dense(place: Path) -> DenseHead:
    path = place / "config.json"
    values = json_object(path, needed=True)
    name = str(values.get("activation_function", "Tanh")).rsplit(".", 1)[-1]
    if name not in set(ActivationFunction):
        raise DataError(
            f"activation {name!r} of a Dense module is not known; known are {', '.join(ActivationFunction)}", path=path
        )
    files = weight_files(place)
    if not files:
        raise DataError("the Dense module has no model.safetensors (pickled weights are not read); convert it", path=place)
    weights = TensorFiles.read(files)
    if "linear.weight" not in weights:
        raise DataError("the Dense module lacks its tensor 'linear.weight'; fetch the model again", path=files[0])
    weight = weights["linear.weight"]
    residual = bool(values.get("use_residual", False))
    if residual and weight.shape[0] != weight.shape[1]:
        raise DataError("a Dense module with a projected residual is not supported", path=path)
    bias = weights.get("linear.bias")
    return DenseHead(weight, bias, ActivationFunction(name), residual)


def json_object(path: Path, *, needed: bool = False) -> Mapping[str, Any]:
    """The JSON object in a file of a model; empty if the file does not exist, unless it is needed."""
    if not path.is_file():
        if needed:
            raise DataError("the module's configuration is missing; fetch the model again", path=path)
        return {}
    values = parse_json(read_bytes(path), str(path))
    if not isinstance(values, dict):
        raise DataError("expected a JSON object; fetch the model again", path=path)
    return values
