"""The words of all shards: what a router corrects and completes questions with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lexfuse.cluster.shard import ShardRequest
from lexfuse.cluster.shard_requests import FirstDocument, WordCounts, WordsTogether
from lexfuse.storage.segments.written_words import WordDocuments


class ClusterWords:
    """The words of the documents of a cluster; those of all shards are counted once."""

    def __init__(self, ask: Callable[[Callable[[int], ShardRequest]], Mapping[int, Any]]) -> None:
        """Take what asks all shards."""
        self._ask = ask
        counts = list(ask(lambda _: WordCounts()).values())
        self.complete = all(one is not None for one in counts)  # whether every shard knows its words
        self._counts: Counter[str] = sum((Counter(one or {}) for one in counts), Counter())

    def counts(self) -> dict[str, int]:
        """How often each word that is searched by occurs in the versions of all days."""
        return dict(self._counts)

    def first_document(self, word: str) -> str:
        """The lowest id of a document with a word, "" if none has it."""
        return min(filter(None, self._ask(lambda _: FirstDocument(word)).values()), default="")

    def together(self, words: Sequence[str], others: Sequence[str]) -> list[WordDocuments]:
        """For each word, how many documents have it, and how many have all other words too."""
        asked = WordsTogether(tuple(words), tuple(others))
        shards = zip(*self._ask(lambda _: asked).values(), strict=True)
        return [WordDocuments(*map(sum, zip(*one, strict=True))) for one in shards]
