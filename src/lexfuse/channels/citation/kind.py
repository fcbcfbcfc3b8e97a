"""The kind of the channel that looks up what a query cites."""

from __future__ import annotations

from lexfuse.channels.channel_kind import ChannelKind, SearchOptions
from lexfuse.channels.citation.lookup import CitationLookup
from lexfuse.storage.snapshot import Snapshot


class CitationKind(ChannelKind):
    """Citation lookup, which every index has."""

    name = "citation"
    channels = ("citation",)
    lexical = True

    def open(
        self, snapshot: Snapshot, channel: str, options: SearchOptions, *, name: str, threads: int | None = None
    ) -> CitationLookup:
        """Citation lookup; it has no parameters."""
        return CitationLookup(snapshot, name=name)
