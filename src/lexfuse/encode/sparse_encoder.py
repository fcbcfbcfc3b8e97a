"""Learned sparse vectors: SPLADE-max, from a model with a masked-language head (FUSE eq. 6-8).

The weight of a vocabulary term is the largest ln(1 + relu(logit)) over the tokens of a text. Special tokens count both as
positions and as terms, as in the models' code. ln(1 + relu(x)) is monotonic, so the largest logit is taken first. A text beyond
the model's window is not truncated: it is read in windows of equal length, and the largest weight over all windows is the maximum
over all its tokens. A sentence-transformers folder may ask for a second logarithm (``log1p_relu``), which is supported, or for
sums instead of maxima, which is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import F32, I32
from lexfuse.encode.encoder import Progress, Side, encoded_once, no_progress
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.encode.model_folder.modules import json_object
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.tokenizer import ModelTokenizer, Row
from lexfuse.encode.transformer import Transformer
from lexfuse.errors import ConfigError, DataError
from lexfuse.text.analysis.vocabulary import Vocabulary

BLOCK = 1024  # texts sorted by length together
MOST_TOKENS = 2048  # in a batch, padding included

_LOGARITHMS = {"relu": 1, "log1p_relu": 2}

SparseVector = tuple[I32, F32]  # ids of terms, ascending, and their weights, all above zero


@dataclass(frozen=True, slots=True, eq=False)
class SparseEncoder:
    """A model that weights every vocabulary term for a text.

    >>> encoder = SparseEncoder.load("fr-legal-splade")  # doctest: +SKIP
    >>> terms, weights = encoder.encode(["démission"], Side.QUERY)[0]  # doctest: +SKIP
    >>> encoder.terms[int(terms[weights.argmax()])]  # doctest: +SKIP
    'démission'
    """

    folder: ModelFolder
    tokens: ModelTokenizer
    transformer: Transformer
    terms: Vocabulary
    most_terms: int | None
    logarithms: int
    prompts: Mapping[Side, str]
    fingerprint: str

    @classmethod
    def load(
        cls, name: str | Path, *, int8: bool = False, threads: int | None = None, most_terms: int | None = None
    ) -> SparseEncoder:
        """Load a model by name (see `locate_model`); ``most_terms`` keeps only the largest weights of a text."""
        if most_terms is not None and most_terms < 1:
            raise ConfigError(f"most_terms must be at least 1, got {most_terms}; leave it out to keep every term")
        folder = ModelFolder.read(locate_model(name))
        logarithms = _logarithms(folder)
        prompts = {side: folder.prompt(side) for side in Side}
        tokens = ModelTokenizer(folder)
        transformer = Transformer.load(folder, OutputHead.MLM, threads=threads, int8=int8)
        terms = Vocabulary([tokens.word(number) for number in range(transformer.width)])
        fingerprint = transformer.fingerprint(str(most_terms), str(logarithms), *prompts.values())
        return cls(folder, tokens, transformer, terms, most_terms, logarithms, prompts, fingerprint)

    @property
    def cosine(self) -> bool:
        """Whether the model's folder asks for cosine similarity."""
        return self.folder.similarity == "cosine"

    def encode(self, texts: Sequence[str], side: Side, *, progress: Progress = no_progress) -> list[SparseVector]:
        """The vector of every text, with the prompt of the side; a repeated text is encoded once."""
        return encoded_once(texts, BLOCK, partial(self._block, self.prompts[side]), progress)

    def _block(self, prompt: str, texts: list[str], progress: Progress) -> list[SparseVector]:
        """The vectors of distinct texts; those of long texts grow window by window."""
        windows: list[Row] = []
        owners: list[int] = []
        kept = self.tokens.count(prompt) if prompt else 0
        for place, row in enumerate(self.tokens.ids([prompt + text for text in texts])):
            found = self.tokens.windows(row, kept)
            windows += found
            owners += [place] * len(found)
        pieces: list[list[SparseVector]] = [[] for _ in texts]
        most_tokens = min(self.transformer.most_tokens, MOST_TOKENS)
        for at, logits in self.transformer.outputs(
            self.tokens, windows, lambda done: progress(len(texts) * done // len(windows)), most_tokens=most_tokens
        ):
            if len(windows[at]):  # without special tokens an empty text has no tokens
                pieces[owners[at]].append(activated(logits, self.logarithms))
        return [heaviest(_largest(some), self.most_terms) for some in pieces]


def heaviest(vector: SparseVector, most: int | None) -> SparseVector:
    """The terms of a vector with the largest weights, all if ``most`` is None; of equal ones those with lower ids.

    >>> [part.tolist() for part in heaviest((np.array([1, 4, 6]), np.array([2.0, 1.0, 2.0])), 2)]
    [[1, 6], [2.0, 2.0]]
    """
    terms, weights = vector
    if most is None or len(terms) <= most:
        return vector
    chosen = np.sort(np.argsort(-weights, kind="stable")[:most])
    return terms[chosen], weights[chosen]


def activated(logits: F32, logarithms: int) -> SparseVector:
    """Eq. 8 for the largest logit of every term; terms of weight 0 are omitted."""
    weights = np.maximum(logits, np.float32(0.0))
    for _ in range(logarithms):
        weights = np.log1p(weights)
    terms = np.flatnonzero(weights > 0).astype(np.int32)
    return terms, weights[terms]


def _logarithms(folder: ModelFolder) -> int:
    """How many logarithms the model was trained with; one unless its folder says otherwise."""
    if unknown := [step for step in folder.others if step != "SpladePooling"]:
        raise DataError(f"the model has steps that SPLADE does not take: {', '.join(unknown)}; choose another", path=folder.path)
    if not folder.others:
        return 1
    path = folder.others["SpladePooling"] / "config.json"
    values = json_object(path, needed=True)
    pooling, activation = values.get("pooling_strategy", "max"), values.get("activation_function", "relu")
    if pooling != "max" or activation not in _LOGARITHMS:
        expected = f"expected max and one of {', '.join(_LOGARITHMS)}"
        raise DataError(f"pooling {pooling!r} with activation {activation!r} is not supported; {expected}", path=path)
    return _LOGARITHMS[activation]


def _largest(vectors: Sequence[SparseVector]) -> SparseVector:
    """The largest weight of every term over several vectors.

    >>> [part.tolist() for part in _largest([(np.array([1, 4]), np.array([2.0, 1.0])), (np.array([4]), np.array([3.0]))])]
    [[1, 4], [2.0, 3.0]]
    """
    if len(vectors) == 1:
        return vectors[0]
    terms = np.concatenate([np.empty(0, dtype=np.int32), *(terms for terms, _ in vectors)])
    weights = np.concatenate([np.empty(0, dtype=np.float32), *(weights for _, weights in vectors)])
    distinct, place = np.unique(terms, return_inverse=True)
    largest = np.zeros(len(distinct), dtype=np.float32)
    np.maximum.at(largest, place, weights)
    return distinct, largest
