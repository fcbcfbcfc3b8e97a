"""Why a document has its rank: its score from every source, and what the fusion makes of the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lexfuse.channels.explanation import Explanation, SourceContribution
from lexfuse.errors import NotFoundError
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Union


def explain_fusion(union: Union, doc: str, fusion: Fusion, others: Sequence[Fusion] = ()) -> Explanation:
    """Explain a candidate of a union set of one query; `NotFoundError` for a document that is not one (see `with_document`).

    >>> from lexfuse.fusion.convex import Convex
    >>> runs = [Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0, "z": 0.0}})]
    >>> found = explain_fusion(union_of(runs), "y", Convex((0.5, 0.5)))
    >>> found.rank, found.score, [(part.source, part.value, part.imputed) for part in found.parts]
    (2, 0.5, [('a', 0.0, False), ('b', 1.0, False)])
    """
    places = np.flatnonzero(union.doc == union.docs.ordinal(doc)) if doc in union.docs else np.empty(0, dtype=np.int64)
    if not len(places):
        raise NotFoundError(f"document {doc!r} is no candidate of the query")
    at = int(places[0])
    fused, weights = fusion.scores(union), fusion.source_weights(len(union.names))
    ranks = {other.name: _rank(union, other.scores(union), at) for other in others if _applies(other, union)}
    listed = bool((union.places[:, at] > 0).any())
    kept = union.listed_by(np.flatnonzero(weights))
    if not kept.all() and weights.any():  # what only sources of weight 0 list is no candidate; the document asked for is a guest
        found = explain_fusion(with_document(union.select(kept), doc, union.scores[:, at].tolist()), doc, fusion)
        return replace(found, listed=listed, others=ranks)
    values = fusion.values(union)
    parts = tuple(
        SourceContribution(
            name,
            float(union.scores[row, at]) if union.known[row, at] else None,
            int(union.ranks[row, at]) or None,
            float(values[row, at]),
            not bool(union.known[row, at]),
            float(weights[row]),
            float(weights[row] * values[row, at]),
        )
        for row, name in enumerate(union.names)
    )
    return Explanation(union.queries[0], doc, float(np.float32(fused[at])), _rank(union, fused, at), listed, parts, ranks)


def _applies(fusion: Fusion, union: Union) -> bool:
    """Whether all sources have what the fusion needs of them."""
    return not fusion.uses_infimum() or bool(np.isfinite(union.low).all())


def with_document(union: Union, doc: str, scores: Sequence[float]) -> Union:
    """A union set of one query with one more document, whose true scores are given; nothing else changes in it.

    >>> union = union_of([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {"x": 1.0, "g": 0.5}})])
    >>> len(with_document(union, "g", (1.0, 0.5))) == len(union)  # it is a candidate already
    True
    """
    if doc in union.docs and (union.doc == union.docs.ordinal(doc)).any():
        return union
    ordinal = np.int32(union.docs.ordinal(doc))
    return replace(
        union,
        offsets=np.array([0, len(union) + 1]),
        doc=np.append(union.doc, ordinal),
        scores=np.column_stack([union.scores, np.asarray(scores, dtype=np.float64)]),
        places=np.column_stack([union.places, np.zeros(len(union.names), dtype=np.int32)]),
        guests=frozenset({len(union)}),
    )


def _rank(union: Union, fused: np.ndarray[tuple[int], np.dtype[np.float64]], at: int) -> int:
    """The rank from 1 of a candidate by fused scores; a guest has the rank that it would have."""
    single = fused.astype(np.float32)
    higher = int((single > single[at]).sum())
    return higher + int(((single == single[at]) & (union.order < union.order[at])).sum()) + 1
