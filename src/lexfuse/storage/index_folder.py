"""The index folder: built, changed, merged and verified, and never half written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexfuse.data.document import Document
from lexfuse.data.files import written_folder
from lexfuse.errors import ConfigError, DataError, LexFuseError, StorageError
from lexfuse.storage.catalog import Catalog, CatalogSegment
from lexfuse.storage.catalog_file import WAIT_TO_WRITE, damaged
from lexfuse.storage.channel_store import ChannelStore
from lexfuse.storage.feedback import FeedbackStore, forget_feedback
from lexfuse.storage.folder_names import FILE, SEGMENTS, check_plain, foreign_name
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.history.version_rows import MARK, VersionRows, rows_of
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.manifest import damages
from lexfuse.storage.segments.segment import build_segment
from lexfuse.storage.segments.segment_set import SegmentSet
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.string_list import StringList

Progress = Callable[[int], None]  # gets the number of finished documents


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """The effect of a change."""

    added: int = 0
    updated: int = 0
    deleted: int = 0
    missing: tuple[str, ...] = ()  # ids to delete that were not in the index


class IndexFolder:
    """An index folder, for many readers and one writer.

    >>> with IndexFolder.create(folder / "i") as index:
    ...     index.add([Document("a", text="la loi"), Document("b", text="le droit")])
    ...     index.delete(["a", "z"])
    ChangeCounts(added=2, updated=0, deleted=0, missing=())
    ChangeCounts(added=0, updated=0, deleted=1, missing=('z',))
    """

    def __init__(self, folder: str | Path) -> None:
        """Open an index; `create` makes a new one."""
        self.folder = Path(folder)
        self._catalog = Catalog.open(self.folder)
        self._segments = SegmentSet(self.folder, self._catalog)
        try:
            self.settings = IndexSettings.from_json(self._catalog.meta("settings"))
        except BaseException:
            self._catalog.close()
            raise

    @classmethod
    def create(
        cls,
        folder: str | Path,
        settings: IndexSettings | None = None,
        *,
        documents: Iterable[Document] = (),
        replace: bool = False,
        progress: Progress = lambda _: None,
    ) -> IndexFolder:
        """Create an index with these documents, complete or not at all; ``replace`` overwrites an older one.

        The older index stays until the new one is complete; then it is deleted, including its `feedback`. Only an index is
        replaced, never another folder, nor a damaged index with other files in it.
        """
        path, settings = Path(folder), settings or IndexSettings()
        if replace and path.exists():
            if not (path / FILE).exists():
                raise StorageError(f"{str(path)!r} exists and is not an index; choose another name or remove it yourself")
            check_plain(path)
            try:
                old = cls(path)
                old._check_catalog()
            except DataError:  # damaged or of a newer version: a new folder replaces it
                if other := foreign_name(path):
                    reason = f"{str(path)!r} is a damaged index with {other!r}, which is not part of it"
                    raise StorageError(f"{reason}; choose another name or remove the folder yourself") from None
            else:
                return old._started_anew(settings, documents, progress)
        with written_folder(path, replace=replace) as partial:
            (partial / SEGMENTS).mkdir()
            Catalog.create(partial, {"settings": settings.as_json()}).close()
            with cls(partial) as index:
                index.add(documents, progress=progress)
        return cls(path)

    def add(self, documents: Iterable[Document], *, update: bool = False, progress: Progress = lambda _: None) -> ChangeCounts:
        """Add documents as a new segment; one that is already in the index is a `DataError`, or replaced with ``update``.

        >>> with IndexFolder.create(folder / "i", documents=[Document("a", text="old")]) as index:
        ...     index.add([Document("a", text="new")], update=True).updated
        1
        """
        rows = rows_of(documents)
        with self.changing():
            return self._add(rows, update, progress)

    def delete(self, ids: Sequence[str]) -> ChangeCounts:
        """Delete documents; ``missing`` of the result lists unknown ids."""
        if isinstance(ids, str):
            raise ConfigError(f"ids to delete must be a list of ids, got the text {ids!r}; write [{ids!r}]")
        wanted = list(dict.fromkeys(ids))
        with self.changing():
            present = self._catalog.present(wanted)
            self._catalog.remove([id for id in wanted if id in present])
        return ChangeCounts(deleted=len(present), missing=tuple(id for id in wanted if id not in present))

    def present(self, ids: Sequence[str]) -> set[str]:
        """Which of these ids are documents of the index, whether in force or not.

        >>> with IndexFolder.create(folder / "i", documents=[Document("a")]) as index:
        ...     index.present(["a", "b"])
        {'a'}
        """
        return self._catalog.present(ids)

    def merge(self) -> None:
        """Merge all segments into one, and the parts of each channel, without deleted documents; old files are removed.

        The segment has the same bytes as if it were built from the documents.
        """
        with self.changing():
            self._segments.merge()
            self.channels.merge()

    def compact(self) -> None:
        """Merge, and return the space of deleted documents to the file system."""
        self.merge()
        self._catalog.compact()

    def rebuild(self, *, progress: Progress = lambda _: None) -> None:
        """Rewrite the segments from the documents in the catalog: repairs what `verify` finds in segment files.

        Damaged parts of channels are dropped; filling the channel again encodes their documents.

        >>> with IndexFolder.create(folder / "i", documents=[Document("a")]) as index:
        ...     index.rebuild()
        ...     index.verify()
        []
        """
        with self.changing(mended=("segments", "parts")):
            documents, past = list(self._catalog.documents()), self._catalog.past_rows().values()
            current = [one for one in documents if one.id not in past] if past else documents
            earlier = [one for one in documents if one.id in past] if past else []
            every = [build_segment(some, self.settings, progress=progress) for some in (current, earlier) if some or not past]
            self._segments.replace(*every)
            self.channels.drop_damaged()

    def verify(self) -> list[str]:
        """Every damage found, one line each; empty for an intact index."""
        while True:
            found, generation = _find_damage(self._catalog, self.folder)
            if not found or generation is None or self._catalog.meta("generation") == generation:
                return found  # else another process merged and removed the older files

    @property
    def has_digests(self) -> bool:
        """Whether `verify` can check the tables of the catalog: an older LexFuse stored no checksums.

        The next change adds them.
        """
        return self._catalog.has_digests

    def snapshot(self) -> Snapshot:
        """The newest state, for reading."""
        return open_snapshot(self.folder)

    def close(self) -> None:
        """Close the catalog."""
        self._catalog.close()

    def __enter__(self) -> IndexFolder:
        """Use as a context that closes."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close."""
        self.close()

    @property
    def channels(self) -> ChannelStore:
        """The channels in addition to the words of the documents."""
        return ChannelStore(self.folder, self._catalog, self.changing)

    def keep_distributions(self, values: Mapping[str, dict[str, Any]]) -> None:
        """Store score distributions with the index, by key (see `lexfuse.channels.distribution`)."""
        with self.changing():
            for key, one in values.items():
                self._catalog.keep_distribution(key, one)

    @property
    def feedback(self) -> FeedbackStore:
        """The feedback of users on results."""
        return FeedbackStore(self.folder)

    @contextmanager
    def changing(self, wait: int = WAIT_TO_WRITE, *, mended: Collection[str] = ()) -> Iterator[None]:
        """One change: it makes a new generation, or fails and leaves no files.

        ``wait`` is the milliseconds to wait for another writer. A damaged catalog is a `DataError`, except for damage in tables
        that the change rewrites (``mended``).
        """
        began = False
        try:
            with self._catalog.writing(wait, mended=mended):
                check_plain(self.folder)  # a link may have appeared since the index was opened
                began = True
                if not mended:  # else their content is not known yet
                    self._remove_orphans()
                # Another process may have replaced the whole index since this one was opened.
                self.settings = IndexSettings.from_json(self._catalog.meta("settings"))
                before = self._catalog.connection.total_changes
                yield
                if self._catalog.connection.total_changes > before:
                    self._catalog.set_meta("generation", self._catalog.meta("generation") + 1)
        finally:
            if began:
                with suppress(StorageError, DataError), self._catalog.writing():  # another writer would do it instead
                    check_plain(self.folder)
                    self._remove_orphans()

    def _check_catalog(self) -> None:
        """Close an index whose catalog is damaged, with a `DataError`."""
        try:
            self._catalog.check_tables()
            if wrong := self._catalog.malformed():
                raise damaged(self._catalog.path, wrong[0])
        except BaseException:
            self.close()
            raise

    def _started_anew(self, settings: IndexSettings, documents: Iterable[Document], progress: Progress) -> IndexFolder:
        try:
            rows = rows_of(documents)
            with self.changing():
                self._catalog.clear()
                forget_feedback(self._catalog)
                self._catalog.set_meta("settings", settings.as_json())
                self.settings = settings
                self._add(rows, update=False, progress=progress)
        except BaseException:
            self.close()
            raise
        return self

    def _add(self, rows: VersionRows, update: bool, progress: Progress) -> ChangeCounts:
        if not rows.current:
            return ChangeCounts()
        if (rows.periods or self._catalog.has_history) and (odd := next((d.id for d, _ in rows.current if MARK in d.id), None)):
            raise DataError(f"document {odd!r}: in an index with history no id has the character {MARK!r}; choose another id")
        present = self._catalog.present([document.id for document, _ in rows.current])
        if present and not update:
            raise DataError(f"{len(present):,} documents are in the index already, first {min(present)!r}; update them instead")
        ids = [document.id for document, _ in (*rows.current, *rows.past)] if present and self.channels.names else []
        former = self._catalog.encoded_texts(ids)
        self._catalog.remove(sorted(present))
        if rows.periods:
            self._catalog.begin_history()
        for some, before in ((rows.current, 0), (rows.past, len(rows.current))):
            if some:
                segment = build_segment([one for one, _ in some], self.settings, progress=_after(before, progress))
                self._segments.add(segment, [row for _, row in some])
        if rows.periods:
            self._catalog.insert_periods(rows.periods)
        now = self._catalog.encoded_texts(list(former))
        self.channels.carry({before: now[id][0] for id, (before, read) in former.items() if now.get(id, (0, b""))[1] == read})
        return ChangeCounts(added=len(rows.current) - len(present), updated=len(present))

    def _remove_orphans(self) -> None:
        """Remove files that no state names: left by a killed writer, a failed change, or a merge."""
        self._segments.remove_orphans()
        self.channels.remove_orphans()


