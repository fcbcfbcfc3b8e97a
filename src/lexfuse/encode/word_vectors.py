"""Word vectors as arrays, and vectors of character n-grams for words outside the vocabulary (Bojanowski et al. 2017)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32
from lexfuse.text.analysis.vocabulary import Vocabulary

MOST_DIMENSIONS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class CharacterNgrams:
    """Rows of character n-grams, found by their hash.

    >>> CharacterNgrams(3, 4, np.eye(5, dtype=np.float32)).of("a").tolist()  # "<a>" is its only n-gram
    [1.0, 0.0, 0.0, 0.0, 0.0]
    """

    shortest: int
    longest: int
    rows: NDArray[Any]

    @property
    def fingerprint(self) -> str:
        """Equal for two objects if and only if they give the same vectors."""
        digest = hashlib.sha256(f"{self.shortest} {self.longest} {self.rows.shape}".encode())
        digest.update(np.ascontiguousarray(self.rows).data)
        return digest.hexdigest()

    def of(self, word: str) -> F32 | None:
        """The mean of a word's n-grams, ``None`` for a word without n-grams."""
        buckets = self.buckets(word)
        mean: F32 | None = self.rows[buckets].mean(axis=0, dtype=np.float64).astype(np.float32) if buckets else None
        return mean

    def buckets(self, word: str) -> list[int]:
        """The rows of a word's n-grams, in order."""
        if not len(self.rows) or not self.longest:
            return []
        letters = f"<{word}>"
        return [
            _hash(letters[start : start + length].encode("utf-8", "surrogatepass")) % len(self.rows)
            for start in range(len(letters))
            for length in range(self.shortest, min(self.longest, len(letters) - start) + 1)
            if length > 1 or 0 < start < len(letters) - 1
        ]


def _hash(ngram: bytes) -> int:
    """32-bit FNV-1a over signed bytes: fastText was compiled that way, and its files depend on it."""
    value = 2166136261
    for byte in ngram:
        value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return value


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """A vector for every word of a vocabulary and, with fastText, for other words.

    >>> vectors = WordVectors(Vocabulary(["loi"]), np.ones((1, 2), dtype=np.float32))
    >>> vectors.of("loi").tolist(), vectors.of("droit")
    ([1.0, 1.0], None)
    """

    words: Vocabulary
    matrix: NDArray[Any]  # one row per word, float32 or float16
    subwords: CharacterNgrams | None = None

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
