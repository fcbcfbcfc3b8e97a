"""Posting lists of a channel over all segments, with statistics that are exact after every change."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I32, I64, Bools
from lexfuse.errors import DataError
from lexfuse.index.inverted import InvertedFile
from lexfuse.text.vocabulary import Vocabulary


class Postings:
    """One vocabulary, one array of postings and, per term and segment, where its list lies.

    Documents have raw numbers: segment after segment, the dead in their places. The statistics count the
    living only.

    >>> file = InvertedFile.of([["a", "b"], ["b"]])
    >>> postings = Postings([file], np.array([0, 2]), np.array([True, False]))
    >>> postings.document_frequency.tolist(), postings.mean_length
    ([1, 1], 2.0)
    """

    def __init__(self, files: Sequence[InvertedFile], bases: I64, alive: Bools) -> None:
        """Take the inverted file of every segment, their raw bases, and who is alive."""
        self._files = list(files)
        self._bases = bases
        self.alive = alive
        self.impacts: dict[Hashable, F32] = {}  # one number per posting, kept by retrievers for the parameters used last

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Every term of every segment; those of the first segment come first, in order."""
        vocabulary = Vocabulary(list(self._files[0].terms) if self._files else [])
        for file in self._files[1:]:
            for term in file.terms:
                vocabulary.learn(term)
        return vocabulary

    @cached_property
    def docs(self) -> I32:
        """Raw document of every posting, segment by segment."""
        for file in self._files:  # compiled loops do not look: a damaged file must not make them write elsewhere
            if len(file.docs) and not 0 <= file.docs.min() <= file.docs.max() < len(file.lengths):
                raise DataError("posting lists of the index are damaged (they name documents that are not there); verify it")
        if len(self._files) == 1:
            return self._files[0].docs
        shifted = [file.docs + np.int32(base) for file, base in zip(self._files, self._bases, strict=False)]
        return np.concatenate(shifted) if shifted else np.empty(0, dtype=np.int32)

    @cached_property
    def weights(self) -> F32:
        """Weight of every posting, parallel to `docs`."""
        return self._joined([file.weights for file in self._files])

    @cached_property
    def lengths(self) -> F32:
        """Length of every raw document."""
        return self._joined([file.lengths for file in self._files])

    @cached_property
    def _tables(self) -> tuple[list[I32], list[I64]]:
        """Per segment: the vocabulary number of each of its terms, and the offsets of its lists in `docs`."""
        numbers = [np.arange(len(file.terms), dtype=np.int32) for file in self._files[:1]]
        numbers += [np.array([self.vocabulary.find(term) for term in file.terms], dtype=np.int32) for file in self._files[1:]]
        bases = np.cumsum([0, *(len(file.docs) for file in self._files)])
        return numbers, [file.offsets + base for file, base in zip(self._files, bases, strict=False)]

    @cached_property
    def range_starts(self) -> I64:
        """Where the list of term t in segment s starts, at [t, s]; empty lists start where they end."""
        return self._ranges(0)

    @cached_property
    def range_ends(self) -> I64:
        """Where the list of term t in segment s ends, at [t, s]."""
        return self._ranges(1)

    def _ranges(self, shift: int) -> I64:
        numbers, offsets = self._tables
        table = np.zeros((len(self.vocabulary), len(self._files)), dtype=np.int64)
        for segment, (number, offset) in enumerate(zip(numbers, offsets, strict=True)):
            table[number, segment] = offset[shift : len(offset) - 1 + shift]
        return table

    @cached_property
    def term_of_posting(self) -> I32:
        """Vocabulary number of every posting."""
        numbers, _ = self._tables
        return self._joined([np.repeat(n, f.document_frequency) for n, f in zip(numbers, self._files, strict=True)]).astype(
            np.int32
        )

    @cached_property
    def document_frequency(self) -> I64:
        """In how many living documents each term occurs."""
        frequency: I64 = (self.range_ends - self.range_starts).sum(axis=1, dtype=np.int64)
        if not self.alive.all():
            dead = self.term_of_posting[~self.alive[self.docs]]
            frequency -= np.bincount(dead, minlength=len(frequency))
        return frequency

    @cached_property
    def collection_frequency(self) -> F64:
        """How often each term occurs in all living documents: the sum of its weights."""
        living = self.weights * self.alive[self.docs]
        return np.bincount(self.term_of_posting, living, len(self.vocabulary)).astype(np.float64, copy=False)

    @cached_property
    def documents(self) -> int:
        """How many documents are alive."""
        return int(self.alive.sum())

    @cached_property
    def mean_length(self) -> float:
        """Mean length of the living."""
        return float(self.lengths[self.alive].mean(dtype=np.float64)) if self.documents else 0.0

    @staticmethod
    def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        if len(arrays) == 1:
            return arrays[0]
        return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.float32)
