"""The channels of an index: made, filled block by block while others search, merged and dropped.

Encoding takes long, so it happens outside of any transaction; each block is then committed by itself. A filling that is
killed has lost one block, and the next one continues after the last committed block.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.data.document import Document
from lexfuse.data.files import named_storage_errors
from lexfuse.errors import BusyError, ConfigError, DataError, UnknownChannelError
from lexfuse.storage.array_file import map_array
from lexfuse.storage.catalog import Catalog, CatalogChannel, CatalogSegment
from lexfuse.storage.catalog_file import damaged
from lexfuse.storage.folder_names import part_folder, remove_unnamed_parts
from lexfuse.storage.manifest import check_files, damages
from lexfuse.storage.segments.merge import segments_to_merge
from lexfuse.storage.stored_channel import SERIALS, ChannelSegment, ChannelSettings, StoredPart, checked_name, merged_parts

BLOCK = 512  # documents that are encoded and committed at once
PATIENCE = 600.0  # seconds that a filling waits for another writer: its work was long
TURN = 500  # milliseconds that it waits at once
FEW = 0.01  # of the documents of a part, or of a channel
Changing = Callable[[int], AbstractContextManager[None]]


class EncodedBlock(NamedTuple):
    """What an encoder made of a block of documents."""

    content: StoredPart
    passages: int
    cut: int = 0  # documents whose end was not encoded, because the user wanted it so


class ChannelStore:
    """The channels of one index; `IndexFolder.channels` gives them."""

    def __init__(self, folder: Path, catalog: Catalog, changing: Changing) -> None:
        """Take the folder of the index, its catalog, and how one changes it."""
        self._folder = folder
        self._catalog = catalog
        self._changing = changing

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the channels there are."""
        return tuple(channel.name for channel in self._catalog.channels())

    def named(self, name: str) -> CatalogChannel:
        """A channel with its settings; `NotFoundError` lists those there are."""
        for channel in self._catalog.channels():
            if channel.name == name:
                return channel
        known = ", ".join(self.names) or "none yet"
        raise UnknownChannelError(f"the index has no stored channel {name!r}; it has {known}")

    def make(self, name: str, settings: ChannelSettings) -> None:
        """Make a channel, empty at first; one that is there with the same settings stays as it is."""
        with self._patiently():
            for channel in self._catalog.channels():
                if channel.name == name and channel.settings == settings:
                    return
                if channel.name == name:
                    made = f"made by {channel.settings.model!r} with other settings or another version of the model"
                    raise ConfigError(f"the index has a channel {name!r} already, {made}; drop it first, or choose another name")
            self._catalog.insert_channel(checked_name(name), settings)

    def begin(self, name: str, content: StoredPart) -> None:
        """Give a channel that has no part its first one, without documents: what later parts must agree with."""
        with self._patiently():
            if not self._catalog.parts(self.named(name).name):
                none = np.empty(0, dtype=np.int64)
                self._catalog.replace_parts(name, [], self._save(name, ChannelSegment(none, content)))

    def drop(self, name: str) -> None:
        """Drop a channel with everything that was encoded for it."""
        self.named(name)
        with self._patiently():
            self._catalog.remove_channel(name)

    def parts(self, name: str) -> list[ChannelSegment]:
        """What is there of a channel."""
        kind = self.named(name).settings.kind
        with self._catalog.reading():
            return [ChannelSegment.load(kind, self._folder / named.folder, named.manifest) for named in self._catalog.parts(name)]

    def pending(self, name: str) -> I64:
        """Serial numbers of the documents that the channel lacks, ascending."""
        self.named(name)
        with self._catalog.reading():
            living = np.array(self._catalog.serials(), dtype=np.int64)
            held = [map_array(self._folder / part.folder / SERIALS, np.int64) for part in self._catalog.parts(name)]
            return np.setdiff1d(living, np.concatenate(held), assume_unique=True) if held else living

    def documents(self, serials: I64) -> list[Document]:
        """Documents by serial number, ascending, without those that are gone."""
        return list(self._catalog.versions(serials.tolist()).values())

    def fill(
        self,
        name: str,
        encode: Callable[[Sequence[Document]], EncodedBlock],
        *,
        block: int = BLOCK,
        order: Callable[[I64], I64] = lambda serials: serials,
        progress: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Encode the documents that the channel lacks, and return how many; `progress` gets the number so far.

        ``order`` sorts their serial numbers; the first ones are encoded first.
        Documents that others add in the meantime are encoded too. A document that changes is encoded in its new version.
        """
        done = 0
        while len(pending := self.pending(name)):
            some = np.sort(order(pending)[:block])
            found = self._catalog.versions(some.tolist())
            if not found:  # deleted or changed since
                if np.isin(some, self.pending(name)).all():
                    raise damaged(self._catalog.path, f"document number {some[0]} has no text")
                continue
            start = time.perf_counter()
            encoded = encode(list(found.values()))
            seconds = time.perf_counter() - start
            self.add(name, np.array(list(found), dtype=np.int64), encoded, seconds)
            done += len(found)
            progress(done)
        return done

    def add(self, name: str, serials: I64, encoded: EncodedBlock, seconds: float) -> None:
        """Add encoded documents by serial number, without those that the channel has already; `seconds` is what it took."""
        with self._patiently():
            self.named(name)  # it may have been dropped meanwhile
            self._add(name, ChannelSegment(serials, encoded.content))
            self._catalog.count_encoded(name, encoded.passages, encoded.cut, seconds)

    def carry(self, serials: Mapping[int, int]) -> None:
        """Keep what was encoded of documents under their new serial numbers, by the former ones; inside a change.

        A few documents of a large part are left out: they are encoded again sooner than the part is read.
        """
        former = np.array(sorted(serials), dtype=np.int64)
        renumbered = np.array([serials[serial] for serial in former.tolist()], dtype=np.int64)
        for name in self.names if serials else ():
            for part in self.parts(name):
                if np.isin(part.serials, former).sum() > FEW * len(part.serials):
                    kept = merged_parts([part], former)
                    self._add(name, ChannelSegment(renumbered[np.searchsorted(former, kept.serials)], kept.content))

    def unite(self, name: str, encoded: int) -> None:
        """Merge the parts of a channel, of which each costs every search some time, unless few documents were just encoded."""
        with self._patiently():
            channel, named = self.named(name), self._catalog.parts(name)
            living = np.array(self._catalog.serials(), dtype=np.int64)
            if len(named) > 1 and encoded > FEW * len(living):
                self._merge(channel, named, living)

    def merge(self) -> None:
        """Merge each channel into one part, without deleted documents; inside a change."""
        for channel in self._catalog.channels():
            named = self._catalog.parts(channel.name)
            living = np.array(self._catalog.serials(), dtype=np.int64)
            held = [map_array(self._folder / part.folder / SERIALS, np.int64) for part in named]
            if len(named) > 1 or any(not np.isin(serials, living).all() for serials in held):
                self._merge(channel, named, living)

    def drop_damaged(self) -> None:
        """Forget parts whose files are not what was written, or that the catalog names wrongly; inside a change."""
        self._catalog.forget_lost_parts()
        for channel in self._catalog.channels():
            try:
                named = self._catalog.parts(channel.name)
            except DataError:
                self._catalog.forget_parts(channel.name)
                continue
            for part in named:
                if damages(self._folder / part.folder, part.manifest):
                    self._catalog.replace_parts(channel.name, [part], None)

    def remove_orphans(self) -> None:
        """Remove folders that no state names; inside a change."""
        named = {part.folder for channel in self._catalog.channels() for part in self._catalog.parts(channel.name)}
        remove_unnamed_parts(self._folder, named)

    @contextmanager
    def _patiently(self) -> Iterator[None]:
        """A change that waits long for another writer, in turns so short that Ctrl-C is heard."""
        until = time.monotonic() + PATIENCE
        with ExitStack() as change:
            while True:
                try:
                    change.enter_context(self._changing(TURN))
                    break
                except BusyError:
                    if time.monotonic() > until:
                        raise
            yield

    def _add(self, name: str, part: ChannelSegment) -> None:
        """Save a part, without what another filling has added meanwhile, and merge parts where there are many."""
        absent = np.isin(part.serials, self.pending(name), assume_unique=True)
        if not absent.all():
            part = merged_parts([part], part.serials[absent])
        self._catalog.replace_parts(name, [], self._save(name, part))
        channel, named = self.named(name), self._catalog.parts(name)
        while group := segments_to_merge([one.documents for one in named]):
            self._merge(channel, [named[at] for at in group], np.array(self._catalog.serials(), dtype=np.int64))
            named = self._catalog.parts(name)

    def _merge(self, channel: CatalogChannel, named: Sequence[CatalogSegment], living: I64) -> None:
        parts = [ChannelSegment.load(channel.settings.kind, self._folder / one.folder, one.manifest) for one in named]
        check_files((self._folder / one.folder, one.manifest) for one in named)
        part = merged_parts(parts, living)
        self._catalog.replace_parts(channel.name, named, self._save(channel.name, part) if len(part.serials) else None)

    def _save(self, name: str, part: ChannelSegment) -> CatalogSegment:
        number = self._catalog.next_number()
        folder = part_folder(name, number)
        options = self.named(name).settings.options
        with named_storage_errors(self._folder / folder):
            return CatalogSegment(number, folder, len(part.serials), part.save(self._folder / folder, options))


Encode = Callable[[Sequence[Document]], EncodedBlock]
