"""TF-IDF of BSARD, eq. 1 and 2: the sum over query terms of tf(t, a) * log(|C| / df(t)).

The paper does not name the base of its logarithm; here it is the natural one, and another base only scales every
score by one number. Document frequency counts the documents that hold the term, as the text of the paper says.
(The program published with it tests for a substring of the raw text instead and takes log10.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lexfuse.channels.retriever import ScoreBounds
from lexfuse.channels.term_retriever import TermRetriever, kept
from lexfuse.data.arrays import F32, F64, I64


@dataclass(frozen=True)
class TfIdf(TermRetriever):
    """TF-IDF over the lexical channel of an index: no damping of frequent terms, no account of length.

    A term that every document holds weighs nothing; documents that share only such terms with a query are not ranked.

    >>> [hit] = TfIdf(snapshot).retrieve(Queries.of([Query("q", "retard", "fr")]), 10).hits("q")
    >>> hit.doc, round(hit.score, 4), round(float(np.log(6 / 1)), 4)
    ('lib-4', 1.7918, 1.7918)
    """

    name: str = field(default="tfidf", kw_only=True)

    channel = "tfidf"
    bounds = ScoreBounds(0.0)

    @cached_property
    def term_idf(self) -> F64:
        """ln(N / df) of every term, over the documents that are not deleted."""
        return log_ratio(self.postings.documents, self.postings.document_frequency)

    @property
    def impacts(self) -> F32:
        """One number per posting."""
        return kept(self.postings, "tfidf", (), self._impacts)

    def _impacts(self) -> F32:
        idf = self.term_idf.astype(np.float32)
        return self.postings.spread(lambda some: some.weights * idf[some.terms])


def log_ratio(documents: int, frequency: I64) -> F64:
    """ln(N / df); 0 for terms whose documents have all been deleted.

    >>> log_ratio(4, np.array([4, 2, 0])).round(3).tolist()
    [0.0, 0.693, 0.0]
    """
    return np.log(documents / np.maximum(frequency, 1)) * (frequency > 0)
