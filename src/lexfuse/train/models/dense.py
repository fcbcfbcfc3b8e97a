"""Dense bi-encoders (FUSE eq. 3-5): one model for both sides, or two towers (BSARD) that start alike.

A text is the mean of its tokens' vectors, of length one; the base's own pooling and layers after it are not taken over.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from lexfuse.encode.sides import Side
from lexfuse.encode.tokens import Row
from lexfuse.train.base import Base
from lexfuse.train.folders import write_dense
from lexfuse.train.models.learner import Encoding
from lexfuse.train.settings import Kind, Training


def mean_of_tokens(model: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """The mean of the tokens' last states (eq. 4), of length one."""
    states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask.unsqueeze(-1).to(torch.float32)
    return functional.normalize((states.float() * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1), dim=1)


class Dense(Encoding):
    """One transformer for queries and passages."""

    kind = Kind.DENSE

    def __init__(self, base: Base, training: Training) -> None:
        """Start from a base."""
        super().__init__(base, training)
        self.model = base.transformer()

    def vectors(self, rows: Sequence[Row], side: Side) -> Tensor:
        """One vector a text."""
        return self.pooled(rows, self.model, mean_of_tokens)

    def scores(self, queries: Tensor, passages: Tensor) -> Tensor:
        """Cosines."""
        return queries @ passages.T

    def save(self, folder: Path) -> None:
        """A sentence-transformers folder."""
        write_dense(folder, self.base, self.model, self.training_settings)


class TwoTower(Encoding):
    """A transformer for queries, another for passages."""

    kind = Kind.TWO_TOWER

    def __init__(self, base: Base, training: Training) -> None:
        """Start both from one base."""
        super().__init__(base, training)
        self.queries, self.passages = base.transformer(), base.transformer()

    def vectors(self, rows: Sequence[Row], side: Side) -> Tensor:
        """One vector a text, by the tower of its side."""
        return self.pooled(rows, self.queries if side is Side.QUERY else self.passages, mean_of_tokens)

    def scores(self, queries: Tensor, passages: Tensor) -> Tensor:
        """Cosines."""
        return queries @ passages.T

    def save(self, folder: Path) -> None:
        """Two sentence-transformers folders in one: ``queries`` and ``passages``."""
        write_dense(folder / "queries", self.base, self.queries, self.training_settings)
        write_dense(folder / "passages", self.base, self.passages, self.training_settings)
