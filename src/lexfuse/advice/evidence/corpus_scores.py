"""The scores that every source gives to all documents of an index, not only to the candidates (FUSE Fig. 2, 3 and 6).

They come as a union set whose candidates are all documents a query may rank, so that all that looks at a union set looks at them
in the same way. Queries are left out, evenly, where all of them would be more scores than can be held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lexfuse.advice.inputs import JudgedSources
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.arrays import I32, I64, offsets_of
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.union import Union
from lexfuse.search.temporal_filter import document_dates, queries_by_day

MOST_SCORES = 8_000_000  # of each source; FUSE looks at 5.6 million
_AT_ONCE = 1_000_000  # pairs that a source is asked for; it needs several numbers for each


def corpus_union(
    sources: Sequence[Retriever],
    judged: JudgedSources,
    *,
    within: Mask | None = None,
    before_query_date: bool = False,
    most: int = MOST_SCORES,
) -> Union:
    """The true score of every source for every document that a judged query may rank.

    >>> from lexfuse.advice.inputs import channels_of, judged_by
    >>> sources = [channel.open(snapshot) for channel in channels_of(snapshot, ["bm25", "tfidf"])]
    >>> judged = judged_by(sources, Queries.of([Query("q", "inscription", "fr")]), Qrels.of([("q", "lib-2", 1)]), 10)
    >>> len(judged.union) < len(snapshot), len(corpus_union(sources, judged)) == len(snapshot)
    (True, True)
    """
    if judged.queries is None:
        raise ConfigError("scores of all documents can be asked for only where the texts of the queries are known")
    snapshot = sources[0].snapshot
    queries = _evenly(judged.queries, max(1, most // max(len(snapshot), 1)))
    masks = _masks(queries, sources[0], within, before_query_date)
    docs = [np.flatnonzero(mask).astype(np.int32) for mask in masks]
    offsets = offsets_of(np.array([len(some) for some in docs], dtype=np.int64))
    doc = np.concatenate([np.empty(0, dtype=np.int32), *docs])
    scores = np.empty((len(sources), len(doc)))
    step = max(1, _AT_ONCE // max(len(snapshot), 1))
    for first in range(0, len(queries), step):
        some = queries.select(range(first, min(first + step, len(queries))))
        here = slice(int(offsets[first]), int(offsets[first + len(some)]))
        bounds = offsets[first : first + len(some) + 1] - offsets[first]
        pairs = Run("all", some.ids, snapshot.ids, bounds, doc[here], np.zeros(len(doc[here]), dtype=np.float32))
        for row, source in enumerate(sources):
            scores[row, here] = source.score(some, pairs)
    return replace(
        judged.union,
        queries=queries.ids,
        docs=snapshot.ids,
        offsets=offsets,
        doc=doc,
        scores=scores,
        places=_places(judged.union, queries, offsets, doc, len(snapshot)),
        low=judged.union.low[:, judged.union.queries.ordinals(queries.ids.names)],
    )


def sources_only(union: Union, sources: Sequence[int]) -> Union:
    """The union set of some of the sources, with all candidates that it had.

    >>> union = union_of([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {"y": 9.0}})])
    >>> sources_only(union, [0]).names, sources_only(union, [0]).doc_names()
    (('a',), ['x', 'y'])
    """
    rows = list(sources)
    return replace(
        union,
        names=tuple(union.names[row] for row in rows),
        scores=union.scores[rows],
        places=union.places[rows],
        low=union.low[rows],
        stated=tuple(union.stated[row] for row in rows),
        asked=tuple(union.asked[row] for row in rows),
        levels=tuple(union.levels[row] for row in rows),
    )


def _evenly(queries: Queries, most: int) -> Queries:
    """All queries, or this many of them at even distances."""
    if len(queries) <= most:
        return queries
    return queries.select(np.unique(np.linspace(0, len(queries) - 1, most).astype(int)).tolist())


def _masks(queries: Queries, source: Retriever, within: Mask | None, before_query_date: bool) -> list[Mask]:
    """The documents that each query may rank."""
    everything = np.ones(len(source.snapshot), dtype=np.bool_) if within is None else within
    masks = [everything] * len(queries)
    for day in queries_by_day(queries, document_dates(source.snapshot), within) if before_query_date else ():
        for row in day.rows.tolist():
            masks[row] = everything if day.within is None else day.within
    return masks


def _places(union: Union, queries: Queries, offsets: I64, doc: I32, documents: int) -> I32:
    """The place of every document in each source's own list; 0 where the list does not hold it."""
    places = np.zeros((len(union.names), len(doc)), dtype=np.int32)
    row = queries.ids.ordinals(union.queries)[union.query].astype(np.int64)
    listed = np.flatnonzero(row >= 0)
    key = np.repeat(np.arange(len(queries)), np.diff(offsets)) * documents + doc  # rises
    places[:, np.searchsorted(key, row[listed] * documents + union.doc[listed])] = union.places[:, listed]
    return places
