"""Posting lists of a channel over all segments, with statistics that are exact after every change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lexfuse.data.arrays import F32, F64, I32, I64, Bools
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.shared_postings import JoinedLists, JoinedTerms, Lists
from lexfuse.text.analysis.vocabulary import Vocabulary


class Stretch(NamedTuple):
    """The postings of one segment: their place, and the document, weight and term of each."""

    place: slice
    docs: I32
    weights: F32
    terms: I32


class Postings:
    """One vocabulary, one array of postings, and the place of each list by term and segment.

    Documents have raw numbers: segment after segment, including deleted ones. Statistics count live documents only. Versions of
    an index with the same ``joined`` lists share as much as possible.

    >>> file = InvertedFile.of([["a", "b"], ["b"]])
    >>> postings = Postings([file], np.array([0, 2]), np.array([True, False]))
    >>> postings.document_frequency.tolist(), postings.mean_length
    ([1, 1], 2.0)
    """

    def __init__(self, files: Sequence[InvertedFile], bases: I64, alive: Bools, joined: JoinedLists | None = None) -> None:
        """Keep the inverted file of every segment, their raw bases, and the live flags."""
        self._files = list(files)
        self._bases = bases
        self._joined = joined or JoinedLists()
        self.alive = alive
        self.impacts: dict[Hashable, F32] = {}  # one number per posting, cached by retrievers for their last parameters

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Every term of every segment; those of the first segment come first, in order."""
        return self._terms.vocabulary

    @cached_property
    def _terms(self) -> JoinedTerms:
        return self._joined.terms(self._files)

    @cached_property
    def _lists(self) -> Lists:
        return self._joined.of(self._files, self._bases)

    @property
    def docs(self) -> I32:
        """Raw document of every posting. Lists of other versions may be in between: see `ranges` and `stretches`."""
        return self._lists.docs

    @property
    def weights(self) -> F32:
        """Weight of every posting, parallel to `docs`."""
        return self._lists.weights

    def __len__(self) -> int:
        """The number of postings, including those of deleted documents."""
        return sum(len(file.docs) for file in self._files)

    @cached_property
    def lengths(self) -> F32:
        """Length of every raw document."""
        lengths = [file.lengths for file in self._files]
        return lengths[0] if len(lengths) == 1 else np.concatenate([np.empty(0, dtype=np.float32), *lengths])

    @property
    def _numbers(self) -> list[I32]:
        """Per segment: the vocabulary number of each of its terms."""
        return self._terms.numbers

    @cached_property
    def _later(self) -> tuple[I64, I64, I64]:
        """The lists of all segments but the first: ascending keys of term and segment, with start and end of each list."""
        keys, starts, ends = ([np.empty(0, dtype=np.int64)] for _ in range(3))
        for at, (file, place) in enumerate(zip(self._files, self._lists.places, strict=True)):
            if at:
                keys.append(self._numbers[at].astype(np.int64) * len(self._files) + at)
                starts.append(file.offsets[:-1] + place)
                ends.append(file.offsets[1:] + place)
        every = np.concatenate(keys)
        order = np.argsort(every)
        return every[order], np.concatenate(starts)[order], np.concatenate(ends)[order]

    def ranges(self, terms: I32) -> tuple[I64, I64]:
        """Start and end of each term's list in each segment, at [term, segment]; an empty list is at 0.

        >>> postings = Postings([InvertedFile.of([["a", "b"], ["b"]])], np.array([0, 2]), np.ones(2, bool))
        >>> starts, ends = postings.ranges(np.array([1]))
        >>> starts.tolist(), ends.tolist()
        ([[1]], [[3]])
        """
        starts = np.zeros((len(terms), len(self._files)), dtype=np.int64)
        ends = np.zeros_like(starts)
        for file, place in zip(self._files[:1], self._lists.places, strict=False):  # its terms keep their numbers
            held = np.flatnonzero(terms < len(file.terms))
            starts[held, 0] = file.offsets[terms[held]] + place
            ends[held, 0] = file.offsets[terms[held] + 1] + place
        keys, from_, to = self._later
        if len(keys):
            wanted = terms.astype(np.int64)[:, None] * len(self._files) + np.arange(1, len(self._files))
            found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            there = keys[found] == wanted
            starts[:, 1:] = from_[found] * there
            ends[:, 1:] = to[found] * there
        return starts, ends

    @property
    def raw_ranges(self) -> list[tuple[int, int]]:
        """First and last raw document (exclusive) of every segment."""
        return list(pairwise(self._bases.tolist()))[: len(self._files)]

    def stretches(self) -> Iterator[Stretch]:
        """The postings, segment by segment."""
        docs, weights, places = self._lists
        for file, numbers, start in zip(self._files, self._numbers, places, strict=True):
            place = slice(start, start + len(file.docs))
            yield Stretch(place, docs[place], weights[place], np.repeat(numbers, file.document_frequency))

    def spread(self, compute: Callable[[Stretch], F32]) -> F32:
        """One number per posting, parallel to `docs`, computed segment by segment.

        >>> postings = Postings([InvertedFile.of([["a", "a", "b"]])], np.array([0, 1]), np.ones(1, bool))
        >>> postings.spread(lambda stretch: stretch.weights + stretch.terms).tolist()
        [2.0, 2.0]
        """
        numbers = np.zeros(len(self.docs), dtype=np.float32)
        for stretch in self.stretches():
            numbers[stretch.place] = compute(stretch)
        return numbers

    @cached_property
    def document_frequency(self) -> I64:
        """The number of live documents with each term."""
        frequency = np.zeros(len(self.vocabulary), dtype=np.int64)
        for file, numbers in zip(self._files, self._numbers, strict=True):
            frequency[numbers] += file.document_frequency
        if not self.alive.all():
            for stretch in self.stretches():
                frequency -= np.bincount(stretch.terms[~self.alive[stretch.docs]], minlength=len(frequency))
        return frequency

    @cached_property
    def collection_frequency(self) -> F64:
        """The sum of each term's weights in all live documents."""
        terms, living = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
        for stretch in self.stretches():
            terms.append(stretch.terms)
            living.append(stretch.weights * self.alive[stretch.docs])
        return np.bincount(np.concatenate(terms), np.concatenate(living), len(self.vocabulary)).astype(np.float64, copy=False)

    @cached_property
    def documents(self) -> int:
        """The number of live documents."""
        return int(self.alive.sum())

    @cached_property
    def mean_length(self) -> float:
        """Mean length of live documents."""
        return float(self.lengths[self.alive].mean(dtype=np.float64)) if self.documents else 0.0
