"""The terms that a long query is reduced to (RPRS 5.2), and what the caller changes of them, wherever the words are."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.channels.retriever import Retriever
from lexfuse.data.arrays import F64
from lexfuse.data.queries import Queries, Query
from lexfuse.text.kli import COMMON, InformativeTerm, TermChoice, informativeness, is_date, ranked
from lexfuse.text.note import Note


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


class HeldTerms(NamedTuple):
    """The terms of one query that documents hold: how often each occurs in the query, and in all documents."""

    terms: Sequence[str]
    counts: F64
    collection: F64
    total: float  # occurrences of all terms in all documents


@dataclass(frozen=True)
class TermChooser(ChannelRetriever):
    """A retriever of words that can search by a choice of a query's terms."""

    choice: TermChoice | None = field(default=None, kw_only=True)  # None: by all terms

    @abstractmethod
    def held_terms(self, queries: Queries) -> Iterator[HeldTerms]:
        """The terms of every query that occur in documents that are not deleted."""

    @abstractmethod
    def terms_of_words(self, query: Query, words: Sequence[str]) -> list[list[str]]:
        """Each word as terms that documents hold, read like the query."""

    @abstractmethod
    def spelled_terms(self, query: Query, text: str) -> Iterable[tuple[str, str]]:
        """Every term of a text that is read like the query, with its spelling there."""

    def chosen_weights(self, choice: TermChoice, queries: Queries) -> list[dict[str, float]]:
        """The terms that a choice takes of every query, with their weights."""
        return [
            self._chosen(choice, _Candidates.of(held), query)[0]
            for held, query in zip(self.held_terms(queries), queries, strict=True)
        ]

    def terms(self, query: Query) -> ChosenTerms:
        """The terms that a query is searched by, to be shown."""
        choice, (held,) = self.choice or TermChoice(1.0), self.held_terms(Queries.of([query]))
        every = _Candidates.of(held)
        weights, unknown, absent = self._chosen(choice, every, query)
        given = [word.word for word in (*choice.only, *choice.added) if not word.exact]
        wanted = {term for found in self.terms_of_words(query, given) for term in found}
        spellings = {**self._spellings(query, "\n".join(given)), **self._spellings(query, query.text)}
        terms = [
            InformativeTerm(
                term,
                spellings.get(term, term),
                int(every.counts.get(term, 0)),
                every.values.get(term, 0.0),
                weight,
                added=term in wanted,
            )
            for term, weight in weights.items()
        ]
        shown = tuple(sorted(terms, key=lambda term: (-term.informativeness, term.term)))
        return ChosenTerms(shown, len(every.counts), unknown, absent)

    def boilerplate(self, query: Query, terms: Sequence[InformativeTerm]) -> tuple[InformativeTerm, ...]:
        """Those of some terms of a query that are dates, or so common in the collection that they say little."""
        (held,) = self.held_terms(Queries.of([query]))
        per_document = dict(zip(held.terms, (held.collection / max(len(self.snapshot), 1)).tolist(), strict=True))
        return tuple(term for term in terms if is_date(term.word) or per_document.get(term.term, 0.0) >= COMMON)

    def _chosen(
        self, choice: TermChoice, every: _Candidates, query: Query
    ) -> tuple[dict[str, float], tuple[str, ...], tuple[str, ...]]:
        """Terms with their weights after the caller's changes, and the words that could not be added or dropped."""
        weights = {} if choice.only else every.weights(choice, every.best[: choice.number(len(every.best))])
        if not choice.edited:
            return weights, (), ()
        usual, unknown, absent = max(weights.values(), default=1.0) or 1.0, [], []
        named = (*choice.only, *choice.added)
        read = iter(self.terms_of_words(query, [one.word for one in named if not one.exact]))
        for word in named:
            terms = next(read) if not word.exact else [word.word] if word.word in every.counts else []
            own = every.weights(choice, [term for term in terms if term in every.counts])
            # A word that is new to the query counts as the best of its terms.
            weights |= {term: word.weight or own.get(term, usual) or usual for term in terms}
            unknown += [] if terms else [word.word]
        for dropped, terms in zip(choice.dropped, self.terms_of_words(query, choice.dropped), strict=True):
            gone = [term for term in terms if weights.pop(term, None) is not None]
            absent += [] if gone else [dropped]
        return weights, tuple(unknown), tuple(absent)

    def _spellings(self, query: Query, text: str) -> dict[str, str]:
        """How a text spells its terms most often, the first in order of letters where two are as common."""
        counts: dict[str, Counter[str]] = {}
        for term, word in self.spelled_terms(query, text):
            counts.setdefault(term, Counter())[word] += 1
        return {term: min(found, key=lambda word: (-found[word], word)) for term, found in counts.items()}


