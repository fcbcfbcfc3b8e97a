"""The kind of channels with a weight for each term of a learned vocabulary."""

from __future__ import annotations

from lexfuse.channels.channel_kind import ChannelKind, SearchOptions
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.channels.sparse.builder import sparse_encoder
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.encode.encoder import Side
from lexfuse.storage.snapshot import Snapshot


class SparseOptions(SearchOptions):
    """How learned sparse vectors are compared."""

    cosine: bool | None = None  # else by their dot product; None compares them as their model was trained


class SparseKind(ChannelKind):
    """Learned sparse vectors (SPLADE)."""

    name = "sparse"
    channels = ("splade",)
    part_class = SparsePart
    search_options = SparseOptions

    def open(self, snapshot: Snapshot, channel: str, options: SparseOptions, *, name: str, threads: int | None) -> Retriever:
        """Search over the posting lists of the channel."""
        encoder = sparse_encoder(snapshot.channel(channel).named.settings, Side.QUERY, threads=threads)
        cosine = encoder.cosine if options.cosine is None else options.cosine
        return SparseRetriever(snapshot, encoder=encoder, channel=channel, cosine=cosine, name=name)
