"""TSDAE: most tokens of a sentence are deleted, the rest becomes one vector, and the sentence is reconstructed from it.

The decoder shares the encoder's weights and adds a cross-attention whose only key is the sentence's vector; it is dropped after
training. The vector is the mean of the tokens, as everywhere in LexFuse, where the authors use the first token: RPRS compares
sentences by the vectors of our folders, which are means. Vectors are compared by direction, so the decoder gets only the
direction, scaled to the length of a normed state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFamily
from lexfuse.encode.tokenizer import Row
from lexfuse.errors import DataError
from lexfuse.train.adaptation.adaptation_settings import Adaptation
from lexfuse.train.adaptation.masked_language import NOT_ASKED, generator_of, head_of, inside, token_loss
from lexfuse.train.examples.batches import Batch
from lexfuse.train.hyperparameters import Hyperparameters
from lexfuse.train.models.base_model import StartingModel, chunks, padded, quiet
from lexfuse.train.models.dense import SingleVectors
from lexfuse.train.models.learner import TOKENS, TokenisedTexts

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FAMILIES = (
    ModelFamily.BERT,
    ModelFamily.ROBERTA,
    ModelFamily.CAMEMBERT,
    ModelFamily.XLM_R,
)  # that have a decoder of the same shape


class TsdaeLearner(SingleVectors):
    """An encoder, and a decoder that shares its weights.

    >>> learner = TsdaeLearner(tiny_base(folder), Hyperparameters(), deleted=1.0)
    >>> [len(row) for row in learner.damaged(learner.base.rows(["le congé"], 16))]  # one token is left between the special ones
    [3]
    """

    kind = Adaptation.TSDAE

    def __init__(self, base: StartingModel, training: Hyperparameters, *, deleted: float = 0.6) -> None:
        """Start from a base; the cross-attention, and a missing head, start at random."""
        super().__init__(base, training)
        self.deleted = deleted
        self.encoder = base.transformer()
        self.decoder = decoder_of(base, self.encoder)

    def texts(self, queries: Sequence[str], passages: Sequence[str]) -> TokenisedTexts:
        """The tokens of the sentences, which are on both sides."""
        if tuple(queries) != tuple(passages):  # judged queries and documents
            return super().texts(queries, passages)
        rows = self.base.rows(queries, self.training_settings.query_length)
        return TokenisedTexts(rows, rows)

    def tower(self, side: Side) -> PreTrainedModel:
        """The encoder."""
        return self.encoder

    def forward(self, batch: Batch, texts: TokenisedTexts, step: int) -> dict[str, Tensor]:
        """The loss of each token of the sentences, given the vector and the previous tokens."""
        rows = [texts.queries[place] for place in batch.query]
        vectors = self.vectors(self.damaged(rows), Side.PASSAGE)
        losses = [self.written(vectors[places], [rows[place] for place in places]) for places in chunks(rows, TOKENS)]
        return {"loss": torch.stack(losses).sum() / max(1, sum(len(row) - 1 for row in rows))}

    def damaged(self, rows: Sequence[Row]) -> list[Row]:
        """The rows without a share of their tokens; special tokens and at least one other stay."""
        tokens = self.base.tokens
        mask = torch.from_numpy(tokens.padded(rows)[1])
        inner = inside(mask, len(tokens.before), len(tokens.after))
        draws = torch.rand(mask.shape, generator=generator_of(rows, learning=self.training)).masked_fill(~inner, -1.0)
        kept = (draws >= self.deleted) | (draws == draws.amax(dim=1, keepdim=True)) | ~inner
        return [row[kept[place, : len(row)].numpy()] for place, row in enumerate(rows)]

    def written(self, vectors: Tensor, rows: Sequence[Row]) -> Tensor:
        """The summed loss of all tokens after the first, when the decoder sees only the sentence's vector."""
        ids, mask = padded(self.base.tokens, rows, self.device)
        looked_at = (vectors * math.sqrt(vectors.shape[1])).unsqueeze(1)
        states = self.decoder.base_model(
            input_ids=ids[:, :-1], attention_mask=mask[:, :-1], encoder_hidden_states=looked_at, use_cache=False
        ).last_hidden_state
        return token_loss(head_of(self.decoder), states, ids[:, 1:].masked_fill(mask[:, 1:] == 0, NOT_ASKED))


def decoder_of(base: StartingModel, encoder: PreTrainedModel) -> PreTrainedModel:
    """A decoder that shares the weights of an encoder, with its own cross-attention.

    >>> base = tiny_base(folder)
    >>> encoder = base.transformer()
    >>> decoder = decoder_of(base, encoder)
    >>> decoder.base_model.embeddings.word_embeddings.weight is encoder.embeddings.word_embeddings.weight
    True
    """
    if base.folder.family not in FAMILIES:
        raise DataError(
            f"TSDAE needs a decoder of the same shape, which models of type {base.folder.family} do not have; "
            f"it works with {', '.join(FAMILIES)}; sdr and mlm work with all",
            path=base.folder.path,
        )
    from transformers import AutoModelForCausalLM

    with quiet():
        decoder: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            str(base.folder.transformer), dtype=torch.float32, local_files_only=True, use_safetensors=True,
            is_decoder=True, add_cross_attention=True,
        )  # fmt: skip
    _share(encoder, decoder.base_model)
    decoder.get_output_embeddings().weight = encoder.get_input_embeddings().weight
    return decoder


def _share(owner: nn.Module, other: nn.Module) -> None:
    """Share the weights of another module wherever both have them."""
    for name, parameter in owner.named_parameters():
        place, _, leaf = name.rpartition(".")
        setattr(other.get_submodule(place), leaf, parameter)
