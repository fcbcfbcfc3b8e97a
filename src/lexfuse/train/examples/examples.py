"""Training examples of a retriever: queries, passages that answer them, and passages that do not.

Texts are stored once, examples are ordinals. A passage known to answer a query is never its negative, wherever in a batch it
comes from; that is the guard against false negatives that judgements allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexfuse.data.arrays import F32, I32, I64, offsets_of, read_only
from lexfuse.errors import DataError
from lexfuse.train.examples.training_pair import TrainingPair

NOTHING = -1  # instead of a negative


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Examples as columns; a batch has examples of one source.

    >>> examples = Examples.of_pairs({"headings": [TrainingPair("préavis", "Le préavis dure un mois."), TrainingPair("bail",
    ...     "Le bail dure.")]})
    >>> len(examples), examples.passages[examples.positive[1]]
    (2, 'Le bail dure.')
    """

    queries: tuple[str, ...]
    passages: tuple[str, ...]
    query: I32  # of each example
    positive: I32  # a passage
    negatives: I32  # a row of passages for each example, NOTHING where there are fewer
    sources: tuple[str, ...]
    source: I32
    known_offsets: I64  # for each query, all passages that answer it or may well do
    known: I32
    teacher: F32 | None = None  # scores of the positive and of each negative by another model, NaN where it gave none

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        count = len(self.query)
        if not len(self.positive) == len(self.negatives) == len(self.source) == count:
            raise DataError(
                f"{count:,} examples with {len(self.positive):,} positives and {len(self.negatives):,} rows of negatives"
            )
        if self.teacher is not None and self.teacher.shape != (count, 1 + self.negatives.shape[1]):
            raise DataError(f"scores of a teacher of shape {self.teacher.shape}, expected {(count, 1 + self.negatives.shape[1])}")

    @classmethod
    def of_pairs(cls, pairs: Mapping[str, Sequence[TrainingPair]]) -> Examples:
        """Examples without hard negatives, from the pairs of each source."""
        return cls.of((pair.query, pair.passage, (), name) for name, some in pairs.items() for pair in some)

    @classmethod
    def of(
        cls, rows: Iterable[tuple[str, str, Sequence[str], str]], answers: Mapping[str, Iterable[str]] | None = None
    ) -> Examples:
        """From rows of query, positive, negatives and source; ``answers`` names more passages that answer a query.

        >>> Examples.of([("q", "yes", ["no"], "mine")]).negatives.tolist()
        [[1]]
        """
        queries, passages, sources = dict[str, int](), dict[str, int](), dict[str, int]()
        columns: list[tuple[int, int, int]] = []
        negatives: list[list[int]] = []
        for query, positive, others, source in rows:
            columns.append(
                (
                    queries.setdefault(query, len(queries)),
                    passages.setdefault(positive, len(passages)),
                    sources.setdefault(source, len(sources)),
                )
            )
            negatives.append([passages.setdefault(other, len(passages)) for other in others])
        table = np.array(columns, dtype=np.int32).reshape(-1, 3)
        known = {(int(query), int(positive)) for query, positive, _ in table}
        for text, more in (answers or {}).items():
            if text in queries:
                known |= {(queries[text], passages[other]) for other in more if other in passages}
        offsets, flat = _rows(known, len(queries))
        return cls(
            tuple(queries), tuple(passages), read_only(table[:, 0].copy()), read_only(table[:, 1].copy()),
            read_only(padded_rows(negatives)), tuple(sources), read_only(table[:, 2].copy()), read_only(offsets), read_only(flat),
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: Sequence[Examples]) -> Examples:
        """Several sets of examples as one; shared texts are stored once.

        >>> one, two = Examples.of_pairs({"a": [TrainingPair("q", "p")]}), Examples.of_pairs({"b": [TrainingPair("q", "r")]})
        >>> Examples.joined([one, two]).answering(0).tolist()
        [0, 1]
        """
        rows = (row for part in parts for row in part.rows())
        answers: dict[str, list[str]] = {}
        for part in parts:
            for place, text in enumerate(part.queries):
                answers.setdefault(text, []).extend(part.passages[other] for other in part.answering(place))
        whole = cls.of(rows, answers)
        if all(part.teacher is None for part in parts):
            return whole
        scores = np.full((len(whole), 1 + whole.negatives.shape[1]), np.nan, dtype=np.float32)
        start = 0
        for part in parts:
            if part.teacher is not None:
                scores[start : start + len(part), : part.teacher.shape[1]] = part.teacher
            start += len(part)
        return replace(whole, teacher=read_only(scores))

    def rows(self) -> Iterable[tuple[str, str, list[str], str]]:
        """Query, positive, negatives and source of each example.

        >>> list(Examples.of([("q", "yes", ["no"], "mine")]).rows())
        [('q', 'yes', ['no'], 'mine')]
        """
        for query, positive, others, source in zip(self.query, self.positive, self.negatives, self.source, strict=True):
            texts = [self.passages[other] for other in others if other != NOTHING]
            yield self.queries[query], self.passages[positive], texts, self.sources[source]

    def answering(self, query: int) -> I32:
        """The passages known to answer a query, ascending."""
        row: I32 = self.known[self.known_offsets[query] : self.known_offsets[query + 1]]
        return row

    def with_negatives(self, negatives: I32, teacher: F32 | None = None) -> Examples:
        """The same examples with other negatives, none of which may be known to answer the query.

        >>> examples = Examples.of([("q", "yes", ["no", "never"], "mine")])
        >>> examples.with_negatives(np.array([[2]], np.int32)).negatives.tolist()
        [[2]]
        """
        changed = replace(
            self, negatives=read_only(negatives.astype(np.int32)), teacher=None if teacher is None else read_only(teacher)
        )
        for place, row in enumerate(negatives):
            if np.isin(row, self.answering(int(self.query[place]))).any():
                raise DataError(f"a negative of example {place} answers its query: {self.queries[self.query[place]]!r}")
        return changed

    def select(self, places: Sequence[int] | I64) -> Examples:
        """Some of the examples, with all texts."""
        chosen = np.asarray(places, dtype=np.int64)
        return replace(
            self,
            query=read_only(self.query[chosen]),
            positive=read_only(self.positive[chosen]),
            negatives=read_only(self.negatives[chosen]),
            source=read_only(self.source[chosen]),
            teacher=None if self.teacher is None else read_only(self.teacher[chosen]),
        )

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.query)


def padded_rows(rows: Sequence[Sequence[int]]) -> I32:
    """Rows of different lengths as a table, with NOTHING at their ends."""
    table = np.full((len(rows), max(map(len, rows), default=0)), NOTHING, dtype=np.int32)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _rows(pairs: Iterable[tuple[int, int]], count: int) -> tuple[I64, I32]:
    """Pairs of ordinals as rows."""
    table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return offsets_of(np.bincount(table[:, 0], minlength=count)), table[:, 1].astype(np.int32)
