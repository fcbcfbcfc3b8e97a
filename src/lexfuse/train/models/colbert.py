"""ColBERT (FUSE eq. 11-12): a vector for every token; the score is the sum of the best matches of the query's tokens.

Queries are padded with mask tokens that other tokens do not attend to; punctuation of passages has no vector. The folder records
these settings, so that `lexfuse.encode.late_encoder` reads texts the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFamily
from lexfuse.encode.model_folder.late_settings import PUNCTUATION
from lexfuse.encode.model_folder.modules import ActivationFunction
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.tokenizer import Row
from lexfuse.errors import DataError
from lexfuse.train.examples.batches import Batch
from lexfuse.train.examples.examples import NOTHING
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.models.base_model import StartingModel, move_to_device
from lexfuse.train.models.learner import EncodingLearner, own_scores
from lexfuse.train.models.losses import pairwise_softmax
from lexfuse.train.models.model_folder import (
    make_readable,
    window_of,
    write_graph,
    write_modules,
    write_settings,
    write_transformer,
)

CELLS = 1 << 28  # of the table of all token pairs that is held at once


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The padded token vectors of texts, and which of them count."""

    vectors: Tensor  # text x token x dimension
    there: Tensor


class ColbertLearner(EncodingLearner):
    """A transformer and a projection of every token.

    >>> learner = ColbertLearner(tiny_base(folder), Hyperparameters(dimension=8, query_length=12)).eval()
    >>> texts = learner.texts(["congé"], ["congé, bail"])
    >>> vectors = learner.vectors(texts.queries, Side.QUERY).vectors  # filled up with masks
    >>> tuple(vectors.shape), learner.vectors(texts.passages, Side.PASSAGE).there.sum().item()  # without the comma
    ((1, 12, 8), 11)
    """

    kind = ModelKind.COLBERT

    def __init__(self, base: StartingModel, training: Hyperparameters) -> None:
        """Start from a base; the projection starts at random, or with that of a ColBERT of the same dimension."""
        super().__init__(base, training)
        if base.folder.family is ModelFamily.DEBERTA:
            raise DataError(
                "queries are filled up with tokens that no token attends to, which have no state in DeBERTa; start from another "
                "family",
                path=base.folder.path,
            )
        self.model = base.transformer()
        self.projection = nn.Linear(self.model.config.hidden_size, training.dimension, bias=False)
        own = [head.weight for head in base.folder.heads if head.bias is None and head.activation is ActivationFunction.IDENTITY]
        if len(own) == 1 and own[0].shape == tuple(self.projection.weight.shape):
            self.projection.weight.data.copy_(torch.from_numpy(own[0]))
        words = {base.tokens.word(number): number for number in range(base.tokens.vocabulary_size)}
        self.mask = base.mask_token("queries are filled up with")
        self.register_buffer(
            "skipped", torch.tensor(sorted(words[mark] for mark in PUNCTUATION if mark in words)), persistent=False
        )

    def vectors(self, rows: Sequence[Row], side: Side) -> TokenVectors:
        """The vectors of every token of texts."""
        length = min(self.training_settings.query_length, window_of(self.base, self.training_settings))
        if side is Side.QUERY:
            ids, seen = self.base.tokens.padded([*rows, np.zeros(length, dtype=np.int32)])
            ids, seen = ids[:-1], seen[:-1]
            ids[seen == 0] = self.mask
        else:
            ids, seen = self.base.tokens.padded(rows)
        numbers, mask = move_to_device(ids, self.device), move_to_device(seen, self.device)
        states = self.model(input_ids=numbers, attention_mask=mask).last_hidden_state
        vectors = functional.normalize(self.projection(states).float(), dim=2)
        there = (
            torch.ones_like(mask, dtype=torch.bool) if side is Side.QUERY else mask.bool() & ~torch.isin(numbers, self.skipped)
        )
        return TokenVectors(vectors, there)

    def scores(self, queries: TokenVectors, passages: TokenVectors) -> Tensor:
        """Sums of best matches (eq. 11)."""
        amount = max(1, CELLS // max(1, passages.there.numel() * queries.there.shape[1]))
        parts = []
        for start in range(0, len(queries.there), amount):
            table = torch.einsum("qtd,pud->qptu", queries.vectors[start : start + amount], passages.vectors)
            best = table.masked_fill(~passages.there[None, :, None, :], -1.0).amax(dim=3)
            parts.append((best * queries.there[start : start + amount, None, :]).sum(dim=2))
        return torch.cat(parts)

    def added(
        self, losses: dict[str, Tensor], queries: TokenVectors, passages: TokenVectors, scores: Tensor, batch: Batch, step: int
    ) -> Tensor:
        """The positive against each hard negative (eq. 12)."""
        there = move_to_device(batch.own != NOTHING, scores.device)
        losses["pairs"] = pairwise_softmax(own_scores(scores, batch), there)
        return losses["pairs"]

    def save(self, folder: Path) -> None:
        """A folder in PyLate's layout."""
        from safetensors.torch import save_file

        settings, window = self.training_settings, window_of(self.base, self.training_settings)
        write_transformer(folder, self.base, self.model, settings)
        write_modules(folder, [("", "sentence_transformers.models.Transformer"), ("1_Dense", "pylate.models.Dense.Dense")])
        weight = self.projection.weight.detach().cpu().contiguous()
        shape = {"in_features": weight.shape[1], "out_features": weight.shape[0], "bias": False}
        write_settings(folder / "1_Dense" / "config.json", {**shape, "activation_function": "torch.nn.modules.linear.Identity"})
        save_file({"linear.weight": weight}, str(folder / "1_Dense" / "model.safetensors"))
        make_readable(folder / "1_Dense" / "model.safetensors")
        late = {"query_prefix": "", "document_prefix": "", "query_length": min(settings.query_length, window)}
        late |= {"document_length": window, "do_query_expansion": True, "attend_to_expansion_tokens": False}
        late |= {"skiplist_words": list(PUNCTUATION), "similarity_fn_name": "MaxSim"}
        write_settings(folder / "config_sentence_transformers.json", late)
        write_graph(folder, OutputHead.HIDDEN)
