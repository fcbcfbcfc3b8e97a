"""The examples of each batch: deterministic for a seed, so that training can resume.

A batch has examples of one source, and no query or positive twice. Examples left over at the end of a round come first in the
next, so none is dropped. Every draw depends only on the seed and the number of the batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, Bools
from lexfuse.errors import ConfigError
from lexfuse.train.examples.examples import NOTHING, Examples


class SamplingUnit(StrEnum):
    """The units of a round: every example, or every query with one random positive."""

    EXAMPLE = "example"
    QUERY = "query"


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some queries and passages; the first passages are the positives, in the order of the queries.

    >>> examples = Examples.of([("q", "yes", ["no"], "a"), ("r", "si", ["no"], "a")])
    >>> batch = next(Batches(examples, size=2, negatives=1).from_start())
    >>> batch.allowed.tolist(), batch.own.tolist()
    ([[True, True, True], [True, True, True]], [[0, 2], [1, 2]])
    """

    query: I32
    passage: I32
    allowed: Bools  # query x passage: whether it counts; False where it answers the query and is not the positive itself
    own: I32  # for each query the columns of its positive and of its own negatives, NOTHING where there are fewer
    teacher: F32 | None = None  # for the columns of ``own``

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.query)

    def rows(self, start: int, stop: int) -> Batch:
        """A smaller batch of some of the queries, with their passages.

        >>> examples = Examples.of([("q", "yes", ["no"], "a"), ("r", "si", ["non"], "a")])
        >>> batch = next(Batches(examples, size=2, negatives=1).from_start())
        >>> len(batch.rows(0, 1)), batch.rows(0, 1).own.tolist()
        (1, [[0, 1]])
        """
        own = self.own[start:stop]
        columns = np.unique(own[:, 1:][own[:, 1:] != NOTHING])
        columns = np.concatenate([own[:, 0], np.setdiff1d(columns, own[:, 0])]).astype(np.int64)
        place = np.full(len(self.passage) + 1, NOTHING, dtype=np.int32)  # the last one is for NOTHING
        place[columns] = np.arange(len(columns), dtype=np.int32)
        teacher = None if self.teacher is None else self.teacher[start:stop]
        return Batch(self.query[start:stop], self.passage[columns], self.allowed[start:stop][:, columns], place[own], teacher)


@dataclass(frozen=True, slots=True)
class Batches:
    """The endless sequence of batches of a training.

    >>> pairs = Examples.of([("q", "yes", [], "a"), ("r", "si", [], "a"), ("s", "da", [], "a")])
    >>> stream = Batches(pairs, size=2).from_start()
    >>> sorted({*next(stream).query.tolist(), *next(stream).query.tolist()})  # none is left out
    [0, 1, 2]
    """

    examples: Examples
    size: int
    negatives: int = 0  # drawn for each example from those it has
    seed: int = 1
    turn: SamplingUnit = SamplingUnit.EXAMPLE
    shares: Mapping[str, float] = field(default_factory=dict)  # of the batches, by source; by number of examples if not given

    def __post_init__(self) -> None:
        """Refuse settings that give no batch."""
        if self.size < 1 or self.negatives < 0:
            raise ConfigError(f"a batch needs at least 1 query and at least 0 negatives, got {self.size}, {self.negatives}")
        if not len(self.examples):
            raise ConfigError("there are no examples to learn from")
        if unknown := set(self.shares) - set(self.examples.sources):
            known = ", ".join(self.examples.sources)
            raise ConfigError(f"no source is called {', '.join(map(repr, sorted(unknown)))}; there are {known}")
        if self.shares and (min(self.shares.values()) < 0 or sum(self.shares.values()) <= 0):
            raise ConfigError(f"shares of batches must be positive, got {dict(self.shares)}")
        there = {self.examples.sources[source] for source in np.unique(self.examples.source)}
        if self.shares and not any(self.shares.get(source) for source in there):
            raise ConfigError(f"there is no example of any source that has a share, {', '.join(map(repr, self.shares))}")

    def from_start(self, skipped: int = 0) -> Iterator[Batch]:
        """All batches, without the first ones that were already used."""
        sources = np.unique(self.examples.source)
        counts = np.bincount(self.examples.source, minlength=len(self.examples.sources))[sources].astype(np.float64)
        if self.shares:
            counts = np.array([self.shares.get(self.examples.sources[source], 0.0) for source in sources])
        streams = {int(source): self._of_source(int(source)) for source in sources}
        chances = counts / counts.sum()
        number = 0
        while True:
            generator = np.random.default_rng((self.seed, number))
            members = next(streams[int(generator.choice(sources, p=chances))])
            if number >= skipped:
                yield self._batch(members, generator)
            number += 1

    def _of_source(self, source: int) -> Iterator[I64]:
        """The examples of each batch of a source."""
        places = np.flatnonzero(self.examples.source == source)
        rounds = (self._round(places, number, source) for number in range(2**31))
        waiting: deque[int] = deque(next(rounds).tolist())
        while True:
            chosen: list[int] = []
            queries, positives, deferred = set[int](), set[int](), list[int]()
            extended = False
            while len(chosen) < self.size:
                if not waiting:
                    if extended:  # more of them than there are
                        break
                    waiting.extend(next(rounds).tolist())
                    extended = True
                place = waiting.popleft()
                query, positive = int(self.examples.query[place]), int(self.examples.positive[place])
                if query in queries or positive in positives:
                    deferred.append(place)
                    continue
                queries.add(query)
                positives.add(positive)
                chosen.append(place)
            waiting.extendleft(reversed(list(dict.fromkeys(deferred)) if extended else deferred))  # each waits once, in its order
            yield np.array(chosen, dtype=np.int64)

    def _round(self, places: I64, number: int, source: int) -> I64:
        """Every example, or one per query, in the order of a round."""
        generator = np.random.default_rng((self.seed, number, source, 1))
        order: I64 = generator.permutation(places)
        if self.turn is SamplingUnit.QUERY:
            _, first = np.unique(self.examples.query[order], return_index=True)
            order = order[np.sort(first)]
        return order

    def _batch(self, members: I64, generator: np.random.Generator) -> Batch:
        examples = self.examples
        positives = examples.positive[members]
        columns = {int(passage): column for column, passage in enumerate(positives)}
        own = np.full((len(members), 1 + self.negatives), NOTHING, dtype=np.int32)
        own[:, 0] = np.arange(len(members))
        teacher = None if examples.teacher is None else np.full(own.shape, np.nan, dtype=np.float32)
        for row, place in enumerate(members if self.negatives or teacher is not None else ()):
            given = examples.negatives[place]
            there = np.flatnonzero((given != NOTHING) & ~np.isin(given, examples.answering(int(examples.query[place]))))
            drawn = generator.permutation(there)[: self.negatives]
            for column, at in enumerate(drawn, start=1):
                own[row, column] = columns.setdefault(int(given[at]), len(columns))
            if teacher is not None and examples.teacher is not None:
                teacher[row, 0] = examples.teacher[place][0]
                teacher[row, 1 : 1 + len(drawn)] = examples.teacher[place][1 + drawn]
        allowed = np.ones((len(members), len(columns)), dtype=np.bool_)
        for row, query in enumerate(examples.query[members]):
            known = [columns[int(passage)] for passage in examples.answering(int(query)) if int(passage) in columns]
            allowed[row, known] = False
            allowed[row, row] = True
        return Batch(examples.query[members], np.array(list(columns), dtype=np.int32), allowed, own, teacher)
