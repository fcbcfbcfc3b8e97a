"""Pairs of a query and a passage that answers it: which are kept, and draws that depend on names only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

LEAST_WORDS = 3  # on either side


class TrainingPair(NamedTuple):
    """A query and a passage that answers it."""

    query: str
    passage: str


def word_count(text: str) -> int:
    """The number of words of a text, without separate punctuation.

    >>> word_count("Contrat de travail : Préavis")
    4
    """
    return sum(any(map(str.isalnum, piece)) for piece in text.split())


def filter_pairs(pairs: Iterable[TrainingPair], left: Counter[str]) -> list[TrainingPair]:
    """The pairs to learn from, in order; the others are counted.

    >>> short, pair = TrainingPair("préavis", "Un mois de préavis."), TrainingPair("durée du préavis", "Un mois de préavis.")
    >>> left = Counter()
    >>> filter_pairs([short, pair, pair], left), left.total()
    ([TrainingPair(query='durée du préavis', passage='Un mois de préavis.')], 2)
    """
    found: dict[TrainingPair, None] = {}
    for pair in pairs:
        if pair in found:
            left["repeated pairs"] += 1
        elif min(word_count(pair.query), word_count(pair.passage)) < LEAST_WORDS:
            left[f"pairs with fewer than {LEAST_WORDS} words on a side"] += 1
        else:
            found[pair] = None
    return list(found)


def stable_random(seed: int, *names: str) -> float:
    """A number from 0 to below 1, determined by a seed and some names.

    >>> stable_random(1, "cloze", "L1237-19") == stable_random(1, "cloze", "L1237-19") != stable_random(2, "cloze", "L1237-19")
    True
    """
    digest = blake2b("\0".join((str(seed), *names)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / float(1 << 64)
