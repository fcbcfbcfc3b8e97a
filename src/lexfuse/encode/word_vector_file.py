"""Word vectors from files: word2vec and fastText, as text or binary, plain or gzipped, without pickle.

A text file has a first line ``words dimension``, then one line per word with its numbers. The binary form of word2vec has the
same first line, then word, space and 32-bit floats. `lexfuse.encode.fasttext` reads fastText's binary form.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32
from lexfuse.data.files import decode, raw_lines, read_bytes
from lexfuse.data.read_report import ReadReport
from lexfuse.encode.word_vectors import MOST_DIMENSIONS, WordVectors
from lexfuse.errors import DataError
from lexfuse.text.analysis.vocabulary import Vocabulary

_FASTTEXT = (793712314).to_bytes(4, "little")


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
        from lexfuse.encode.fasttext import read_fasttext

        return read_fasttext(path, report)
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
