"""TF-IDF of CJEU 3.2.1: documents as vectors over the K most frequent n-grams, compared by cosine.

The paper takes the 5,000 most frequent N-grams of its training set, N = 1 or 2 successive words, weighs them by TF-IDF
and ranks by cosine similarity. It does not write out the weight; here it is tf * ln(N / df), as in BSARD eq. 2. What is
not among the K n-grams does not count, not even into the length of a vector.

n-grams are no channel of the index: `NgramTfIdf.fit` reads every document of a snapshot once and keeps the posting lists
in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.index.inverted import InvertedFile
from lexfuse.index.numbering import allowed
from lexfuse.index.postings import Postings
from lexfuse.index.snapshot import Snapshot
from lexfuse.retrieve.lexical import LexicalRetriever
from lexfuse.retrieve.reading import EncodedQueries, QueryLanguages, encoded
from lexfuse.retrieve.retriever import Bounds, Mask, checked_k
from lexfuse.retrieve.tfidf import log_ratio
from lexfuse.text.vocabulary import TermEncoder, Vocabulary


@dataclass(frozen=True, eq=False)
class NgramTfIdf(LexicalRetriever):
    """Cosines of TF-IDF vectors over the most frequent n-grams; make one with `fit`.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.data.queries import Query
    >>> from lexfuse.index.index import Index
    >>> documents = [Document("a", text="unfair dismissal"), Document("b", text="dismissal, unfair")]
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         bigrams = NgramTfIdf.fit(snapshot, n=2)
    ...         bigrams.retrieve(Queries.of([Query("q", "an unfair dismissal", "en")]), 10).as_dict()
    {'q': {'a': 1.0}}
    """

    features: Postings  # posting lists of the n-grams kept; raw numbers as in the snapshot
    feature_idf: F64
    n: int
    name: str = field(default="tfidf-ngrams", kw_only=True)

    @classmethod
    def fit(
        cls,
        snapshot: Snapshot,
        *,
        n: int = 1,
        top: int = 5000,
        train: Mask | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> Self:
        """Read the documents and keep the n-grams that occur most often; ties go to the first in the alphabet.

        Occurrences and document frequencies are counted in the documents of `train`, all of them if not given. n-grams are
        successive terms of the analyser inside one field: stop words are gone before words are counted as successive.
        """
        if n < 1 or top < 1:
            raise ConfigError(f"n and top must be at least 1, got n={n} and top={top}; the paper takes n=1 or 2 and top=5000")
        train = np.ones(len(snapshot), dtype=np.bool_) if train is None else allowed(train, len(snapshot))
        read = _Fields.of(snapshot, progress)
        gram, start = _ngrams(read.terms, np.repeat(np.arange(len(read.document)), read.sizes), n, len(read.vocabulary))
        document = np.repeat(read.document, read.sizes)[start]
        names, number = _most_frequent(gram, train[document], top, lambda at: read.name(int(start[at]), n))
        found = number[gram] >= 0
        numbering = snapshot.numbering
        raw = numbering.raw[document[found]]
        sizes = np.bincount(raw, minlength=len(numbering))
        rows = np.split(number[gram[found]], np.cumsum(sizes)[:-1])
        weights = np.split(np.repeat(read.weight, read.sizes)[start][found], np.cumsum(sizes)[:-1])
        features = Postings([InvertedFile.from_rows(rows, Vocabulary(names), weights)], numbering.bases[:1], numbering.alive)
        trained = np.zeros(len(numbering), dtype=np.bool_)
        trained[numbering.alive] = train
        frequency = np.bincount(features.term_of_posting[trained[features.docs]], minlength=len(features.vocabulary))
        return cls(snapshot, features, log_ratio(int(train.sum()), frequency), n)

    @property
    def bounds(self) -> Bounds:
        """Cosines of vectors without negative numbers."""
        return Bounds(0.0, 1.0)

    @property
    def postings(self) -> Postings:
        """The posting lists of the n-grams kept."""
        return self.features

    @property
    def term_idf(self) -> F64:
        """ln(N / df) of every n-gram."""
        return self.feature_idf

    @cached_property
    def impacts(self) -> F32:
        """The components of every document's vector, made as long as 1."""
        weights = self.features.weights * self.feature_idf[self.features.term_of_posting]
        return _normalised(weights, self.features.docs, len(self.features.alive))

    @cached_property
    def _languages(self) -> QueryLanguages:
        return QueryLanguages(self.snapshot)

    def read(self, queries: Queries) -> EncodedQueries:
        """The vectors of the queries, made as long as 1."""
        rows = [self._numbers(text, language) for text, language in zip(queries.text, queries.language, strict=True)]
        counted = encoded(rows, len(self.features.vocabulary))
        weights = counted.weights * self.feature_idf[counted.terms]
        row = np.repeat(np.arange(len(rows)), np.diff(counted.starts))
        return EncodedQueries(counted.starts, counted.terms, _normalised(weights, row, len(rows)))

    def rank(self, queries: Queries, encoded: EncodedQueries, k: int, *, within: Mask | None = None) -> Run:
        """The best k documents; sums that rounding lifts above 1 are cosines of 1, and tie."""
        run = super().rank(queries, encoded, k, within=within)
        if len(run) and run.score.max() > 1:
            everything = super().rank(queries, encoded, max(len(self.snapshot), 1), within=within)
            run = _first(_capped(everything), checked_k(k))
        return run

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The cosine of every pair of query and document in a run, in its order."""
        return np.minimum(super().score(queries, pairs), np.float32(1.0))

    def _numbers(self, text: str, language: str) -> I32:
        terms = self.snapshot.settings.analyser(self._languages.of(text, language)).terms(text)
        grams = (" ".join(terms[at : at + self.n]) for at in range(len(terms) - self.n + 1))
        found = (self.features.vocabulary.find(gram) for gram in grams)
        return np.array([number for number in found if number is not None], dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class _Fields:
    """Every indexed field of every document as terms, one after the other."""

    vocabulary: Vocabulary
    terms: I64
    document: I64  # per field: number of its document in the snapshot
    sizes: I64  # per field: how many terms
    weight: F32  # per field

    @classmethod
    def of(cls, snapshot: Snapshot, progress: Callable[[int], None]) -> _Fields:
        vocabulary = Vocabulary()
        encoders: dict[str, TermEncoder] = {}
        terms: list[I32] = [np.empty(0, dtype=np.int32)]
        places: list[tuple[int, int, float]] = []
        for number, id in enumerate(snapshot.ids):
            document = snapshot.document(id)
            if document.language not in encoders:
                encoders[document.language] = TermEncoder(snapshot.settings.analyser(document.language), vocabulary)
            for text, weight in snapshot.settings.texts(document):
                terms.append(encoders[document.language].encode(text))
                places.append((number, len(terms[-1]), weight))
            progress(number + 1)
        documents, sizes, weights = zip(*places, strict=True) if places else ((), (), ())
        return cls(
            vocabulary,
            np.concatenate(terms).astype(np.int64),
            np.array(documents, dtype=np.int64),
            np.array(sizes, dtype=np.int64),
            np.array(weights, dtype=np.float32),
        )

    def name(self, start: int, n: int) -> str:
        return " ".join(self.vocabulary[term] for term in self.terms[start : start + n].tolist())


def _ngrams(terms: I64, field_of: I64, n: int, term_count: int) -> tuple[I64, I64]:
    """The number of every n-gram that does not cross from one field to the next, and where it starts."""
    gram = terms
    for size in range(2, n + 1):  # one more term at a time, so that numbers stay small for any n
        gram = np.unique(gram[:-1] * term_count + terms[size - 1 :], return_inverse=True)[1] if len(gram) else gram
    start = np.arange(len(gram))
    inside = field_of[start] == field_of[start + n - 1] if len(gram) else np.empty(0, dtype=np.bool_)
    return gram[inside], start[inside]


def _most_frequent(gram: I64, counted: Mask, top: int, name: Callable[[int], str]) -> tuple[list[str], I32]:
    """Names of the n-grams that occur most often, and the new number of every n-gram, -1 for the others."""
    occurrences = np.bincount(gram[counted], minlength=int(gram.max(initial=-1)) + 1)
    first = np.zeros(len(occurrences), dtype=np.int64)
    first[gram[::-1]] = np.arange(len(gram))[::-1]  # where each occurs first
    ordered = np.sort(occurrences)[::-1]
    floor = max(int(ordered[top - 1]) if top <= len(ordered) else 1, 1)
    named = sorted((-int(occurrences[at]), name(int(first[at])), int(at)) for at in np.flatnonzero(occurrences >= floor))[:top]
    number = np.full(len(occurrences), -1, dtype=np.int32)
    number[[at for _, _, at in named]] = np.arange(len(named), dtype=np.int32)
    return [text for _, text, _ in named], number


def _normalised(weights: F64, vector: I32 | I64, count: int) -> F32:
    """Components of vectors made as long as 1; vectors of zeros stay so."""
    lengths = np.sqrt(np.bincount(vector, weights=weights**2, minlength=count))
    return (weights / np.where(lengths > 0, lengths, 1.0)[vector]).astype(np.float32)


def _capped(run: Run) -> Run:
    row = np.repeat(np.arange(len(run.queries), dtype=np.int32), np.diff(run.offsets))
    return Run.from_arrays(run.name, run.queries, run.docs, row, run.doc, np.minimum(run.score, np.float32(1.0)))


def _first(run: Run, k: int) -> Run:
    row = np.repeat(np.arange(len(run.queries), dtype=np.int32), np.diff(run.offsets))
    top = np.arange(len(run.doc)) - run.offsets[row] < k
    return Run.from_arrays(run.name, run.queries, run.docs, row[top], run.doc[top], run.score[top])
