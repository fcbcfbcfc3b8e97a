"""The kind of channels with a vector for each token of a document."""

from __future__ import annotations

from lexfuse.channels.channel_kind import ChannelKind, SearchOptions
from lexfuse.channels.late.builder import late_encoder
from lexfuse.channels.late.late_search import LateMode
from lexfuse.channels.late.retriever import LateRetriever
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.encode.encoder import Side
from lexfuse.storage.snapshot import Snapshot


class LateKind(ChannelKind):
    """Token vectors for late interaction (ColBERT)."""

    name = "late"
    channels = ("colbert",)
    part_class = TokenPart

    def open(self, snapshot: Snapshot, channel: str, options: SearchOptions, *, name: str, threads: int | None) -> Retriever:
        """Search by centroids, or with ``exact`` over every document."""
        encoder = late_encoder(snapshot.channel(channel).named.settings, Side.QUERY, threads=threads)
        mode = LateMode.BRUTE_FORCE if options.exact else LateMode.PLAID
        return LateRetriever(snapshot, encoder, channel, mode, name=name)
