"""BM25, with k1, b and the form of idf chosen at query time.

FUSE eq. 1 and BSARD eq. 3 score a document by the sum over query terms of
idf(t) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length)), with Robertson's idf
ln((N - df + 0.5) / (df + 0.5)), which is negative for terms in more than half of the documents. Lucene, and
so the default here, uses ln(1 + (N - df + 0.5) / (df + 0.5)), always positive, and leaves out the constant k1 + 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from lexfuse.data.arrays import F32, F64
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.index.building import LEXICAL
from lexfuse.index.postings import Postings
from lexfuse.index.snapshot import Snapshot
from lexfuse.retrieve.lexical import EncodedQueries, QueryReader, ranked, summed
from lexfuse.retrieve.retriever import Bounds, Mask


class Idf(StrEnum):
    """The form of the inverse document frequency.

    >>> Idf("lucene")
    <Idf.LUCENE: 'lucene'>
    """

    LUCENE = "lucene"
    ROBERTSON = "robertson"


@dataclass(frozen=True, slots=True)
class TermPart:
    """What one query term adds to a score.

    >>> TermPart("loi", 1, 2.0, 1.5, 0.9).contribution
    0.9
    """

    term: str
    in_query: int
    in_document: float
    idf: float
    contribution: float


@dataclass(frozen=True)
class BM25:
    """Okapi BM25 over the lexical channel of an index.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.data.queries import Query
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = Index.create(f"{folder}/i")
    ...     _ = index.add([Document("a", text="la loi", language="fr"), Document("b", text="le droit", language="fr")])
    ...     BM25(index.snapshot()).retrieve(Queries.of([Query("q", "quelle loi ?", "fr")]), 10).hits("q")[0].doc
    'a'
    """

    snapshot: Snapshot
    k1: float = 1.2
    b: float = 0.75
    idf: Idf = Idf.LUCENE
    name: str = "bm25"
    _reader: list[QueryReader] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse parameters outside their range."""
        if self.k1 < 0 or not np.isfinite(self.k1):
            raise ConfigError(f"k1 must be 0 or more, got {self.k1}; 1.2 is usual")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"b must lie between 0 and 1, got {self.b}; 0.75 is usual")
        self._reader.append(QueryReader(self.postings, self.snapshot.settings))

    @property
    def postings(self) -> Postings:
        """The posting lists it reads."""
        return self.snapshot.postings(LEXICAL)

    @property
    def bounds(self) -> Bounds:
        """Zero with Lucene's idf; with Robertson's there is no lower bound that holds for every query."""
        return Bounds(0.0 if self.idf is Idf.LUCENE else -np.inf)

    def retrieve(self, queries: Queries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents of every query, among those the mask allows."""
        encoded = self._reader[0].read(queries)
        if (self._idf()[encoded.terms] <= 0).any():
            from lexfuse.retrieve.signed import ranked_signed

            return ranked_signed(self.snapshot, self.postings, self.impacts, queries, encoded, k, within, self.name)
        return ranked(self.snapshot, self.postings, self.impacts, queries, encoded, k, within, self.name)

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The exact score of every pair of query and document in a run, in its order."""
        return summed(self.snapshot, self.postings, self.impacts, queries, self._reader[0].read(queries), pairs)

    def explain(self, queries: Queries, doc: str) -> list[TermPart]:
        """What each term of the first query adds to a document's score, largest first; the document need not be ranked."""
        encoded: EncodedQueries = self._reader[0].read(queries)
        raw = int(np.flatnonzero(self.snapshot.alive)[self.snapshot.ids.ordinal(doc)])
        parts = []
        for term, count in zip(encoded.terms[: encoded.starts[1]].tolist(), encoded.counts.tolist(), strict=False):
            weight, impact = self._posting(term, raw)
            idf = float(self._idf()[term])
            parts.append(TermPart(self.postings.vocabulary[term], int(count), weight, idf, count * impact))
        return sorted(parts, key=lambda part: (-part.contribution, part.term))

    def _posting(self, term: int, raw: int) -> tuple[float, float]:
        postings = self.postings
        for start, end in zip(postings.range_starts[term].tolist(), postings.range_ends[term].tolist(), strict=True):
            at = start + int(np.searchsorted(postings.docs[start:end], raw))
            if at < end and postings.docs[at] == raw:
                return float(postings.weights[at]), float(self.impacts[at])
        return 0.0, 0.0

    def _idf(self) -> F64:
        frequency = self.postings.document_frequency
        odds = (self.postings.documents - frequency + 0.5) / (frequency + 0.5)
        return np.log1p(odds) if self.idf is Idf.LUCENE else np.log(odds)

    @property
    def impacts(self) -> F32:
        """One number per posting, kept for the parameters used last."""
        key = (LEXICAL, self.k1, self.b, self.idf)
        cache = self.postings.impacts
        if key not in cache:
            cache.clear()
            cache[key] = self._impacts()
        return cache[key]

    def _impacts(self) -> F32:
        postings = self.postings
        scale = 1.0 if self.idf is Idf.LUCENE else self.k1 + 1.0
        mean = postings.mean_length or 1.0
        norm = (self.k1 * (1 - self.b + self.b * postings.lengths.astype(np.float64) / mean)).astype(np.float32)
        weights = np.asarray(postings.weights)
        impacts = weights / (weights + norm[postings.docs])
        impacts *= (self._idf() * scale).astype(np.float32)[postings.term_of_posting]
        return impacts
