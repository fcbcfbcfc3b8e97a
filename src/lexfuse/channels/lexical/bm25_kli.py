"""BM25 on the most informative terms of a query (BM25+KLI, RPRS 5.2), which the caller may look at and change.

Later stages of a pipeline still get the whole query: only the reading of terms differs from BM25.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.query_context import read_once
from lexfuse.channels.query_terms import EncodedQueries, QueryLanguages
from lexfuse.channels.retriever import Retriever
from lexfuse.data.arrays import offsets_of
from lexfuse.data.queries import Queries, Query
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.kli import InformativeTerm, TermChoice, informativeness, ranked


@dataclass(frozen=True, slots=True)
class ChosenTerms:
    """What a query is reduced to, most informative term first, and what of the caller's wishes came to nothing.

    >>> ChosenTerms((), 0, ("estoppel",), ()).unknown
    ('estoppel',)
    """

    terms: tuple[InformativeTerm, ...]
    distinct: int  # terms of the query that the index knows, of which these are some
    unknown: tuple[str, ...]  # words to be added that no document holds
    absent: tuple[str, ...]  # words to be dropped that were not among the terms


@dataclass(frozen=True)
class BM25Kli(BM25):
    """BM25 that searches only by the chosen terms of a query.

    >>> bm25 = BM25Kli(snapshot, choice=TermChoice(1 / 4))
    >>> query = Query("q", "Le retard de prêt, les lecteurs et la bibliothèque", "fr")
    >>> [term.word for term in bm25.terms(query).terms], list(bm25.retrieve(Queries.of([query]), 10).as_dict()["q"])
    (['retard'], ['lib-4'])
    """

    choice: TermChoice = field(default_factory=TermChoice, kw_only=True)

    def read(self, queries: Queries) -> EncodedQueries:
        """The terms that the choice takes of every query, with their weights."""
        asked = list(zip(queries.text, queries.language, strict=True))
        rows = read_once(self.postings, ("kli", self.choice), asked, self._chosen_weights)
        starts = offsets_of(np.array([len(row) for row in rows], dtype=np.int64))
        terms = np.fromiter((term for row in rows for term in row), dtype=np.int32, count=int(starts[-1]))
        weights = np.fromiter((weight for row in rows for weight in row.values()), dtype=np.float32, count=len(terms))
        return EncodedQueries(starts, terms, weights)

    def _chosen_weights(self, asked: list[tuple[str, str]]) -> list[dict[int, float]]:
        queries = Queries.of(Query(str(at), text, language) for at, (text, language) in enumerate(asked))
        return [self._chosen(held, query)[0] for held, query in zip(self._held(queries), queries, strict=True)]

    def terms(self, query: Query) -> ChosenTerms:
        """The terms that a query is searched by, to be shown."""
        (held,) = self._held(Queries.of([query]))
        weights, unknown, absent = self._chosen(held, query)
        vocabulary, analyser = self.postings.vocabulary, self._analyser(query)
        chosen, given = {vocabulary[number] for number in weights}, (*self.choice.only, *self.choice.added)
        words = _spellings("\n".join(word.word for word in given), analyser, chosen) | _spellings(query.text, analyser, chosen)
        wanted = {number for word in given for number in self._numbers(analyser, word.word)}
        terms = [
            InformativeTerm(
                term := vocabulary[number],
                words.get(term, term),
                int(held.counts.get(number, 0)),
                held.values.get(number, 0.0),
                weight,
                added=number in wanted,
            )
            for number, weight in weights.items()
        ]
        return ChosenTerms(
            tuple(sorted(terms, key=lambda term: (-term.informativeness, term.term))), len(held.counts), unknown, absent
        )

    def _held(self, queries: Queries) -> Iterator[_TermCache]:
        """The terms of every query that occur in documents that are not deleted."""
        every, collection, vocabulary = super().read(queries), self.postings.collection_frequency, self.postings.vocabulary
        total = float(collection.sum())
        for start, end in zip(every.starts[:-1].tolist(), every.starts[1:].tolist(), strict=True):
            known = collection[every.terms[start:end]] > 0  # a term of documents that are gone has no probability
            terms, counts = every.terms[start:end][known], every.weights[start:end][known].astype(np.float64)
            values = informativeness(counts, collection[terms], total)
            by_value = ranked(values, [vocabulary[number] for number in terms.tolist()])
            yield _TermCache(
                dict(zip(terms.tolist(), counts.tolist(), strict=True)),
                dict(zip(terms.tolist(), values.tolist(), strict=True)),
                terms[by_value[: self.choice.number(len(terms))]].tolist(),
            )

    def _chosen(self, held: _TermCache, query: Query) -> tuple[dict[int, float], tuple[str, ...], tuple[str, ...]]:
        """Terms with their weights after the caller's changes, and the words that could not be added or dropped."""
        choice = self.choice
        weights = {} if choice.only else self._weights(held, held.best)
        if not choice.edited:
            return weights, (), ()
        analyser, usual = self._analyser(query), max(weights.values(), default=1.0) or 1.0
        unknown, absent = [], []
        for word in (*choice.only, *choice.added):
            numbers = self._numbers(analyser, word.word)
            own = self._weights(held, [number for number in numbers if number in held.counts])
            # A word that is new to the query counts as the best of its terms.
            weights |= {number: word.weight or own.get(number, usual) or usual for number in numbers}
            unknown += [] if numbers else [word.word]
        for dropped in choice.dropped:
            gone = [number for number in self._numbers(analyser, dropped) if weights.pop(number, None) is not None]
            absent += [] if gone else [dropped]
        return weights, tuple(unknown), tuple(absent)

    def _weights(self, held: _TermCache, numbers: list[int]) -> dict[int, float]:
        counts, values = (np.array([of[number] for number in numbers]) for of in (held.counts, held.values))
        return dict(zip(numbers, self.choice.weights(counts, values).tolist(), strict=True))

    def _numbers(self, analyser: Analyser, word: str) -> list[int]:
        found = (self.postings.vocabulary.find(term) for term in analyser.terms(word))
        return [number for number in found if number is not None and self.postings.collection_frequency[number] > 0]

    def _analyser(self, query: Query) -> Analyser:
        return self.snapshot.settings.analyser(self._languages.of(query.text, query.language))

    @cached_property
    def _languages(self) -> QueryLanguages:
        return QueryLanguages(self.snapshot)


