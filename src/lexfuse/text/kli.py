"""The most informative terms of a long text, by Kullback-Leibler informativeness (KLI).

Most words of a whole judgment are useless as a query. RPRS 5.2 queries BM25 with the best tenth of its terms instead, by

    KLI(t) = P(t | query) ln(P(t | query) / P(t | collection))

where both probabilities are shares of all term occurrences. Terms that the collection does not contain match nothing and are
removed before counting.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lexfuse.data.arrays import F64, I64
from lexfuse.errors import ConfigError, TermWeightError

SHARE = 0.1  # of the query's terms, as in RPRS
LEAST = 10  # terms by default: a tenth of a short text would be a word or two


COMMON = 1.0  # occurrences per document of the collection from which on a term is boilerplate: "article", "court"
_DATE = re.compile(
    r"\d[\d./-]*|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
    r"|january|february|march|april|may|june|july|august|september|october|november|december",
    re.IGNORECASE,
)


def is_date(word: str) -> bool:
    """Whether a word is a number or the name of a month, which says when something was, and not what it is about.

    >>> is_date("2019"), is_date("juillet"), is_date("L1237-19")
    (True, True, False)
    """
    return _DATE.fullmatch(word) is not None


class TermWeight(StrEnum):
    """The weight of a chosen term in the query."""

    ONCE = "once"
    COUNT = "count"  # as often as it occurs in the query
    INFORMATIVENESS = "kli"


@dataclass(frozen=True, slots=True)
class WeightedWord:
    """A word that the caller adds to a query; without a weight it counts like the chosen terms.

    >>> WeightedWord.parse("estoppel=3"), WeightedWord.parse("force majeure").weight is None
    (WeightedWord(word='estoppel', weight=3.0, exact=False), True)
    """

    word: str
    weight: float | None = None
    exact: bool = False  # the word is a term as the index has it, and is not analysed again

    def __post_init__(self) -> None:
        """Refuse a weight that is not positive."""
        if self.weight is not None and not 0 < self.weight < math.inf:
            raise TermWeightError(f"the weight of {self.word!r} must be above 0, got {self.weight}; to leave a term out, drop it")

    @classmethod
    def parse(cls, text: str, *, exact: bool = False) -> WeightedWord:
        """Parse ``word`` or ``word=weight``.

        >>> WeightedWord.parse("=2")
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: a term is written word or word=weight, got '=2'
        """
        word, _, weight = text.rpartition("=")
        try:
            found = cls(word.strip(), float(weight), exact) if word else cls(text.strip(), exact=exact)
        except ValueError:
            found = cls(text.strip(), exact=exact)
        if not any(map(str.isalnum, found.word)) or text.startswith("="):
            raise ConfigError(f"a term is written word or word=weight, got {text!r}")
        return found


@dataclass(frozen=True, slots=True)
class TermChoice:
    """Which terms of a query are used and their weights; the caller may add terms, drop some, or list all of them.

    >>> TermChoice(0.1).number(1234), TermChoice(50).number(1234)
    (124, 50)
    """

    amount: float | None = None  # up to 1: share of the distinct terms, rounded up; above 1: a number; None: SHARE or LEAST
    weight: TermWeight = TermWeight.ONCE
    only: tuple[WeightedWord, ...] = ()  # these instead of the best
    added: tuple[WeightedWord, ...] = ()
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse an amount that is neither a share nor a number."""
        if self.amount is None:
            return
        if not 0 < self.amount < math.inf or (self.amount > 1 and self.amount != int(self.amount)):
            expected = "a share of the terms above 0 and up to 1, or a whole number of terms"
            raise ConfigError(f"KLI takes {expected}, got {self.amount}; 0.1 is usual")

    @classmethod
    def of(
        cls,
        amount: float | None = None,
        weight: TermWeight = TermWeight.ONCE,
        *,
        only: Iterable[str] = (),
        exact: Iterable[str] = (),
        added: Iterable[str] = (),
        dropped: Iterable[str] = (),
    ) -> TermChoice:
        """A choice with words written as ``word`` or ``word=weight``; `exact` are terms as the index has them.

        >>> TermChoice.of(added=["estoppel=2"], dropped=["court"]).added
        (WeightedWord(word='estoppel', weight=2.0, exact=False),)
        """
        named, more = (tuple(map(WeightedWord.parse, some)) for some in (only, added))
        terms = (WeightedWord.parse(text, exact=True) for text in exact)
        return cls(amount, weight, (*named, *terms), more, tuple(dropped))

    @property
    def edited(self) -> bool:
        """Whether the caller changes the terms."""
        return bool(self.only or self.added or self.dropped)

    def number(self, distinct: int) -> int:
        """The number of terms used out of this many distinct ones.

        >>> TermChoice(1.0).number(7), TermChoice(0.1).number(0), TermChoice(0.1).number(40), TermChoice().number(40)
        (7, 0, 4, 10)
        """
        amount = SHARE if self.amount is None else self.amount
        wanted = math.ceil(round(amount * distinct, 9)) if amount <= 1 else int(amount)
        return min(wanted if self.amount is not None else max(wanted, LEAST), distinct)

    def weights(self, counts: F64, values: F64) -> F64:
        """The weights of terms, from their counts in the query and their informativeness."""
        if self.weight is TermWeight.ONCE:
            return np.ones(len(counts))
        # Rarer in the query than in the collection: the term says nothing about a document.
        return counts if self.weight is TermWeight.COUNT else np.maximum(values, 0.0)


@dataclass(frozen=True, slots=True)
class InformativeTerm:
    """A term chosen for a reduced query."""

    term: str  # as the index has it
    word: str  # its most frequent spelling in the query
    count: int  # occurrences in the query
    informativeness: float
    weight: float
    added: bool = False  # by the caller


def informativeness(counts: F64, collection: F64, total: float) -> F64:
    """The KLI of every query term, from its counts in the query and the collection, and the size of the collection.

    >>> informativeness(np.array([1.0, 3.0]), np.array([10.0, 10.0]), 40.0).round(4).tolist()
    [0.0, 0.824]
    """
    if not len(counts):
        return np.empty(0)
    share = counts / counts.sum()
    values: F64 = share * np.log(share * total / collection)
    return values


def ranked(values: F64, terms: Sequence[str]) -> I64:
    """Positions of the terms, most informative first; ties by name.

    >>> ranked(np.array([0.1, 0.2, 0.2]), ["b", "d", "c"]).tolist()
    [2, 1, 0]
    """
    # Not an array of the terms: each would take the space of the longest.
    return np.array(sorted(range(len(terms)), key=lambda at: (-values[at], terms[at])), dtype=np.int64)
