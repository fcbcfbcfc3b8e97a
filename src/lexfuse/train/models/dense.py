"""Dense bi-encoders (FUSE eq. 3-5): one model for both sides, or two towers (BSARD).

Two towers start alike, or each from its own where the base has two. A text is the mean of its tokens' vectors, of length one;
the base's own pooling and layers after it are not taken over.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from lexfuse.encode.sides import Side
from lexfuse.encode.tokens import Row
from lexfuse.train.base import TOWERS, Base
from lexfuse.train.folders import write_dense
from lexfuse.train.models.learner import Encoding
from lexfuse.train.settings import Kind, Training


def mean_of_tokens(model: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    """The mean of the tokens' last states (eq. 4), of length one.

    >>> from types import SimpleNamespace
    >>> def model(input_ids, attention_mask):
    ...     return SimpleNamespace(last_hidden_state=torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]]]))
    >>> mean_of_tokens(model, torch.zeros(1, 3), torch.tensor([[1, 1, 0]])).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask.unsqueeze(-1).to(torch.float32)
    return functional.normalize((states.float() * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1), dim=1)


class Dense(Encoding):
    """One transformer for queries and passages.

    >>> import tempfile
    >>> from lexfuse.train.small import small_base
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     learner = Dense(small_base(folder), Training()).eval()
    >>> learner.score(learner.texts(["congé"], ["un bail", "congé"])).argmax().item()
    1
    """

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
    """A transformer for queries, another for passages.

    >>> import tempfile
    >>> from lexfuse.train.small import small_base
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     learner = TwoTower(small_base(folder), Training())
    ...     learner.save(Path(folder, "mine"))
    ...     Base.read(Path(folder, "mine")).tower(Side.QUERY).path.name
    'queries'
    """

    kind = Kind.TWO_TOWER

    def __init__(self, base: Base, training: Training) -> None:
        """Start both from one base, or each from its own tower where the base has two."""
        super().__init__(base, training)
        self.queries, self.passages = (base.tower(side).transformer() for side in (Side.QUERY, Side.PASSAGE))

    def vectors(self, rows: Sequence[Row], side: Side) -> Tensor:
        """One vector a text, by the tower of its side."""
        return self.pooled(rows, self.queries if side is Side.QUERY else self.passages, mean_of_tokens)

    def scores(self, queries: Tensor, passages: Tensor) -> Tensor:
        """Cosines."""
        return queries @ passages.T

    def save(self, folder: Path) -> None:
        """Two sentence-transformers folders in one: ``queries`` and ``passages``."""
        for side, model in ((Side.QUERY, self.queries), (Side.PASSAGE, self.passages)):
            write_dense(folder / TOWERS[side], self.base.tower(side), model, self.training_settings)
