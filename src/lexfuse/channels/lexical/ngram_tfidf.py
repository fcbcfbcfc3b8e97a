"""TF-IDF of CJEU 3.2.1: documents as vectors over the K most frequent n-grams, compared by cosine.

The paper takes the 5,000 most frequent N-grams of its training set. Its published code, and so the default here, takes n-grams
of one up to N words (TF-IDF-1gr, TF-IDF-2gr) without stop words and weighs them as scikit-learn does, by
tf * (ln((1 + N) / (1 + df)) + 1). n-grams of N words alone (``shortest=N``) and the weight tf * ln(N / df) of BSARD eq. 2
(`NgramIdf.PLAIN`) are there by name. What is not among the K n-grams does not count, not even into the length of a vector.

n-grams are no channel of the index: `NgramTfIdf.fit` reads every document of a snapshot once and keeps the posting lists
in memory. `NGRAM_CHANNELS` names the usual ones, for the command line and for profiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import ClassVar, Self

import numpy as np

from lexfuse.channels.lexical.tfidf import log_ratio
from lexfuse.channels.query_context import read_once
from lexfuse.channels.query_terms import EncodedQueries, QueryLanguages, encoded
from lexfuse.channels.retriever import Mask, ScoreBounds, checked_k
from lexfuse.channels.term_retriever import TermRetriever
from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.storage.document_numbers import allowed
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary

_READ = 1000  # documents at once


class NgramIdf(StrEnum):
    """What a rare n-gram weighs more; N documents, df of which hold it.

    >>> NgramIdf.SMOOTH.of(4, np.array([4, 1])).round(3).tolist(), NgramIdf.PLAIN.of(4, np.array([4, 1])).round(3).tolist()
    ([1.0, 1.916], [0.0, 1.386])
    """

    SMOOTH = "smooth"  # ln((1 + N) / (1 + df)) + 1, as in scikit-learn and so in the code of CJEU
    PLAIN = "plain"  # ln(N / df)

    def of(self, documents: int, frequency: I64) -> F64:
        """The weight of every n-gram."""
        if self is NgramIdf.PLAIN:
            return log_ratio(documents, frequency)
        return np.log((1 + documents) / (1 + frequency)) + 1


@dataclass(frozen=True, slots=True)
class NgramChoice:
    """Which n-grams count: of `shortest` to `n` words, the `top` most frequent ones, with stop words or without.

    >>> NgramChoice(n=1, shortest=2)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: shortest must lie between 1 and n, got shortest=2 and n=1
    """

    n: int = 2
    shortest: int = 1
    top: int = 5000
    idf: NgramIdf = NgramIdf.SMOOTH
    stop_words: bool | None = True  # whether they are taken out; None does as the index does

    def __post_init__(self) -> None:
        """Refuse n-grams that cannot be."""
        if self.n < 1 or self.top < 1:
            raise ConfigError(
                f"n and top must be at least 1, got n={self.n} and top={self.top}; the paper takes n=1 or 2 and top=5000"
            )
        if not 1 <= self.shortest <= self.n:
            raise ConfigError(f"shortest must lie between 1 and n, got shortest={self.shortest} and n={self.n}")

    @property
    def sizes(self) -> range:
        """How many words the n-grams have."""
        return range(self.shortest, self.n + 1)


# Retrievers by name, as TF-IDF-1gr and TF-IDF-2gr in Table 4 of CJEU; the last has pairs of words alone.
NGRAM_CHANNELS = {
    "tfidf-1gram": NgramChoice(n=1),
    "tfidf-2gram": NgramChoice(n=2),
    "tfidf-bigram": NgramChoice(n=2, shortest=2, idf=NgramIdf.PLAIN, stop_words=None),
}


@dataclass(frozen=True, eq=False)
class NgramTfIdf(TermRetriever):
    """Cosines of TF-IDF vectors over the most frequent n-grams; make one with `fit`.

    >>> bigrams = NgramTfIdf.fit(snapshot, NgramChoice(n=2, shortest=2))
    >>> queries = Queries.of([Query("p", "l'inscription gratuite", "fr"), Query("q", "gratuite, l'inscription", "fr")])
    >>> {query: list(hits) for query, hits in bigrams.retrieve(queries, 10).as_dict().items()}
    {'p': ['lib-2'], 'q': []}
    """

    features: Postings  # posting lists of the n-grams kept; raw numbers as in the snapshot
    feature_idf: F64
    choice: NgramChoice
    name: str = field(default="tfidf-ngrams", kw_only=True)

    at_router: ClassVar[bool] = True  # it holds the posting lists itself

    bounds = ScoreBounds(0.0, 1.0)  # cosines of vectors without negative numbers
    score_parameters = None  # the n-grams change with the documents, so that no distribution of the scores is kept

    @classmethod
    def fit(
        cls,
        snapshot: Snapshot,
        choice: NgramChoice | None = None,
        *,
        train: Mask | None = None,
        name: str = "tfidf-ngrams",
    ) -> Self:
        """Read the documents and keep the n-grams that occur most often; ties go to the first in the alphabet.

        Occurrences and document frequencies are counted in the documents of `train`, all of them if not given. n-grams are
        successive terms of the analyser inside one field: stop words are gone before words are counted as successive.
        """
        choice = NgramChoice() if choice is None else choice
        train = np.ones(len(snapshot), dtype=np.bool_) if train is None else allowed(train, len(snapshot))
        read = _NgramFields.of(snapshot, choice)
        gram, start, size = _ngrams_of_sizes(read, choice.sizes)
        document = np.repeat(read.document, read.sizes)[start]
        names, number = _most_frequent(gram, train[document], choice.top, lambda at: read.name(int(start[at]), int(size[at])))
        found = number[gram] >= 0
        numbering = snapshot.numbering
        raw = numbering.raw[document[found]]
        ends = np.cumsum(np.bincount(raw, minlength=len(numbering)))[:-1]
        rows = np.split(number[gram[found]], ends)
        weights = np.split(np.repeat(read.weight, read.sizes)[start][found], ends)
        features = Postings([InvertedFile.from_rows(rows, Vocabulary(names), weights)], numbering.bases[:1], numbering.alive)
        trained = np.zeros(len(numbering), dtype=np.bool_)
        trained[numbering.alive] = train
        (every,) = features.stretches()
        frequency = np.bincount(every.terms[trained[every.docs]], minlength=len(features.vocabulary))
        return cls(snapshot, features, choice.idf.of(int(train.sum()), frequency), choice, name=name)

    @property
    def channel(self) -> str:
        """Named like the retriever."""
        return self.name

    @property
    def postings(self) -> Postings:
        """The posting lists of the n-grams kept."""
        return self.features

    @property
    def term_idf(self) -> F64:
        """The weight of every n-gram, by `NgramIdf`."""
        return self.feature_idf

    @cached_property
    def impacts(self) -> F32:
        """The components of every document's vector, made as long as 1."""
        (every,) = self.features.stretches()
        return _normalised(every.weights * self.feature_idf[every.terms], every.docs, len(self.features.alive))

    @cached_property
    def _languages(self) -> QueryLanguages:
        return QueryLanguages(self.snapshot)

    def read(self, queries: Queries) -> EncodedQueries:
        """The vectors of the queries, made as long as 1."""
        asked = list(zip(queries.text, queries.language, strict=True))
        rows = read_once(self.features, "terms", asked, lambda some: [self._numbers(*one) for one in some])
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
        terms = _settings(self.snapshot, self.choice).analyser(self._languages.of(text, language)).terms(text)
        grams = (" ".join(terms[at : at + size]) for size in self.choice.sizes for at in range(len(terms) - size + 1))
        found = (self.features.vocabulary.find(gram) for gram in grams)
        return np.array([number for number in found if number is not None], dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class _NgramFields:
    """Every indexed field of every document as terms, one after the other."""

    vocabulary: Vocabulary
    terms: I64
    document: I64  # per field: number of its document in the snapshot
    sizes: I64  # per field: how many terms
    weight: F32  # per field

    @classmethod
    def of(cls, snapshot: Snapshot, choice: NgramChoice) -> _NgramFields:
        settings, vocabulary = _settings(snapshot, choice), Vocabulary()
        encoders: dict[str, TermEncoder] = {}
        terms: list[I32] = [np.empty(0, dtype=np.int32)]
        places: list[tuple[int, int, float]] = []
        blocks = (snapshot.documents(snapshot.ids[first : first + _READ]) for first in range(0, len(snapshot), _READ))
        for number, document in enumerate(chain.from_iterable(blocks)):
            if document.language not in encoders:
                encoders[document.language] = TermEncoder(settings.analyser(document.language), vocabulary)
            for text, weight in settings.texts(document):
                terms.append(encoders[document.language].encode(text))
                places.append((number, len(terms[-1]), weight))
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


def _settings(snapshot: Snapshot, choice: NgramChoice) -> IndexSettings:
    """How texts are analysed: as in the index, except for stop words."""
    return snapshot.settings if choice.stop_words is None else replace(snapshot.settings, stop_words=choice.stop_words)


def _ngrams_of_sizes(read: _NgramFields, sizes: range) -> tuple[I64, I64, I64]:
    """The number of every n-gram of these sizes, where it starts and its size, in the order of the text."""
    field_of = np.repeat(np.arange(len(read.document)), read.sizes)
    grams, starts, lengths, numbered = [], [], [], 0
    for size in sizes:
        gram, start = _ngrams(read.terms, field_of, size, len(read.vocabulary))
        grams.append(gram + numbered)
        starts.append(start)
        lengths.append(np.full(len(gram), size))
        numbered += int(gram.max(initial=-1)) + 1
    gram, start, length = np.concatenate(grams), np.concatenate(starts), np.concatenate(lengths)
    order = np.argsort(start, kind="stable")
    return gram[order], start[order], length[order]


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
    capped = Run.from_arrays(run.name, run.queries, run.docs, run.query, run.doc, np.minimum(run.score, np.float32(1.0)))
    return replace(capped, low=run.low)


def _first(run: Run, k: int) -> Run:
    return run.select(np.arange(len(run)) - run.offsets[run.query] < k)
