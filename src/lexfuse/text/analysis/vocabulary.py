"""Terms as numbers: a growing vocabulary, and texts encoded as arrays of term ids for the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import overload

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.text.analysis.analyser import Analyser

_PIECES_KEPT = 2_000_000  # then the table is cleared, so that a long-lived encoder stays small
_BYTES_KEPT = 1 << 28  # of all pieces: a piece may be a whole text
_NONE = -1  # a piece without terms; below: a piece with several


class Vocabulary(Sequence[str]):
    """Terms in order of first appearance; the id of a term is its position.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.learn("loi"), vocabulary.learn("droit"), vocabulary.learn("loi"), vocabulary[1]
    (0, 1, 0, 'droit')
    """

    def __init__(self, terms: Sequence[str] = ()) -> None:
        """Start with these terms."""
        self._terms = list(terms)
        self._ids = {term: number for number, term in enumerate(self._terms)}

    def learn(self, term: str) -> int:
        """The id of a term; unknown terms are added."""
        number = self._ids.setdefault(term, len(self._terms))
        if number == len(self._terms):
            self._terms.append(term)
        return number

    def find(self, term: str) -> int | None:
        """The id of a known term, else None."""
        return self._ids.get(term)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        """The term with this id, or the terms of a slice."""
        return self._terms[number]

    def __len__(self) -> int:
        """The number of terms."""
        return len(self._terms)

    def __iter__(self) -> Iterator[str]:
        """The terms by id."""
        return iter(self._terms)


class TermEncoder:
    """Encodes texts of one language; encoders of several languages may share one vocabulary.

    >>> encoder = TermEncoder(Analyser("fr"), Vocabulary())
    >>> encoder.encode("La loi, le droit, la loi").tolist(), list(encoder.vocabulary)
    ([0, 1, 0], ['loi', 'droit'])
    """

    def __init__(self, analyser: Analyser, vocabulary: Vocabulary, *, grows: bool = True) -> None:
        """Keep the analyser and the vocabulary; if the vocabulary does not grow, unknown terms are ignored."""
        self.analyser = analyser
        self.vocabulary = vocabulary
        self._id = vocabulary.learn if grows else vocabulary.find
        self._pieces = _PieceTable(self._learn)

    def encode(self, text: str) -> I32:
        """Term ids of a text, in text order; new terms enter the vocabulary."""
        return self.encode_pieces(self.analyser.pieces(text))

    def encode_pieces(self, pieces: Sequence[bytes]) -> I32:
        """Term ids of a text whose pieces are known.

        >>> encoder = TermEncoder(Analyser("fr"), Vocabulary())
        >>> encoder.encode_pieces(encoder.analyser.pieces("La loi")).tolist()
        [0]
        """
        table = self._pieces  # keep this table even if another thread replaces it
        if len(table) > _PIECES_KEPT or table.size > _BYTES_KEPT:
            table = self._pieces = _PieceTable(self._learn)
        terms = np.fromiter(map(table.__getitem__, pieces), dtype=np.int32, count=len(pieces))
        if table.several and len(terms) and terms.min() < _NONE:
            groups = ((term,) if term >= _NONE else table.several[_NONE - 1 - term] for term in terms.tolist())
            terms = np.array([term for group in groups for term in group], dtype=np.int32)
        return terms[terms >= 0]

    def _learn(self, piece: bytes) -> list[int]:
        found = (self._id(term) for term in self.analyser.terms_of_piece(piece))
        return [number for number in found if number is not None]


class _PieceTable(dict[bytes, int]):
    """The term id of every known piece; pieces with several terms are in a separate table."""

    def __init__(self, learn: Callable[[bytes], list[int]]) -> None:
        super().__init__()
        self.several: dict[int, list[int]] = {}
        self.size = 0  # bytes
        self._places = count()
        self._learn = learn

    def __missing__(self, piece: bytes) -> int:
        ids = self._learn(piece)
        number = ids[0] if ids else _NONE
        if len(ids) > 1:
            place = next(self._places)  # threads may learn at the same time and must not share a place
            self.several[place] = ids
            number = _NONE - 1 - place
        self[piece] = number
        self.size += len(piece)
        return number
