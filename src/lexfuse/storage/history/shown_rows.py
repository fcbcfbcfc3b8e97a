"""The rows of a catalog that a snapshot shows as documents: all of them, where documents have no versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from lexfuse.data.arrays import I32, I64
from lexfuse.data.document import Document
from lexfuse.storage.catalog import SERIAL, Catalog
from lexfuse.storage.snapshot import numbered


class RowPlaces(NamedTuple):
    """Where rows are stored: the number of the segment of each, and its ordinal there."""

    segments: I64
    ordinals: I64


class CodedValues(NamedTuple):
    """A column: the code of the value of each row, and the distinct values in order of their first occurrence."""

    codes: I32
    values: list[Any]


class ShownRows(Protocol):
    """The rows of a catalog that a snapshot shows as documents."""

    def serials(self) -> tuple[RowPlaces, I64]:
        """The place and the serial number of each row."""

    def coded(self, name: str) -> tuple[RowPlaces, CodedValues]:
        """The place of each row, and one column."""

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents, in this order."""

    def heads(self, ids: Sequence[str]) -> list[Document]:
        """Documents without their texts, in this order; unknown ids are skipped."""


class AllRows:
    """Every row, for an index whose documents have no versions, or to show each version as a document."""

    def __init__(self, catalog: Catalog) -> None:
        """Take an open catalog."""
        self._catalog = catalog

    def serials(self) -> tuple[RowPlaces, I64]:
        """The place and the serial number of each row."""
        places, values = self._column(SERIAL)
        return places, np.array(values, dtype=np.int64)

    def coded(self, name: str) -> tuple[RowPlaces, CodedValues]:
        """The place of each row, and one column."""
        places, values = self._column(name)
        return places, CodedValues(*numbered(values))

    def _column(self, name: str) -> tuple[RowPlaces, list[Any]]:
        segments, ordinals, values = self._catalog.column(name)
        return RowPlaces(np.array(segments, dtype=np.int64), np.array(ordinals, dtype=np.int64)), values

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents, in this order."""
        return self._catalog.whole(ids)

    def heads(self, ids: Sequence[str]) -> list[Document]:
        """Documents without their texts, in this order; unknown ids are skipped."""
        found = self._catalog.heads(ids)
        return [found[id] for id in ids if id in found]
