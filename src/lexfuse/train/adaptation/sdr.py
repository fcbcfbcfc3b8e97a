"""SDR (RPRS 4.3.1): sentences of one paragraph move together, those of different documents apart; tokens are masked.

The loss is the sum of a masked-language loss and a contrastive loss over pairs, both from the same masked sentences. Half of the
pairs are of one paragraph; in the others the second sentence is from another document of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from lexfuse.data.arrays import Bools
from lexfuse.encode.encoder import Side
from lexfuse.encode.tokenizer import Row
from lexfuse.train.adaptation.adaptation_settings import Adaptation
from lexfuse.train.adaptation.masked_language import Masking, generator_of, head_of, token_loss
from lexfuse.train.examples.batches import Batch
from lexfuse.train.hyperparameters import Hyperparameters
from lexfuse.train.models.base_model import StartingModel, chunks
from lexfuse.train.models.dense import SingleVectors
from lexfuse.train.models.learner import TOKENS, TokenisedTexts

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SAME = 0.5  # share of the pairs that are of one paragraph


class SdrLearner(SingleVectors):
    """An encoder with a masked-language head, which is dropped after training.

    >>> from lexfuse.train.examples.batches import Batches
    >>> from lexfuse.train.examples.examples import Examples
    >>> examples = Examples.of([("le bail", "il est nul", [], "a"), ("la loi", "elle dure", [], "a")])
    >>> learner = SdrLearner(tiny_base(folder), Hyperparameters()).eval()
    >>> batch = next(Batches(examples, 2, 0).from_start())
    >>> sorted(learner(batch, learner.texts(examples.queries, examples.passages), 0))
    ['contrast', 'loss', 'masked']
    """

    kind = Adaptation.SDR

    def __init__(self, base: StartingModel, training: Hyperparameters, *, masked: float = 0.15, margin: float = 0.0) -> None:
        """Start from a base; ``fresh`` says whether it lacked the head, which then starts at random."""
        super().__init__(base, training)
        self.model, self.fresh = base.masked(new_head=True), not base.has_head
        self.masking, self.margin = Masking.of(base, masked), margin

    def tower(self, side: Side) -> PreTrainedModel:
        """The encoder without the head."""
        model: PreTrainedModel = self.model.base_model
        return model

    def forward(self, batch: Batch, texts: TokenisedTexts, step: int) -> dict[str, Tensor]:
        """Both losses; each sentence is read once."""
        size = len(batch)
        rows = [texts.queries[place] for place in batch.query] + [texts.passages[place] for place in batch.passage[:size]]
        generator = generator_of(rows, learning=self.training)
        partner, same = partners(batch.allowed[:, :size], generator)
        vectors, masked = self._read(rows, generator)
        contrast = contrastive(vectors[:size], vectors[size:][partner.to(self.device)], same.to(self.device), self.margin)
        return {"loss": masked + contrast, "masked": masked, "contrast": contrast}

    def _read(self, rows: Sequence[Row], generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """The vectors of masked rows, and the loss of their hidden tokens."""
        noisy = self.masking.of_rows(rows, generator, self.device)
        vectors, order, losses = [], [], []
        for places in chunks(rows, TOKENS):
            some = noisy.select(places)
            states = self.model.base_model(input_ids=some.ids, attention_mask=some.mask).last_hidden_state
            weights = some.mask.unsqueeze(-1).to(torch.float32)
            vectors.append((states.float() * weights).sum(dim=1) / weights.sum(dim=1))
            losses.append(token_loss(head_of(self.model), states, some.labels))
            order.append(torch.from_numpy(places))
        back = torch.argsort(torch.cat(order)).to(self.device)
        return torch.cat(vectors)[back], torch.stack(losses).sum() / noisy.asked


def contrastive(first: Tensor, second: Tensor, same: Tensor, margin: float = 0.0) -> Tensor:
    """The loss of pairs: 1 - cosine if they belong together, otherwise the cosine above a margin.

    >>> one, other = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    >>> contrastive(one, other, torch.tensor([True, False]), margin=0.5).item()
    0.75
    """
    return functional.cosine_embedding_loss(first.float(), second.float(), same.float() * 2 - 1, margin=margin)


def partners(allowed: Bools, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """The column of each row's second sentence, and whether it is its own: in half of the cases, drawn at random.

    In the other half it is one of the allowed columns; a row without any keeps its own.

    >>> column, same = partners(np.array([[True, False], [False, True]]), None)
    >>> column.tolist(), same.tolist()
    ([0, 1], [True, True])
    """
    size = len(allowed)
    own = torch.arange(size)
    others = torch.from_numpy(allowed.copy()).fill_diagonal_(False)
    same = (torch.rand(size, generator=generator) < SAME) | ~others.any(dim=1)
    drawn = torch.rand(size, size, generator=generator).masked_fill(~others, -1.0).argmax(dim=1)
    return torch.where(same, own, drawn), same
