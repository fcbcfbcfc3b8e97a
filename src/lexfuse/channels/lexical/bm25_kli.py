"""BM25 on the most informative terms of a query (BM25+KLI, RPRS 5.2), which the caller may look at and change.

Later stages of a pipeline still get the whole query: only the reading of terms differs from BM25.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.chosen_terms import HeldTerms, TermChooser
from lexfuse.channels.query_context import read_once
from lexfuse.channels.query_terms import EncodedQueries, QueryLanguages
from lexfuse.channels.retriever import Retriever
from lexfuse.data.arrays import offsets_of
from lexfuse.data.queries import Queries, Query
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.kli import TermChoice


@dataclass(frozen=True)
class BM25Kli(TermChooser, BM25):
    """BM25 that searches only by the chosen terms of a query.

    >>> bm25 = BM25Kli(snapshot, choice=TermChoice(1 / 4))
    >>> query = Query("q", "Le retard de prêt, les lecteurs et la bibliothèque", "fr")
    >>> [term.word for term in bm25.terms(query).terms], list(bm25.retrieve(Queries.of([query]), 10).as_dict()["q"])
    (['retard'], ['lib-4'])
    """

    takes_all_terms: ClassVar[bool] = False

    choice: TermChoice = field(default_factory=TermChoice, kw_only=True)

    def read(self, queries: Queries) -> EncodedQueries:
        """The terms that the choice takes of every query, with their weights."""
        asked = list(zip(queries.text, queries.language, strict=True))
        rows = read_once(self.postings, ("kli", self.choice), asked, self._weights)
        starts = offsets_of(np.array([len(row) for row in rows], dtype=np.int64))
        terms = np.fromiter((term for row in rows for term in row), dtype=np.int32, count=int(starts[-1]))
        weights = np.fromiter((weight for row in rows for weight in row.values()), dtype=np.float32, count=len(terms))
        return EncodedQueries(starts, terms, weights)

    def _weights(self, asked: list[tuple[str, str]]) -> list[dict[int, float]]:
        queries = Queries.of(Query(str(at), text, language) for at, (text, language) in enumerate(asked))
        rows, number = self.chosen_weights(self.choice, queries), self.postings.vocabulary.find
        return [{found: weight for term, weight in row.items() if (found := number(term)) is not None} for row in rows]

    def held_terms(self, queries: Queries) -> Iterator[HeldTerms]:
        """The terms of every query that occur in documents that are not deleted."""
        every, collection, vocabulary = super().read(queries), self.postings.collection_frequency, self.postings.vocabulary
        total = float(collection.sum())
        for start, end in zip(every.starts[:-1].tolist(), every.starts[1:].tolist(), strict=True):
            known = collection[every.terms[start:end]] > 0  # a term of documents that are gone has no probability
            terms, counts = every.terms[start:end][known], every.weights[start:end][known].astype(np.float64)
            yield HeldTerms([vocabulary[number] for number in terms.tolist()], counts, collection[terms], total)

    def terms_of_words(self, query: Query, words: Sequence[str]) -> list[list[str]]:
        """Each word as terms that documents hold, in the language of the query."""
        analyser = self._analyser(query)
        return [[term for term in analyser.terms(word) if self._occurs(term)] for word in words]

    def _occurs(self, term: str) -> bool:
        number = self.postings.vocabulary.find(term)
        return number is not None and bool(self.postings.collection_frequency[number] > 0)

    def spelled_terms(self, query: Query, text: str) -> Iterable[tuple[str, str]]:
        """Every term of a text, in the language of the query, with its spelling there."""
        tokens = self._analyser(query).tokens(text)
        return ((term, token.text if token.citation else token.exact) for token in tokens for term in set(token.terms))

    def _analyser(self, query: Query) -> Analyser:
        return self.snapshot.settings.analyser(self._languages.of(query.text, query.language))

    @cached_property
    def _languages(self) -> QueryLanguages:
        return QueryLanguages(self.snapshot)


def with_terms(retriever: Retriever, choice: TermChoice) -> Retriever:
    """The same pipeline with a choice of terms wherever it has BM25.

    >>> with_terms(BM25(snapshot), TermChoice(50)).choice.amount
    50
    """

    def chosen(one: Retriever) -> Retriever:
        if isinstance(one, TermChooser):
            return replace(one, choice=choice)
        return BM25Kli(one.snapshot, one.k1, one.b, one.idf, choice=choice, name=one.name) if isinstance(one, BM25) else one

    return retriever.mapped(chosen)
