"""The files of a state of an index folder, mapped into memory: segments of documents and parts of channels.

Files never change, so a state shares those that it has in common with a former one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lexfuse.errors import DataError, NotFoundError, UnknownChannelError
from lexfuse.storage.catalog import Catalog, CatalogSegment
from lexfuse.storage.segments.segment import Segment
from lexfuse.storage.segments.shared_postings import JoinedLists
from lexfuse.storage.snapshot import ChannelState
from lexfuse.storage.stored_channel import ChannelSegment


class SegmentGoneError(Exception):
    """Files of a state are missing: a newer state may have replaced it."""

    def __init__(self, generation: int, reason: Exception) -> None:
        """Keep which state it was, and what was missing."""
        super().__init__(str(reason))
        self.generation = generation
        self.reason = reason


class MappedFiles:
    """Segments and channels of the state that a catalog names; `joined` are posting lists that states share, by channel."""

    def __init__(self, folder: Path, catalog: Catalog, generation: int, former: MappedFiles | None = None) -> None:
        """Map all files that the former state does not have."""
        self._folder = folder
        self._held: dict[CatalogSegment, Segment | ChannelSegment] = {}
        self.joined: dict[str, JoinedLists] = {} if former is None else former.joined
        known: Mapping[CatalogSegment, Segment | ChannelSegment] = {} if former is None else former._held
        try:
            self.segments = [(named, self._segment(named, known)) for named in catalog.segments()]
            self.channels = {
                named.name: ChannelState(
                    named, [self._part(named.settings.kind, part, known) for part in catalog.parts(named.name)]
                )
                for named in catalog.channels()
            }
        except (NotFoundError, DataError) as error:
            raise SegmentGoneError(generation, error) from error
        for named, segment in self.segments:
            if len(segment.ids) != named.documents:
                reason = f"has {len(segment.ids):,} documents, the catalog says {named.documents:,}; verify the index"
                raise DataError(reason, path=folder / named.folder)

    def _segment(self, named: CatalogSegment, known: Mapping[CatalogSegment, Segment | ChannelSegment]) -> Segment:
        found = known.get(named)
        segment = found if isinstance(found, Segment) else Segment.load(self._folder / named.folder, named.manifest)
        self._held[named] = segment
        return segment

    def _part(self, kind: str, named: CatalogSegment, known: Mapping[CatalogSegment, Segment | ChannelSegment]) -> ChannelSegment:
        found = known.get(named)
        if not isinstance(found, ChannelSegment):
            found = ChannelSegment.load(kind, self._folder / named.folder, named.manifest)
        self._held[named] = found
        return found

    def channel(self, name: str) -> ChannelState:
        """A channel; `NotFoundError` lists the existing ones."""
        try:
            return self.channels[name]
        except KeyError:
            known = ", ".join(self.channels) or "none yet; add one with lexfuse index INDEX --channels dense"
            raise UnknownChannelError(f"the index has no stored channel {name!r}; it has {known}") from None

    def lists(self, channel: str) -> JoinedLists:
        """The posting lists of a channel that states share."""
        return self.joined.setdefault(channel, JoinedLists())
