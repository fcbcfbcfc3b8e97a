"""The candidate sentences most similar to each query sentence: r_n of RPRS (section 3.1).

The cosine of every query sentence with every candidate sentence is a matrix product in blocks. Those that may be among the best
are then computed exactly (`lexfuse.channels.dense.exact_scores`), so that a list does not depend on blocks, and equal sentences
tie: the document with the lower id comes first, then the earlier sentence.

A list for a large n starts with those for smaller n. And visiting candidates in order gives the lists for every smaller depth on
the way. So one pass serves a whole grid of n and depths.

What met, sentence by sentence and paragraph by paragraph, explains a score (`sentence_pairs`, `paragraph_pairs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexfuse.channels.dense.exact_scores import error_of
from lexfuse.channels.explanation import ParagraphPair, SentencePair
from lexfuse.data.arrays import F32, I32
from lexfuse.errors import ConfigError
from lexfuse.kernels.compilation import read_only_view
from lexfuse.kernels.threads import one_core_each, run_on_cores
from lexfuse.rerank.sentence_vectors import CandidateSentences, QuerySentences
from lexfuse.text.paragraphs import ParagraphMap
from lexfuse.text.passages import Passage

ASKED = 64  # query sentences per task
BLOCK = 4096  # candidate sentences in one product


@dataclass(frozen=True, slots=True, eq=False)
class NearestSentences:
    """The rows of the most similar candidate sentences of every query sentence, best first, with their cosines."""

    rows: I32  # query sentences x n; -1 if the candidates have fewer than n sentences
    cosines: F32

    @property
    def n(self) -> int:
        """The maximum length of its lists."""
        return int(self.rows.shape[1])


def nearest(queries: F32, candidates: CandidateSentences, n: int) -> NearestSentences:
    """The n most similar candidate sentences of every query sentence (vectors of length one).

    >>> candidates = CandidateSentences.of([np.eye(2, dtype=np.float32), np.ones((1, 2), np.float32)])
    >>> nearest(np.array([[0, 1]], np.float32), candidates, 2).rows.tolist()
    [[1, 2]]
    """
    (found,) = nearest_at(queries, candidates, n, [len(candidates)])
    return found


def nearest_at(queries: F32, candidates: CandidateSentences, n: int, depths: Sequence[int]) -> list[NearestSentences]:
    """The same among the first candidates only, for several ascending depths, in one pass.

    >>> candidates = CandidateSentences.of([np.eye(2, dtype=np.float32), np.ones((1, 2), np.float32)])
    >>> [found.rows.tolist() for found in nearest_at(np.array([[1, 1]], np.float32) / 2**0.5, candidates, 1, [1, 2])]
    [[[0]], [[2]]]
    """
    if n < 1:
        raise ConfigError(f"n must be at least 1, got {n}; RPRS takes 1 to 10")
    if list(depths) != sorted(set(depths)) or (len(depths) and depths[0] < 1):
        raise ConfigError(f"depths must ascend from 1, got {', '.join(map(str, depths))}")
    if len(candidates.vectors) and queries.shape[1] != candidates.vectors.shape[1]:
        raise ConfigError(f"sentences of the query have {queries.shape[1]} numbers, candidates {candidates.vectors.shape[1]}")
    ends = [int(candidates.starts[min(depth, len(candidates))]) for depth in depths]
    shape = (len(depths), len(queries), n)
    rows, cosines = np.full(shape, -1, dtype=np.int32), np.full(shape, -np.inf, dtype=np.float32)
    search = _NearestSearch(np.ascontiguousarray(queries, dtype=np.float32), candidates, ends, rows, cosines)
    with one_core_each() as alone:
        if alone:
            run_on_cores(search.work, len(queries), ASKED)
        else:
            for first in range(0, len(queries), ASKED):
                search.work(first, min(first + ASKED, len(queries)))
    return [NearestSentences(some, scores) for some, scores in zip(rows, cosines, strict=True)]


class _NearestSearch:
    """One pass over the candidates for some query sentences at a time, from several threads."""

    def __init__(self, queries: F32, candidates: CandidateSentences, ends: list[int], rows: I32, cosines: F32) -> None:
        self.queries, self.vectors, self.ends = queries, read_only_view(candidates.vectors), ends
        self.rows, self.cosines = rows, cosines
        self.order = read_only_view(_order_of(candidates))
        self.error = float(error_of(np.ones(1), 1.0, queries.shape[1])[0]) * 1.001  # unit lengths are rounded too

    def work(self, first: int, last: int) -> None:
        """Fill in the lists of these query sentences."""
        from lexfuse.kernels.dot_product_numba import keep_nearest

        asked, done = read_only_view(self.queries[first:last]), 0
        best = np.full((last - first, self.rows.shape[2]), -np.inf, dtype=np.float32)
        kept = np.full(best.shape, -1, dtype=np.int32)
        for depth, end in enumerate(self.ends):
            for start in range(done, end, BLOCK):
                block = self.vectors[start : min(start + BLOCK, end)]
                quick = np.matmul(asked, block.T)
                keep_nearest(read_only_view(quick), asked, read_only_view(block), start, self.order, self.error, best, kept)
            done = end
            self.rows[depth, first:last], self.cosines[depth, first:last] = kept, best


def _order_of(candidates: CandidateSentences) -> I32:
    """The position of every sentence among all, by document id and then by place."""
    by_id = np.argsort(candidates.order, kind="stable")
    lengths = candidates.lengths
    begin = np.empty(len(candidates), dtype=np.int64)
    begin[by_id] = np.cumsum(lengths[by_id]) - lengths[by_id]
    within = np.arange(len(candidates.vectors)) - np.repeat(candidates.starts[:-1], lengths)
    return (np.repeat(begin, lengths) + within).astype(np.int32)


def sentence_pairs(
    query: QuerySentences, candidates: CandidateSentences, found: NearestSentences, doc: int
) -> tuple[SentencePair, ...]:
    """The matches of one candidate, given by its position among the candidates.

    >>> from lexfuse.rerank.nearest_sentences import nearest
    >>> query = QuerySentences((Passage(0, 5),), np.eye(2, dtype=np.float32)[:1])
    >>> candidates = CandidateSentences.of([np.eye(2, dtype=np.float32)])
    >>> sentence_pairs(query, candidates, nearest(query.vectors, candidates, 1), 0)
    (SentencePair(query=Passage(start=0, end=5, number=None), doc=Passage(start=0, end=0, number=None), cosine=1.0, rank=1),)
    """
    first, last = int(candidates.starts[doc]), int(candidates.starts[doc + 1])
    places = ((found.rows >= first) & (found.rows < last)).nonzero()
    return tuple(
        SentencePair(
            query.spans[sentence],
            Passage(*candidates.spans[int(found.rows[sentence, at])].tolist()),
            float(found.cosines[sentence, at]),
            at + 1,
        )
        for sentence, at in zip(*(place.tolist() for place in places), strict=True)
    )


def paragraph_pairs(query: ParagraphMap, doc: ParagraphMap, meetings: Sequence[SentencePair]) -> tuple[ParagraphPair, ...]:
    r"""The matching paragraphs of two texts, by number of matches, then by best cosine.

    >>> query, doc = ParagraphMap("1. Rent.\n2. Costs."), ParagraphMap("1. All.\n2. Lease.")
    >>> [pair] = paragraph_pairs(query, doc, [SentencePair(Passage(9, 18), Passage(0, 7), 0.5, 1)])
    >>> pair.query.number, pair.doc.number, pair.meetings
    ('2', '1', 1)
    """
    groups: dict[tuple[int, int], list[float]] = {}
    own = zip(query.of([one.query.start for one in meetings]), doc.of([one.doc.start for one in meetings]), strict=True)
    for (left, right), meeting in zip(own, meetings, strict=True):
        groups.setdefault((int(left), int(right)), []).append(meeting.cosine)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), -max(group[1]), group[0]))
    return tuple(
        ParagraphPair(query.paragraphs[left], doc.paragraphs[right], len(cosines), max(cosines))
        for (left, right), cosines in ordered
    )
