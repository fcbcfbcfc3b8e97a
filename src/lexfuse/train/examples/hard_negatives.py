"""Hard negatives: documents that rank high for a query and were not judged relevant to it.

Judgements are never complete: a high-ranked document without a judgement may be relevant. So a document that scores above a
margin of the query's best relevant document is too close, and is neither a positive nor a negative. The margin refers to the best
one, not the lowest or the mean, since a legal query has many relevant documents, some of which every ranking puts far down:
relative to the lowest, hardly any hard document would be left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError

DEPTH = 1000  # documents of a ranking that negatives are looked for in


@dataclass(frozen=True, slots=True, eq=False)
class HardNegatives:
    """The negatives of every query, hardest first, and the documents that are too close."""

    negatives: Run
    too_close: Run
    unguarded: int = 0  # queries whose relevant documents the ranking misses: no margin could be taken
    unranked: int = 0  # queries that the ranking does not have


def hard_negatives(run: Run, qrels: Qrels, *, amount: int = 30, skip: int = 0, margin: float | None = 0.95) -> HardNegatives:
    """The best-ranked documents of every judged query that are neither relevant nor too close to a relevant one.

    ``skip`` omits this many of the first; ``margin`` is a share of the best relevant document's score, ``None`` for no margin. A
    document judged not relevant is a negative at any score.

    >>> run = Run.of("bm25", {"q": {"close": 9.9, "yes": 10.0, "far": 5.0, "farther": 4.0}})
    >>> found = hard_negatives(run, Qrels.of([("q", "yes", 1)]), amount=1)
    >>> found.negatives.as_dict(), list(found.too_close.as_dict()["q"])
    ({'q': {'far': 5.0}}, ['close'])
    """
    if amount < 1 or skip < 0:
        raise ConfigError(
            f"hard negatives: at least 1 a query and 0 or more to skip, got {amount} and {skip}; 30 and 0 are usual"
        )
    if margin is not None and not 0 < margin <= 1:
        raise ConfigError(f"the margin must be above 0 and at most 1, got {margin}; 0.95 is usual")
    negatives, close = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    unguarded = unranked = 0
    for query, places, grades in _judged_hits(run, qrels):
        if query < 0:
            unranked += 1
            continue
        known, relevant = ~np.isnan(grades), grades > 0
        near = np.zeros(len(places), dtype=np.bool_)
        if margin is not None and relevant.any():
            best = float(run.score[places[relevant]].max())
            near = (run.score[places] > best - (1 - margin) * abs(best)) & ~known
        unguarded += int(not relevant.any())
        negatives.append(places[~relevant & ~near][skip : skip + amount])
        close.append(places[near])
    if unranked == len(qrels.queries):
        raise DataError(f"the ranking {run.name!r} has none of the {unranked:,} judged queries; rank these queries first")
    return HardNegatives(run.select(np.concatenate(negatives)), run.select(np.concatenate(close)), unguarded, unranked)


def mining_run(
    folder: str | Path, queries: Queries, *, channel: str = "bm25", depth: int = DEPTH, before_query_date: bool = False
) -> Run:
    """The ranking of a channel for queries: the source of hard negatives and candidates.

    With ``before_query_date``, only documents earlier than the query, as it could cite no other.

    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> IndexFolder.create(folder / "i", documents=[Document("a", text="la loi", language="fr")]).close()
    >>> list(mining_run(folder / "i", Queries.of([Query("q", "quelle loi ?", "fr")])).as_dict()["q"])
    ['a']
    """
    from lexfuse.channels.registry import open_retriever
    from lexfuse.search.temporal_filter import retrieve_before
    from lexfuse.storage.index_folder import IndexFolder

    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        retriever = open_retriever(snapshot, channel)
        return retrieve_before(retriever, queries, depth) if before_query_date else retriever.retrieve(queries, depth)


def _judged_hits(run: Run, qrels: Qrels) -> Iterator[tuple[int, I64, np.ndarray[tuple[int], np.dtype[np.float64]]]]:
    """For every judged query its row in the run (-1: none), the places of its hits, and the grade of each (NaN: not judged)."""
    rows = run.queries.ordinals(qrels.queries)
    docs = run.docs.ordinals(qrels.docs)
    grade_of = np.full(len(run.docs) + 1, np.nan)  # the last one is for documents that the run does not know
    for query, row in enumerate(rows.tolist()):
        if row < 0:
            yield row, np.empty(0, np.int64), np.empty(0)
            continue
        places = np.arange(run.offsets[row], run.offsets[row + 1])
        judged = slice(int(qrels.offsets[query]), int(qrels.offsets[query + 1]))
        touched = docs[qrels.doc[judged]]
        grade_of[touched] = qrels.grade[judged]
        grade_of[-1] = np.nan
        yield row, places, grade_of[run.doc[places]]
        grade_of[touched] = np.nan
