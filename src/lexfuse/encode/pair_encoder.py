"""Scores between 0 and 1 for pairs of query and text, by a transformer that reads both: monoBERT (FUSE eq. 13-15).

The state of the first token passes through a tanh layer and a linear layer; the sigmoid bounds the result (eq. 13). A model with
two labels gives the probability of the second, which is the sigmoid of the difference.

A pair is packed into the model's window without truncation. If both do not fit, the query takes at most half of the room and the
text the rest. A longer text is read in windows of equal length, each beginning with a head that the caller gives (a title), and
their scores are aggregated. A query beyond half of the room is read in windows too, and the score is the mean over them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexfuse.data.arrays import F32, F64, I64
from lexfuse.encode.encoder import check_texts
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.encode.model_folder.modules import json_object
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.tokenizer import ModelTokenizer, Row, equal_pieces
from lexfuse.encode.transformer import Transformer
from lexfuse.errors import ConfigError, DataError

ROWS = 4096  # windows sorted by length together


class WindowAggregate(StrEnum):
    """How the scores of a text's windows become one.

    >>> WindowAggregate("max").of(np.array([[0.25, 0.5], [0.75, 0.25]]))  # two windows of the query, two of the text
    0.625
    """

    MAX = "max"  # the best window
    FIRST = "first"  # the first window only: as published figures were often measured
    MEAN = "mean"  # all windows

    def of(self, scores: F64) -> float:
        """The score of a text from those of its windows (columns) with every window of the query (rows)."""
        kept = {
            WindowAggregate.MAX: scores.max(axis=1),
            WindowAggregate.FIRST: scores[:, 0],
            WindowAggregate.MEAN: scores.mean(axis=1),
        }
        return float(kept[self].mean())


@dataclass(frozen=True, slots=True, eq=False)
class PairTemplate:
    """The special tokens around two texts, and the token types that distinguish the texts.

    >>> PairTemplate.of(ModelTokenizer(ModelFolder.read("a-cross-encoder"))).between.tolist()  # doctest: +SKIP
    [3]
    """

    before: Row
    between: Row
    after: Row
    types: tuple[int, int, int, int, int]  # of the three and the two texts, in order
    room: int  # for both texts together

    @classmethod
    def of(cls, tokens: ModelTokenizer, *, typed: bool = True) -> PairTemplate:
        """The template of a tokenizer, from a pair that it encodes; untyped, all tokens have type 0."""
        first, second = tokens.inner_ids("a"), tokens.inner_ids("b")
        ids, types = tokens.pair_ids("a", "b")
        begin = len(tokens.before)
        end = begin + len(first)
        at = next((place for place in range(end, len(ids)) if ids[place : place + len(second)].tolist() == second.tolist()), end)
        stop = at + len(second)
        seen = [int(types[place]) if typed and place < len(types) else 0 for place in (0, begin, end, at, stop)]
        before, between, after = ids[:begin], ids[end:at], ids[stop:]
        room = tokens.window - len(before) - len(between) - len(after)
        frame = cls(before, between, after, (seen[0], seen[1], seen[2], seen[3], seen[4]), room)
        if frame.row(first, second)[0].tolist() != ids.tolist():
            raise ConfigError("the tokenizer does not put two texts one after the other; it cannot serve a cross-encoder")
        return frame

    def row(self, query: Row, text: Row) -> tuple[Row, Row]:
        """The ids of a pair, and the text of each."""
        pieces = (self.before, query, self.between, text, self.after)
        return np.concatenate(pieces), np.repeat(np.array(self.types, dtype=np.int32), [len(piece) for piece in pieces])


class _TokenPair(NamedTuple):
    """The windows of a query and a text; the model reads every combination."""

    place: int  # of the text
    asked: list[Row]
    windows: list[Row]

    @property
    def rows(self) -> int:
        return len(self.asked) * len(self.windows)


@dataclass(frozen=True, slots=True, eq=False)
class PairEncoder:
    """A model folder with a classifier of one or two labels that scores texts for a query.

    >>> encoder = PairEncoder.load("a-cross-encoder")  # doctest: +SKIP
    >>> encoder.scores("Qui paie le préavis ?", ["Le préavis est payé.", "Le bail."])  # doctest: +SKIP
    array([0.93, 0.04], dtype=float32)
    """

    folder: ModelFolder
    tokens: ModelTokenizer
    transformer: Transformer
    frame: PairTemplate

    @classmethod
    def load(cls, name: str | Path, *, int8: bool = False, threads: int | None = None) -> PairEncoder:
        """Load a model by name (see `locate_model`); a classifier that does not score relevance is a `DataError`."""
        folder = ModelFolder.read(locate_model(name))
        tokens = ModelTokenizer(folder)
        transformer = Transformer.load(folder, OutputHead.CLASSES, threads=threads, int8=int8)
        if transformer.width not in (1, 2):
            raise DataError(
                f"the model has {transformer.width} labels; a cross-encoder has 1 (relevance) or 2 (no and yes)",
                path=folder.path,
            )
        frame = PairTemplate.of(tokens, typed=_typed(folder))
        if frame.room < 2:
            raise DataError(f"a window of {tokens.window} tokens leaves no room for a query and a text", path=folder.path)
        return cls(folder, tokens, transformer, frame)

    def scores(
        self, query: str, texts: Sequence[str], aggregate: WindowAggregate = WindowAggregate.MAX, *, heads: Sequence[str] = ()
    ) -> F32:
        """The score of every text for the query, between 0 and 1.

        ``heads`` gives the beginning of each text; it is repeated in all of its windows, up to half of their length.
        """
        check_texts(texts)
        if heads and len(heads) != len(texts):
            raise ConfigError(f"{len(texts):,} texts need as many heads, got {len(heads):,}")
        found = np.empty(len(texts), dtype=np.float32)
        for block in self._blocks(self._inner([query])[0], texts, heads, aggregate):
            rows = [self.frame.row(one, window) for pair in block for one in pair.asked for window in pair.windows]
            scores, start = self._run(rows), 0
            for pair in block:
                end = start + pair.rows
                found[pair.place] = aggregate.of(scores[start:end].reshape(len(pair.asked), len(pair.windows)))
                start = end
        return found

    def window_lengths(
        self, query: str, texts: Sequence[str], aggregate: WindowAggregate = WindowAggregate.MAX, *, heads: Sequence[str] = ()
    ) -> I64:
        """The number of tokens in every window that `scores` reads for these texts, special tokens included."""
        check_texts(texts)
        added = len(self.frame.before) + len(self.frame.between) + len(self.frame.after)
        blocks = self._blocks(self._inner([query])[0], texts, heads, aggregate)
        lengths = [
            added + len(one) + len(window) for block in blocks for pair in block for one in pair.asked for window in pair.windows
        ]
        return np.array(lengths, dtype=np.int64)

    def _blocks(
        self, query: Row, texts: Sequence[str], heads: Sequence[str], aggregate: WindowAggregate
    ) -> Iterator[list[_TokenPair]]:
        """The windows of the query and every text, in blocks with not many more than `ROWS` rows."""
        block: list[_TokenPair] = []
        rows = 0
        kept = [len(row) for row in self._inner(heads)] or [0] * len(texts)
        for start in range(0, len(texts), ROWS):
            for place, row in enumerate(self._inner(texts[start : start + ROWS]), start=start):
                block.append(self._pair(place, query, row, kept[place], aggregate))
                rows += block[-1].rows
                if rows >= ROWS:
                    yield block
                    block, rows = [], 0
        if block:
            yield block

    def _pair(self, place: int, query: Row, text: Row, kept: int, aggregate: WindowAggregate) -> _TokenPair:
        room = self.frame.room
        if len(query) + len(text) <= room:
            return _TokenPair(place, [query], [text])
        asked = equal_pieces(query, room // 2)
        windows = equal_pieces(text, room - max(map(len, asked)), kept)
        return _TokenPair(place, asked, windows[:1] if aggregate is WindowAggregate.FIRST else windows)

    def _inner(self, texts: Sequence[str]) -> list[Row]:
        """The ids of texts without special tokens."""
        before, after = len(self.tokens.before), len(self.tokens.after)
        return [row[before : len(row) - after] for row in self.tokens.ids(texts)]

    def _run(self, rows: Sequence[tuple[Row, Row]]) -> F64:
        """The score of every row."""
        scores = np.empty(len(rows), dtype=np.float64)
        for chosen, ids, mask in self.tokens.batches([ids for ids, _ in rows], self.transformer.most_tokens):
            types = np.zeros_like(ids)
            for at, place in enumerate(chosen):
                types[at, : len(rows[place][1])] = rows[place][1]
            scores[chosen] = probabilities(self.transformer.run(ids, mask, types))
        return scores


def probabilities(logits: F32) -> F64:
    """The relevance of rows of one or two logits.

    >>> probabilities(np.array([[0.0], [2.0]], np.float32)).round(3).tolist()
    [0.5, 0.881]
    >>> probabilities(np.array([[1.0, 3.0]], np.float32)).round(3).tolist()
    [0.881]
    """
    wide = logits.astype(np.float64)
    margin = wide[:, 0] if wide.shape[1] == 1 else wide[:, 1] - wide[:, 0]
    found: F64 = np.exp(-np.logaddexp(0.0, -margin))
    return found


def _typed(folder: ModelFolder) -> bool:
    """Whether the model was trained with token types for the two texts.

    The tokenizer settings may say so. transformers 5 calls a tokenizer without a specific class TokenizersBackend and, unlike its
    predecessors, gives it no types.
    """
    settings = json_object(folder.transformer / "tokenizer_config.json")
    inputs = settings.get("model_input_names")
    return "token_type_ids" in inputs if isinstance(inputs, list) else settings.get("tokenizer_class") != "TokenizersBackend"