def _after(before: int, progress: Progress) -> Progress:
    return lambda done: progress(before + done)


def _find_damage(catalog: Catalog, folder: Path) -> tuple[list[str], int | None]:
    """Every damage of an index, one line each, and the generation that was checked, ``None`` if unknown."""
    found: list[str] = []
    generation = None
    try:
        with catalog.reading():
            generation = catalog.meta("generation")
            check_plain(folder)
            found += catalog.damages()
            for segment in catalog.segments():
                wrong = damages(folder / segment.folder, segment.manifest)
                found += wrong or _differences(catalog, folder, segment)
            for channel in catalog.channels():
                for part in catalog.parts(channel.name):
                    found += damages(folder / part.folder, part.manifest)
    except LexFuseError as error:
        found.append(str(error))
    return found, generation


def _differences(catalog: Catalog, folder: Path, segment: CatalogSegment) -> list[str]:
    """Differences between the catalog's live documents and a segment's ids without tombstones."""
    buried = {ordinal for number, ordinal in catalog.tombstones() if number == segment.number}
    ids = StringList.load(folder / segment.folder / "ids")
    expected = [(ordinal, id) for ordinal, id in enumerate(ids) if ordinal not in buried]
    members = catalog.members(segment.number)
    if members == expected and len(ids) == segment.documents and all(ordinal < len(ids) for ordinal in buried):
        return []
    return [f"{folder / segment.folder}: {len(expected):,} documents, but the catalog has {len(members):,}, or other ones"]
