"""A state of an index folder, open for reading."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lexfuse.data.arrays import I32, I64, Bools, offsets_of
from lexfuse.data.document import Document
from lexfuse.data.document_history import is_absence, join_versions
from lexfuse.data.ids import Ids
from lexfuse.errors import DataError
from lexfuse.storage.catalog import Catalog
from lexfuse.storage.document_numbers import Numbering
from lexfuse.storage.folder_names import CHANNELS, FILE, SEGMENTS, file_sizes
from lexfuse.storage.history.day_coverage import DayCoverage
from lexfuse.storage.history.day_rows import DayRows, version_rows_of
from lexfuse.storage.history.row_columns import RowColumns
from lexfuse.storage.history.shown_rows import AllRows, ShownRows
from lexfuse.storage.history.timeline import Timeline
from lexfuse.storage.history.version_ids import VersionIds
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.mapped_files import MappedFiles, SegmentGoneError
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.segments.written_words import FolderWords, SegmentDocuments, WrittenWords
from lexfuse.storage.snapshot import ChannelState, Snapshot
from lexfuse.storage.stored_ids import StoredIds


def open_snapshot(folder: str | Path, former: Snapshot | None = None) -> FolderSnapshot:
    """The newest state of an index folder; it shares unchanged parts with an open former snapshot.

    A merge may remove files between reading their names and mapping them; then the newer state is opened.

    >>> open_snapshot("/nowhere")
    Traceback (most recent call last):
    ...
    lexfuse.errors.UnknownIndexError: no index in '/nowhere' (it has no catalog.sqlite); ...
    """
    seen = -1
    while True:
        try:
            return FolderSnapshot(Path(folder), former)
        except SegmentGoneError as vanished:
            if vanished.generation == seen:
                raise vanished.reason from None
            seen = vanished.generation


class FolderSnapshot(Snapshot):
    """A state of an index folder; live documents are numbered segment by segment.

    Inside segments deleted documents keep their place: `numbering` maps between the two. Where documents have versions, those
    that are not in force on the day are left out like deleted ones: statistics and ranks are those of an index of that day's law.
    """

    _coded: dict[str, tuple[I32, list[Any]]]

    def __init__(self, folder: Path, former: Snapshot | None = None) -> None:
        """Open the newest state and keep it."""
        self.folder, self.place = folder, folder / FILE
        shared = former._files if isinstance(former, FolderSnapshot) and former.folder == folder else None
        self._catalog = Catalog.open(folder)
        try:
            self._catalog.hold()
            self.generation = self._catalog.meta("generation")
            self.settings = IndexSettings.from_json(self._catalog.meta("settings"))
            self._files: MappedFiles = MappedFiles(folder, self._catalog, self.generation, shared)
            self._timeline = Timeline(self._catalog) if self._is_dated() else None
        except BaseException:
            self.close()
            raise
        self._columns = RowColumns(self._catalog)
        self._show(datetime.date.today())
        if shared and isinstance(former, FolderSnapshot) and self._has_documents_of(former):
            self._coded, self._derived = former._coded, former._derived

    def _has_documents_of(self, former: FolderSnapshot) -> bool:
        """Whether another state has the same documents: only channels have changed. Versions are not compared."""
        if self._timeline is not None or former._timeline is not None:
            return False
        same_files = [one.number for one in self._named] == [one.number for one in former._named]
        return same_files and np.array_equal(self._alive, former._alive)

    def _is_dated(self) -> bool:
        """Whether documents have versions, of which those of a day are shown."""
        return self._catalog.has_history

    def _show(self, day: datetime.date) -> None:
        """Leave out the versions that are not in force on a day, and forget what was derived from others."""
        for name in ("bases", "_alive", "ids", "numbering", "_derived", "written_words"):
            self.__dict__.pop(name, None)
        self.day, shown = day, self._files.segments
        self._rows: ShownRows = AllRows(self._catalog)
        if self._timeline is not None:
            self._rows = self._day_rows = DayRows(self._catalog, self._timeline, self._columns, day)
            held = set(self._day_rows.places.segments.tolist())
            shown = [pair for pair in shown if pair[0].number in held]
        self._named, self.segments = [named for named, _ in shown], [segment for _, segment in shown]
        self._postings: dict[str, Postings] = {}
        self._numberings: dict[str, Numbering] = {}
        self._coded = {}

    @property
    def field_lengths(self) -> Mapping[str, float] | None:
        """The terms in each field of all documents of a cluster; None for a single index."""
        return None

    @cached_property
    def bases(self) -> I64:
        """Raw number of the first document of each segment, and the end."""
        return offsets_of(np.array([named.documents for named in self._named], dtype=np.int64))

    @property
    def has_history(self) -> bool:  # type: ignore[override]
        """Whether documents have versions, of which it shows those in force on its day."""
        return self._timeline is not None

    def epoch(self, day: datetime.date) -> int:
        """A number that two days share if the same versions are in force on both."""
        return 0 if self._timeline is None else self._timeline.counts.epoch(day)

    def on(self, day: datetime.date) -> FolderSnapshot:
        """The same state with the versions in force on another day; it closes with this one.

        >>> snapshot.on(datetime.date(1804, 3, 21)) is snapshot  # its documents have no versions
        True
        """
        if self.epoch(day) == self.epoch(self.day):
            return self
        other = copy.copy(self)
        other._show(day)
        return other

    def timeline(self) -> Timeline:
        """When each row of the catalog is in force, by its own dates or by the periods of its document."""
        return self._timeline or Timeline(self._catalog)

    def every_version(self) -> FolderSnapshot:
        """The same state with every version as a document, whose id is that of its row; it closes with this one.

        >>> snapshot.every_version() is snapshot  # its documents have no versions
        True
        """
        if self._timeline is None:
            return self
        other = copy.copy(self)
        other._timeline = None
        other._show(self.day)
        return other

    def catalog_numbers(self) -> I32:
        """The number of the document of each row of the catalog, in the order of their serial numbers."""
        return self.numbering.places[self._raw(*self._rows.serials()[0])]

    def coverage(self, day: datetime.date) -> DayCoverage:
        """How many documents are in force on a day, and how many are known only from a later day on."""
        return super().coverage(day) if self._timeline is None else self._timeline.counts.coverage(day)

    @cached_property
    def _alive(self) -> Bools:
        if self._timeline is not None:
            shown = np.zeros(int(self.bases[-1]), dtype=np.bool_)
            shown[self._raw(*self._day_rows.places)] = True
            return shown
        alive = np.ones(int(self.bases[-1]), dtype=np.bool_)
        if buried := self._catalog.tombstones():
            alive[self._raw(*zip(*buried, strict=True))] = False
        return alive

    @cached_property
    def ids(self) -> Ids:
        """Ids of the live documents by number."""
        lists = [segment.ids for segment in self.segments]
        return StoredIds(lists, self._alive) if self._timeline is None else VersionIds(lists, self._alive, self._day_rows.renamed)

    @cached_property
    def numbering(self) -> Numbering:
        """The raw numbers of the documents in the segments."""
        places = np.where(self._alive, np.cumsum(self._alive, dtype=np.int32) - 1, -1).astype(np.int32)
        return Numbering(self.ids, self.bases, places)

    @cached_property
    def written_words(self) -> WrittenWords | None:
        """The words of the documents of the day; None where an older LexFuse wrote a segment."""
        alive = np.split(self._alive, self.bases[1:-1])
        held = [SegmentDocuments(one.positions, own) for one, own in zip(self.segments, alive, strict=False) if one.positions]
        if len(held) < len(self.segments):
            return None
        every = self.every_version().written_words if self.has_history else None
        return FolderWords(held, self.numbering, every)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels in addition to the words."""
        return tuple(self._files.channels)

    def channel(self, name: str) -> ChannelState:
        """A channel; `NotFoundError` lists the existing ones."""
        return self._files.channel(name)

    @cached_property
    def distributions(self) -> dict[str, Any]:
        """The stored score distributions as plain values (see `lexfuse.channels.distribution`)."""
        return self._catalog.distributions()

    def channel_numbering(self, name: str) -> Numbering:
        """The raw numbers of the documents in the parts of a channel; of passages, if its posting lists have rows of these."""
        if name not in self._numberings:
            parts = [
                part.serials if (rows := part.content.posting_rows) is None else np.repeat(part.serials, rows)
                for part in self.channel(name).parts
            ]
            serials = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
            bases = offsets_of(np.array([len(part) for part in parts], dtype=np.int64))
            self._numberings[name] = Numbering(self.ids, bases, self._live_of(serials))
        return self._numberings[name]

    def _live_of(self, serials: I64) -> I32:
        """Live numbers of documents by serial number, -1 for deleted ones."""
        places, known = self._rows.serials()
        live = self.numbering.places[self._raw(*places)]
        by_serial = np.argsort(known)
        at = np.minimum(np.searchsorted(known, serials, sorter=by_serial), max(len(known) - 1, 0))
        if not len(known):
            return np.full(len(serials), -1, dtype=np.int32)
        return np.where(known[by_serial[at]] == serials, live[by_serial[at]], -1).astype(np.int32)

    def postings(self, channel: str) -> Postings:
        """The posting lists of the words (`bm25`), or of a channel of learned sparse vectors."""
        if channel not in self._postings:
            numbering = self.numbering if channel == LEXICAL else self.channel_numbering(channel)
            if channel == LEXICAL:
                files = [segment.channels[channel] for segment in self.segments]
            else:
                files = [file for part in self.channel(channel).parts if (file := part.content.inverted) is not None]
            self._postings[channel] = self._made_postings(channel, files, numbering)
        return self._postings[channel]

    def _made_postings(self, channel: str, files: Sequence[InvertedFile], numbering: Numbering) -> Postings:
        """The posting lists of files, with statistics of the documents of this snapshot."""
        return Postings(files, numbering.bases, numbering.alive, self._files.lists(channel))

    def forget_impacts(self) -> None:
        """Release the scores computed for every posting, which take most of the memory; they are computed again on demand."""
        for postings in list(self._postings.values()):
            postings.impacts.clear()

    def coded(self, name: str) -> tuple[I32, list[Any]]:
        """One catalog column: the code of each live document's value, and the distinct values."""
        if name not in self._coded:
            codes = np.zeros(len(self), dtype=np.int32)
            stored, (found, distinct) = self._rows.coded(name)
            places = self.numbering.places[self._raw(*stored)]
            if len(places) != len(self) or (places < 0).any():
                raise self._unfit()
            codes[places] = found
            if name == "extra":  # large, and kept by `metadata` in a smaller form
                return codes, distinct
            self._coded[name] = codes, distinct
        return self._coded[name]

    def _raw(self, segment: ArrayLike, ordinal: ArrayLike) -> I64:
        """Raw numbers of documents by segment and ordinal."""
        numbers = np.array([named.number for named in self._named], dtype=np.int64)  # ascending
        wanted, inside = np.array(segment, dtype=np.int64), np.array(ordinal, dtype=np.int64)
        at = np.searchsorted(numbers, wanted)
        if not np.isin(wanted, numbers).all() or (inside < 0).any() or (inside >= np.diff(self.bases)[at]).any():
            raise self._unfit()
        return self.bases[at] + inside

    def _unfit(self) -> DataError:
        return DataError("the catalog names other documents than its segments hold; rebuild the index", path=self._catalog.path)

    def channel_bytes(self, name: str) -> int:
        """The bytes of the channel's files; of the segments for words and citations."""
        return sum(file_sizes(self.folder / CHANNELS / name if name in self._files.channels else self.folder / SEGMENTS))

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents, in this order."""
        return self._rows.documents(ids)

    def heads(self, ids: Sequence[str]) -> list[Document]:
        """Documents without their texts, in this order, for lists; unknown ids are skipped."""
        return self._rows.heads(ids)

    def history(self, id: str) -> list[Document]:
        """All versions of a document, the oldest first; `NotFoundError` for an unknown id."""
        versions = version_rows_of(self._catalog, id)
        return [version for version in versions if not is_absence(version)] or [self.document(id)]

    def first_known_day(self, id: str) -> datetime.date | None:
        """The first day of the first version or absence of a document."""
        return next((version.valid_from for version in version_rows_of(self._catalog, id)), self.document(id).valid_from)

    def with_history(self, id: str) -> Document:
        """A document with all its versions, absences included, as it was added; `NotFoundError` for an unknown id.

        >>> snapshot.with_history("lib-4") == snapshot.document("lib-4")  # it has no other version
        True
        """
        versions = version_rows_of(self._catalog, id)
        return join_versions(versions)[0] if versions else self._catalog.document(id)

    def close(self) -> None:
        """Close the catalog; memory maps end with the last array that uses them."""
        self._catalog.close()

    def __len__(self) -> int:
        """The number of live documents."""
        return int(self._alive.sum())
