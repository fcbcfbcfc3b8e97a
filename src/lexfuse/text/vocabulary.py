"""Terms as numbers: a growing vocabulary, and texts encoded as arrays of term ids for the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.text.analyser import Analyser

_NONE = -1  # a piece that gives no term
_SEVERAL = -2  # a piece that gives more than one


class Vocabulary(Sequence[str]):
    """Terms in the order they were first met; a term's id is its position.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.learn("loi"), vocabulary.learn("droit"), vocabulary.learn("loi"), vocabulary[1]
    (0, 1, 0, 'droit')
    """

    def __init__(self, terms: Sequence[str] = ()) -> None:
        """Start with these terms."""
        self._terms = list(terms)
        self._ids = {term: number for number, term in enumerate(self._terms)}

    def learn(self, term: str) -> int:
        """The id of a term, which is new if need be.

        >>> Vocabulary(["a"]).learn("b")
        1
        """
        number = self._ids.setdefault(term, len(self._terms))
        if number == len(self._terms):
            self._terms.append(term)
        return number

    def find(self, term: str) -> int | None:
        """The id of a term that is known, else None.

        >>> Vocabulary(["a"]).find("b") is None
        True
        """
        return self._ids.get(term)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        """The term with this id, or the terms of a slice."""
        return self._terms[number]

    def __len__(self) -> int:
        """How many terms there are."""
        return len(self._terms)

    def __iter__(self) -> Iterator[str]:
        """The terms in the order of their ids."""
        return iter(self._terms)


class TermEncoder:
    """Encodes texts of one language; encoders of several languages may share one vocabulary.

    >>> encoder = TermEncoder(Analyser("fr"), Vocabulary())
    >>> encoder.encode("La loi, le droit, la loi").tolist(), list(encoder.vocabulary)
    ([0, 1, 0], ['loi', 'droit'])
    """

    def __init__(self, analyser: Analyser, vocabulary: Vocabulary) -> None:
        """Keep the analyser and the vocabulary that grows."""
        self.analyser = analyser
        self.vocabulary = vocabulary
        self._pieces = _PieceTable(self._learn)
        self._term = np.full(1024, _NONE, dtype=np.int32)
        self._several: dict[int, list[int]] = {}

    def encode(self, text: str) -> I32:
        """Term ids of a text, in order of place; new terms enter the vocabulary.

        >>> TermEncoder(Analyser("en"), Vocabulary()).encode("").tolist()
        []
        """
        pieces = np.fromiter(map(self._pieces.__getitem__, self.analyser.pieces(text)), dtype=np.int32)
        terms = self._term[pieces]
        if self._several and (terms == _SEVERAL).any():
            several = self._several
            flat = [several.get(p, (t,)) for p, t in zip(pieces.tolist(), terms.tolist(), strict=True)]
            terms = np.array([term for group in flat for term in group], dtype=np.int32)
        return terms[terms >= 0]

    def _learn(self, piece: bytes, number: int) -> None:
        if number >= len(self._term):
            self._term = np.concatenate((self._term, np.full(len(self._term), _NONE, dtype=np.int32)))
        ids = [self.vocabulary.learn(term) for term in self.analyser.terms_of_piece(piece)]
        if len(ids) == 1:
            self._term[number] = ids[0]
        elif ids:
            self._term[number] = _SEVERAL
            self._several[number] = ids


class _PieceTable(dict[bytes, int]):
    """Numbers pieces as they come and tells the encoder about each new one."""

    def __init__(self, learn: Callable[[bytes, int], None]) -> None:
        super().__init__()
        self._learn = learn

    def __missing__(self, piece: bytes) -> int:
        number = self[piece] = len(self)
        self._learn(piece, number)
        return number
