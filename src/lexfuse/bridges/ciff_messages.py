"""The messages of the Common Index File Format (CIFF): a header, posting lists, and records of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexfuse.bridges.protobuf_wire import bytes_field, double_field, fields, number_field, varint
from lexfuse.data.arrays import I64
from lexfuse.errors import DataError

VERSION = 1
_LARGEST = 2**31 - 1  # of an int32


@dataclass(frozen=True, slots=True)
class CiffHeader:
    """What is in the file, and in the index that it is of.

    >>> CiffHeader.decoded(CiffHeader(3, 2, 3, 2, 4, 2.0, "law").encoded()).documents
    2
    """

    lists: int  # posting lists in the file
    documents: int  # in the file
    total_lists: int  # of the index
    total_documents: int
    total_terms: int  # occurrences of terms in the index
    mean_length: float
    description: str
    version: int = VERSION

    def encoded(self) -> bytes:
        """The message."""
        counts = (self.version, self.lists, self.documents, self.total_lists, self.total_documents, self.total_terms)
        numbers = b"".join(number_field(at, value) for at, value in enumerate(counts, start=1))
        description = bytes_field(8, self.description.encode()) if self.description else b""
        return numbers + double_field(7, self.mean_length) + description

    @classmethod
    def decoded(cls, raw: bytes) -> CiffHeader:
        """The header of a message; another version is a `DataError`."""
        found = dict(fields(raw))
        version, lists, documents, total_lists, total_documents, total_terms = (_number(found, at) for at in range(1, 7))
        if version != VERSION:
            raise DataError(f"the file has version {version} of CIFF, {VERSION} was expected; the file may be no CIFF file")
        mean = found.get(7, 0.0)
        if not isinstance(mean, float):
            raise DataError("the mean length of the header is not a number; the file is damaged")
        return cls(lists, documents, total_lists, total_documents, total_terms, mean, _text(found, 8), version)


@dataclass(frozen=True, slots=True, eq=False)
class CiffPostings:
    """The documents of a term, ascending, and how often it occurs in each.

    >>> written = CiffPostings("loi", np.array([0, 4]), np.array([1, 3])).encoded()
    >>> CiffPostings.decoded(written).documents.tolist()
    [0, 4]
    """

    term: str
    documents: I64
    frequencies: I64

    def encoded(self) -> bytes:
        """The message: every document as the difference from the one before."""
        gaps = np.diff(self.documents, prepend=0).tolist()
        parts = [bytes_field(1, self.term.encode()), number_field(2, len(gaps)), number_field(3, int(self.frequencies.sum()))]
        for gap, frequency in zip(gaps, self.frequencies.tolist(), strict=True):
            posting = (b"\x08" + varint(gap) if gap else b"") + b"\x10" + varint(frequency)
            parts.append(b"\x22" + varint(len(posting)) + posting)
        return b"".join(parts)

    @classmethod
    def decoded(cls, raw: bytes) -> CiffPostings:
        """The posting list of a message; counts that do not fit are a `DataError`."""
        found: dict[int, int | float | bytes] = {}
        gaps: list[int] = []
        frequencies: list[int] = []
        for number, value in fields(raw):
            if number == 4 and isinstance(value, bytes):
                posting = dict(fields(value))
                gaps.append(_number(posting, 1))
                frequencies.append(_number(posting, 2))
            else:
                found[number] = value
        term, documents = _text(found, 1), np.cumsum(np.array(gaps, dtype=np.int64))
        if _number(found, 2) != len(gaps):
            raise DataError(f"term {term!r} has {len(gaps):,} postings, {_number(found, 2):,} were announced")
        if 0 in gaps[1:] or 0 in frequencies:
            raise DataError(f"term {term!r} has a document twice, or a frequency of 0; the file is damaged")
        return cls(term, documents, np.array(frequencies, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class CiffDocument:
    """A document: its number, its id and its length in terms.

    >>> CiffDocument.decoded(CiffDocument(0, "lib-1", 12).encoded())
    CiffDocument(number=0, id='lib-1', length=12)
    """

    number: int
    id: str
    length: int

    def encoded(self) -> bytes:
        """The message."""
        return number_field(1, self.number) + bytes_field(2, self.id.encode()) + number_field(3, self.length)

    @classmethod
    def decoded(cls, raw: bytes) -> CiffDocument:
        """The record of a message."""
        found = dict(fields(raw))
        return cls(_number(found, 1), _text(found, 2), _number(found, 3))


def _number(found: Mapping[int, Any], at: int) -> int:
    value = found.get(at, 0)
    if not isinstance(value, int) or (value > _LARGEST and at != 6):
        raise DataError(f"field {at} has {value!r}, a number from 0 to {_LARGEST:,} was expected; the file is damaged")
    return value


def _text(found: Mapping[int, Any], at: int) -> str:
    value = found.get(at, b"")
    try:
        return bytes(value).decode()
    except (TypeError, UnicodeDecodeError):
        raise DataError(f"field {at} is not a text in UTF-8; the file is damaged") from None
