"""What each channel of an index costs: bytes, encoding, operations and time for a query, memory.

Operations for a query are counted by the formulas of FUSE, appendix A.4: 4 |q| |C| for BM25; 2 for every posting of a term of
the query for TF-IDF, and of an activated term for learned sparse vectors, with the forward pass; for dense ones the forward pass
and (2d - 1) for every vector; for late interaction the forward pass and |q| (2d |a| + |a| + 1) for every document (the paper
writes |q| squared, though a query token meets each document token once). Times are measured on the machine at hand, query by
query, with everything loaded, split into reading the query (analysis or encoding) and search.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.citation.lookup import CitationLookup
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.late.retriever import LateRetriever
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.ngram_tfidf import NgramTfIdf
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.channels.registry import builtin_channels, open_retriever
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.data.queries import Queries
from lexfuse.encode.encoder import Side
from lexfuse.encode.flops import forward_flops
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.errors import DataError
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.storage.folder_names import CHANNELS, SEGMENTS
from lexfuse.storage.segments.builder import LEXICAL
from lexfuse.storage.snapshot import Snapshot

DEPTH = 100  # results of a query that is timed


@dataclass(frozen=True, slots=True)
class ChannelCost:
    """The costs of one channel; milliseconds for a query, the middle one and the 95th of 100.

    >>> ChannelCost.__slots__[0]
    'channel'
    """

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
    """The costs of some channels, or else of the words and of every channel that is kept beside them, timed on these queries.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.data.queries import Query
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> documents = [Document("a", text="la loi du travail", language="fr")]
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         [(cost.channel, cost.vectors, cost.flops) for cost in costs_of(snapshot, Queries.of([Query("q", "loi", "fr")]))]
    [('bm25', 2, 4)]
    """
    if not len(queries):
        raise DataError("there are no queries to time; give at least one")
    text = _text_bytes(snapshot)
    wanted = (LEXICAL, *snapshot.channels) if channels is None else channels
    return [_cost(snapshot, name, queries, text, threads) for name in wanted]


def _cost(snapshot: Snapshot, name: str, queries: Queries, text: int, threads: int | None) -> ChannelCost:
    retriever: Any = open_retriever(snapshot, name, threads=threads)
    compiled_is_due(PATIENCE)  # as in a process that has answered for a while
    if isinstance(retriever, DenseRetriever):
        retriever.search.prepare()
    read, search = [], []
    for at in [0, *range(len(queries))]:  # the first one twice: it loads what is needed, and does not count
        one = queries.select([at])
        start = time.perf_counter()
        encoded = () if isinstance(retriever, CitationLookup) else retriever.read(one)
        middle = time.perf_counter()
        if isinstance(retriever, CitationLookup):  # reads as it looks up
            retriever.retrieve(one, DEPTH)
        else:
            retriever.rank(one, encoded, DEPTH)
        read.append(1000 * (middle - start))
        search.append(1000 * (time.perf_counter() - middle))
    size = _bytes(snapshot.folder / SEGMENTS) if name in builtin_channels() else _bytes(snapshot.folder / CHANNELS / name)
    speed = None
    if name not in builtin_channels():
        named = snapshot.channel(name).named
        speed = named.passages / named.seconds if named.seconds else None
    vectors, flops = _counted(retriever, queries)
    (read_p50, read_p95), (search_p50, search_p95) = np.percentile(read[1:], (50, 95)), np.percentile(search[1:], (50, 95))
    times = float(read_p50), float(read_p95), float(search_p50), float(search_p95)
    return ChannelCost(name, size, size / max(text, 1), vectors, speed, flops, *times, peak_memory())


def _counted(retriever: Any, queries: Queries) -> tuple[int, int]:
    """How many vectors or postings a channel holds, and the operations of a query, on average."""
    if isinstance(retriever, CitationLookup):
        return 0, 0
    if isinstance(retriever, BM25 | TfIdf | NgramTfIdf | SparseRetriever):
        encoded = retriever.read(queries)
        postings = retriever.postings
        starts, ends = postings.ranges(encoded.terms)
        visited = (ends - starts).sum() / max(len(queries), 1)
        if isinstance(retriever, TfIdf | NgramTfIdf):
            return len(postings), round(2 * float(visited))
        if isinstance(retriever, BM25):
            terms = encoded.weights.sum() / max(len(queries), 1)
            return len(postings), round(4 * float(terms) * postings.documents)
        return len(postings), _forward(retriever.encoder, queries) + round(2 * float(visited))
    if isinstance(retriever, DenseRetriever):
        rows = sum(part.rows for part in retriever.parts)
        return rows, _forward(retriever.encoder, queries) + (2 * retriever.encoder.dimension - 1) * rows
    return _late_counted(retriever, queries)


def _late_counted(retriever: LateRetriever, queries: Queries) -> tuple[int, int]:
    parts: list[Any] = [part.content for part in retriever.snapshot.channel(retriever.channel).parts]
    tokens, documents = sum(part.tokens for part in parts), sum(len(part) for part in parts)
    asked = float(np.mean([len(table) for table in retriever.read(queries)]))
    each = 2 * retriever.encoder.dimension * tokens + tokens + documents
    return tokens, forward_flops(retriever.encoder.transformer.graph, round(asked)) + round(asked * each)


def _forward(encoder: Any, queries: Queries) -> int:
    """The operations of encoding a query of average length; none for word vectors."""
    tokens: ModelTokenizer | None = getattr(encoder, "tokens", None)
    if tokens is None:
        return 0
    lengths = [len(row) for row in tokens.ids([encoder.prompts[Side.QUERY] + text for text in queries.text])]
    return forward_flops(encoder.transformer.graph, round(float(np.mean(lengths))))


def _text_bytes(snapshot: Snapshot) -> int:
    """Bytes of what is searched: title, headings and text."""
    columns: Sequence[Sequence[Any]] = [snapshot.column(name) for name in ("title", "headings", "text")]
    return sum(len(value.encode()) for column in columns for value in column if value)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def peak_memory() -> int:
    """The most memory that this process has held, in bytes; 0 where the system does not tell.

    >>> peak_memory() >= 0
    True
    """
    try:
        import resource
    except ImportError:  # not on every system
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
