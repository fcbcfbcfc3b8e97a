"""Word vectors and subword vectors as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32
from lexfuse.text.analysis.vocabulary import Vocabulary

MOST_DIMENSIONS = 1 << 16


class SubwordVectors(Protocol):
    """Vectors for words outside the vocabulary."""

    @property
    def fingerprint(self) -> str:
        """Equal for two objects if and only if they give the same vectors."""

    def of(self, word: str) -> F32 | None:
        """The vector of a word, or ``None``."""


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """A vector for every word of a vocabulary and, with fastText, for other words.

    >>> vectors = WordVectors(Vocabulary(["loi"]), np.ones((1, 2), dtype=np.float32))
    >>> vectors.of("loi").tolist(), vectors.of("droit")
    ([1.0, 1.0], None)
    """

    words: Vocabulary
    matrix: NDArray[Any]  # one row per word, float32 or float16
    subwords: SubwordVectors | None = None

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.matrix.shape[1])

    def of(self, word: str) -> F32 | None:
        """The vector of a word, or ``None``."""
        at = self.words.find(word)
        if at is not None:
            row: F32 = self.matrix[at].astype(np.float32)
            return row
        return None if self.subwords is None else self.subwords.of(word)
