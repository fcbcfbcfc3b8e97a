"""Columns of all rows of a catalog, read once for all days: only the choice of rows differs from day to day."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import Bools
from lexfuse.storage.catalog import Catalog
from lexfuse.storage.document_rows import LONG
from lexfuse.storage.history.shown_rows import CodedValues
from lexfuse.storage.snapshot import numbered


class RowColumns:
    """The columns of a state of a catalog, in the order of serial numbers; days share them. Texts are read anew each time."""

    def __init__(self, catalog: Catalog) -> None:
        """Take an open catalog that holds its state."""
        self._catalog = catalog
        self._read: dict[str, CodedValues] = {}

    def of(self, name: str) -> CodedValues:
        """One column of all rows."""
        if name in self._read:
            return self._read[name]
        column = CodedValues(*numbered(self._catalog.column(name)[2]))
        if name not in LONG:
            self._read[name] = column
        return column


def chosen_rows(column: CodedValues, mask: Bools) -> CodedValues:
    """The same column of some rows; values that none of them has are left out.

    >>> chosen_rows(CodedValues(np.array([0, 1, 2, 1]), ["fr", "en", "de"]), np.array([False, False, True, True]))
    CodedValues(codes=array([0, 1], dtype=int32), values=['de', 'en'])
    """
    codes = column.codes[mask]
    used, first = np.unique(codes, return_index=True)
    order = used[np.argsort(first)]
    renumbered = np.zeros(len(column.values), dtype=np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    return CodedValues(renumbered[codes], [column.values[code] for code in order.tolist()])
