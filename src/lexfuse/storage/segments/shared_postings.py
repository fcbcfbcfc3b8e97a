"""Posting lists and terms shared by versions of an index: nearly all of them, since a change adds one small file.

Files never change, and a version has most files of the version before. So their posting lists are joined in arrays that several
versions use, and their terms are looked up in the tables of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import NamedTuple, overload

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, read_only
from lexfuse.errors import DataError
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.string_list import StringList
from lexfuse.text.analysis.vocabulary import Vocabulary

_ROOM = 1.5  # spare capacity: untouched memory costs nothing


class Lists(NamedTuple):
    """Posting lists in one array; lists of other versions' files may be in between."""

    docs: I32
    weights: F32
    places: list[int]  # where the lists of each file begin


class JoinedVocabulary(Vocabulary):
    """The terms of a first file, looked up in its table, and further ones.

    >>> terms = JoinedVocabulary(StringList.of(["droit", "loi"]), ["bail", "loi"])
    >>> list(terms), terms.find("loi"), terms.find("bail"), terms[2], len(terms)
    (['droit', 'loi', 'bail'], 1, 2, 'bail', 3)
    """

    def __init__(self, first: StringList, others: Iterable[str]) -> None:
        """Keep the terms of the first file, and those of the others that it lacks."""
        super().__init__()
        self._first = first
        for term in others:
            self.learn(term)

    def learn(self, term: str) -> int:
        """The id of a term; unknown terms are added."""
        at = self._first.find(term)
        return len(self._first) + super().learn(term) if at is None else at

    def find(self, term: str) -> int | None:
        """The id of a known term, else None."""
        at = self._first.find(term)
        further = super().find(term) if at is None else None
        return at if further is None else len(self._first) + further

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        """The term with this id, or the terms of a slice."""
        if isinstance(number, slice):
            return list(self)[number]
        number = number + len(self) if number < 0 else number
        return self._first[number] if 0 <= number < len(self._first) else super().__getitem__(number - len(self._first))

    def __len__(self) -> int:
        """The number of terms."""
        return len(self._first) + super().__len__()

    def __iter__(self) -> Iterator[str]:
        """The terms by id."""
        yield from self._first
        yield from super().__iter__()


class JoinedTerms(NamedTuple):
    """The terms of several files in one vocabulary, and the numbers that the terms of each file have in it."""

    vocabulary: JoinedVocabulary
    numbers: list[I32]

    @classmethod
    def of(cls, files: Sequence[InvertedFile]) -> JoinedTerms:
        """Join the terms of files; those of the first come first, in order.

        >>> JoinedTerms.of([InvertedFile.of([["a", "b"]]), InvertedFile.of([["b", "c"]])]).numbers
        [array([0, 1], dtype=int32), array([1, 2], dtype=int32)]
        """
        vocabulary = JoinedVocabulary(files[0].terms if files else StringList.of([]), ())
        numbers = [np.arange(len(file.terms), dtype=np.int32) for file in files[:1]]
        numbers += [np.array([vocabulary.learn(term) for term in file.terms], dtype=np.int32) for file in files[1:]]
        return cls(vocabulary, numbers)


class JoinedLists:
    """Posting lists of the files of several versions, concatenated; a version sees those that exist when it asks.

    Files shared with earlier versions are already there, so a version adds only its new ones. If there is no room left, or the
    first file (usually the largest) differs, new arrays are started: older versions keep the former ones.

    >>> first, second = InvertedFile.of([["a"], ["b"]]), InvertedFile.of([["a"]])
    >>> joined = JoinedLists()
    >>> before, after = joined.of([first], np.array([0, 2])), joined.of([first, second], np.array([0, 2, 3]))
    >>> after.docs.tolist(), after.places
    ([0, 1, 2], [0, 2])
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = Lock()
        self._places: dict[tuple[InvertedFile, int], int] = {}  # by file and the number of its first document
        self._docs: I32 = np.empty(0, dtype=np.int32)
        self._weights: F32 = np.empty(0, dtype=np.float32)
        self._used = 0
        self._terms: tuple[tuple[InvertedFile, ...], JoinedTerms] | None = None  # of the files that were asked for last

    def terms(self, files: Sequence[InvertedFile]) -> JoinedTerms:
        """The terms of files; versions with the same files, such as several days of one law, share them."""
        wanted, last = tuple(files), self._terms
        if last is None or last[0] != wanted:
            last = self._terms = wanted, JoinedTerms.of(wanted)
        return last[1]

    def of(self, files: Sequence[InvertedFile], bases: I64) -> Lists:
        """The posting lists of files; the documents of a file are numbered from its base."""
        if len(files) == 1 and bases[0] == 0:  # as mapped
            _check(files[0])
            return Lists(files[0].docs, files[0].weights, [0])
        wanted = list(zip(files, bases.tolist(), strict=False))
        with self._lock:
            missing = [one for one in wanted if one not in self._places]
            needed = self._used + sum(len(file.docs) for file, _ in missing)
            if wanted and (wanted[0] in missing or needed > len(self._docs)):
                missing = wanted
                self._start_anew(sum(len(file.docs) for file in files))
            for file, base in missing:
                self._add(file, base)
            places = [self._places[one] for one in wanted]
            return Lists(read_only(self._docs[: self._used].view()), read_only(self._weights[: self._used].view()), places)

    def _start_anew(self, needed: int) -> None:
        self._docs = np.empty(int(_ROOM * needed) + 1, dtype=np.int32)
        self._weights = np.empty(len(self._docs), dtype=np.float32)
        self._places, self._used = {}, 0

    def _add(self, file: InvertedFile, base: int) -> None:
        _check(file)
        place, end = self._used, self._used + len(file.docs)
        np.add(file.docs, np.int32(base), out=self._docs[place:end])
        self._weights[place:end] = file.weights
        self._places[file, base], self._used = place, end


def _check(file: InvertedFile) -> None:
    """Compiled loops do not check bounds: a damaged file must not make them write elsewhere."""
    if len(file.docs) and not 0 <= file.docs.min() <= file.docs.max() < len(file.lengths):
        raise DataError("posting lists of the index are damaged (they name documents that are not there); verify it")
