"""SPLADE-max (FUSE eq. 6-10): the saturated logits of the masked-language head, the highest over a text's tokens.

A masked-language head gives most vocabulary entries a positive logit, so vectors would start with half of them or more, and
scores in the thousands. So the head's bias is lowered first, until a passage starts with few entries: the FLOPS loss need not do
that, and its reductions are permanent.

The highest logit is taken before the saturation, which is monotonic. The head runs on some texts at a time and again in the
backward pass, since the logits of all tokens for the whole vocabulary would fill the memory.

With ``query_table`` the model encodes passages alone. The weight of a query's token is its entry in a table, which is learned
with the model: see `lexfuse.encode.query_table`. It starts as the weights that a sparse base gives the tokens of queries, or as
the idf of tokens in the training passages if the base is not sparse yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from lexfuse.data.arrays import F32
from lexfuse.encode.encoder import Side
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.query_table import write_query_table
from lexfuse.encode.tokenizer import Row
from lexfuse.train.examples.batches import Batch
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind, Similarity
from lexfuse.train.models.base_model import TOWERS, StartingModel, move_to_device
from lexfuse.train.models.learner import EncodingLearner, TokenisedTexts
from lexfuse.train.models.losses import flops, flops_schedule
from lexfuse.train.models.model_folder import write_graph, write_similarity, write_transformer

HEAD_TOKENS = 8192  # whose logits are held at once
SAMPLE = 256  # passages that the first bias is chosen on; texts that the first table is taken from at once


class SpladeLearner(EncodingLearner):
    """A transformer with its masked-language head.

    >>> learner = SpladeLearner(tiny_base(folder), Hyperparameters(start_active=10))
    >>> texts = learner.texts(["congé"], ["le congé", "un bail"])
    >>> learner.begin(texts)
    "the head's bias is lowered by ...: passages start with 10 entries of the vocabulary, not ..."
    >>> tuple(learner.vectors(texts.passages, Side.PASSAGE).shape)
    (2, 93)
    """

    kind = ModelKind.SPLADE

    def __init__(self, base: StartingModel, training: Hyperparameters) -> None:
        """Start from a base that has the head."""
        super().__init__(base, training)
        self.model = base.masked()
        self.table = nn.Parameter(torch.zeros(self.model.config.vocab_size)) if training.query_table else None

    def learning_rates(self) -> Mapping[str, float]:
        """Each number of the table moves far, those of the model little."""
        return {} if self.table is None else {"table": self.training_settings.table_learning_rate}

    @torch.no_grad()
    def begin(self, texts: TokenisedTexts) -> str:
        """Lower the bias of the head, and start the table, unless an earlier stage did."""
        lowered = self._lower_bias(texts)
        if self.table is None or self.table.any():
            return lowered
        if not lowered:
            self.table.copy_(torch.from_numpy(self._own_weights(texts.queries)))
            return f"the query table starts as the weights that the base gives the tokens of {len(texts.queries):,} queries"
        idf = _idf(texts.passages, len(self.table))
        asked = idf[np.concatenate([self._inner(row) for row in texts.queries])]
        self.table.copy_(torch.from_numpy(idf / (asked.mean() or 1.0)))  # a token of a question weighs 1 on average
        return f"{lowered}; the query table starts as the idf of tokens in {len(texts.passages):,} passages"

    def _own_weights(self, queries: Sequence[Row]) -> F32:
        """The mean weight of every token in the queries that hold it; by itself, if none does."""
        self.eval()
        sums, counts = (np.zeros(self.model.config.vocab_size, dtype=np.float32) for _ in range(2))
        tokens = self.base.tokens
        alone = [tokens.wrapped(np.array([token], dtype=np.int32)) for token in range(tokens.vocabulary_size)]
        for rows in (queries, alone):
            known = counts > 0
            for start in range(0, len(rows), SAMPLE):
                some = rows[start : start + SAMPLE]
                vectors = self.pooled(some, self.model, self._activated).float().cpu().numpy()
                for vector, row in zip(vectors, some, strict=True):
                    held = np.unique(self._inner(row))
                    held = held[~known[held]]
                    sums[held] += vector[held]
                    counts[held] += 1
        return (sums / np.maximum(counts, 1)).astype(np.float32)

    def _lower_bias(self, texts: TokenisedTexts) -> str:
        """Lower the bias until passages start with the wanted number of entries; a sparse head stays unchanged."""
        wanted = self.training_settings.start_active
        rows = texts.passages[:: max(1, len(texts.passages) // SAMPLE)]
        if not wanted or wanted >= self.model.config.vocab_size or not rows:
            return ""
        self.eval()
        weights = self.vectors(rows, Side.PASSAGE)
        active = (weights > 0).sum(dim=1).float().mean().item()
        if active <= wanted:
            return ""
        lowered = torch.expm1(weights.kthvalue(weights.shape[1] - wanted, dim=1).values).mean()
        self.model.get_output_embeddings().bias -= lowered
        change = f"passages start with {wanted:,} entries of the vocabulary, not {active:,.0f}"
        return f"the head's bias is lowered by {lowered:.2f}: {change}"

    def vectors(self, rows: Sequence[Row], side: Side) -> Tensor:
        """One weight per vocabulary entry, most of them 0."""
        if self.table is None or side is Side.PASSAGE:
            return self.pooled(rows, self.model, self._activated)
        held = np.zeros((len(rows), len(self.table)), dtype=np.float32)
        for place, row in enumerate(rows):
            held[place, self._inner(row)] = 1.0
        return move_to_device(held, self.device) * torch.relu(self.table.float())

    def _inner(self, row: Row) -> Row:
        """The tokens of a query without special ones."""
        return row[len(self.base.tokens.before) : len(row) - len(self.base.tokens.after)]

    def _activated(self, model: Any, ids: Tensor, mask: Tensor) -> Tensor:
        states = model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
        head = model.cls if hasattr(model, "cls") else model.lm_head
        amount = max(1, HEAD_TOKENS // ids.shape[1])
        parts = []
        for start in range(0, len(ids), amount):
            some, there = states[start : start + amount], mask[start : start + amount]
            parts.append(
                checkpoint(_highest, head, some, there, use_reentrant=False)
                if states.requires_grad
                else _highest(head, some, there)
            )
        return torch.log1p(torch.relu(torch.cat(parts).float()))

    def scores(self, queries: Tensor, passages: Tensor) -> Tensor:
        """Cosines (FUSE Table 8), or dot products."""
        if self.training_settings.similarity is Similarity.COSINE:
            queries, passages = functional.normalize(queries, dim=1), functional.normalize(passages, dim=1)
        with torch.autocast(queries.device.type, enabled=False):
            return queries @ passages.T

    def added(
        self, losses: dict[str, Tensor], queries: Tensor, passages: Tensor, scores: Tensor, batch: Batch, step: int
    ) -> Tensor:
        """The FLOPS regularisation of both sides (eq. 10), whose weights rise at first; a table adds no terms to a query."""
        settings = self.training_settings
        warm = int(settings.flops_warm_up * settings.steps)
        losses["flops of passages"] = flops(passages)
        added = flops_schedule(settings.flops_passages, step, warm) * losses["flops of passages"]
        if self.table is not None:
            return added
        losses["flops of queries"] = flops(queries)
        return added + flops_schedule(settings.flops_queries, step, warm) * losses["flops of queries"]

    def save(self, folder: Path) -> None:
        """A transformers folder with the head, including the similarity; with a table, ``passages`` next to ``queries``."""
        passages, similarity = folder, self.training_settings.similarity
        if self.table is not None:
            passages = folder / TOWERS[Side.PASSAGE]
            write_query_table(
                folder / TOWERS[Side.QUERY], torch.relu(self.table.detach()).cpu().numpy(), self.base.folder.transformer,
                similarity=similarity.value, lowercase=self.base.folder.lowercase,
            )  # fmt: skip
        write_transformer(passages, self.base, self.model, self.training_settings)
        write_graph(passages, OutputHead.MLM)
        write_similarity(passages, similarity)


def _idf(rows: Sequence[Row], size: int) -> F32:
    """ln(1 + (N - n + 0.5) / (n + 0.5)) of every vocabulary entry, which n of N texts hold."""
    held = np.bincount(np.concatenate([np.unique(row) for row in rows]), minlength=size)
    return np.log1p((len(rows) - held + 0.5) / (held + 0.5)).astype(np.float32)


def _highest(head: nn.Module, states: Tensor, mask: Tensor) -> Tensor:
    """The highest logit of each vocabulary entry over the tokens of each text."""
    logits = head(states).masked_fill(~mask.bool().unsqueeze(-1), float("-inf"))
    return logits.max(dim=1).values
