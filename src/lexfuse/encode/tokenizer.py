"""Texts as token ids, by the tokenizer of a model folder; nothing is truncated, callers make windows."""

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

LEAST_FILLED = 0.8  # the part of a row of a batch that is no padding: a batch of two questions is no faster than two batches
Row = I32  # the ids of one text, including special tokens


class ModelTokenizer:
    """The tokenizer of a model.

    >>> tokens = ModelTokenizer(ModelFolder.read("fr-legal-dense"))  # doctest: +SKIP
    >>> tokens.ids(["congé"])[0].tolist()  # doctest: +SKIP
    [2, 1417, 3]
    """

    def __init__(self, folder: ModelFolder) -> None:
        """Load ``tokenizer.json``, with its truncation and padding switched off."""
        self._path = folder.transformer / "tokenizer.json"
        self._tokenizer = load_tokenizer(self._path, folder.lowercase)
        self.window = folder.max_length
        self.vocabulary_size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        self.pad = folder.sizes.padding if folder.sizes else 0
        with tokenizer_errors(self._path):
            self.before, self.after = _specials(self._tokenizer)
        if self.room < 1:
            raise DataError(
                f"a window of {self.window} tokens leaves no room for text after the special tokens", path=folder.path
            )

    @property
    def room(self) -> int:
        """The number of text tokens that fit into the window with the special tokens."""
        return self.window - len(self.before) - len(self.after)

    def ids(self, texts: Sequence[str]) -> list[Row]:
        """The ids of every text with special tokens, at any length."""
        with tokenizer_errors(self._path):
            if len(texts) == 1:  # a question: a batch would hand over the interpreter lock, and wait to have it back
                found = [self._tokenizer.encode(texts[0], add_special_tokens=True)]
            else:
                found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=True)
        return [np.array(encoding.ids, dtype=np.int32) for encoding in found]

    def inner_ids(self, text: str) -> Row:
        """The ids of a text without special tokens."""
        with tokenizer_errors(self._path):
            found = self._tokenizer.encode(text, add_special_tokens=False)
        return np.array(found.ids, dtype=np.int32)

    def pair_ids(self, first: str, second: str) -> tuple[Row, Row]:
        """The ids of two texts in one row, and the text (0 or 1) of each token, for cross-encoders."""
        with tokenizer_errors(self._path):
            found = self._tokenizer.encode(first, second, add_special_tokens=True)
        return np.array(found.ids, dtype=np.int32), np.array(found.type_ids, dtype=np.int32)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of every token, in characters; a ``unit`` for `lexfuse.text.passages`."""
        with tokenizer_errors(self._path):
            found: list[tuple[int, int]] = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return found

    def count(self, text: str) -> int:
        """The number of tokens of a text, without special tokens."""
        return len(self.inner_ids(text))

    def word(self, number: int) -> str:
        """The token of an id, as spelled in the vocabulary."""
        found: str | None = self._tokenizer.id_to_token(number)
        return f"[{number}]" if found is None else found

    def wrapped(self, inner: Row) -> Row:
        """Add the special tokens to some ids."""
        return np.concatenate([self.before, inner, self.after])

    def windows(self, row: Row, kept: int = 0) -> list[Row]:
        """Split a row into as few windows as necessary, of equal length up to one token; a short one stays unchanged.

        The first ``kept`` tokens of the text (a prompt) are in every window, at most half of it.
        """
        if len(row) <= self.window:
            return [row]
        inner = row[len(self.before) : len(row) - len(self.after)]
        return [self.wrapped(piece) for piece in equal_pieces(inner, self.room, kept)]

    def chunks(self, row: Row, size: int, overlap: int) -> list[Row]:
        """Split a row into chunks of ``size`` tokens that share ``overlap`` (BSARD, section 4.2); a short one stays unchanged.

        Each chunk starts with the leading special tokens and counts them; the trailing ones are at the end of the last chunk. No
        chunk has shared tokens only.
        """
        if len(row) <= size:
            return [row]
        inner, held = row[len(self.before) :], size - len(self.before)
        starts = range(0, len(inner) - overlap, held - overlap)
        return [np.concatenate([self.before, inner[start : start + held]]) for start in starts]

    def batches(self, rows: Sequence[Row], most_tokens: int = 2048) -> Iterator[tuple[I64, I64, I64]]:
        """Batches of rows of similar length: the rows, their padded ids and mask, with a limit on tokens per batch.

        The longest come first, so that running out of memory happens at once.
        """
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        start = 0
        while start < len(order):
            longest = max(1, int(lengths[order[start]]))
            fitting = order[start : start + max(1, most_tokens // longest)]
            chosen = fitting[: max(1, int(np.count_nonzero(lengths[fitting] >= LEAST_FILLED * longest)))]
            yield (chosen, *self.padded([rows[place] for place in chosen]))
            start += len(chosen)

    def padded(self, rows: Sequence[Row]) -> tuple[I64, I64]:
        """Ids and mask of some rows, padded to the longest."""
        longest = max(1, max((len(row) for row in rows), default=1))
        ids = np.full((len(rows), longest), self.pad, dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        return ids, mask


def equal_pieces(row: Row, room: int, kept: int = 0) -> list[Row]:
    """Split a row into as few pieces as necessary, of equal length up to one token; a short one stays unchanged.

    The first ``kept`` tokens are in every piece, at most half of it.

    >>> [piece.tolist() for piece in equal_pieces(np.arange(6, dtype=np.int32), 4, kept=1)]
    [[0, 1, 2, 3], [0, 4, 5]]
    """
    if len(row) <= room:
        return [row]
    kept = min(kept, room // 2)
    rest = row[kept:]
    return [np.concatenate([row[:kept], piece]) for piece in np.array_split(rest, -(-len(rest) // (room - kept)))]


@contextmanager
def tokenizer_errors(path: Path) -> Iterator[None]:
    """Name the file if the tokenizer fails: its errors have no specific class, and some are panics."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise DataError(f"the tokenizer fails ({error}); fetch the model again", path=path) from None


def load_tokenizer(path: Path, lowercase: bool) -> Tokenizer:
    """The tokenizer in a file, with truncation and padding switched off; ``lowercase`` adds that step."""
    if not path.is_file():
        raise DataError(
            "the folder has no tokenizer.json; save the model's tokenizer in its fast form "
            "(transformers: AutoTokenizer.from_pretrained(folder).save_pretrained(folder))",
            path=path.parent,
        )
    from tokenizers import Tokenizer, normalizers

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no specific class
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
