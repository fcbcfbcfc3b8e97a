"""Everyday words in the lexical channel: a question is also searched by what the law calls them, with a lower weight.

Only questions that have a phrase of the lexicon change: all others keep their terms and weights, and so their rankings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lexfuse.channels.query_context import read_once
from lexfuse.channels.query_terms import EncodedQueries, QueryLanguages
from lexfuse.data.arrays import offsets_of
from lexfuse.data.queries import Queries
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.everyday.lexicon import Lexicon

WEIGHT = 0.7  # of a term that is added; a word of the question has 1
KEPT = 0.5  # of the everyday words themselves


@dataclass(frozen=True, slots=True)
class Expansion:
    """Everyday words of a question, and the words and terms of the law that are added for them."""

    words: str
    law: tuple[str, ...]
    terms: tuple[str, ...]  # that are added
    own: tuple[str, ...]  # of the everyday words; none if the law has all of them
    weight: float  # of the terms that are added


@dataclass(frozen=True, eq=False)
class EverydayWords:
    """A lexicon on the terms of one snapshot.

    >>> from lexfuse.text.everyday.lexicon import everyday_lexicon
    >>> words = EverydayWords(snapshot, everyday_lexicon())
    >>> [(one.words, one.law) for one in words.expansions("Mon patron me doit 3 jours", "fr")]
    [('patron', ('employeur',))]
    """

    snapshot: Snapshot
    lexicon: Lexicon
    weight: float = WEIGHT
    kept: float = KEPT
    _analysers: dict[str, Analyser] = field(default_factory=dict, repr=False)

    def expansions(self, text: str, language: str) -> list[Expansion]:
        """What is added to a question in a language, which is detected if it is not given."""
        analyser = self._analyser(self._languages.of(text, language))
        own = set(analyser.terms(text))
        found = []
        for phrase in self.lexicon.find(text, analyser):
            law = dict.fromkeys(term for words in phrase.law for term in analyser.terms(words))
            terms = tuple(term for term in law if term not in own)
            if terms:
                words = text[phrase.start : phrase.end]
                everyday = tuple(analyser.terms(words))
                found.append(Expansion(words, phrase.law, terms, () if law.keys() >= set(everyday) else everyday, self.weight))
        return found

    def expanded(self, queries: Queries, plain: EncodedQueries, postings: Postings) -> EncodedQueries:
        """The terms of queries with those that are added; `plain` itself where no query has everyday words."""
        rows = self.of_queries(queries)
        if not any(rows):
            return plain
        terms, weights = [], []
        for at, expansions in enumerate(rows):
            row = _row(plain, at)
            for expansion in expansions:
                row = self._with(row, expansion, postings)
            terms.append(np.fromiter(row, dtype=np.int32, count=len(row)))
            weights.append(np.fromiter(row.values(), dtype=np.float32, count=len(row)))
        starts = offsets_of(np.array([len(row) for row in terms], dtype=np.int64))
        return EncodedQueries(starts, np.concatenate(terms), np.concatenate(weights))

    def of_queries(self, queries: Queries) -> Sequence[list[Expansion]]:
        """What is added to each query; inside a query context it is looked up once."""
        asked = list(zip(queries.text, queries.language, strict=True))
        return read_once(self, "everyday words", asked, self._read)

    def _read(self, asked: list[tuple[str, str]]) -> Sequence[list[Expansion]]:
        return [self.expansions(text, language) for text, language in asked]

    def _with(self, row: dict[int, float], expansion: Expansion, postings: Postings) -> dict[int, float]:
        """The terms of a query and their weights after an expansion."""
        find = postings.vocabulary.find
        replaced = {number for term in expansion.own if (number := find(term)) is not None}
        row = {number: weight * self.kept if number in replaced else weight for number, weight in row.items()}
        added = [number for term in expansion.terms if (number := find(term)) is not None]
        return row | {number: self.weight for number in added if number not in row}

    def _analyser(self, language: str) -> Analyser:
        return self._analysers.setdefault(language, self.snapshot.settings.analyser(language))

    @cached_property
    def _languages(self) -> QueryLanguages:
        return QueryLanguages(self.snapshot)


def _row(encoded: EncodedQueries, at: int) -> dict[int, float]:
    span = slice(int(encoded.starts[at]), int(encoded.starts[at + 1]))
    return dict(zip(encoded.terms[span].tolist(), encoded.weights[span].tolist(), strict=True))
