"""How HNSW indexes of pgvector are made and searched, for dense and learned sparse vectors.

docs/postgres.md has the recall that the numbers here give, and bench/postgres.py measures it.
"""

from __future__ import annotations

from lexfuse.channels.retriever import Mask

BUILD = "m = 16, ef_construction = 64"
_LEAST, _PER_RESULT, _MOST = 400, 4, 1000  # vectors in view; pgvector keeps no more than 1,000 in view
_SHARE = 0.05  # of all vectors
_FEW = 10_000  # documents that a filter leaves: all their vectors are compared, as HNSW would meet few of them


def scan_settings(k: int) -> dict[str, str]:
    """The settings of the server for one search of k vectors: how many are kept in view, and that the index is used.

    >>> [scan_settings(k)["hnsw.ef_search"] for k in (10, 200, 5000)]
    ['400', '800', '1000']
    """
    view = {"hnsw.ef_search": str(min(max(_PER_RESULT * k, _LEAST), _MOST)), "hnsw.iterative_scan": "strict_order"}
    return view | {"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off"}


def compares_all(wanted: int, held: int, within: Mask | None) -> bool:
    """Whether comparing all vectors is better: a filter leaves few documents, or a large share of all vectors is wanted.

    >>> compares_all(10, 50_000, None), compares_all(4000, 50_000, None), compares_all(10, 50_000, np.ones(50, dtype=bool))
    (False, True, True)
    """
    if within is not None and int(within.sum()) <= _FEW:
        return True
    return wanted > max(_MOST, _SHARE * held)
