"""Standard input as a file: it is copied to a temporary one, whose name follows from the first bytes."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from lexfuse.data.files import LARGEST_UNPACKED
from lexfuse.data.formats.text_file import ZIP
from lexfuse.errors import ConfigError, DataError, EmptyFileError

NAME = "standard-input"


class InputFormat(StrEnum):
    """The format of what has no name."""

    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    JSON = "json"
    PARQUET = "parquet"
    TREC = "trec"
    TEXT = "txt"
    MARKDOWN = "md"
    HTML = "html"
    XML = "xml"
    PDF = "pdf"
    DOCX = "docx"
    ODT = "odt"
    ZIP = "zip"


@contextmanager
def standard_input(path: Path, format_: InputFormat | None, *, has_columns: bool = False) -> Iterator[Path]:
    """The path itself, or a temporary copy of standard input for ``-``, which is removed at the end.

    With ``has_columns`` it is known to be a table.
    """
    if str(path) != "-":
        if format_ is not None:
            raise ConfigError(f"--format is for standard input; the format of {str(path)!r} follows from its name and content")
        yield path
        return
    raw = sys.stdin.buffer.read(LARGEST_UNPACKED + 1)
    if len(raw) > LARGEST_UNPACKED:
        raise DataError(f"standard input is longer than {LARGEST_UNPACKED:,} bytes; save it to a file first")
    if not raw.strip():
        raise EmptyFileError("standard input is empty; give a file, or send its content")
    with tempfile.TemporaryDirectory(prefix="lexfuse-") as folder:
        file = Path(folder, f"{NAME}.{format_ or detected_format(raw, has_columns=has_columns)}")
        file.write_bytes(raw)
        yield file


def detected_format(raw: bytes, *, has_columns: bool = False) -> InputFormat:
    r"""The format of bytes by their beginning; plain text where nothing shows another.

    A table shows itself by columns for id and text. With ``has_columns``, when columns are named elsewhere, any separator does.

    >>> detected_format(b'{"_id": "a"}'), detected_format(b"id\ttext\n1\tx")
    (<InputFormat.JSONL: 'jsonl'>, <InputFormat.TSV: 'tsv'>)
    >>> detected_format(b"nr;body\n1;x"), detected_format(b"nr;body\n1;x", has_columns=True)
    (<InputFormat.TEXT: 'txt'>, <InputFormat.CSV: 'csv'>)
    """
    start = raw.removeprefix(b"\xef\xbb\xbf").lstrip()[:4096]
    marks = {
        b"%PDF-": InputFormat.PDF,
        ZIP: InputFormat.ZIP,
        b"PAR1": InputFormat.PARQUET,
        b"{": InputFormat.JSONL,
        b"<?xml": InputFormat.XML,
        b"<DOC>": InputFormat.TREC,
        b"<": InputFormat.HTML,
        b"---\n": InputFormat.MARKDOWN,
        b"# ": InputFormat.MARKDOWN,
    }
    for mark, found in marks.items():
        if start.startswith(mark):
            return found
    if re.match(rb"\[\s*\{", start):
        return InputFormat.JSON
    header = re.split(rb"\r?\n", start, maxsplit=1)[0].decode("utf-8", "replace")
    for gap, found in (("\t", InputFormat.TSV), (",", InputFormat.CSV), (";", InputFormat.CSV), ("|", InputFormat.CSV)):
        names = {name.strip(' "').casefold() for name in header.split(gap)}
        if (has_columns and len(names) > 1) or (names & {"id", "_id"} and names & {"text", "contents"}):
            return found
    return InputFormat.TEXT
