"""What makes two texts a pair: words enough on both sides, and not the same pair again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lexfuse.train.examples import Pair

LEAST_WORDS = 3  # on either side


def words(text: str) -> int:
    """How many words a text has; punctuation that stands alone is none.

    >>> words("Contrat de travail : Préavis")
    4
    """
    return sum(any(map(str.isalnum, piece)) for piece in text.split())


def kept(pairs: Iterable[Pair], left: Counter[str]) -> list[Pair]:
    """The pairs to learn from, in their order; what is left out is counted.

    >>> left = Counter()
    >>> kept([Pair("préavis", "Un mois de préavis."), *[Pair("durée du préavis", "Un mois de préavis.")] * 2], left)
    [Pair(query='durée du préavis', passage='Un mois de préavis.')]
    >>> left.total()
    2
    """
    found: dict[Pair, None] = {}
    for pair in pairs:
        if pair in found:
            left["pairs that were there already"] += 1
        elif min(words(pair.query), words(pair.passage)) < LEAST_WORDS:
            left[f"pairs with fewer than {LEAST_WORDS} words on a side"] += 1
        else:
            found[pair] = None
    return list(found)
