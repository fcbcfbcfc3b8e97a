"""Late interaction over parts: the documents with the highest MaxSim (eq. 11 of FUSE) on the vectors as they are stored.

Brute force scores every document. The other way is that of PLAID (Santhanam et al. 2022), in three steps: the centroids
nearest to each query vector name the documents to look at; MaxSim with centroids in place of tokens picks the most promising
of them, always the same number; these get their true score. That number does not depend on k, so a longer list starts like
a shorter one. Where no more documents than that are allowed, all of them get their true score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lexfuse.channels.late.codec import checked
from lexfuse.channels.late.stored_part import TokenPart, check_one_codec
from lexfuse.data.arrays import F32, I32, I64, Bools, offsets_of
from lexfuse.errors import ConfigError
from lexfuse.kernels.compilation import compiled_is_due, read_only_view, read_only_views
from lexfuse.kernels.maxsim import highest, in_lanes, padded_products, products, steps, summed
from lexfuse.kernels.threads import run_on_cores
from lexfuse.storage.document_numbers import allowed

CANDIDATES = 1024  # documents that get their true score
PROBES = 8  # nearest centroids of a query vector
_CHUNK = 64  # documents that a core scores at once


class LateMode(StrEnum):
    """How documents are found."""

    PLAID = "plaid"
    BRUTE_FORCE = "brute-force"


class MaxSimMatch(NamedTuple):
    """The token of a document that a query token met, and how similar they are."""

    token: int
    similarity: float


@dataclass(frozen=True, slots=True, eq=False)
class _LateQuery:
    """A query made ready: its products with the centroids, and its vectors for the residuals."""

    near: F32  # centroids x vectors of the query, filled up to whole groups of lanes for compiled loops
    residual: F32
    count: int  # vectors of the query
    compiled: bool


class LateSearch:
    """Searches parts that share one codec. Documents are numbered part after part; `order` ranks them where scores are equal.

    >>> from lexfuse.channels.late.codec import TokenCodec
    >>> vectors = np.eye(4, dtype=np.float32)
    >>> part = TokenPart.of([vectors[:2], vectors[2:]], TokenCodec.trained(vectors, bits=8))
    >>> search = LateSearch([part], np.arange(2, dtype=np.int32))
    >>> offsets, docs, scores = search.best([vectors[2:3]], k=1)
    >>> docs.tolist(), scores.round(3).tolist()
    ([1], [1.0])
    """

    def __init__(self, parts: Sequence[TokenPart], order: I32, *, candidates: int = CANDIDATES, probes: int = PROBES) -> None:
        """Take the parts; `ConfigError` if they were compressed in different ways."""
        if min(candidates, probes) < 1:
            raise ConfigError(f"candidates and probes must be at least 1, got {candidates} and {probes}")
        check_one_codec(parts)
        self.candidates = candidates
        self.probes = probes
        self._parts = tuple(parts)
        self._order = order
        self._bases = offsets_of(np.array([len(part) for part in parts], dtype=np.int64))
        if len(order) != self._bases[-1]:
            raise ConfigError(f"{self._bases[-1]:,} documents need as many places in the order, got {len(order):,}")
        spans = [np.diff(part.starts) > 0 for part in parts]
        self._filled: Bools = np.concatenate([*spans, np.empty(0, dtype=np.bool_)])  # documents with tokens

    def best(
        self, queries: Sequence[F32], k: int, *, mode: LateMode = LateMode.PLAID, mask: Bools | None = None
    ) -> tuple[I64, I32, F32]:
        """The best k documents of every query, each a table of token vectors: offsets, documents and scores.

        `mask` has one flag for each document, or is empty where all are allowed. Documents without tokens are not found.
        """
        allowed = self._allowed(mask)
        count = int(np.count_nonzero(allowed))
        exhaustive = mode is LateMode.BRUTE_FORCE or count <= self.candidates
        if k < 1 or (k > self.candidates and not exhaustive):
            expected = f"k must be at least 1 and, with the {mode.value} mode, at most its {self.candidates:,} candidates"
            raise ConfigError(f"{expected}; got {k:,}: allow more candidates, or use the {LateMode.BRUTE_FORCE.value} mode")
        found, reached = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
        for query in queries if count else ():
            asked = self._asked(query, count if exhaustive else self.candidates)
            chosen = np.flatnonzero(allowed) if exhaustive else self._promising(asked, allowed)
            docs = chosen.astype(np.int32)
            scores = self._scores(asked, docs)
            ranked = np.lexsort((self._order[docs], -scores))[:k]
            found.append(docs[ranked])
            reached.append(scores[ranked])
        each = min(k, count if exhaustive else self.candidates)
        return offsets_of(np.full(len(queries), each, dtype=np.int64)), np.concatenate(found), np.concatenate(reached)

    def pair_scores(self, queries: Sequence[F32], query: I32, doc: I32) -> F32:
        """The score of every pair of query and document, with the same bits as `best` gives; NaN without any token.

        >>> from lexfuse.channels.late.codec import TokenCodec
        >>> vectors = np.eye(4, dtype=np.float32)
        >>> search = LateSearch([TokenPart.of([vectors], TokenCodec.trained(vectors, bits=8))], np.zeros(1, dtype=np.int32))
        >>> search.pair_scores([vectors[:2]], np.zeros(1, np.int32), np.zeros(1, np.int32)).round(3).tolist()
        [2.0]
        """
        scores = np.empty(len(query), dtype=np.float32)
        for number in np.unique(query).tolist():
            pairs = np.flatnonzero(query == number)
            docs, back = np.unique(doc[pairs], return_inverse=True)
            scores[pairs] = self._scores(self._asked(queries[number], len(docs)), docs.astype(np.int32))[back]
        return scores

    def matches(self, query: F32, doc: int) -> list[MaxSimMatch]:
        """For every vector of a query the token of a document that it met; the first one where several are equal.

        >>> from lexfuse.channels.late.codec import TokenCodec
        >>> vectors = np.eye(4, dtype=np.float32)
        >>> search = LateSearch([TokenPart.of([vectors], TokenCodec.trained(vectors, bits=8))], np.zeros(1, dtype=np.int32))
        >>> search.matches(vectors[2:3], 0)[0].token
        2
        """
        number = int(np.searchsorted(self._bases, doc, side="right")) - 1
        part, local = self._parts[number], doc - int(self._bases[number])
        asked = self._asked(query, 1)
        table = _plain_products(asked, part, np.arange(part.starts[local], part.starts[local + 1]))
        if not len(table):
            return []
        places = table.argmax(axis=0)
        return [MaxSimMatch(int(place), float(table[place, at])) for at, place in enumerate(places)]

    def _allowed(self, mask: Bools | None) -> Bools:
        """Documents that may be found."""
        if mask is None or not len(mask):
            return self._filled
        return allowed(mask, len(self._filled)) & self._filled

    def _asked(self, query: F32, documents: int) -> _LateQuery:
        codec = self._parts[0].codec
        query = checked(np.asarray(query, dtype=np.float32), codec.dimension)
        tokens = sum(part.tokens for part in self._parts) * documents // max(1, len(self._filled))
        compiled = compiled_is_due(steps(len(codec.centroids) + tokens, query))
        near = padded_products(codec.centroids, query) if compiled else products(codec.centroids, query)
        return _LateQuery(near, codec.residual_query(query), len(query), compiled)

    def _promising(self, asked: _LateQuery, allowed: Bools) -> I64:
        """The documents that get their true score, by the centroids of their tokens."""
        from lexfuse.kernels.maxsim_numba import gathered, probed

        near = read_only_view(asked.near)
        found = np.zeros(len(allowed), dtype=np.bool_)
        probes = self.probes
        while True:  # enough documents, whatever the filter leaves
            chosen = np.zeros(len(near), dtype=np.bool_)
            probed(near, asked.count, min(probes, len(near)), chosen)
            for part, base in zip(self._parts, self._bases.tolist(), strict=False):
                span = slice(base, base + len(part))
                gathered(*read_only_views(chosen, part.lists, part.members, allowed[span]), found[span])
            if np.count_nonzero(found) >= self.candidates or probes >= len(near):
                break
            probes *= 4
        docs = np.flatnonzero(found)
        scores = self._approximate(asked, docs.astype(np.int32))
        return np.sort(docs[np.lexsort((self._order[docs], -scores))[: self.candidates]])

    def _approximate(self, asked: _LateQuery, docs: I32) -> F32:
        """MaxSim of documents with centroids in place of tokens."""
        from lexfuse.kernels.maxsim_numba import by_centroids

        scores = np.empty(len(docs), dtype=np.float32)
        for part, span, local in self._by_part(docs):

            def work(first: int, last: int, part: TokenPart = part, local: I32 = local, out: F32 = scores[span]) -> None:
                arrays = read_only_views(local[first:last], part.starts, part.codes, asked.near)
                by_centroids(*arrays, asked.count, out[first:last])

            run_on_cores(work, len(local), 16 * _CHUNK)
        return scores

    def _scores(self, asked: _LateQuery, docs: I32) -> F32:
        """The true scores of documents, which ascend."""
        scores = np.empty(len(docs), dtype=np.float32)
        for part, span, local in self._by_part(docs):
            if asked.compiled:
                _compiled_scores(asked, part, local, scores[span])
            else:
                scores[span] = _plain_scores(asked, part, local)
        return scores

    def _by_part(self, docs: I32) -> list[tuple[TokenPart, slice, I32]]:
        """Parts with the range of documents that they hold, and these in their own numbers."""
        ends = np.searchsorted(docs, self._bases)
        spans = [slice(first, last) for first, last in pairwise(ends.tolist())]
        held = zip(self._parts, spans, self._bases[:-1], strict=True)
        return [(part, span, (docs[span] - base).astype(np.int32)) for part, span, base in held if span.stop > span.start]


def _compiled_scores(asked: _LateQuery, part: TokenPart, docs: I32, scores: F32) -> None:
    from lexfuse.kernels.maxsim_numba import stored

    tokens = read_only_views(part.starts, part.codes, part.scales, part.residuals, part.codec.places, part.codec.values)
    query = read_only_views(asked.near, in_lanes(asked.residual))

    def work(first: int, last: int) -> None:
        stored(read_only_view(docs[first:last]), *tokens, *query, asked.count, scores[first:last])

    run_on_cores(work, len(docs), _CHUNK)


def _plain_scores(asked: _LateQuery, part: TokenPart, docs: I32) -> F32:
    lengths = np.diff(part.starts)[docs]
    starts = offsets_of(lengths)
    rows = np.repeat(part.starts[docs] - starts[:-1], lengths) + np.arange(starts[-1])
    return summed(highest(_plain_products(asked, part, rows), starts), starts)


def _plain_products(asked: _LateQuery, part: TokenPart, rows: I64) -> F32:
    """The products of stored tokens with the query, by the same operations as the compiled loop."""
    left = part.codec.residual_values(part.residuals[rows])
    near = asked.near[part.codes[rows], : asked.count]
    return (near + products(left, asked.residual)) * part.scales[rows, None]
