"""The metadata of an index: fields of documents that only their corpus has, by name, with their types.

They are stored as one JSON object for each document. A field's type follows from its values: a number if all are numbers, a date
if all are texts such as 2020-01-31, else text. A list of texts is a field with several values. Objects and long texts are kept
with the document, but are no metadata to filter by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lexfuse.data.arrays import I32, Bools
from lexfuse.data.columns.column_types import ColumnType, inferred_type
from lexfuse.data.formats.json_text import from_json

LONGEST_VALUE = 300  # characters; a longer text is read, not filtered by

Scalar = str | int | float


@dataclass(frozen=True, slots=True)
class MetadataColumn:
    """One field: the documents that have it, and their values.

    >>> column = MetadataColumn("fee", ColumnType.NUMBER, np.array([0, 2]), np.array([1, 0]), [(3,), (12.5,)], 3)
    >>> column.mask(lambda values: any(value > 5 for value in values), missing=False).tolist()
    [True, False, False]
    """

    name: str
    type: ColumnType
    documents: I32  # those that have a value
    codes: I32  # the number of each one's value
    values: Sequence[tuple[Scalar, ...]]  # distinct
    size: int  # documents of the index

    @property
    def single(self) -> bool:
        """Whether no document has several values."""
        return all(len(value) == 1 for value in self.values)

    def mask(self, fits: Callable[[tuple[Scalar, ...]], bool], *, missing: bool) -> Bools:
        """Which documents have a value that fits; those without any count as ``missing``."""
        found = np.full(self.size, missing, dtype=np.bool_)
        if len(self.documents):
            found[self.documents] = np.array([fits(value) for value in self.values], dtype=np.bool_)[self.codes]
        return found

    def coded(self) -> tuple[I32, list[str]]:
        """The number of every document's value, 0 for none, and the values as text, the first empty."""
        numbers = np.zeros(self.size, dtype=np.int32)
        numbers[self.documents] = self.codes + 1
        return numbers, ["", *(str(value[0]) for value in self.values)]


def metadata_of(extra: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of one document: its further fields without empty ones, objects and long texts.

    >>> metadata_of({"fee": 3, "judges": ["A", "B"], "seen": {"by": "C"}, "note": ""})
    {'fee': 3, 'judges': ['A', 'B']}
    """
    return {name: value for name, value in extra.items() if value not in (None, "", []) and _scalars(value) is not None}


@dataclass(slots=True)
class _Gathered:
    """The values of one field while the documents are read."""

    rows: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    numbers: dict[tuple[Scalar, ...], int] = field(default_factory=dict)


def metadata_columns(codes: I32, stored: Sequence[str | None]) -> Mapping[str, MetadataColumn]:
    """The fields of all documents, by name; ``codes`` number the ``stored`` objects of each document.

    >>> columns = metadata_columns(np.array([0, 1, 0]), ['{"fee": 3, "judge": "A"}', '{"fee": 12.5, "seen": {"by": "B"}}'])
    >>> [(name, column.type.value, column.values) for name, column in columns.items()]
    [('fee', 'number', [(3,), (12.5,)]), ('judge', 'text', [('A',)])]
    """
    gathered: dict[str, _Gathered] = {}
    unfit: set[str] = set()
    for row, text in enumerate(stored):
        found = from_json(text) if text else {}
        for name, value in found.items() if isinstance(found, dict) else ():
            if name in unfit or value is None or value in ("", []):
                continue
            if (values := _scalars(value)) is None:
                unfit.add(name)
                gathered.pop(name, None)
                continue
            column = gathered.setdefault(name, _Gathered())
            column.rows.append(row)
            column.codes.append(column.numbers.setdefault(values, len(column.numbers)))
    return {name: column for name, each in sorted(gathered.items()) for column in _column(name, each, codes, len(stored))}


def _column(name: str, gathered: _Gathered, codes: I32, size: int) -> Iterator[MetadataColumn]:
    of_object = np.full(size, -1, dtype=np.int32)
    of_object[gathered.rows] = gathered.codes
    of_document = of_object[codes] if size else np.empty(0, dtype=np.int32)
    documents = np.flatnonzero(of_document >= 0).astype(np.int32)
    if not len(documents):
        return
    values = list(gathered.numbers)
    kind = inferred_type(one for value in values for one in value)
    if kind is ColumnType.TEXT:
        values = [tuple(str(one) for one in value) for value in values]
    yield MetadataColumn(name, kind, documents, of_document[documents], values, len(codes))


def _scalars(value: Any) -> tuple[Scalar, ...] | None:
    """A value as one or more texts or numbers; ``None`` for an object or a long text."""
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str):
        return (value,) if len(value) <= LONGEST_VALUE else None
    if isinstance(value, int | float):
        return (value,)
    if isinstance(value, list):
        parts = [_scalars(part) for part in value]
        if any(part is None or len(part) != 1 for part in parts):
            return None
        return tuple(part[0] for part in parts if part)
    return None
