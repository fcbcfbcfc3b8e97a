"""Texts as token ids, by the tokenizer of a model folder; nothing is cut, windows are made by who needs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.data.arrays import I32, I64
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.errors import DataError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Row = I32  # the ids of one text, special tokens included


class ModelTokenizer:
    """The tokenizer of a model.

    >>> tokens = ModelTokenizer(ModelFolder.read("fr-legal-dense"))  # doctest: +SKIP
    >>> tokens.ids(["congé"])[0].tolist()  # doctest: +SKIP
    [2, 1417, 3]
    """

    def __init__(self, folder: ModelFolder) -> None:
        """Load ``tokenizer.json``; cutting and padding that it may ask for are switched off."""
        self._path = folder.transformer / "tokenizer.json"
        self._tokenizer = _loaded(self._path, folder.lowercase)
        self.window = folder.max_length
        self.vocabulary_size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        self.pad = folder.sizes.padding if folder.sizes else 0
        with self._damage_named():
            self.before, self.after = _specials(self._tokenizer)
        if self.room < 1:
            raise DataError(f"a window of {self.window} tokens leaves no room beside the special tokens", path=folder.path)

    @contextmanager
    def _damage_named(self) -> Iterator[None]:
        """Say which file is at fault where the tokenizer fails: its errors have no class of their own, and some are panics."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            raise DataError(f"the tokenizer fails ({error}); fetch the model again", path=self._path) from None

    @property
    def room(self) -> int:
        """How many tokens of a text fit into the window beside the special ones."""
        return self.window - len(self.before) - len(self.after)

    def ids(self, texts: Sequence[str]) -> list[Row]:
        """The ids of every text with the special tokens around, however long."""
        with self._damage_named():
            found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=True)
        return [np.array(encoding.ids, dtype=np.int32) for encoding in found]

    def inner_ids(self, text: str) -> Row:
        """The ids of a text without the special tokens around."""
        with self._damage_named():
            found = self._tokenizer.encode(text, add_special_tokens=False)
        return np.array(found.ids, dtype=np.int32)

    def pair_ids(self, first: str, second: str) -> tuple[Row, Row]:
        """The ids of two texts in one row, and which of the two (0 or 1) each token belongs to: what cross-encoders read."""
        with self._damage_named():
            found = self._tokenizer.encode(first, second, add_special_tokens=True)
        return np.array(found.ids, dtype=np.int32), np.array(found.type_ids, dtype=np.int32)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where every token of a text starts and ends, in characters; a `unit` for `lexfuse.text.passages`."""
        with self._damage_named():
            found: list[tuple[int, int]] = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return found

    def count(self, text: str) -> int:
        """How many tokens a text has, special ones not counted."""
        return len(self.inner_ids(text))

    def word(self, number: int) -> str:
        """The token of an id, as the vocabulary spells it."""
        found: str | None = self._tokenizer.id_to_token(number)
        return f"[{number}]" if found is None else found

    def wrapped(self, inner: Row) -> Row:
        """The special tokens around some ids."""
        return np.concatenate([self.before, inner, self.after])

    def windows(self, row: Row, kept: int = 0) -> list[Row]:
        """A row cut into as few windows as it needs, of equal length but for one token; a short one stays as it is.

        The first ``kept`` tokens of the text (a prompt) are in every window, at most half of it.
        """
        if len(row) <= self.window:
            return [row]
        inner = row[len(self.before) : len(row) - len(self.after)]
        kept = min(kept, self.room // 2)
        head, rest = inner[:kept], inner[kept:]
        pieces = np.array_split(rest, -(-len(rest) // (self.room - kept)))
        return [self.wrapped(np.concatenate([head, piece])) for piece in pieces]

    def chunks(self, row: Row, size: int, overlap: int) -> list[Row]:
        """A row cut into chunks of ``size`` tokens that share ``overlap`` (BSARD, section 4.2); a short one stays as it is.

        Each chunk starts with the special tokens before a text and counts them; those after it are at the end of the last one.
        No chunk is made of shared tokens alone.
        """
        if len(row) <= size:
            return [row]
        inner, held = row[len(self.before) :], size - len(self.before)
        starts = range(0, len(inner) - overlap, held - overlap)
        return [np.concatenate([self.before, inner[start : start + held]]) for start in starts]

    def batches(self, rows: Sequence[Row], most_tokens: int = 2048) -> Iterator[tuple[I64, I64, I64]]:
        """Rows of like length together: which rows, their padded ids and their mask; no batch above so many tokens.

        The longest come first, so that what runs out of memory does so at once.
        """
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        start = 0
        while start < len(order):
            longest = max(1, int(lengths[order[start]]))
            chosen = order[start : start + max(1, most_tokens // longest)]
            yield (chosen, *self.padded([rows[place] for place in chosen]))
            start += len(chosen)

    def padded(self, rows: Sequence[Row]) -> tuple[I64, I64]:
        """Ids and mask of some rows, filled up to the longest."""
        longest = max(1, max((len(row) for row in rows), default=1))
        ids = np.full((len(rows), longest), self.pad, dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        return ids, mask


def _loaded(path: Path, lowercase: bool) -> Tokenizer:
    if not path.is_file():
        raise DataError(
            "the folder has no tokenizer.json; save the model's tokenizer in its fast form "
            "(transformers: AutoTokenizer.from_pretrained(folder).save_pretrained(folder))",
            path=path.parent,
        )
    from tokenizers import Tokenizer, normalizers

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more precise
        raise DataError(f"not a tokenizer file, or a damaged one ({error}); fetch the model again", path=path) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if lowercase:
        steps = [normalizers.Lowercase(), *([tokenizer.normalizer] if tokenizer.normalizer else [])]
        tokenizer.normalizer = normalizers.Sequence(steps)
    return tokenizer


def _specials(tokenizer: Tokenizer) -> tuple[Row, Row]:
    """The special tokens before and after a text."""
    found = tokenizer.encode("a", add_special_tokens=True)
    inner = [place for place, special in enumerate(found.special_tokens_mask) if not special]
    first, last = (inner[0], inner[-1] + 1) if inner else (1, 1)
    ids = np.array(found.ids, dtype=np.int32)
    return ids[:first], ids[last:]
