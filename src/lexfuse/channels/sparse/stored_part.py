"""Learned sparse vectors on disk: an inverted file whose weights are bytes.

A weight is stored as a whole number of steps, 1 to 255, and is that number times the step from then on. The step is the
document's own, 1/255 of its largest weight. So what is stored of a document depends on that document alone, not on those it
was added with; no weight is cut off; and merging copies bytes and rounds nothing again. On French articles encoded by SPLADE
the rounding errors lie between those of one step for each term and those of one step for the whole file.

A document has one vector, or one for each of its passages; then ``starts.npy`` says which are its own. "Document" below is what
has a vector.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, I32, I64, Bools, offsets_of, read_only
from lexfuse.errors import ConfigError, DataError
from lexfuse.storage.array_file import checked_offsets, map_array, save_array
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.merge import merged_inverted
from lexfuse.storage.stored_channel import NO_OPTIONS, Option
from lexfuse.storage.string_list import StringList
from lexfuse.text.analysis.vocabulary import Vocabulary

LEVELS = 255
STARTS = "starts.npy"
_FILES = {"offsets": np.int64, "docs": np.int32, "codes": np.uint8, "steps": np.float32}


@dataclass(frozen=True, eq=False)
class SparsePart:
    """The sparse vectors of one block of documents.

    >>> part = SparsePart.of([(np.array([0, 1], np.int32), np.array([2.0, 0.5], np.float32))], Vocabulary(["loi", "droit"]))
    >>> len(part), part.inverted.postings("droit")[1].round(2).tolist()
    (1, [0.5])
    """

    codes: InvertedFile  # the weights are numbers of steps
    steps: F32  # of every document, 0 for one without terms
    starts: I64 | None = None  # of the vectors of every document, and the end; None where each has one

    @classmethod
    def of(cls, rows: Sequence[tuple[I32, F32]], terms: Vocabulary, starts: I64 | None = None) -> SparsePart:
        """Store vectors that are given as term ids and weights above zero, one pair a document or passage.

        >>> SparsePart.of([(np.array([0], np.int32), np.array([-1.0], np.float32))], Vocabulary(["loi"]))
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: weights must be positive numbers; document 0 has -1.0 for 'loi'
        """
        steps = np.zeros(len(rows), dtype=np.float32)
        codes = []
        for at, (ids, weights) in enumerate(rows):
            _check(at, ids, weights, terms)
            if len(ids):  # a step of 0 would lose tiny weights: the least float there is instead
                steps[at] = max(float(weights.max()) / LEVELS, float(np.finfo(np.float32).smallest_subnormal))
            code = np.rint(weights.astype(np.float64) / (float(steps[at]) or 1.0))
            codes.append(np.clip(code, 1, LEVELS).astype(np.float32))
        return cls(InvertedFile.from_rows([ids for ids, _ in rows], terms, codes), read_only(steps), starts)

    def __len__(self) -> int:
        """How many documents, whatever their passages."""
        return len(self.steps) if self.starts is None else len(self.starts) - 1

    @property
    def posting_rows(self) -> I64 | None:
        """How many vectors each document has; None if each has one."""
        return None if self.starts is None else np.diff(self.starts)

    @cached_property
    def inverted(self) -> InvertedFile:
        """The posting lists with their weights as 32-bit floats."""
        file = self.codes
        weights = file.weights * self.steps[file.docs]
        lengths = np.bincount(file.docs, weights.astype(np.float64), minlength=len(self.steps)).astype(np.float32)
        return InvertedFile(file.terms, file.offsets, file.docs, read_only(weights), read_only(lengths))

    def save(self, folder: Path, options: Mapping[str, Option] = NO_OPTIONS) -> Iterator[Path]:
        """Write the arrays into a folder and yield each file."""
        file = self.codes
        yield from file.terms.save(folder / "terms")
        arrays: dict[str, NDArray[np.generic]] = {
            "offsets": file.offsets, "docs": file.docs, "codes": file.weights.astype(np.uint8), "steps": self.steps,
        }  # fmt: skip
        for name, array in arrays.items():
            yield save_array(folder / f"{name}.npy", array)
        if self.starts is not None:
            yield save_array(folder / STARTS, self.starts)

    @classmethod
    def load(cls, folder: Path, files: Collection[str] = ()) -> SparsePart:
        """Read a saved part, with what cannot be refused."""
        arrays = {name: map_array(folder / f"{name}.npy", dtype) for name, dtype in _FILES.items()}
        offsets, docs, codes, steps = arrays.values()
        terms = StringList.load(folder / "terms")
        checked_offsets(offsets, len(docs), folder / "offsets.npy")
        if len(offsets) != len(terms) + 1 or len(codes) != len(docs):
            raise DataError("the files do not belong together; restore them, or rebuild the index", path=folder)
        if len(docs) and (docs.min() < 0 or docs.max() >= len(steps)):
            raise DataError(f"a posting names a document beyond the {len(steps):,} there are; rebuild the index", path=folder)
        if (codes == 0).any() or not (np.isfinite(steps) & (steps >= 0)).all():
            raise DataError("weights or steps cannot be; restore them, or rebuild the index", path=folder)
        starts = map_array(folder / STARTS, np.int64) if (folder / STARTS).exists() else None
        if starts is not None:
            checked_offsets(starts, len(steps), folder / STARTS)
        return cls(_file(terms, offsets, docs, codes.astype(np.float32), len(steps)), steps, starts)

    @classmethod
    def merged(cls, parts: Sequence[SparsePart], kept: Sequence[Bools]) -> SparsePart:
        """The documents of several parts that are kept, in order; their stored weights stay bit for bit what they are.

        >>> part = SparsePart.of([(np.array([0], np.int32), np.array([2.0], np.float32))] * 2, Vocabulary(["loi"]))
        >>> SparsePart.merged([part, part], [np.array([True, False])] * 2).inverted.postings("loi")[0].tolist()
        [0, 1]
        """
        places, count, starts = [], 0, _merged_starts(parts, kept)
        kept = [
            flags if part.starts is None else np.repeat(flags, np.diff(part.starts))
            for part, flags in zip(parts, kept, strict=True)
        ]
        for flags in kept:
            place = np.where(flags, count + np.cumsum(flags) - 1, -1)
            places.append(place.astype(np.int32))
            count += int(flags.sum())
        steps = [part.steps[flags] for part, flags in zip(parts, kept, strict=True)]
        merged = merged_inverted([part.codes for part in parts], places, count)
        return cls(merged, read_only(np.concatenate([np.empty(0, dtype=np.float32), *steps])), starts)


def _merged_starts(parts: Sequence[SparsePart], kept: Sequence[Bools]) -> I64 | None:
    """Where the vectors of each kept document begin; None if each has one."""
    if all(part.starts is None for part in parts):
        return None
    ones = [np.ones(len(part), dtype=np.int64) if (rows := part.posting_rows) is None else rows for part in parts]
    return read_only(offsets_of(np.concatenate([rows[flags] for rows, flags in zip(ones, kept, strict=True)])))


def _file(terms: StringList, offsets: NDArray[np.int64], docs: I32, codes: F32, documents: int) -> InvertedFile:
    lengths = np.bincount(docs, codes, minlength=documents).astype(np.float32)
    return InvertedFile(terms, offsets, docs, read_only(codes), read_only(lengths))


def _check(at: int, ids: I32, weights: F32, terms: Vocabulary) -> None:
    if len(ids) != len(weights):
        raise ConfigError(f"document {at} has {len(ids):,} terms and {len(weights):,} weights")
    if len(ids) and (ids.min() < 0 or ids.max() >= len(terms)):
        raise ConfigError(f"document {at} has a term beyond the {len(terms):,} of the vocabulary")
    if len(np.unique(ids)) != len(ids):
        raise ConfigError(f"document {at} has a term twice")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        place = int(wrong[0])
        shown = f"document {at} has {float(weights[place])} for {terms[int(ids[place])]!r}"
        raise ConfigError(f"weights must be positive numbers; {shown}")
