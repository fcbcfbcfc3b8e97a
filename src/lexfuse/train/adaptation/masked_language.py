"""Masked-language training: of the chosen tokens, 80 % become the mask, 10 % another token, 10 % stay.

The choice is drawn again at every step. In evaluation it depends only on the texts, so that losses can be compared. The head's
logits are computed for the chosen tokens only.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.tokenizer import Row
from lexfuse.errors import ConfigError
from lexfuse.train.adaptation.adaptation_settings import Adaptation
from lexfuse.train.examples.batches import Batch
from lexfuse.train.hyperparameters import Hyperparameters
from lexfuse.train.models.base_model import StartingModel, chunks, move_to_device, padded
from lexfuse.train.models.learner import TOKENS, Learner, TokenisedTexts
from lexfuse.train.models.model_folder import write_graph, write_transformer

SHARES = (0.8, 0.9)  # up to the first a chosen token becomes the mask, up to the second another token
NOT_ASKED = -100  # a label that counts for nothing
HEAD_TOKENS = 32_768  # whose logits are held at once


class MaskedLanguageLearner(Learner):
    """A transformer with its masked-language head.

    >>> from lexfuse.train.examples.batches import Batches
    >>> from lexfuse.train.examples.examples import Examples
    >>> examples = Examples.of([("le bail est nul", "le bail est nul", [], "sentences")])
    >>> learner = MaskedLanguageLearner(tiny_base(folder), Hyperparameters()).eval()
    >>> batch = next(Batches(examples, 1, 0).from_start())
    >>> learner(batch, learner.texts(examples.queries, examples.passages), 0)["loss"].item() > 3
    True
    """

    kind = Adaptation.MLM

    def __init__(self, base: StartingModel, training: Hyperparameters, *, masked: float = 0.15, new_head: bool = False) -> None:
        """Start from a base; ``fresh`` says whether it lacked the head, which then starts at random."""
        super().__init__(base, training)
        self.model, self.fresh = base.masked(new_head=new_head), not base.has_head
        self.masking = Masking.of(base, masked)

    def texts(self, queries: Sequence[str], passages: Sequence[str]) -> TokenisedTexts:
        """The tokens of the sentences, which are on both sides."""
        rows = self.base.rows(queries, self.training_settings.query_length)
        return TokenisedTexts(rows, rows)

    def forward(self, batch: Batch, texts: TokenisedTexts, step: int) -> dict[str, Tensor]:
        """The loss of the hidden tokens."""
        rows = [texts.queries[place] for place in batch.query]
        noisy = self.masking.of_rows(rows, generator_of(rows, learning=self.training), self.device)
        losses = []
        for places in chunks(rows, TOKENS):
            some = noisy.select(places)
            states = self.model.base_model(input_ids=some.ids, attention_mask=some.mask).last_hidden_state
            losses.append(token_loss(head_of(self.model), states, some.labels))
        return {"loss": torch.stack(losses).sum() / noisy.asked}

    def score(self, texts: TokenisedTexts, candidates: Any = None) -> Tensor:
        """Not available: it predicts tokens and does not score texts."""
        raise ConfigError("a masked-language model ranks nothing; train a retriever from it: lexfuse train")

    def save(self, folder: Path) -> None:
        """A transformers folder with the head."""
        write_transformer(folder, self.base, self.model, self.training_settings)
        write_graph(folder, OutputHead.MLM)


@dataclass(frozen=True, slots=True, eq=False)
class MaskedTokens:
    """Padded rows with hidden tokens, and their original tokens.

    >>> ids, mask = torch.tensor([[2, 4, 3, 0]]), torch.tensor([[1, 1, 1, 0]])
    >>> noisy = MaskedTokens(ids, mask, torch.tensor([[NOT_ASKED, 9, NOT_ASKED, NOT_ASKED]]))
    >>> noisy.asked, noisy.select(np.array([0])).ids.tolist()
    (1, [[2, 4, 3]])
    """

    ids: Tensor
    mask: Tensor
    labels: Tensor  # NOT_ASKED where nothing is hidden

    @property
    def asked(self) -> int:
        """The number of tokens to predict, at least 1."""
        return max(1, int((self.labels != NOT_ASKED).sum()))

    def select(self, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> MaskedTokens:
        """Some of the rows, truncated to the longest of them."""
        chosen = move_to_device(places, self.ids.device)
        longest = int(self.mask[chosen].sum(dim=1).max())
        return MaskedTokens(self.ids[chosen, :longest], self.mask[chosen, :longest], self.labels[chosen, :longest])


@dataclass(frozen=True, slots=True, eq=False)
class Masking:
    """How tokens are hidden.

    >>> base = tiny_base(folder)
    >>> rows = base.rows(["le bail"], 16)
    >>> cpu = torch.device("cpu")
    >>> Masking.of(base, 1.0).of_rows(rows, generator_of(rows, learning=False), cpu).asked  # all but the special ones
    6
    """

    base: StartingModel
    share: float
    mask: int  # id of the mask token

    @classmethod
    def of(cls, base: StartingModel, share: float) -> Masking:
        """For the vocabulary of a base; `DataError` if it has no mask token."""
        return cls(base, share, base.mask_token("hidden tokens become"))

    def of_rows(self, rows: Sequence[Row], generator: torch.Generator | None, device: torch.device) -> MaskedTokens:
        """Hide a share of the tokens of each row, at least one, never special tokens; all on a device."""
        tokens = self.base.tokens
        ids, mask = padded(tokens, rows, device)
        inner = inside(mask, len(tokens.before), len(tokens.after))
        where = device if generator is None else generator.device  # that of evaluation is on the CPU
        draws = torch.rand(ids.shape, generator=generator, device=where).to(device).masked_fill(~inner, 2.0)
        chosen = (draws < self.share) | (draws == draws.amin(dim=1, keepdim=True)) & inner
        becomes = torch.rand(ids.shape, generator=generator, device=where).to(device)
        others = torch.randint(tokens.vocabulary_size, ids.shape, generator=generator, device=where).to(device)
        hidden = torch.where(becomes < SHARES[0], torch.full_like(ids, self.mask), torch.where(becomes < SHARES[1], others, ids))
        return MaskedTokens(torch.where(chosen, hidden, ids), mask, torch.where(chosen, ids, torch.full_like(ids, NOT_ASKED)))


def inside(mask: Tensor, before: int, after: int) -> Tensor:
    """Where the tokens of padded rows are neither padding nor special tokens.

    >>> inside(torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]), 1, 1).tolist()
    [[False, True, True, False], [False, False, False, False]]
    """
    place = torch.arange(mask.shape[1], device=mask.device)
    return (place >= before) & (place < mask.sum(dim=1, keepdim=True) - after)


def generator_of(rows: Sequence[Row], *, learning: bool) -> torch.Generator | None:
    """The source of randomness: torch's own, seeded by every step, or in evaluation one that depends on the rows.

    >>> generator_of([], learning=True) is None
    True
    """
    if learning:
        return None
    return torch.Generator().manual_seed(zlib.crc32(b"".join(row.tobytes() + b"/" for row in rows)))


def head_of(model: Any) -> Any:
    """The module that turns states into vocabulary logits.

    >>> head = head_of(tiny_base(folder).masked())
    >>> tuple(head(torch.zeros(3, 16)).shape)
    (3, 93)
    """
    return model.cls if hasattr(model, "cls") else model.lm_head


def token_loss(head: Any, states: Tensor, labels: Tensor) -> Tensor:
    """The summed cross-entropy of all requested tokens; the logits of some tokens at a time.

    >>> states, labels = torch.zeros(1, 2, 4), torch.tensor([[1, NOT_ASKED]])
    >>> round(token_loss(torch.nn.Identity(), states, labels).item(), 4)  # one of four
    1.3863
    """
    asked = labels != NOT_ASKED
    states, labels = states[asked], labels[asked]
    if len(labels) <= HEAD_TOKENS:
        return _surprise(head, states, labels)
    parts = []
    for start in range(0, len(labels), HEAD_TOKENS):
        some = states[start : start + HEAD_TOKENS], labels[start : start + HEAD_TOKENS]
        again = states.requires_grad
        parts.append(checkpoint(_surprise, head, *some, use_reentrant=False) if again else _surprise(head, *some))
    return torch.stack(parts).sum()


def _surprise(head: Any, states: Tensor, labels: Tensor) -> Tensor:
    return functional.cross_entropy(head(states).float(), labels, reduction="sum")
