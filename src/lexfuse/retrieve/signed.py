"""Ranking when impacts may be negative or zero: every document that holds a query term is ranked, whatever its sign.

Slower than the compiled way of `lexfuse.retrieve.lexical`, and only needed for Robertson's idf on very common terms.
"""

from __future__ import annotations

import numpy as np

from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.retrieve.lexical import LexicalRetriever
from lexfuse.retrieve.reading import EncodedQueries
from lexfuse.retrieve.retriever import Mask, checked_k


def ranked_signed(retriever: LexicalRetriever, queries: Queries, encoded: EncodedQueries, k: int, within: Mask | None) -> Run:
    """The best k of the documents that hold a term of the query, by summed impacts of any sign.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.data.queries import Query
    >>> from lexfuse.index.index import Index
    >>> from lexfuse.retrieve.bm25 import BM25
    >>> documents = [Document("a", text="la loi", language="fr"), Document("b", text="le droit", language="fr")]
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         bm25, queries = BM25(snapshot), Queries.of([Query("q", "loi", "fr")])
    ...         [hit.doc for hit in ranked_signed(bm25, queries, bm25.read(queries), 10, None).hits("q")]
    ['a']
    """
    numbering, postings, impacts = retriever.numbering, retriever.postings, retriever.impacts
    candidates = numbering.alive if within is None else numbering.mask(within)
    query, doc, score = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.empty(0, np.float32)]
    for row in range(len(queries)):
        total = np.zeros(len(candidates), dtype=np.float32)
        held = np.zeros(len(candidates), dtype=np.bool_)
        for at in range(int(encoded.starts[row]), int(encoded.starts[row + 1])):
            term, weight = encoded.terms[at], encoded.weights[at]
            for start, end in zip(*(edges[0].tolist() for edges in postings.ranges(np.array([term]))), strict=True):
                total[postings.docs[start:end]] += weight * impacts[start:end]
                held[postings.docs[start:end]] = True
        raw = np.flatnonzero(held & candidates)
        best = raw[np.lexsort((numbering.order[raw], -total[raw]))[: checked_k(k)]]
        query.append(np.full(len(best), row, dtype=np.int32))
        doc.append(numbering.places[best])
        score.append(total[best])
    return Run.from_arrays(
        retriever.name, queries.ids, retriever.snapshot.ids, np.concatenate(query), np.concatenate(doc), np.concatenate(score)
    )
