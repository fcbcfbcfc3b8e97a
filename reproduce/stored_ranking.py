"""What a dense model ranked for the queries of a collection, stored by recipes/rankings.py on a machine with a GPU."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import DataError

ARRAYS = ("queries", "docs", "offsets", "doc", "score")


@dataclass(frozen=True, eq=False)
class StoredRanking:
    """A run, and the time of a query in milliseconds where it was measured."""

    path: Path
    run: Run
    milliseconds: float | None = None

    @classmethod
    def read(cls, path: Path) -> StoredRanking:
        """Read a file that recipes/rankings.py wrote."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise DataError(f"is no stored ranking ({error}); make it again with recipes/rankings.py", path=path) from None
        if missing := [name for name in ARRAYS if name not in arrays]:
            known = ", ".join(arrays) or "none"
            raise DataError(f"a stored ranking has the arrays {', '.join(ARRAYS)}; {missing[0]} is not in {known}", path=path)
        queries, docs = (Ids(arrays[name].tolist()) for name in ("queries", "docs"))
        query = np.repeat(np.arange(len(queries), dtype=np.int32), np.diff(arrays["offsets"]))
        run = Run.from_arrays(path.stem, queries, docs, query, arrays["doc"], arrays["score"])
        return cls(path, run, float(arrays["milliseconds"]) if "milliseconds" in arrays else None)

    def of(self, queries: Queries) -> Run:
        """The rankings of some queries; a query that was not asked is a `DataError`."""
        rows = self.run.queries.ordinals(queries.ids)
        missing = rows < 0
        if missing.any():
            first = queries.ids[int(missing.argmax())]
            raise DataError(f"no ranking of {int(missing.sum()):,} of {len(queries):,} queries, first {first!r}", path=self.path)
        wanted = np.full(len(self.run.queries), -1, dtype=np.int32)
        wanted[rows] = np.arange(len(queries), dtype=np.int32)
        query = wanted[self.run.query]
        kept = query >= 0
        return Run.from_arrays(self.run.name, queries.ids, self.run.docs, query[kept], self.run.doc[kept], self.run.score[kept])
