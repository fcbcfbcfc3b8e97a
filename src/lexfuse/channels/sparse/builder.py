"""Documents encoded for learned sparse channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lexfuse.channels.channel_plan import _key, _same, _tower
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.document import Document
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.shared_encoders import shared_or_loaded
from lexfuse.storage.channel_data.channel_settings import ChannelSettings
from lexfuse.storage.channel_data.channel_store import Encode, EncodedBlock

if TYPE_CHECKING:
    from lexfuse.encode.sparse_encoder import SparseEncoder


def sparse_encoder(settings: ChannelSettings, side: Side, *, threads: int | None = None) -> SparseEncoder:
    """The encoder of a channel of learned sparse vectors for one side.

    >>> from lexfuse.channels.channel_plan import ChannelPlan
    >>> from lexfuse.channels.registry import plan_channel
    >>> len(sparse_encoder(plan_channel("splade", ChannelPlan("fr-legal-splade")), Side.QUERY).terms)
    24000
    """
    model, fingerprint = _tower(settings, side)
    return shared_or_loaded(
        _key(settings, side), lambda: _same(load_sparse_encoder(model, settings, threads), model, fingerprint)
    )


def load_sparse_encoder(model: str, settings: ChannelSettings, threads: int | None) -> SparseEncoder:
    """Load the encoder of a learned sparse channel."""
    from lexfuse.encode.sparse_encoder import SparseEncoder

    options = settings.options
    return SparseEncoder.load(model, int8=bool(options["int8"]), threads=threads, most_terms=int(options["terms"]) or None)


def encode_sparse(settings: ChannelSettings, encoder: SparseEncoder) -> Encode:
    """What encodes a block of documents into weighted terms."""
    headings = bool(settings.options["headings"])

    def encode(documents: Sequence[Document]) -> EncodedBlock:
        rows = encoder.encode([whole_text(document, headings) for document in documents], Side.PASSAGE)
        return EncodedBlock(SparsePart.of(rows, encoder.terms), len(documents))

    return encode
