"""The order in which documents get their vectors: those that are cited most come first.

A channel can be searched while it is filled. What other documents cite is what questions most often lead to, so a partial channel
is the most useful if it begins with it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.storage.catalog import SERIAL
from lexfuse.storage.document_rows import texts_of
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot


def most_cited_first(index: IndexFolder) -> Callable[[I64], I64]:
    """What sorts serial numbers of documents: most cited first, equally cited ones by serial number.

    Documents that are added later, or are not in force today, count as not cited.

    >>> with IndexFolder.create(folder / "i", documents=snapshot.documents(["lib-1", "lib-2"])) as index:
    ...     most_cited_first(index)(np.array([2, 1])).tolist()
    [1, 2]
    """
    with index.snapshot() as snapshot:
        counts = citation_counts(snapshot)
        serials = np.array(snapshot.column(SERIAL), dtype=np.int64)
    cited = dict(zip(serials[counts > 0].tolist(), counts[counts > 0].tolist(), strict=True))

    def ordered(pending: I64) -> I64:
        times = np.array([cited.get(serial, 0) for serial in pending.tolist()], dtype=np.int64)
        found: I64 = pending[np.lexsort((pending, -times))]
        return found

    return ordered


def citation_counts(snapshot: Snapshot) -> I64:
    """How many documents of an index cite each of them, by number.

    >>> citation_counts(snapshot).tolist()
    [0, 0, 0, 0, 0, 0]
    """
    counts = np.zeros(len(snapshot), dtype=np.int64)
    codes, values = snapshot.coded("citations")
    times = np.bincount(codes, minlength=len(values))
    for value, documents in zip(values, times.tolist(), strict=True):
        cited = np.unique(snapshot.ids.ordinals(texts_of(value)))
        counts[cited[cited >= 0]] += documents
    return counts
