"""Documents encoded for late-interaction channels, and the codec of their token vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.channels.channel_plan import _key, _same, _tower
from lexfuse.channels.late.codec import TokenCodec
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.data.arrays import F32
from lexfuse.data.document import Document
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.shared_encoders import shared_or_loaded
from lexfuse.storage.channel_data.channel_settings import ChannelSettings
from lexfuse.storage.channel_data.channel_store import Encode, EncodedBlock
from lexfuse.storage.index_folder import IndexFolder

if TYPE_CHECKING:
    from lexfuse.encode.late_encoder import LateEncoder


def late_encoder(settings: ChannelSettings, side: Side, *, threads: int | None = None) -> LateEncoder:
    """The encoder of a channel of token vectors for one side.

    >>> from lexfuse.channels.channel_plan import ChannelPlan
    >>> from lexfuse.channels.registry import plan_channel
    >>> late_encoder(plan_channel("colbert", ChannelPlan("fr-legal-dense")), Side.QUERY).dimension
    384
    """
    model, fingerprint = _tower(settings, side)
    return shared_or_loaded(_key(settings, side), lambda: _same(load_late_encoder(model, settings, threads), model, fingerprint))


def load_late_encoder(model: str, settings: ChannelSettings, threads: int | None) -> LateEncoder:
    """Load the encoder of a late-interaction channel."""
    from lexfuse.encode.late_encoder import LateEncoder

    return LateEncoder.load(model, int8=bool(settings.options["int8"]), threads=threads)


SAMPLE = 2000  # documents whose token vectors the codec of late interaction is trained on


def encode_late(index: IndexFolder, name: str, settings: ChannelSettings, encoder: LateEncoder) -> Encode:
    """What encodes a block of documents into token vectors; the codec comes from the first block."""
    headings = bool(settings.options["headings"])

    def vectors(documents: Sequence[Document]) -> list[F32]:
        return encoder.encode([whole_text(document, headings) for document in documents], Side.PASSAGE)

    codec = train_codec(index, name, int(settings.options["bits"]), vectors)

    def encode(documents: Sequence[Document]) -> EncodedBlock:
        return EncodedBlock(TokenPart.of(vectors(documents), codec), len(documents))

    return encode


def train_codec(index: IndexFolder, name: str, bits: int, vectors: Callable[[Sequence[Document]], list[F32]]) -> TokenCodec:
    """The codec that the channel has, or a new one trained on documents drawn from all."""
    for part in index.channels.parts(name):
        if isinstance(part.content, TokenPart):
            return part.content.codec
    pending = index.channels.pending(name)
    drawn = np.sort(np.random.default_rng(0).permutation(pending)[:SAMPLE])
    sample = np.concatenate(vectors(index.channels.documents(drawn)))
    return TokenCodec.trained(sample, bits=bits, tokens=len(sample) * len(pending) // len(drawn))
