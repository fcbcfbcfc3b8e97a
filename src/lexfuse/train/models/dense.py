"""Dense bi-encoders (FUSE eq. 3-5): one model for both sides, or two towers (BSARD).

Two towers start equal, or from the two towers of the base. The vector of a text is the mean of its tokens' vectors or the first
token's, normalised for cosines; in chunks, it is the mean over chunks. BSARD trains on [CLS] of chunks of 200 tokens that share
20, compared by dot product. The base's pooling and further layers are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from lexfuse.encode.encoder import Side
from lexfuse.encode.tokenizer import Row
from lexfuse.errors import ConfigError
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind, Similarity, TokenPooling
from lexfuse.train.models.base_model import TOWERS, StartingModel
from lexfuse.train.models.learner import EncodingLearner
from lexfuse.train.models.model_folder import write_dense

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def first_token(model: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """The last state of the first token, [CLS].

    >>> from types import SimpleNamespace
    >>> def model(input_ids, attention_mask):
    ...     return SimpleNamespace(last_hidden_state=torch.tensor([[[3.0, 4.0], [3.0, 8.0]]]))
    >>> first_token(model, torch.zeros(1, 2), torch.tensor([[1, 1]])).tolist()
    [[3.0, 4.0]]
    """
    state: Tensor = model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]
    return state.float()


def token_mean(model: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """The mean of the tokens' last states (eq. 4).

    >>> from types import SimpleNamespace
    >>> def model(input_ids, attention_mask):
    ...     return SimpleNamespace(last_hidden_state=torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]]]))
    >>> token_mean(model, torch.zeros(1, 3), torch.tensor([[1, 1, 0]])).tolist()
    [[3.0, 4.0]]
    """
    states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask.unsqueeze(-1).to(torch.float32)
    return (states.float() * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


class SingleVectors(EncodingLearner):
    """An encoder with one vector per text, made and compared according to the settings."""

    def __init__(self, base: StartingModel, training: Hyperparameters) -> None:
        """Refuse chunks beyond the base's window."""
        super().__init__(base, training)
        if training.chunk > base.tokens.window:
            raise ConfigError(
                f"a chunk of {training.chunk} tokens is beyond the {base.tokens.window} that the base reads at once; take fewer"
            )

    def tower(self, side: Side) -> PreTrainedModel:
        """The transformer of a side."""
        model: PreTrainedModel = self.model
        return model

    def vectors(self, rows: Sequence[Row], side: Side) -> Tensor:
        """One vector per text: the mean over the chunks of a text."""
        model, settings, tokens = self.tower(side), self.training_settings, self.base.tokens
        pool = first_token if settings.pooling is TokenPooling.CLS else token_mean
        if not settings.chunk:
            return self._finished(self.pooled(rows, model, pool))
        pieces = [tokens.chunks(row, settings.chunk, settings.chunk_overlap) for row in rows]
        vectors = self._finished(self.pooled([piece for some in pieces for piece in some], model, pool))
        counts = torch.tensor([len(some) for some in pieces], device=vectors.device)
        owner = torch.repeat_interleave(torch.arange(len(pieces), device=vectors.device), counts)
        total = torch.zeros(len(pieces), vectors.shape[1], device=vectors.device).index_add(0, owner, vectors)
        return self._finished(total / counts.unsqueeze(1))

    def _finished(self, vectors: Tensor) -> Tensor:
        return functional.normalize(vectors, dim=1) if self.training_settings.similarity is Similarity.COSINE else vectors

    def scores(self, queries: Tensor, passages: Tensor) -> Tensor:
        """Dot products, which are cosines for normalised vectors."""
        return queries @ passages.T

    def save(self, folder: Path) -> None:
        """A sentence-transformers folder."""
        write_dense(folder, self.base, self.tower(Side.PASSAGE), self.training_settings)


class DenseLearner(SingleVectors):
    """One transformer for queries and passages.

    >>> learner = DenseLearner(tiny_base(folder), Hyperparameters()).eval()
    >>> learner.score(learner.texts(["congé"], ["un bail", "congé"])).argmax().item()
    1
    """

    kind = ModelKind.DENSE

    def __init__(self, base: StartingModel, training: Hyperparameters) -> None:
        """Start from a base."""
        super().__init__(base, training)
        self.model = base.transformer()


class TwoTowerLearner(SingleVectors):
    """A transformer for queries, another for passages.

    >>> learner = TwoTowerLearner(tiny_base(folder), Hyperparameters())
    >>> learner.save(folder / "mine")
    >>> StartingModel.read(folder / "mine").tower(Side.QUERY).path.name
    'queries'
    """

    kind = ModelKind.TWO_TOWER

    def __init__(self, base: StartingModel, training: Hyperparameters) -> None:
        """Start both from one base, or from its two towers."""
        super().__init__(base, training)
        self.queries, self.passages = (base.tower(side).transformer() for side in (Side.QUERY, Side.PASSAGE))

    def tower(self, side: Side) -> PreTrainedModel:
        """The transformer of a side."""
        return self.queries if side is Side.QUERY else self.passages

    def save(self, folder: Path) -> None:
        """Two sentence-transformers folders in one: ``queries`` and ``passages``."""
        for side, name in TOWERS.items():
            write_dense(folder / name, self.base.tower(side), self.tower(side), self.training_settings)
