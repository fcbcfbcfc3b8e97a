"""Vectors that another system has computed, from a file: of documents by their ids, of questions by their texts or ids.

An ``.npz`` file has the array ``vectors``, one row each, and ``ids``, ``texts`` (of questions) or both, as arrays of text. A
document may have several rows, one for each of its passages. ``model``, one text, may name the system: vectors of two systems are
not compared. An ``.npy`` file has the vectors, and a text file of the same name (``documents.txt``) has their ids, one per line.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I64, offsets_of
from lexfuse.data.files import decode, existing, raw_lines
from lexfuse.encode.encoder import Progress, Side, check_texts, no_progress
from lexfuse.errors import DataError, NotFoundError

_SUFFIXES = (".npz", ".npy")
_ARRAYS = {"vectors", "ids", "texts", "model"}
_BLOCK = 1 << 22  # numbers that are checked at once
_SHOWN = 3  # ids that an error names


def is_vector_file(name: str | Path) -> bool:
    """Whether a model is named that is a file of vectors.

    >>> is_vector_file("ada/documents.npz"), is_vector_file("fr-legal-dense")
    (True, False)
    """
    return Path(name).suffix.lower() in _SUFFIXES


@dataclass(frozen=True, slots=True, eq=False)
class VectorFile:
    """Stored vectors as an encoder: a text or an id that the file does not have is an error, never a zero vector.

    >>> np.savez(folder / "questions.npz", texts=["la loi"], vectors=np.array([[3.0, 4.0]]))
    >>> stored = VectorFile.load(folder / "questions.npz")
    >>> stored.encode(["la loi"], Side.QUERY)
    array([[0.6, 0.8]], dtype=float32)
    >>> stored.encode(["le droit"], Side.QUERY)
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: questions.npz has no vector of the question 'le droit'; add it to the file, or search ...
    """

    path: Path
    matrix: NDArray[Any]
    by_id: Mapping[str, Sequence[int]]  # the rows of each id
    by_text: Mapping[str, Sequence[int]]  # the row of each text; empty if the file has none
    model: str  # the system that computed the vectors, if the file names it
    dot_product: bool  # whether vectors keep their lengths; else they have length one, and are compared by cosine

    @classmethod
    def load(cls, path: str | Path, *, dot_product: bool = False) -> VectorFile:
        """Read a file and check all of it."""
        path = existing(path)
        arrays = _npz(path) if path.suffix.lower() == ".npz" else {"vectors": _npy(path), "ids": _lines(path.with_suffix(".txt"))}
        if "vectors" not in arrays or not {"ids", "texts"} & arrays.keys() or arrays.keys() - _ARRAYS:
            known = ", ".join(arrays) or "none"
            raise _wrong(f"expected the arrays vectors, ids or texts, and perhaps model; the file has {known}", path)
        matrix, model = arrays["vectors"], _texts(arrays.get("model", np.array("")).reshape(-1), "model", path)
        if len(model) != 1:
            raise _wrong(f"model must be one text, got {len(model)}", path)
        keys = {name: _texts(arrays[name], name, path) for name in ("texts", "ids") if name in arrays}
        for name, values in keys.items():
            _check(matrix, values, name, path)
        by_id, by_text = (_places(keys.get(name, [])) for name in ("ids", "texts"))
        if twice := _repeated(by_text):
            raise DataError(f"the question {_shown(twice)} has several vectors; keep one of them", path=path)
        return cls(path, matrix, by_id, by_text, model[0], dot_product)

    @property
    def fingerprint(self) -> str:
        """Equal for files whose vectors can be compared. It does not depend on the rows, so that a file may get more of them."""
        parts = "\0".join(["vectors", self.model, str(self.dimension), "dot" if self.dot_product else "cosine"])
        return hashlib.sha256(parts.encode()).hexdigest()[:32]

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.matrix.shape[1])

    @property
    def normalises(self) -> bool:
        """Whether all vectors have length one."""
        return not self.dot_product

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> F32:
        """The stored vector of each question, given by its text or, if the file has no texts, by its id."""
        check_texts(texts)
        places = self.by_text or self.by_id
        if missing := [text for text in texts if text not in places]:
            reason = f"{self.path.name} has no vector of the question {_shown(missing)}"
            raise NotFoundError(f"{reason}; add it to the file, or search by other channels")
        if twice := _repeated({text: places[text] for text in texts}):
            raise DataError(f"the question {_shown(twice)} has several vectors; keep one of them", path=self.path)
        progress(len(texts))
        return self._rows([places[text][0] for text in texts])

    def of_documents(self, ids: Sequence[str]) -> tuple[F32, I64]:
        """The vectors of documents, and where those of each begin and end."""
        self.check_documents(ids)
        counts = np.array([len(self.by_id[id]) for id in ids], dtype=np.int64)
        return self._rows([place for id in ids for place in self.by_id[id]]), offsets_of(counts)

    def check_documents(self, ids: Sequence[str]) -> None:
        """`DataError` unless the file has a vector of every document."""
        if ids and not self.by_id:
            raise _wrong("vectors of documents need their ids in the array ids; the file has texts", self.path)
        if missing := [id for id in ids if id not in self.by_id]:
            raise DataError(
                f"no vector of {len(missing):,} of {len(ids):,} documents, {_shown(missing)}; add their vectors to the file",
                path=self.path,
            )

    def _rows(self, places: Sequence[int]) -> F32:
        rows: F32 = np.asarray(self.matrix[np.array(places, dtype=np.int64)], dtype=np.float32)
        if self.dot_product:
            return rows
        lengths = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1))[:, None]
        unit: F32 = (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
        return unit


def _npz(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with path.open("rb") as stream:
            arrays = np.load(stream, allow_pickle=False)
            if isinstance(arrays, np.ndarray):
                raise ValueError("it has one array without a name")
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(error, path) from None


def _npy(path: Path) -> NDArray[Any]:
    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(error, path) from None


def _unreadable(error: Exception, path: Path) -> DataError:
    """Arrays of Python objects would be unpickled, which can run code."""
    return _wrong(f"the arrays cannot be read ({error}); texts must be saved as np.array(ids, dtype=str)", path)


def _wrong(reason: str, path: Path) -> DataError:
    return DataError(f"{reason}; write it with numpy.savez(file, ids=ids, vectors=vectors)", path=path)


def _lines(path: Path) -> NDArray[Any]:
    """The ids next to an .npy file."""
    return np.array([decode(line.rstrip(b"\r\n"), path=path, line=number) for number, line in raw_lines(path)], dtype=str)


def _texts(array: NDArray[Any], name: str, path: Path) -> list[str]:
    if array.ndim != 1 or array.dtype.kind not in "US":
        raise _wrong(f"{name} must be a list of texts, got {array.dtype} of shape {array.shape}", path)
    if array.dtype.kind == "S":
        return [decode(value, path=path) for value in array.tolist()]
    return [str(value) for value in array.tolist()]


def _places(keys: Sequence[str]) -> dict[str, list[int]]:
    """The rows of each key."""
    places: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return places


def _repeated(places: Mapping[str, Sequence[int]]) -> list[str]:
    return [key for key, rows in places.items() if len(rows) > 1]


def _check(matrix: NDArray[Any], keys: list[str], name: str, path: Path) -> None:
    """Refuse vectors that cannot be compared."""
    if matrix.ndim != 2 or not matrix.shape[1] or matrix.dtype.kind != "f":
        raise _wrong(f"vectors must be a table of floats, got {matrix.dtype} of shape {matrix.shape}", path)
    if len(matrix) != len(keys):
        raise _wrong(f"{len(matrix):,} vectors and {len(keys):,} {name}; there must be as many", path)
    step = max(1, _BLOCK // matrix.shape[1])
    for first in range(0, len(matrix), step):
        with np.errstate(over="ignore"):
            rows = np.asarray(matrix[first : first + step], dtype=np.float32)
        wrong = ~np.isfinite(rows).all(axis=1)
        if wrong.any():
            at = first + int(wrong.argmax())
            raise DataError(f"the vector of {keys[at]!r} (row {at:,}) holds nan or infinity; compute it again", path=path)


def _shown(keys: Sequence[str]) -> str:
    some = ", ".join(repr(key if len(key) <= 60 else f"{key[:60]}…") for key in keys[:_SHOWN])
    return some if len(keys) <= _SHOWN else f"{some} and {len(keys) - _SHOWN:,} more"
