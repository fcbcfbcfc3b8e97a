"""What composite retrievers share: their members, and the explanation of a document's rank."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from lexfuse.channels.explanation import Explanation
from lexfuse.channels.retriever import Mask, Retriever, translated
from lexfuse.data.arrays import F32
from lexfuse.data.queries import Query
from lexfuse.data.run import Run
from lexfuse.fusion.fusion import Fusion


class CompositeRetriever(Retriever):
    """A retriever made of others."""

    @abstractmethod
    def members(self, query: Query) -> tuple[Retriever, ...]:
        """The channel retrievers of a query."""

    @abstractmethod
    def mapped(self, change: Callable[[Retriever], Retriever]) -> Retriever:
        """The same retriever with each of its channels' retrievers changed."""

    @abstractmethod
    def stages(
        self, query: Query, docs: Sequence[str], *, within: Mask | None = None, others: Sequence[Fusion] = ()
    ) -> list[Explanation]:
        """Explain the rank of documents, listed or not; with their ranks under other fusions."""


def lookup_scores(run: Run, pairs: Run) -> F32:
    """The score in a run of every pair of another, in order; NaN if the run does not rank it.

    >>> lookup_scores(Run.of("x", {"q": {"a": 2.0}}), Run.of("y", {"q": {"b": 2.0, "a": 1.0}})).tolist()
    [nan, 2.0]
    """
    asked = np.repeat(np.arange(len(pairs.queries), dtype=np.int32), np.diff(pairs.offsets))
    query = translated(pairs.queries, asked, run.queries).astype(np.int64)
    doc = pairs.doc if pairs.docs is run.docs else run.docs.ordinals([pairs.docs[at] for at in pairs.doc.tolist()])
    keys = np.repeat(np.arange(len(run.queries)), np.diff(run.offsets)) * max(len(run.docs), 1) + run.doc
    wanted = np.where(doc >= 0, query * max(len(run.docs), 1) + doc, -1)
    by_key = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys, wanted, sorter=by_key), max(len(keys) - 1, 0))
    if not len(keys):
        return np.full(len(pairs), np.nan, dtype=np.float32)
    return np.where(keys[by_key[at]] == wanted, run.score[by_key[at]], np.nan).astype(np.float32)
