"""Which documents of an index cite which others, as `lexfuse import` recorded it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import I32, I64, offsets_of
from lexfuse.storage.document_rows import texts_of
from lexfuse.storage.snapshot import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class CitationGraph:
    """The citations between documents: document n cites ``cited[starts[n]:starts[n + 1]]``, without itself, each once.

    >>> graph = CitationGraph.of(snapshot)
    >>> [[snapshot.ids[one] for one in graph.cited_by(doc)] for doc in range(2)]
    [[], []]
    """

    starts: I64
    cited: I32

    @classmethod
    def of(cls, snapshot: Snapshot) -> CitationGraph:
        """That of an index; what a document cites outside it is left out."""
        return snapshot.derived("citation graph", lambda: cls._read(snapshot))

    @classmethod
    def _read(cls, snapshot: Snapshot) -> CitationGraph:
        codes, values = snapshot.coded("citations")
        known = [np.unique(snapshot.ids.ordinals(texts_of(value))) for value in values]
        citing = np.repeat(np.arange(len(codes), dtype=np.int32), np.array([len(some) for some in known], dtype=np.int64)[codes])
        cited = np.concatenate([np.empty(0, dtype=np.int32), *(known[code] for code in codes.tolist())])
        kept = (cited >= 0) & (cited != citing)
        counts = np.bincount(citing[kept], minlength=len(codes)).astype(np.int64)
        return cls(offsets_of(counts), cited[kept].astype(np.int32))

    def cited_by(self, doc: int) -> I32:
        """The documents that one cites."""
        return self.cited[int(self.starts[doc]) : int(self.starts[doc + 1])]

    @property
    def citing(self) -> I32:
        """The citing document of every citation, in the order of ``cited``."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    def among(self, docs: I32) -> tuple[I64, I64]:
        """The citations between some documents, as positions among them: of the citing one, and of the cited one."""
        begins, amount = self.starts[docs], self.starts[docs + 1] - self.starts[docs]
        citing = np.repeat(np.arange(len(docs)), amount)
        within = np.arange(len(citing)) - np.repeat(np.cumsum(amount) - amount, amount)
        cited = self.cited[np.repeat(begins, amount) + within]
        order = np.argsort(docs)
        place = np.minimum(np.searchsorted(docs, cited, sorter=order), max(len(docs) - 1, 0))
        found = docs[order[place]] == cited if len(docs) else np.zeros(0, bool)
        return citing[found], order[place[found]]
