"""Ranking when impacts may be negative or zero: every document that holds a query term is ranked, whatever its sign.

Slower than the compiled way of `lexfuse.retrieve.lexical`, and only needed for Robertson's idf on very common terms.
"""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import F32
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.index.postings import Postings
from lexfuse.index.snapshot import Snapshot
from lexfuse.retrieve.lexical import EncodedQueries
from lexfuse.retrieve.retriever import Mask, checked_k


def ranked_signed(snapshot: Snapshot, postings: Postings, impacts: F32, queries: Queries, encoded: EncodedQueries, k: int,
                  within: Mask | None, name: str) -> Run:  # fmt: skip
    """The best k of the documents that hold a term of the query, by summed impacts of any sign."""
    allowed = np.ones(len(snapshot.ids), dtype=np.bool_) if within is None else within
    rows, docs, scores = [], [], []
    for query in range(len(queries)):
        total = np.zeros(len(postings.alive), dtype=np.float32)
        held = np.zeros(len(postings.alive), dtype=np.bool_)
        for at in range(int(encoded.starts[query]), int(encoded.starts[query + 1])):
            term, count = encoded.terms[at], encoded.counts[at]
            for start, end in zip(postings.range_starts[term], postings.range_ends[term], strict=True):
                total[postings.docs[start:end]] += count * impacts[start:end]
                held[postings.docs[start:end]] = True
        raw = np.flatnonzero(held & snapshot.alive)
        found = raw[allowed[snapshot.places[raw]]]
        order = np.lexsort((snapshot.raw_order[found], -total[found]))[: checked_k(k)]
        rows.append(np.full(len(order), query, dtype=np.int32))
        docs.append(snapshot.places[found[order]])
        scores.append(total[found[order]])
    return Run.from_arrays(name, queries.ids, snapshot.ids, np.concatenate(rows), np.concatenate(docs), np.concatenate(scores))
