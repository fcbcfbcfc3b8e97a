"""fastText's binary models: word vectors from vectors of character n-grams (Bojanowski et al. 2017).

A word in the vocabulary has the mean of its row and the rows of its n-grams, any other word the mean of its n-grams; n-grams
share rows by a hash (FNV-1a). Only the input matrix is read; quantised models (.ftz) are refused.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32
from lexfuse.data.files import read_bytes
from lexfuse.data.read_report import ReadReport
from lexfuse.encode.word_vectors import MOST_DIMENSIONS, WordVectors
from lexfuse.errors import DataError
from lexfuse.text.analysis.vocabulary import Vocabulary

VERSION = 12
_ARGUMENTS = "<12id"  # dim ws epoch minCount neg wordNgrams loss model bucket minn maxn lrUpdateRate, t
_DICTIONARY = "<3i2q"  # entries, words, labels, tokens seen, size of the pruned index
_WORD = 0  # type of an entry that is not a label


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


def read_fasttext(path: str | Path, report: ReadReport) -> WordVectors:
    """Read a model saved by fastText (.bin)."""
    source = _BinaryReader(read_bytes(path), path)
    _, version = source.take("<2i")
    if version != VERSION:
        raise DataError(f"fastText format {version}, only {VERSION} is read; save the model with a newer fastText", path=path)
    arguments = source.take(_ARGUMENTS)
    dimension, buckets, shortest, longest = arguments[0], *arguments[8:11]
    if not 1 <= dimension <= MOST_DIMENSIONS or buckets < 0 or not 0 <= shortest <= 100 or not 0 <= longest <= 100:
        raise DataError(f"sizes that no model has: {arguments[:-1]}; fetch the file again", path=path)
    known, places, words = _dictionary(source, report)
    if source.take("<?")[0]:
        raise DataError("the model is quantised (.ftz); take the full .bin or the .vec file", path=path)
    rows, columns = source.take("<2q")
    if columns != dimension or rows < known + (buckets if longest else 0):
        expected = f"{known:,} words and {buckets:,} n-grams of dimension {dimension}"
        raise DataError(f"a matrix of {rows:,} x {columns:,} does not fit {expected}; fetch the file again", path=path)
    matrix = source.floats(rows, columns)
    ngrams = CharacterNgrams(shortest, longest, matrix[known : known + buckets])  # after the words
    report.kept += len(words)
    return WordVectors(words, _whole_words(words, places, matrix, ngrams), ngrams if ngrams.buckets("ab") else None)


def _whole_words(words: Vocabulary, places: list[int], matrix: F32, ngrams: CharacterNgrams) -> F32:
    vectors = matrix[places].astype(np.float64)
    for at, word in enumerate(words):
        if buckets := ngrams.buckets(word):
            vectors[at] = (vectors[at] + ngrams.rows[buckets].sum(axis=0, dtype=np.float64)) / (len(buckets) + 1)
    return vectors.astype(np.float32)


def _dictionary(source: _BinaryReader, report: ReadReport) -> tuple[int, list[int], Vocabulary]:
    """The number of words, and the rows and spellings of those that are UTF-8; labels of supervised models are excluded."""
    entries, known, _, _, pruned = source.take(_DICTIONARY)
    words = Vocabulary()
    places: list[int] = []
    for place in range(entries):
        raw = source.until_zero()
        _, kind = source.take("<qb")
        if kind != _WORD:
            continue
        try:
            word = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            report.bad(DataError(f"the word {raw[:40]!r} is not UTF-8 ({error.reason})", path=source.path))
            continue
        words.learn(word)
        places.append(place)
    if pruned > 0:
        raise DataError("the model is pruned; take the full .bin or the .vec file", path=source.path)
    if len(words) != len(places) or max(places, default=-1) >= known:
        raise DataError("the words do not fit the sizes of the dictionary; fetch the file again", path=source.path)
    return known, places, words


class _BinaryReader:
    """Reads bytes from the front, with a clear error at the end of the file."""

    def __init__(self, data: bytes, path: str | Path) -> None:
        self.data = data
        self.path = path
        self.at = 0

    def take(self, form: str) -> tuple[Any, ...]:
        self._need(struct.calcsize(form))
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def until_zero(self) -> bytes:
        end = self.data.find(b"\0", self.at)
        if end < 0:
            self._need(len(self.data))
        raw, self.at = self.data[self.at : end], end + 1
        return raw

    def floats(self, rows: int, columns: int) -> F32:
        self._need(4 * rows * columns)
        return np.frombuffer(self.data, dtype="<f4", count=rows * columns, offset=self.at).reshape(rows, columns)

    def _need(self, size: int) -> None:
        if self.at + size > len(self.data):
            reason = f"the file is cut short: {size:,} bytes are needed at {self.at:,}, and it ends at {len(self.data):,}"
            raise DataError(f"{reason}; fetch it again", path=self.path)
