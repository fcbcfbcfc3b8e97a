"""What lexical retrievers share: queries as terms of the index, sums of impacts, the best k, exact pair scores.

A lexical score is a sum over the query's distinct terms of (occurrences in the query) x (impact of the posting).
What differs between BM25, TF-IDF and others is only the impact, one number per posting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, offsets_of
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.index.postings import Postings
from lexfuse.index.settings import IndexSettings
from lexfuse.index.snapshot import Snapshot
from lexfuse.retrieve.retriever import Mask, checked_k
from lexfuse.text.languages import detect
from lexfuse.text.vocabulary import TermEncoder


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQueries:
    """Queries as rows of distinct vocabulary numbers with how often each occurs.

    >>> EncodedQueries(np.array([0, 1]), np.array([3]), np.array([2.0])).starts.tolist()
    [0, 1]
    """

    starts: I64
    terms: I32
    counts: F32


class QueryReader:
    """Reads queries of any language into the terms of one channel.

    >>> from lexfuse.index.inverted import InvertedFile
    >>> from lexfuse.index.settings import IndexSettings
    >>> postings = Postings([InvertedFile.of([["loi"]])], np.array([0, 1]), np.array([True]))
    >>> from lexfuse.data.queries import Query
    >>> QueryReader(postings, IndexSettings()).read(Queries.of([Query("q", "la loi, la loi", "fr")])).counts.tolist()
    [2.0]
    """

    def __init__(self, postings: Postings, settings: IndexSettings) -> None:
        """Take the postings and the settings of the index."""
        self._postings = postings
        self._settings = settings
        self._encoders: dict[str, TermEncoder] = {}

    def read(self, queries: Queries) -> EncodedQueries:
        """Distinct terms of each query that the index knows; the language is detected where it is not given."""
        from lexfuse.index.kernels import distinct

        rows = [
            self._encoder(given or detect(text)).encode(text) for text, given in zip(queries.text, queries.language, strict=True)
        ]
        starts = offsets_of(np.array([len(row) for row in rows], dtype=np.int64))
        flat = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        return EncodedQueries(*distinct(starts, flat.astype(np.int32), len(self._postings.vocabulary)))

    def _encoder(self, language: str) -> TermEncoder:
        if language not in self._encoders:
            analyser = self._settings.analyser(language)
            self._encoders[language] = TermEncoder(analyser, self._postings.vocabulary, grows=False)
        return self._encoders[language]


def ranked(snapshot: Snapshot, postings: Postings, impacts: F32, queries: Queries, encoded: EncodedQueries, k: int,
           within: Mask | None, name: str) -> Run:  # fmt: skip
    """The best k documents by summed impacts, which must be positive, under the one tie rule."""
    from lexfuse.index.kernels import best

    starts, ends, factors, row_starts = _ranges(postings, encoded)
    mask = _raw_mask(snapshot, within)
    offsets, docs, scores = best(
        row_starts,
        starts,
        ends,
        factors,
        postings.docs,
        impacts,
        snapshot.raw_order,
        mask,
        min(checked_k(k), len(postings.alive)),
    )
    return Run(name, queries.ids, snapshot.ids, offsets, snapshot.places[docs], scores)


def summed(snapshot: Snapshot, postings: Postings, impacts: F32, queries: Queries, encoded: EncodedQueries, pairs: Run) -> F32:
    """The sum of impacts of every given pair, bit for bit what `ranked` gives."""
    from lexfuse.index.kernels import pair_scores

    starts, ends, factors, row_starts = _ranges(postings, encoded)
    raw = np.flatnonzero(snapshot.alive).astype(np.int32)  # live number to raw number
    doc = raw[_translated(pairs.docs, snapshot.ids)[pairs.doc]]
    query = np.repeat(_translated(pairs.queries, queries.ids), np.diff(pairs.offsets)).astype(np.int32)
    scores: F32 = pair_scores(query, doc, row_starts, starts, ends, factors, postings.docs, impacts)
    return scores


def _translated(names: Ids, into: Ids) -> I32:
    """Ordinals of names in another list; all of them must be there."""
    if names is into:
        return np.arange(len(into), dtype=np.int32)
    return np.array([into.ordinal(name) for name in names], dtype=np.int32)


def _ranges(postings: Postings, encoded: EncodedQueries) -> tuple[I64, I64, F32, I64]:
    """Posting ranges of every query term in every segment, with the term's count in the query."""
    segments = postings.range_starts.shape[1]
    starts = postings.range_starts[encoded.terms].ravel()
    ends = postings.range_ends[encoded.terms].ravel()
    return starts, ends, np.repeat(encoded.counts, segments), encoded.starts * segments


def _raw_mask(snapshot: Snapshot, within: Mask | None) -> Mask:
    if within is None:
        return np.empty(0, dtype=np.bool_) if snapshot.alive.all() else snapshot.alive
    mask = np.zeros(len(snapshot.alive), dtype=np.bool_)
    mask[snapshot.alive] = within
    return mask
