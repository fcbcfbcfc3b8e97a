"""Late interaction over parts: the documents with the highest MaxSim (eq. 11 of FUSE) on the vectors as they are stored.

Brute force scores every document. The other way estimates scores first, as XTR (Lee et al. 2023) and WARP (Scheerer et al. 2025)
do: every query vector visits the documents of its nearest centroids. A document that it does not meet there is assumed to be as
near as the next centroid. The documents with the highest estimates get a better one: every query vector, rounded to 8 bits, is
multiplied with the one token whose centroid is nearest to it. The best of them are the candidates, which get their true score.
There are 200 candidates for up to 100 results and 2,000 for up to 1,000, so that within these limits a longer list starts like a
shorter one.
Where more results are asked for, or no more than 1,000 documents are allowed, all documents get their true score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lexfuse.channels.late.codec import RoundedQuery, TokenCodec, checked
from lexfuse.channels.late.stored_part import TokenPart, check_one_codec
from lexfuse.data.arrays import F32, I32, I64, Bools, offsets_of
from lexfuse.errors import ConfigError
from lexfuse.kernels.compilation import compiled_is_due, read_only_view, read_only_views
from lexfuse.kernels.levels import centres
from lexfuse.kernels.maxsim import (
    LANES,
    high_and_low,
    highest,
    in_blocks,
    in_byte_lanes,
    padded_products,
    products,
    steps,
    summed,
)
from lexfuse.kernels.threads import run_on_cores
from lexfuse.storage.document_numbers import allowed

CANDIDATES = {100: 448, 1000: 4096}  # results, and how many documents get a better estimate for them
SCORED = 2  # documents that get their true score, for each of these results
PROBES = 16  # centroids whose documents a query vector visits
_CHUNK = 32  # documents that a core scores at once
_GROUP = 32  # query vectors whose estimates are added up at once


class LateMode(StrEnum):
    """How documents are found."""

    PLAID = "plaid"
    BRUTE_FORCE = "brute-force"


class MaxSimMatch(NamedTuple):
    """The token of a document that a query token met, and how similar they are."""

    token: int
    similarity: float


class LateEstimates(NamedTuple):
    """The documents with the highest estimates for a query, of all that were allowed."""

    allowed: int
    docs: I32  # ascending
    rough: F32  # by which they were found
    fine: F32  # by which candidates are chosen from them

    def highest(self, number: int, order: I32) -> LateEstimates:
        """Those with the highest rough estimates.

        >>> docs, rough = np.array([1, 4, 6], dtype=np.int32), np.array([0.5, 0.9, 0.5], dtype=np.float32)
        >>> LateEstimates(9, docs, rough, rough).highest(2, np.arange(7, dtype=np.int32)).docs.tolist()
        [1, 4]
        """
        kept = _highest(self.docs, self.rough, number, order)
        return LateEstimates(self.allowed, self.docs[kept], self.rough[kept], self.fine[kept])

    def candidates(self, number: int, order: I32) -> I32:
        """The documents that get their true score for up to a number of results, ascending."""
        return self.docs[_highest(self.docs, self.fine, SCORED * number, order)]


@dataclass(frozen=True, slots=True, eq=False)
class _LateQuery:
    """A query made ready: its products with the centroids, and with the axes of the residuals."""

    near: F32  # centroids x vectors of the query, filled up to whole groups of lanes for compiled loops
    residual: RoundedQuery
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

    def __init__(
        self, parts: Sequence[TokenPart], order: I32, *, candidates: Mapping[int, int] = CANDIDATES, probes: int = PROBES
    ) -> None:
        """Take the parts; `ConfigError` if they were compressed in different ways."""
        if probes < 1 or min(candidates, default=0) < 1 or any(few > many for few, many in candidates.items()):
            raise ConfigError(
                f"probes and candidates must be at least 1, and of no fewer estimates; got {probes} and {dict(candidates)}"
            )
        check_one_codec(parts)
        self.candidates = dict(sorted(candidates.items()))
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
        if k < 1:
            raise ConfigError(f"k must be at least 1, got {k:,}")
        allowed = self._allowed(mask)
        count = int(np.count_nonzero(allowed))
        number = None if mode is LateMode.BRUTE_FORCE else candidate_number(count, k, self.candidates)
        found, reached = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
        for query in queries if count else ():
            asked = self._asked(query, count if number is None else number, estimates=number is not None)
            docs = np.flatnonzero(allowed).astype(np.int32)
            if number is not None:
                docs = self._estimated(asked, allowed, number).candidates(number, self._order)
            scores = self._scores(asked, docs)
            ranked = np.lexsort((self._order[docs], -scores))[:k]
            found.append(docs[ranked])
            reached.append(scores[ranked])
        each = np.full(len(queries), min(k, count), dtype=np.int64)
        return offsets_of(each), np.concatenate(found), np.concatenate(reached)

    def estimates(self, query: F32, number: int, *, mask: Bools | None = None) -> LateEstimates:
        """The estimates by which candidates for a number of results are chosen: a cluster chooses among those of all shards."""
        allowed = self._allowed(mask)
        if not allowed.any():  # of a shard, perhaps without any part
            return LateEstimates(0, np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.float32))
        return self._estimated(self._asked(query, number, estimates=True), allowed, number)

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

    def _asked(self, query: F32, documents: int, *, estimates: bool = False) -> _LateQuery:
        codec = self._parts[0].codec
        query = checked(np.asarray(query, dtype=np.float32), codec.dimension)
        tokens = sum(part.tokens for part in self._parts) * documents // max(1, len(self._filled))
        compiled = estimates or compiled_is_due(steps(len(codec.centroids) + tokens, query))
        near = padded_products(codec.centroids, query) if compiled else products(codec.centroids, query)
        return _LateQuery(near, codec.rounded(query), len(query), compiled)

    def _estimated(self, asked: _LateQuery, allowed: Bools, number: int) -> LateEstimates:
        """The documents with the highest rough estimates, and better ones of these."""
        from lexfuse.kernels.maxsim_numba import estimated, probed

        probes = min(self.probes + 1, len(asked.near))
        best = np.empty((asked.count, probes), dtype=np.float32)
        which = np.zeros((asked.count, probes), dtype=np.int32)
        above = np.zeros((-(-asked.count // _GROUP), len(allowed)), dtype=np.float32)  # what each group of query vectors adds

        def work(first: int, last: int) -> None:
            probed(read_only_view(asked.near), first, best[first:last], which[first:last])
            for part, base in zip(self._parts, self._bases.tolist(), strict=False):
                found = above[first // _GROUP, base : base + len(part)]
                estimated(*read_only_views(best[first:last], which[first:last], part.lists, part.members), found)

        run_on_cores(work, asked.count, _GROUP)
        rough = above.sum(axis=0)
        docs = np.flatnonzero(allowed).astype(np.int32)
        count = len(docs)
        docs = docs[_highest(docs, rough[docs], self.candidates[number], self._order)]
        return LateEstimates(count, docs, rough[docs], self._scores(asked, docs, exact=False))

    def _scores(self, asked: _LateQuery, docs: I32, *, exact: bool = True) -> F32:
        """The scores of documents, which ascend: true ones or estimates."""
        scores = np.empty(len(docs), dtype=np.float32)
        for part, span, local in self._by_part(docs):
            if not exact:
                _approximate_scores(asked, part, local, scores[span])
            elif asked.compiled:
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


def candidate_number(documents: int, k: int, candidates: Mapping[int, int] = CANDIDATES) -> int | None:
    """How many candidates a search for the best k has; None if all documents get their true score.

    >>> candidate_number(29_104, 10), candidate_number(800, 10), candidate_number(29_104, 5000)
    (100, None, None)
    """
    if documents <= max(candidates):  # so that filters that leave few documents find the true best
        return None
    return next((number for number in sorted(candidates) if number >= k), None)


def _highest(docs: I32, estimates: F32, number: int, order: I32) -> I64:
    """The places of the highest estimates, ascending; of equals the first documents in the order."""
    if number >= len(docs):
        return np.arange(len(docs))
    least = np.partition(estimates, len(docs) - number)[len(docs) - number]
    above, equal = np.flatnonzero(estimates > least), np.flatnonzero(estimates == least)
    return np.sort(np.concatenate([above, equal[np.argsort(order[docs[equal]])][: number - len(above)]]))


def _compiled_scores(asked: _LateQuery, part: TokenPart, docs: I32, scores: F32) -> None:
    from lexfuse.kernels.maxsim_numba import stored

    numbers, steps, middles = asked.residual
    layout, padding = part.codec.layout, (0, asked.near.shape[1] - asked.count)
    high, low = high_and_low(numbers)
    tokens = read_only_views(part.starts, part.codes, part.scales, part.residuals, layout.runs)
    bounds = np.stack([np.pad(some, padding) for some in _bounds(asked, part.codec)]).reshape(3, -1, LANES).transpose(1, 0, 2)
    lanes = in_byte_lanes(layout.placed(high)), in_blocks(layout.placed(low)), bounds
    query = read_only_views(asked.near, *lanes, steps, middles)

    def work(first: int, last: int) -> None:
        stored(read_only_view(docs[first:last]), *tokens, *query, scores[first:last])

    run_on_cores(work, len(docs), _CHUNK)


def _bounds(asked: _LateQuery, codec: TokenCodec) -> tuple[F32, F32, F32]:
    """For each query vector: the step of a product with its high halves, what is subtracted from it, and how far it is off.

    The low halves add their products with levels; with the middles of all levels for each that is known, the rest is at most half
    the range of levels away. The error of 32-bit floats is far below a millionth of the largest number in between.
    """
    numbers, steps, middles = asked.residual
    high, low = (some.astype(np.float64) for some in high_and_low(numbers))
    middle = centres(codec.widths).astype(np.float64)
    largest = np.abs(asked.near[:, : asked.count]).max(axis=0) + steps * (1024 * np.abs(high) @ middle)
    errors = steps * (np.abs(low) @ middle) + 1e-6 * largest
    outer = middles - steps * (low @ middle)
    return np.float32(256) * steps, outer.astype(np.float32), errors.astype(np.float32)


def _approximate_scores(asked: _LateQuery, part: TokenPart, docs: I32, scores: F32) -> None:
    """Estimates that depend on the query, the codec and each document alone."""
    from lexfuse.kernels.maxsim_numba import approximate

    numbers, steps, _ = asked.residual
    layout = part.codec.layout
    rounded = np.clip(np.rint(numbers / 256), -127, 127).astype(np.int8)
    middles = steps * np.float32(256) * (rounded.astype(np.float32) @ centres(part.codec.widths))
    tokens = read_only_views(part.starts, part.codes, part.scales, part.residuals, layout.runs)
    query = read_only_views(asked.near, in_blocks(layout.placed(rounded)), steps, middles)

    def work(first: int, last: int) -> None:
        approximate(read_only_view(docs[first:last]), *tokens, *query, scores[first:last])

    run_on_cores(work, len(docs), _CHUNK)


def _plain_scores(asked: _LateQuery, part: TokenPart, docs: I32) -> F32:
    lengths = np.diff(part.starts)[docs]
    starts = offsets_of(lengths)
    rows = np.repeat(part.starts[docs] - starts[:-1], lengths) + np.arange(starts[-1])
    return summed(highest(_plain_products(asked, part, rows), starts), starts)


def _plain_products(asked: _LateQuery, part: TokenPart, rows: I64) -> F32:
    """The products of stored tokens with the query, by the same operations as the compiled loop."""
    numbers, steps, middles = asked.residual
    levels = part.codec.layout.unpacked(part.residuals[rows]).astype(np.float64)  # whole numbers: any order gives the same sum
    high, low = ((levels @ some.T.astype(np.float64)).astype(np.float32) for some in high_and_low(numbers))
    left = steps * (np.float32(256) * high + low) - middles
    found: F32 = (asked.near[part.codes[rows], : asked.count] + left) * part.scales[rows, None]
    return found