class _TermCache(NamedTuple):
    """The terms of one query, by their numbers: how often each occurs, its informativeness, and the best, in their order."""

    counts: dict[int, float]
    values: dict[int, float]
    best: list[int]


def _spellings(text: str, analyser: Analyser, terms: set[str]) -> dict[str, str]:
    """How a text spells terms most often, the first in order of letters where two are as common."""
    counts: dict[str, Counter[str]] = {}
    for token in analyser.tokens(text):
        for term in terms.intersection(token.terms):
            counts.setdefault(term, Counter())[token.text if token.citation else token.exact] += 1
    return {term: min(found, key=lambda word: (-found[word], word)) for term, found in counts.items()}


def with_terms(retriever: Retriever, choice: TermChoice) -> Retriever:
    """The same pipeline with a choice of terms wherever it has BM25.

    >>> with_terms(BM25(snapshot), TermChoice(50)).choice.amount
    50
    """

    def chosen(one: Retriever) -> Retriever:
        if isinstance(one, BM25Kli):
            return replace(one, choice=choice)
        return BM25Kli(one.snapshot, k1=one.k1, b=one.b, choice=choice, name=one.name) if isinstance(one, BM25) else one

    return retriever.mapped(chosen)


def choice_of(retriever: Retriever, query: Query) -> TermChoice | None:
    """The choice of terms that a pipeline has for a query, None where it has none.

    >>> choice_of(BM25(snapshot), Query("q", "loi")) is None
    True
    """
    return next((one.choice for one in retriever.members(query) if isinstance(one, BM25Kli)), None)


def terms_of(retriever: Retriever, query: Query) -> ChosenTerms | None:
    """The terms of a query that a pipeline searches by; None if it selects no terms.

    >>> terms_of(BM25(snapshot), Query("q", "the lease")) is None
    True
    """
    words = next((one for one in retriever.members(query) if isinstance(one, BM25Kli)), None)
    return words.terms(query) if words else None


def notes_of(chosen: ChosenTerms) -> list[str]:
    """Notes on changes that had no effect.

    >>> notes_of(ChosenTerms((), 0, ("estopel",), ("court",)))
    ["no document holds 'estopel'; it adds nothing", "'court' was not among the terms; there was nothing to drop"]
    """
    return [
        *(f"no document holds {word!r}; it adds nothing" for word in chosen.unknown),
        *(f"{word!r} was not among the terms; there was nothing to drop" for word in chosen.absent),
    ]
