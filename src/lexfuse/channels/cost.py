"""What each channel of an index costs: bytes, encoding, operations and time for a query, memory.

Operations for a query are counted by the formulas of FUSE, appendix A.4 (`ChannelRetriever.work`). Times are measured on the
machine at hand, query by query, with everything loaded, split into reading the query (analysis or encoding) and search.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexfuse.channels.registry import open_retriever
from lexfuse.data.queries import Queries
from lexfuse.errors import DataError
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot

DEPTH = 100  # results of a query that is timed


@dataclass(frozen=True, slots=True)
class ChannelCost:
    """The costs of one channel; milliseconds for a query, the middle one and the 95th of 100."""

    channel: str
    bytes: int  # on disk, without the texts
    ratio: float  # to the bytes of the texts
    vectors: int  # vectors, or postings of words and learned terms
    passages_per_second: float | None  # while encoding; None for words
    flops: int  # for a query
    read_p50: float
    read_p95: float
    search_p50: float
    search_p95: float
    peak_memory: int  # of the process so far, in bytes


def costs_of(
    snapshot: Snapshot, queries: Queries, *, channels: Sequence[str] | None = None, threads: int | None = None
) -> list[ChannelCost]:
    """The costs of some channels, or of the words and every stored channel, timed on these queries.

    >>> [cost.channel for cost in costs_of(snapshot, Queries.of([Query("q", "loi", "fr")]))]
    ['bm25']
    """
    if not len(queries):
        raise DataError("there are no queries to time; give at least one")
    text = _text_bytes(snapshot)
    wanted = (LEXICAL, *snapshot.channels) if channels is None else channels
    return [_cost(snapshot, name, queries, text, threads) for name in wanted]


def _cost(snapshot: Snapshot, name: str, queries: Queries, text: int, threads: int | None) -> ChannelCost:
    retriever = open_retriever(snapshot, name, threads=threads)
    compiled_is_due(PATIENCE)  # as in a process that has answered for a while
    retriever.prepare()
    read, search = [], []
    for at in [0, *range(len(queries))]:  # the first one twice: it loads what is needed, and does not count
        one = queries.select([at])
        start = time.perf_counter()
        encoded = retriever.read(one)
        middle = time.perf_counter()
        retriever.rank(one, encoded, DEPTH)
        read.append(1000 * (middle - start))
        search.append(1000 * (time.perf_counter() - middle))
    size = snapshot.channel_bytes(name)
    speed = None
    if name in snapshot.channels:
        named = snapshot.channel(name).named
        speed = named.passages / named.seconds if named.seconds else None
    work = retriever.work(queries)
    (read_p50, read_p95), (search_p50, search_p95) = np.percentile(read[1:], (50, 95)), np.percentile(search[1:], (50, 95))
    times = float(read_p50), float(read_p95), float(search_p50), float(search_p95)
    return ChannelCost(name, size, size / max(text, 1), work.vectors, speed, work.flops, *times, peak_memory())


def _text_bytes(snapshot: Snapshot) -> int:
    """Bytes of what is searched: title, headings and text."""
    columns: Sequence[Sequence[Any]] = [snapshot.column(name) for name in ("title", "headings", "text")]
    return sum(len(value.encode()) for column in columns for value in column if value)


def peak_memory() -> int:
    """The peak memory of this process in bytes; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:  # not on every system
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
