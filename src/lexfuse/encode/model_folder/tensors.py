"""Tensors of safetensors files, memory-mapped and widened to float32; nothing is unpickled.

A safetensors file is eight bytes with the length of a JSON header, the header (name -> type, shape, offsets), then the numbers.
Large models are split over several files, listed in ``model.safetensors.index.json``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I32
from lexfuse.data.files import read_bytes
from lexfuse.errors import DataError

LARGEST_HEADER = 100_000_000  # bytes; the limit of the format
_WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
_WRITTEN = {"int32": ("I32", "<i4"), "float16": ("F16", "<f2")}
_PLAIN = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


@dataclass(frozen=True, slots=True)
class _TensorEntry:
    """Location of a tensor."""

    path: Path
    kind: str
    shape: tuple[int, ...]
    start: int
    end: int


class TensorFiles(Mapping[str, F32]):
    """The tensors of some files by name, each read on demand.

    >>> path = folder / "model.safetensors"
    >>> header = orjson.dumps({"w": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}})
    >>> raw = len(header).to_bytes(8, "little") + header + np.array([1, 2], dtype="<f2").tobytes()
    >>> _ = path.write_bytes(raw)
    >>> TensorFiles.read([path])["w"].tolist()
    [1.0, 2.0]
    """

    def __init__(self, tensors: Mapping[str, _TensorEntry]) -> None:
        """Keep the location of every tensor."""
        self._tensors = tensors

    @classmethod
    def read(cls, paths: list[Path]) -> TensorFiles:
        """Read the headers of files and check them against the file sizes."""
        tensors: dict[str, _TensorEntry] = {}
        for path in paths:
            tensors.update(_header(path))
        return cls(tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __getitem__(self, name: str) -> F32:
        tensor = self._tensors[name]
        if tensor.kind not in {*_PLAIN, "BF16"}:
            raise DataError(f"tensor {name!r} has type {tensor.kind}, expected one of F64, F32, F16, BF16", path=tensor.path)
        raw = (
            np.memmap(tensor.path, np.uint8, "r", tensor.start, (tensor.end - tensor.start,))
            if tensor.end > tensor.start
            else b""
        )
        if tensor.kind == "BF16":  # the upper half of a float32
            halves = np.frombuffer(raw, dtype="<u2").astype(np.uint32)
            return (halves << 16).view(np.float32).reshape(tensor.shape)
        values: NDArray[Any] = np.frombuffer(raw, dtype=_PLAIN[tensor.kind])
        return values.astype(np.float32).reshape(tensor.shape)

    def integers(self, name: str) -> I32:
        """A tensor of whole numbers of 32 bits."""
        tensor = self._tensors[name]
        if tensor.kind != "I32":
            raise DataError(f"tensor {name!r} has type {tensor.kind}, expected I32", path=tensor.path)
        with tensor.path.open("rb") as stream:
            stream.seek(tensor.start)
            return np.frombuffer(stream.read(tensor.end - tensor.start), dtype="<i4").astype(np.int32).reshape(tensor.shape)

    def ending(self, suffix: str) -> list[str]:
        """Names with this ending, in order."""
        return sorted(name for name in self._tensors if name.endswith(suffix))


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write tensors of 32-bit floats, 16-bit floats or 32-bit whole numbers to a file.

    >>> write_tensors(folder / "table.safetensors", {"weight": np.array([1, 2], dtype=np.float32)})
    >>> TensorFiles.read([folder / "table.safetensors"])["weight"].tolist()
    [1.0, 2.0]
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    raw, start = [], 0
    for name, values in tensors.items():
        kind, stored = _WRITTEN.get(values.dtype.name, ("F32", "<f4"))
        raw.append(np.ascontiguousarray(values, dtype=stored).tobytes())
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [start, start + len(raw[-1])]}
        start += len(raw[-1])
    shown = orjson.dumps(header)
    shown += b" " * (-len(shown) % 8)
    path.write_bytes(len(shown).to_bytes(8, "little") + shown + b"".join(raw))


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a model folder; empty if it has none."""
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return [single] if (single := folder / "model.safetensors").is_file() else []
    try:
        names = sorted(set(orjson.loads(read_bytes(index))["weight_map"].values()))
    except (orjson.JSONDecodeError, KeyError, AttributeError, TypeError) as error:
        raise DataError(f"not an index of safetensors files ({error}); fetch it again", path=index) from None
    paths = [folder / Path(str(name)).name for name in names]
    if missing := [path.name for path in paths if not path.is_file()]:
        raise DataError(f"names {', '.join(missing)}, which the folder lacks; fetch the model again", path=index)
    return paths


def _header(path: Path) -> dict[str, _TensorEntry]:
    """The tensors of a file, each checked to be inside it."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > min(size - 8, LARGEST_HEADER):
            raise _damaged(path, f"it has {size:,} bytes, its header says that it needs more than {length:,}")
        raw = stream.read(length)
    try:
        entries = orjson.loads(raw)
        entries.pop("__metadata__", None)
        return {str(name): _tensor(path, entry, 8 + length, size) for name, entry in entries.items()}
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(path, f"its header cannot be read: {error}") from None


def _tensor(path: Path, entry: Mapping[str, Any], begin: int, size: int) -> _TensorEntry:
    kind, shape = str(entry["dtype"]), tuple(int(length) for length in entry["shape"])
    start, end = (begin + int(place) for place in entry["data_offsets"])
    if kind not in _WIDTHS:
        raise ValueError(f"unknown type {kind}")
    needed = math.prod(shape) * _WIDTHS[kind]
    if min(shape, default=0) < 0 or not begin <= start <= end <= size or end - start != needed:
        raise ValueError(f"a tensor of {needed:,} bytes at {start:,} to {end:,} in a file of {size:,}")
    return _TensorEntry(path, kind, shape, start, end)


def _damaged(path: Path, why: str) -> DataError:
    return DataError(f"not a safetensors file, or a damaged one ({why}); fetch the model again", path=path)
