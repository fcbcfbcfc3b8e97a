"""Word vectors from files: word2vec and fastText, as text or binary, plain or gzipped, without pickle.

A text file has a first line ``words dimension``, then one line per word with its numbers. The binary form of word2vec has the
same first line, then word, space and 32-bit floats.

In fastText's binary form a word of the vocabulary has the mean of its row and the rows of its character n-grams, any other word
the mean of its n-grams. Only the input matrix is read; quantised models (.ftz) are refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.data.arrays import F32
from lexfuse.data.files import decode, raw_lines, read_bytes
from lexfuse.data.read_report import ReadReport
from lexfuse.encode.word_vectors import MOST_DIMENSIONS, CharacterNgrams, WordVectors
from lexfuse.errors import DataError
from lexfuse.text.analysis.vocabulary import Vocabulary

_FASTTEXT = (793712314).to_bytes(4, "little")
FASTTEXT_VERSION = 12
_ARGUMENTS = "<12id"  # dim ws epoch minCount neg wordNgrams loss model bucket minn maxn lrUpdateRate, t
_DICTIONARY = "<3i2q"  # entries, words, labels, tokens seen, size of the pruned index
_WORD = 0  # type of an entry that is not a label


def read_word_vectors(path: str | Path, report: ReadReport | None = None) -> WordVectors:
    r"""Read a file of word vectors; its first bytes determine the format, not its name.

    A repeated word is noted and keeps its first vector.

    >>> _ = (folder / "a.vec").write_text("2 3\nloi 1 0 0\ndroit 0 1 0\n")
    >>> read_word_vectors(folder / "a.vec").of("droit").tolist()
    [0.0, 1.0, 0.0]
    """
    report = report or ReadReport()
    head = [line for _, line in _first(path, 2)]
    if head and head[0].startswith(_FASTTEXT):
        return _from_fasttext(path, report)
    count, dimension = _header(head[0] if head else b"", path)
    if len(head) == 2 and _is_text(head[1]):
        return _from_rows(_text_rows(path, dimension, report), count, dimension, path, report)
    return _from_rows(_binary_rows(path, count, dimension, report), count, dimension, path, report)


def _first(path: str | Path, count: int) -> Iterator[tuple[int, bytes]]:
    for number, line in raw_lines(path):
        yield number, line
        if number == count:
            return


def _header(line: bytes, path: str | Path) -> tuple[int, int]:
    fields = line.split() if len(line) < 100 else []
    if len(fields) != 2 or not all(field.isdigit() and field.isascii() for field in fields):
        expected = "a first line with the number of words and the dimension, like '20000 300'"
        reason = f"not a file of word vectors: expected {expected}, or fastText's binary form; got {line[:40]!r}"
        raise DataError(reason, path=path, line=1)
    count, dimension = map(int, fields)
    if not 1 <= dimension <= MOST_DIMENSIONS:
        raise DataError(f"impossible dimension {dimension:,}; expected 1 to {MOST_DIMENSIONS:,}", path=path, line=1)
    return count, dimension


def _is_text(line: bytes) -> bool:
    """Whether a line is a word and readable numbers, which is never the case in the binary form."""
    try:
        return len([float(field) for field in line.split()[1:]]) > 0
    except ValueError:
        return False


def _text_rows(path: str | Path, dimension: int, report: ReadReport) -> Iterator[tuple[int, str | None, F32]]:
    for number, line in raw_lines(path):
        if number == 1:
            continue
        fields = line.rstrip(b" \r\n").split(b" ")
        if len(fields) != dimension + 1 or not fields[0]:
            shown = decode(fields[0][:40], path=path, line=number) if fields[0] else ""
            reason = f"the word {shown!r} has {len(fields) - 1:,} numbers, expected {dimension:,}; fetch or export the file again"
            raise DataError(reason, path=path, line=number)
        try:
            row = np.fromiter(map(float, fields[1:]), dtype=np.float32, count=dimension)
        except ValueError as error:
            raise DataError(f"{error}; fetch or export the file again", path=path, line=number) from None
        yield number, _word(fields[0], path, number, report), row


def _binary_rows(path: str | Path, count: int, dimension: int, report: ReadReport) -> Iterator[tuple[int, str | None, F32]]:
    data = read_bytes(path)
    at, size = data.index(b"\n") + 1, 4 * dimension
    for number in range(2, count + 2):  # like line numbers of the text form: the header is line 1
        space = data.find(b" ", at)
        if space < 0 or space + 1 + size > len(data):
            return
        row = np.frombuffer(data, dtype="<f4", count=dimension, offset=space + 1).astype(np.float32)
        yield number, _word(data[at:space].lstrip(b"\n"), path, number, report), row
        at = space + 1 + size
    if data[at:].strip(b"\n"):
        left = len(data) - at
        reason = f"{left:,} bytes follow the {count:,} words of dimension {dimension} that the first line declares"
        raise DataError(f"{reason}; it has another format, or was changed", path=path)


def _word(raw: bytes, path: str | Path, number: int, report: ReadReport) -> str | None:
    try:
        return decode(raw, path=path, line=number)
    except DataError as error:
        report.bad(error)
        return None


def _from_rows(
    rows: Iterator[tuple[int, str | None, F32]], count: int, dimension: int, path: str | Path, report: ReadReport
) -> WordVectors:
    words = Vocabulary()
    kept: list[F32] = []
    seen = 0
    for number, word, row in rows:
        seen += 1
        if word is None:
            continue
        if not np.isfinite(row).all():
            raise DataError(f"the vector of {word!r} has nan or infinity; check the format of the file", path=path, line=number)
        if words.find(word) is not None:
            report.note("repeated word, its first vector is kept", path=path, line=number)
            continue
        words.learn(word)
        kept.append(row)
    if seen != count:
        expected = f"the first line declares {count:,} words of dimension {dimension}"
        raise DataError(f"{expected}, the file has {seen:,}; it is truncated or was changed, fetch it again", path=path)
    report.kept += len(kept)
    return WordVectors(words, np.stack(kept) if kept else np.empty((0, dimension), dtype=np.float32))


def _from_fasttext(path: str | Path, report: ReadReport) -> WordVectors:
    """Read a model saved by fastText (.bin)."""
    source = _BinaryReader(read_bytes(path), path)
    _, version = source.take("<2i")
    if version != FASTTEXT_VERSION:
        raise DataError(
            f"fastText format {version}, only {FASTTEXT_VERSION} is read; save the model with a newer fastText", path=path
        )
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
