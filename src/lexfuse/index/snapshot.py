"""What a reader sees: one state of the index, unchanged by whatever is written meanwhile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from lexfuse.data.arrays import I32, I64, Bools
from lexfuse.data.document import Document
from lexfuse.data.ids import Ids
from lexfuse.errors import DataError, NotFoundError
from lexfuse.index.catalog import Catalog
from lexfuse.index.ids import StoredIds
from lexfuse.index.postings import Postings
from lexfuse.index.segment import Segment
from lexfuse.index.settings import IndexSettings


def open_snapshot(folder: str | Path) -> Snapshot:
    """The newest state of an index folder.

    A merge may remove files between reading their names and mapping them; then the newer state is taken.

    >>> open_snapshot("/nowhere")
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no index in '/nowhere' (it has no catalog.sqlite); ...
    """
    seen = -1
    while True:
        try:
            return Snapshot(Path(folder))
        except _VanishedError as vanished:
            if vanished.generation == seen:
                raise vanished.reason from None
            seen = vanished.generation


class _VanishedError(Exception):
    """Files that a state names are not there: another state may have replaced it."""

    def __init__(self, generation: int, reason: Exception) -> None:
        super().__init__(str(reason))
        self.generation = generation
        self.reason = reason


class Snapshot:
    """A state of the index; documents are numbered over those alive, segment by segment.

    Inside segments the dead keep their place, so there are two numberings: `places` maps the raw one (with the
    dead) to the live one.

    >>> from lexfuse.index.index import Index
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder, "i")) as index:
    ...     _ = index.add([Document("a", text="la loi")])
    ...     with index.snapshot() as snapshot:
    ...         snapshot.ids, snapshot.document("a").text
    (Ids(['a'], n=1), 'la loi')
    """

    def __init__(self, folder: Path) -> None:
        """Open the newest state and hold on to it."""
        self.folder = folder
        self._catalog = Catalog.open(folder)
        try:
            self._catalog.hold()
            self.generation: int = self._catalog.meta("generation")
            self.settings = IndexSettings.from_json(self._catalog.meta("settings"))
            self._named = self._catalog.segments()
            self.segments: list[Segment] = self._loaded()
        except BaseException:
            self.close()
            raise
        self._postings: dict[str, Postings] = {}
        self._coded: dict[str, tuple[I32, list[Any]]] = {}

    def _loaded(self) -> list[Segment]:
        try:
            segments = [Segment.load(self.folder / named.folder, named.manifest) for named in self._named]
        except (NotFoundError, DataError) as error:
            raise _VanishedError(self.generation, error) from error
        for named, segment in zip(self._named, segments, strict=True):
            if len(segment.ids) != named.documents:
                reason = f"holds {len(segment.ids):,} documents, the catalog says {named.documents:,}; verify the index"
                raise DataError(reason, path=self.folder / named.folder)
        return segments

    @cached_property
    def bases(self) -> I64:
        """Raw number of the first document of each segment, and the end."""
        return np.concatenate(([0], np.cumsum([named.documents for named in self._named]))).astype(np.int64)

    @cached_property
    def alive(self) -> Bools:
        """Raw numbering: which documents are not deleted."""
        alive = np.ones(int(self.bases[-1]), dtype=np.bool_)
        if buried := self._catalog.tombstones():
            alive[self._raw(*zip(*buried, strict=True))] = False
        return alive

    @cached_property
    def places(self) -> I32:
        """Raw number to live number, -1 for the dead."""
        return np.where(self.alive, np.cumsum(self.alive, dtype=np.int32) - 1, -1).astype(np.int32)

    @cached_property
    def ids(self) -> Ids:
        """Ids of the documents alive, in the order of their numbers."""
        return StoredIds([segment.ids for segment in self.segments], self.alive)

    @cached_property
    def raw_order(self) -> I32:
        """Raw numbering: position of each id among all, for ties; the dead come last."""
        if len(self.segments) == 1 and self.alive.all():  # a segment's documents stand in the order of their ids
            return np.arange(len(self.alive), dtype=np.int32)
        order = np.empty(len(self.alive), dtype=np.int32)
        order[self.alive] = self.ids.order
        order[~self.alive] = np.arange(len(self.ids), len(self.alive), dtype=np.int32)
        return order

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels, none while the index is empty."""
        return tuple(self.segments[0].channels) if self.segments else ()

    def postings(self, channel: str) -> Postings:
        """The posting lists of a channel over all segments; `NotFoundError` lists the channels there are."""
        if channel not in self._postings:
            if self.segments and channel not in self.segments[0].channels:
                known = ", ".join(self.segments[0].channels)
                raise NotFoundError(f"the index has no channel {channel!r}; it has {known}")
            files = [segment.channels[channel] for segment in self.segments]
            self._postings[channel] = Postings(files, self.bases, self.alive)
        return self._postings[channel]

    def coded(self, name: str) -> tuple[I32, list[Any]]:
        """One catalog column as it is stored: the number of each living document's value, and the distinct values."""
        if name not in self._coded:
            codes = np.zeros(len(self), dtype=np.int32)
            numbers: defaultdict[Any, int] = defaultdict()
            numbers.default_factory = numbers.__len__
            segments, ordinals, values = self._catalog.column(name)
            found = np.fromiter(map(numbers.__getitem__, values), dtype=np.int32, count=len(values))
            codes[self.places[self._raw(segments, ordinals)]] = found
            self._coded[name] = codes, list(numbers)
        return self._coded[name]

    def column(self, name: str) -> list[Any]:
        """One catalog column of every living document, in the order of their numbers, as stored."""
        codes, values = self.coded(name)
        return [values[code] for code in codes.tolist()]

    def _raw(self, segment: Sequence[int], ordinal: Sequence[int]) -> I64:
        """Raw numbers of documents by segment and ordinal."""
        numbers = np.array([named.number for named in self._named], dtype=np.int64)  # they ascend
        at = np.searchsorted(numbers, np.array(segment, dtype=np.int64))
        return self.bases[at] + np.array(ordinal, dtype=np.int64)

    def document(self, id: str) -> Document:
        """A whole document; `NotFoundError` if there is none."""
        return self._catalog.document(id)

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents, in this order."""
        return [self.document(id) for id in ids]

    def close(self) -> None:
        """Let go of the catalog; memory maps end with the last array that uses them."""
        self._catalog.close()

    def __enter__(self) -> Snapshot:
        """Use as a context that closes."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close."""
        self.close()

    def __len__(self) -> int:
        """How many documents are alive."""
        return int(self.alive.sum())
