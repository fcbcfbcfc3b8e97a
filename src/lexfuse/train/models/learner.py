"""What all models in training share: tokens of all texts, the loss of a batch, scores for evaluation.

The four kinds that encode queries and passages separately differ only in `EncodingLearner.vectors` and `EncodingLearner.scores`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lexfuse.data.arrays import F32, I32
from lexfuse.encode.encoder import Side
from lexfuse.encode.tokenizer import Row
from lexfuse.train.examples.batches import Batch
from lexfuse.train.examples.examples import NOTHING
from lexfuse.train.hyperparameters import Hyperparameters
from lexfuse.train.models.base_model import StartingModel, chunks, move_to_device, padded
from lexfuse.train.models.losses import divergence, nt_xent

TOKENS = 65_536  # that go through the model at once


@dataclass(frozen=True, slots=True, eq=False)
class TokenisedTexts:
    """The token ids of all queries and passages of some examples."""

    queries: list[Row]
    passages: list[Row]


class Learner(nn.Module):
    """A model in training."""

    kind: StrEnum  # a `ModelKind`, or an `Adaptation`

    def __init__(self, base: StartingModel, training: Hyperparameters) -> None:
        """Keep the base and the settings."""
        super().__init__()
        self.base, self.training_settings = base, training

    @property
    def device(self) -> torch.device:
        """The device of its weights."""
        return next(self.parameters()).device

    def texts(self, queries: Sequence[str], passages: Sequence[str]) -> TokenisedTexts:
        """The tokens of texts, as the model reads them."""
        settings, in_chunks = self.training_settings, self.training_settings.chunk > 0
        return TokenisedTexts(
            self.base.rows(queries, settings.query_length, in_chunks=in_chunks),
            self.base.rows(passages, settings.passage_length, in_chunks=in_chunks),
        )

    def begin(self, texts: TokenisedTexts) -> str:
        """Preparation before the first step, with the texts; returns a message."""
        return ""

    def learning_rates(self) -> Mapping[str, float]:
        """Peak learning rates of parameters, by name, that differ from that of the training."""
        return {}

    def distil(self, losses: dict[str, Tensor], own: Tensor, teacher: F32) -> None:
        """Mix the distance of the model's own scores from those of a teacher into the loss."""
        weight = self.training_settings.distillation
        losses["teacher"] = divergence(own, move_to_device(teacher, own.device), self.training_settings.temperature)
        losses["loss"] = (1 - weight) * losses["loss"] + weight * losses["teacher"]

    @abstractmethod
    def forward(self, batch: Batch, texts: TokenisedTexts, step: int) -> dict[str, Tensor]:
        """The losses of a batch by name; ``loss`` is minimised."""

    @abstractmethod
    def score(self, texts: TokenisedTexts, candidates: I32 | None) -> Tensor:
        """Scores of all passages for all queries, or of each query's candidates."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write a folder that `lexfuse.encode` and the original library of the kind load."""


class EncodingLearner(Learner):
    """A model that encodes queries and passages separately.

    >>> from lexfuse.train.examples.batches import Batches
    >>> from lexfuse.train.examples.examples import Examples
    >>> from lexfuse.train.models.dense import DenseLearner
    >>> examples = Examples.of([("bail", "le bail", ["la loi"], "mine"), ("loi", "la loi", ["le bail"], "mine")])
    >>> learner = DenseLearner(tiny_base(folder), Hyperparameters())
    >>> batch = next(Batches(examples, 2, 1).from_start())
    >>> sorted(learner(batch, learner.texts(examples.queries, examples.passages), 0))
    ['loss', 'ranking']
    """

    @abstractmethod
    def vectors(self, rows: Sequence[Row], side: Side) -> Any:
        """The representation of texts, as tensors."""

    @abstractmethod
    def scores(self, queries: Any, passages: Any) -> Tensor:
        """Scores of every passage for every query."""

    def forward(self, batch: Batch, texts: TokenisedTexts, step: int) -> dict[str, Tensor]:
        """The contrastive loss, the loss of the kind, and the distance to a teacher."""
        queries = self.vectors([texts.queries[place] for place in batch.query], Side.QUERY)
        passages = self.vectors([texts.passages[place] for place in batch.passage], Side.PASSAGE)
        scores = self.scores(queries, passages)
        allowed = move_to_device(batch.allowed, scores.device)
        losses = {"ranking": nt_xent(scores, allowed, self.training_settings.temperature)}
        losses["loss"] = losses["ranking"] + self.added(losses, queries, passages, scores, batch, step)
        if batch.teacher is not None and self.training_settings.distillation:
            self.distil(losses, own_scores(scores, batch), batch.teacher)
        return losses

    def added(
        self, losses: dict[str, Tensor], queries: Any, passages: Any, scores: Tensor, batch: Batch, step: int
    ) -> Tensor | float:
        """The additional loss of a kind, whose parts it adds to ``losses``."""
        return 0.0

    @torch.no_grad()
    def score(self, texts: TokenisedTexts, candidates: I32 | None = None) -> Tensor:
        """Scores of all passages for all queries, block by block."""
        asked = self.vectors(texts.queries, Side.QUERY)
        found = torch.empty(len(texts.queries), len(texts.passages))
        for places in chunks(texts.passages, TOKENS):
            passages = self.vectors([texts.passages[place] for place in places], Side.PASSAGE)
            found[:, torch.from_numpy(places)] = self.scores(asked, passages).float().cpu()
        return found

    def pooled(self, rows: Sequence[Row], model: nn.Module, pool: Any) -> Tensor:
        """One vector per row, computed in groups of similar length."""
        parts, order = [], []
        for places in chunks(rows, TOKENS):
            ids, mask = padded(self.base.tokens, [rows[int(place)] for place in places], self.device)
            parts.append(pool(model, ids, mask))
            order.append(places)
        return torch.cat(parts)[move_to_device(np.argsort(np.concatenate(order)), self.device)]


def own_scores(scores: Tensor, batch: Batch) -> Tensor:
    """The scores of each query's positive and negatives; missing ones repeat the positive's.

    >>> from lexfuse.train.examples.batches import Batches
    >>> from lexfuse.train.examples.examples import Examples
    >>> batch = next(Batches(Examples.of([("bail", "le bail", ["la loi"], "mine")]), 1, 2).from_start())
    >>> own_scores(torch.tensor([[0.75, 0.25]]), batch).tolist()
    [[0.75, 0.25, 0.75]]
    """
    columns = np.where(batch.own == NOTHING, batch.own[:, :1], batch.own).astype(np.int64)
    return scores.gather(1, move_to_device(columns, scores.device))
