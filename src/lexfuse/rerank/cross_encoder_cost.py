"""What a cross-encoder costs for a query: the row of monoBERT in table 2 of FUSE.

BM25 finds the candidates, and the model reads them. Operations are those of one forward pass for each window of each candidate
(FUSE, appendix A.4).
"""

from __future__ import annotations

import time

import numpy as np

from lexfuse.channels.cost import ChannelCost, peak_memory
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.queries import Queries
from lexfuse.encode.flops import total_flops
from lexfuse.encode.pair_encoder import PairEncoder
from lexfuse.errors import DataError
from lexfuse.rerank.cross_encoder import CrossEncoder
from lexfuse.rerank.reranker import DEPTH
from lexfuse.storage.snapshot import Snapshot


def cross_encoder_cost(snapshot: Snapshot, encoder: PairEncoder, queries: Queries, *, depth: int = DEPTH) -> ChannelCost:
    """The cost of reranking the first `depth` documents of BM25, timed on these queries one by one.

    The time of reading the query is that of finding its candidates; the search is the model's. Nothing is stored, so there are no
    bytes and no vectors. `DataError` if there is no query, or none with a candidate.

    >>> cost = cross_encoder_cost(snapshot, PairEncoder.load("a-cross-encoder"), queries, depth=100)  # doctest: +SKIP
    >>> cost.channel, f"{cost.flops:.1e}"  # doctest: +SKIP
    ('cross-encoder', '6.1e+11')
    """
    if not len(queries):
        raise DataError("there are no queries to time; give at least one")
    first, reader = BM25(snapshot), CrossEncoder(snapshot, encoder, depth)
    found, read, windows = [], [], []
    for at in [0, *range(len(queries))]:  # the first one twice: it loads what is needed, and does not count
        one = queries.select([at])
        start = time.perf_counter()
        candidates = first.retrieve(one, depth)
        middle = time.perf_counter()
        reader.score(one, candidates)
        found.append(1000 * (middle - start))
        read.append(1000 * (time.perf_counter() - middle))
        windows.append(reader.window_lengths(one.text[0], [hit.doc for hit in candidates.hits(one.ids[0])]))
    lengths = np.concatenate(windows[1:])
    if not len(lengths):
        raise DataError("no query has a document of BM25 for the cross-encoder to read; give queries with words of the index")
    flops = total_flops(encoder.transformer.graph, lengths.tolist()) / len(queries)
    speed = 1000 * len(lengths) / sum(read[1:])
    (found_50, found_95), (read_50, read_95) = np.percentile(found[1:], (50, 95)), np.percentile(read[1:], (50, 95))
    times = float(found_50), float(found_95), float(read_50), float(read_95)
    return ChannelCost(reader.name, 0, 0.0, 0, speed, round(flops), *times, peak_memory())