class _Candidates(NamedTuple):
    """The terms of one query: how often each occurs, its informativeness, and all terms, most informative first."""

    counts: dict[str, float]
    values: dict[str, float]
    best: list[str]

    @classmethod
    def of(cls, held: HeldTerms) -> _Candidates:
        values = informativeness(held.counts, held.collection, held.total)
        best = [held.terms[at] for at in ranked(values, held.terms).tolist()]
        counts = dict(zip(held.terms, held.counts.tolist(), strict=True))
        return cls(counts, dict(zip(held.terms, values.tolist(), strict=True)), best)

    def weights(self, choice: TermChoice, terms: Sequence[str]) -> dict[str, float]:
        counts, values = (np.array([of[term] for term in terms]) for of in (self.counts, self.values))
        return dict(zip(terms, choice.weights(counts, values).tolist(), strict=True))


def choice_of(retriever: Retriever, query: Query) -> TermChoice | None:
    """The choice of terms that a pipeline has for a query, None where it has none.

    >>> from lexfuse.channels.registry import open_retriever
    >>> choice_of(open_retriever(snapshot, "bm25"), Query("q", "loi")) is None
    True
    """
    words = _chooser(retriever, query)
    return words.choice if words else None


def terms_of(retriever: Retriever, query: Query) -> ChosenTerms | None:
    """The terms of a query that a pipeline searches by; None if it selects no terms.

    >>> from lexfuse.channels.registry import open_retriever
    >>> [term.word for term in terms_of(open_retriever(snapshot, "bm25", kli=1), Query("q", "le retard")).terms]
    ['retard']
    """
    words = _chooser(retriever, query)
    return words.terms(query) if words else None


def boilerplate_of(retriever: Retriever, query: Query, chosen: ChosenTerms) -> tuple[InformativeTerm, ...]:
    """The chosen terms of a query that are dates or boilerplate.

    >>> from lexfuse.channels.registry import open_retriever
    >>> words, query = open_retriever(snapshot, "bm25", kli=3), Query("q", "le retard de prêt, code des bibliothèques")
    >>> [term.word for term in boilerplate_of(words, query, terms_of(words, query))]
    ['code']
    """
    words = _chooser(retriever, query)
    return words.boilerplate(query, chosen.terms) if words else ()


def _chooser(retriever: Retriever, query: Query) -> TermChooser | None:
    return next((one for one in retriever.members(query) if isinstance(one, TermChooser) and one.choice is not None), None)


def notes_of(chosen: ChosenTerms) -> list[Note]:
    """Notes on changes that had no effect.

    >>> notes_of(ChosenTerms((), 0, ("estopel",), ("court",)))
    ["no document holds 'estopel'; it adds nothing", "'court' was not among the terms; there was nothing to drop"]
    """
    return [
        *(Note("unknown-term", "no document holds {word}; it adds nothing", word=repr(word)) for word in chosen.unknown),
        *(
            Note("absent-term", "{word} was not among the terms; there was nothing to drop", word=repr(word))
            for word in chosen.absent
        ),
    ]
