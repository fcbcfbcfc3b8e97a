"""Expressions of the query language in a cluster: every shard says which of its documents satisfy the parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.channels.lexical.expression_match import ExpressionMatcher
from lexfuse.channels.lexical.occurrences import WrittenWord
from lexfuse.cluster.shard import Shard
from lexfuse.data.arrays import Bools
from lexfuse.text.query_language.expression import Expression

if TYPE_CHECKING:
    from lexfuse.cluster.cluster_snapshot import ClusterSnapshot


@dataclass(frozen=True, slots=True)
class ExpressionMasks:
    """The documents in which each part of an expression holds."""

    parts: tuple[Expression, ...]
    language: str

    def answer(self, shard: Shard) -> list[bytes]:
        """For each part one bit per document."""
        return [np.packbits(mask).tobytes() for mask in shard.expressions.masks(self.parts, self.language)]


@dataclass(frozen=True, slots=True)
class PrefixWords:
    """The words that begin like a prefix, with their terms and how often each occurs."""

    prefix: str

    def answer(self, shard: Shard) -> Counter[WrittenWord]:
        """The words."""
        return shard.expressions.prefix_words(self.prefix)


class ClusterExpressionMatcher(ExpressionMatcher):
    """Finds what satisfies expressions in all shards."""

    snapshot: ClusterSnapshot

    def masks(self, parts: Sequence[Expression], language: str) -> list[Bools]:
        """One mask for each part; documents of a shard that does not answer satisfy nothing."""
        snapshot, found = self.snapshot, [np.zeros(len(self.snapshot), dtype=np.bool_) for _ in parts]
        for part in parts:
            self._check_prefixes(part)  # the words of all shards together
        for shard, answers in snapshot.all_shards(lambda _: ExpressionMasks(tuple(parts), language)).items():
            numbers = snapshot.documents_of[shard]
            for mask, bits in zip(found, answers, strict=True):
                mask[numbers] = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=len(numbers)).view(np.bool_)
        return found

    def _prefix_words(self, prefix: str) -> Counter[WrittenWord]:
        found = Counter[WrittenWord]()
        for words in self.snapshot.all_shards(lambda _: PrefixWords(prefix)).values():
            found.update(words)
        self._refuse_many(prefix, len(found))
        return found
