"""Several retrievers asked at once, and what they say as one union set."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import cache, partial

import numpy as np

from lexfuse.channels.distribution import levels_of
from lexfuse.channels.query_context import query_blocks, query_context
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run, join_runs
from lexfuse.deadline import check
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing, Union
from lexfuse.kernels.threads import cores


def retrieve_all(retrievers: Sequence[Retriever], queries: Queries, depth: int, *, within: Mask | None = None) -> list[Run]:
    """The best `depth` documents of each retriever; each run states the infimum of every query.

    All are queried at the same time, except those that answer faster than a thread starts: these come first.
    """
    asks = [partial(_retrieved, one, queries, depth, within) for one in retrievers]
    quick = [one.is_quick(queries) for one in retrievers]
    runs = {at: ask() for at, ask in enumerate(asks) if quick[at]}
    slow = [at for at in range(len(asks)) if not quick[at]]
    others = [_threads().submit(copy_context().run, asks[at]) for at in slow[:-1]]  # with the deadline of this call
    try:
        runs |= {at: asks[at]() for at in slow[-1:]}  # of the hybrids that are opened here the encoder, which takes longest
        # What no thread has begun is done here, so that in a hybrid of hybrids no thread waits for one that is itself waiting.
        runs |= {at: asks[at]() if other.cancel() else other.result() for at, other in zip(slow, others, strict=False)}
        return [_stated(runs[at], one, queries) for at, one in enumerate(retrievers)]
    finally:
        for other in others:
            if not other.cancel():
                other.exception()  # also after an error no thread is left reading


def retrieve_union(
    retrievers: Sequence[Retriever],
    queries: Queries,
    depth: int,
    *,
    within: Mask | None = None,
    missing: Missing = Missing.RESCORE,
) -> Union:
    """The candidates of every query with what each retriever says about them, the infimum and the levels that the index keeps.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> from lexfuse.channels.lexical.tfidf import TfIdf
    >>> union = retrieve_union([BM25(snapshot), TfIdf(snapshot)], Queries.of([Query("q", "cotisation", "fr")]), 10)
    >>> union.names, union.doc_names(), union.low.tolist()
    (('bm25', 'tfidf'), ['lib-6', 'lib-2'], [[0.0], [0.0]])
    """
    with query_context():
        runs = retrieve_all(retrievers, queries, depth, within=within)
        union = union_of(runs, retrievers if missing is Missing.RESCORE else None, queries)
    return replace(union, levels=tuple(levels_of(retriever) for retriever in retrievers))


def retrieve_blocks(retriever: Retriever, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
    """`retrieve` for a batch of any size: block by block, each in a query context that ends with it.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> [hit.doc for hit in retrieve_blocks(BM25(snapshot), Queries.of([Query("q", "cotisation", "fr")]), 10).hits("q")]
    ['lib-6', 'lib-2']
    """
    blocks = list(query_blocks(queries))
    if len(blocks) < 2:
        with query_context():
            return retriever.retrieve(queries, k, within=within)
    runs = []
    for block in blocks:
        with query_context(new=True):
            runs.append(retriever.retrieve(queries.select(block), k, within=within))
    return join_runs(runs[0].name, queries, [np.arange(block.start, block.stop) for block in blocks], runs)


def _stated(run: Run, retriever: Retriever, queries: Queries) -> Run:
    return run if run.low is not None else replace(run, low=retriever.bounds.lows(queries))


def _retrieved(retriever: Retriever, queries: Queries, depth: int, within: Mask | None) -> Run:
    check()
    return retriever.retrieve(queries, depth, within=within)


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads for all who ask: starting some for every question would take longer than some answers."""
    return ThreadPoolExecutor(max(4, 2 * cores()), thread_name_prefix="retriever")
