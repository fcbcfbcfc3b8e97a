"""Cross-encoders: query and passage read together, one logit.

monoBERT (FUSE eq. 13-16) learns by binary cross-entropy. MTFT-BERT (Abolghasemi et al. 2022, a baseline of RPRS) learns to rank
the relevant passage above each other one, and adds a second task with the same transformer: query and passages are read alone,
and the vector of a query's first token must be nearer to that of its relevant passage than to that of another one, by a margin.
The second task is for training only; the model that results is a cross-encoder like any other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lexfuse.data.arrays import I32
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.pair_encoder import PairTemplate
from lexfuse.encode.tokenizer import Row
from lexfuse.errors import ConfigError
from lexfuse.train.examples.batches import Batch
from lexfuse.train.examples.examples import NOTHING
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind, RankingLoss
from lexfuse.train.models.base_model import StartingModel, chunks, move_to_device, padded
from lexfuse.train.models.learner import TOKENS, Learner, TokenisedTexts
from lexfuse.train.models.losses import binary_cross_entropy, pairwise_softmax, triplet_margin
from lexfuse.train.models.model_folder import window_of, write_graph, write_settings, write_transformer


class CrossEncoderLearner(Learner):
    """A transformer with a classifier of one label on its first token.

    >>> learner = CrossEncoderLearner(tiny_base(folder), Hyperparameters()).eval()
    >>> texts = learner.texts(["congé"], ["un bail", "le congé"])
    >>> learner.score(texts, np.array([[1, NOTHING]], np.int32)).isfinite().tolist()  # the candidate alone
    [[False, True]]
    """

    kind = ModelKind.CROSS

    def __init__(self, base: StartingModel, training: Hyperparameters) -> None:
        """Start from a base; a missing classifier starts at random."""
        super().__init__(base, training)
        self.model = base.classifier()
        self.typed = base.folder.sizes is not None and base.folder.sizes.types > 1  # whether texts have types
        self.frame = PairTemplate.of(base.tokens)
        self.room = self.frame.room - base.tokens.window + window_of(base, training)  # for both, as the folder will say

    def texts(self, queries: Sequence[str], passages: Sequence[str]) -> TokenisedTexts:
        """Tokens without special tokens, which surround the pair."""
        settings, tokens = self.training_settings, self.base.tokens
        before, after = len(tokens.before), len(tokens.after)
        asked, answered = self.base.rows(queries, settings.query_length), self.base.rows(passages, settings.passage_length)
        return TokenisedTexts(
            [row[before : len(row) - after] for row in asked], [row[before : len(row) - after] for row in answered]
        )

    def forward(self, batch: Batch, texts: TokenisedTexts, step: int) -> dict[str, Tensor]:
        """Every query with its positive and its own negatives."""
        there = batch.own != NOTHING
        row, column = np.nonzero(there)
        passages = batch.passage[batch.own[row, column]]
        logits = self.logits(
            [(texts.queries[batch.query[at]], texts.passages[passage]) for at, passage in zip(row, passages, strict=True)]
        )
        present = move_to_device(there, logits.device)
        own = torch.zeros(there.shape, device=logits.device).masked_scatter(present, logits.float())
        if self.training_settings.ranking_loss is RankingLoss.PAIRWISE:
            losses = {"pairs": pairwise_softmax(own, present)}
        else:
            losses = {"pairs": binary_cross_entropy(logits, move_to_device(column == 0, logits.device))}
        losses["loss"] = losses["pairs"]
        if weight := self.training_settings.representation:
            losses["representation"] = self.representation_loss(batch, texts)
            losses["loss"] = losses["loss"] + weight * losses["representation"]
        if batch.teacher is not None and self.training_settings.distillation:
            self.distil(losses, own, np.where(there, batch.teacher, np.float32(np.nan)))
        return losses

    def representation_loss(self, batch: Batch, texts: TokenisedTexts) -> Tensor:
        """The second task of MTFT-BERT over all triplets of a batch: a query, its positive and one of its negatives."""
        row, column = np.nonzero(batch.own[:, 1:] != NOTHING)
        queries = self.first_tokens([texts.queries[place] for place in batch.query])
        passages = self.first_tokens([texts.passages[place] for place in batch.passage])
        asked = move_to_device(row.astype(np.int64), queries.device)
        positives, negatives = (
            passages[move_to_device(columns.astype(np.int64), passages.device)]
            for columns in (batch.own[row, 0], batch.own[row, column + 1])
        )
        return triplet_margin(queries[asked], positives, negatives, self.training_settings.margin)

    def first_tokens(self, rows: Sequence[Row]) -> Tensor:
        """The last hidden state of the first token of texts that are read alone."""
        framed = [self.base.tokens.wrapped(row) for row in rows]
        parts, order = [], []
        for places in chunks(framed, TOKENS):
            ids, mask = padded(self.base.tokens, [framed[place] for place in places], self.device)
            parts.append(self.model.base_model(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0])
            order.append(places)
        return torch.cat(parts)[move_to_device(np.argsort(np.concatenate(order)), self.device)]

    def logits(self, pairs: Sequence[tuple[Row, Row]]) -> Tensor:
        """The relevance of each passage to its query; the passage is truncated at the window, a query at half of it."""
        room, framed = self.room, []
        for query, passage in pairs:
            asked = query if len(query) + len(passage) <= room else query[: room // 2]
            framed.append(self.frame.row(asked, passage[: room - len(asked)]))
        parts, order = [], []
        for places in chunks([ids for ids, _ in framed], TOKENS):
            ids, mask = self.base.tokens.padded([framed[place][0] for place in places])
            types = np.zeros_like(ids)
            for at, place in enumerate(places):
                types[at, : len(framed[place][1])] = framed[place][1]
            inputs = {"input_ids": ids, "attention_mask": mask}
            if self.typed:
                inputs["token_type_ids"] = types
            given = {name: move_to_device(values, self.device) for name, values in inputs.items()}
            parts.append(self.model(**given).logits.squeeze(1))
            order.append(places)
        return torch.cat(parts)[move_to_device(np.argsort(np.concatenate(order)), self.device)]

    @torch.no_grad()
    def score(self, texts: TokenisedTexts, candidates: I32 | None = None) -> Tensor:
        """Scores of each query's candidates; all other passages come last."""
        if candidates is None:
            raise ConfigError("a cross-encoder is judged by how it ranks candidates: give a run or an index to take them from")
        found = torch.full((len(texts.queries), len(texts.passages)), float("-inf"))
        for at, row in enumerate(candidates):
            chosen = row[row != NOTHING]
            if len(chosen):
                logits = self.logits([(texts.queries[at], texts.passages[place]) for place in chosen])
                found[at, torch.from_numpy(chosen.astype(np.int64))] = logits.float().cpu()
        return found

    def save(self, folder: Path) -> None:
        """A transformers folder with the classifier."""
        write_transformer(folder, self.base, self.model, self.training_settings)
        path = folder / "tokenizer_config.json"
        settings = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        settings["model_input_names"] = ["input_ids", *(["token_type_ids"] if self.typed else []), "attention_mask"]
        write_settings(path, settings)
        write_graph(folder, OutputHead.CLASSES)
