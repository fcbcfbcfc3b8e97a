"""The index: one folder that is built, changed, merged and verified, and never half written."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from lexfuse.data.document import Document
from lexfuse.data.files import storage_named, written_folder
from lexfuse.errors import DataError, StorageError
from lexfuse.index.building import merged, segment_of
from lexfuse.index.catalog import Catalog
from lexfuse.index.segment import Segment, damages
from lexfuse.index.settings import IndexSettings
from lexfuse.index.snapshot import Snapshot, open_snapshot

SEGMENTS = "segments"


@dataclass(frozen=True, slots=True)
class Changes:
    """What a change did.

    >>> Changes(added=2).added
    2
    """

    added: int = 0
    updated: int = 0
    deleted: int = 0
    missing: tuple[str, ...] = ()  # ids to delete that were not there


class Index:
    """An index folder. Many may read it at once, one may write.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     index = Index.create(Path(folder, "i"))
    ...     index.add([Document("a", text="la loi"), Document("b", text="le droit")])
    ...     index.delete(["a", "z"])
    Changes(added=2, updated=0, deleted=0, missing=())
    Changes(added=0, updated=0, deleted=1, missing=('z',))
    """

    def __init__(self, folder: str | Path) -> None:
        """Open an index; `create` makes a new one."""
        self.folder = Path(folder)
        self._catalog = Catalog.open(self.folder)
        self.settings = IndexSettings.from_json(self._catalog.meta("settings"))

    @classmethod
    def create(cls, folder: str | Path, settings: IndexSettings | None = None, *, replace: bool = False) -> Index:
        """Make a new, empty index; the folder must not be there, or be an index to replace.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(Index.create(Path(folder, "i")).snapshot())
        0
        """
        settings = settings or IndexSettings()
        with written_folder(folder, replace=replace) as partial:
            Catalog.create(partial, {"settings": settings.as_json()}).close()
            (partial / SEGMENTS).mkdir()
        return cls(folder)

    def add(
        self, documents: Iterable[Document], *, update: bool = False, progress: Callable[[int], None] = lambda _: None
    ) -> Changes:
        """Add documents as a new segment; one that is there already is a `DataError`, or replaced with ``update``.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index = Index.create(Path(folder, "i"))
        ...     _ = index.add([Document("a", text="old")])
        ...     index.add([Document("a", text="new")], update=True).updated, index.snapshot().document("a").text
        (1, 'new')
        """
        rows = sorted(documents, key=lambda document: document.id)
        for before, after in pairwise(rows):
            if before.id == after.id:
                raise DataError(f"document {before.id!r} comes twice; keep one")
        with self._catalog.writing():
            present = [document.id for document in rows if self._catalog.place(document.id) is not None]
            if present and not update:
                raise DataError(f"{len(present):,} documents are in the index already, first {present[0]!r}; update them instead")
            for id in present:
                self._catalog.remove(id)
            if rows:
                self._write(segment_of(rows, self.settings, progress=progress), rows)
            self._next_generation()
        return Changes(added=len(rows) - len(present), updated=len(present))

    def delete(self, ids: Sequence[str]) -> Changes:
        """Delete documents; ids that are not there are told.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Index.create(Path(folder, "i")).delete(["x"]).missing
        ('x',)
        """
        with self._catalog.writing():
            missing = tuple(id for id in dict.fromkeys(ids) if not self._catalog.remove(id))
            self._next_generation()
        return Changes(deleted=len(dict.fromkeys(ids)) - len(missing), missing=missing)

    def merge(self) -> None:
        """Make one segment of all, without the dead; the same bytes as if built anew, and the old files go.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index = Index.create(Path(folder, "i"))
        ...     _ = index.add([Document("a", text="loi")]), index.add([Document("b", text="loi")])
        ...     index.merge()
        ...     len(index.snapshot().segments)
        1
        """
        with self._catalog.writing():
            named = self._catalog.segments()
            segments = [Segment.load(self.folder / name) for _, name, _ in named]
            alive = [np.ones(size, dtype=np.bool_) for _, _, size in named]
            position = {number: at for at, (number, _, _) in enumerate(named)}
            for number, ordinal in self._catalog.tombstones():
                alive[position[number]][ordinal] = False
            if len(segments) > 1 or any(not flags.all() for flags in alive):
                self._replace_all(merged(segments, alive))
                self._next_generation()
        with suppress(StorageError), self._catalog.writing():  # the next writer does it, if one is here already
            self._remove_orphans()

    def verify(self) -> list[str]:
        """Every damage found, one line each; empty when all is well.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Index.create(Path(folder, "i")).verify()
        []
        """
        found = [line for _, name, _ in self._catalog.segments() for line in damages(self.folder / name)]
        checked = self._catalog.connection.execute("PRAGMA integrity_check").fetchall()
        return found + [f"{self._catalog.path}: {line}" for (line,) in checked if line != "ok"]

    def snapshot(self) -> Snapshot:
        """The newest state, to read from.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Index.create(Path(folder, "i")).snapshot().generation
        0
        """
        return open_snapshot(self.folder)

    def close(self) -> None:
        """Let go of the catalog."""
        self._catalog.close()

    def _write(self, segment: Segment, rows: Sequence[Document]) -> None:
        """Put a segment on disk and name it, inside the transaction."""
        self._remove_orphans()
        number, name = self._save(segment)
        self._catalog.connection.execute("INSERT INTO segments VALUES (?, ?, ?)", (number, name, len(rows)))
        self._catalog.insert(number, rows)

    def _replace_all(self, segment: Segment) -> None:
        number, name = self._save(segment)
        connection = self._catalog.connection
        connection.execute("DELETE FROM segments")
        connection.execute("DELETE FROM tombstones")
        connection.execute("INSERT INTO segments VALUES (?, ?, ?)", (number, name, len(segment.ids)))
        places = ((number, ordinal, id) for ordinal, id in enumerate(segment.ids))
        connection.executemany("UPDATE documents SET segment = ?, ordinal = ? WHERE id = ?", places)

    def _save(self, segment: Segment) -> tuple[int, str]:
        number = self._catalog.meta("next_segment")
        self._catalog.set_meta("next_segment", number + 1)
        name = f"{SEGMENTS}/{number:06d}"
        folder = self.folder / name
        try:
            with storage_named(folder):
                segment.save(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return number, name

    def _remove_orphans(self) -> None:
        """Files that no state names: left by a writer that was killed, or by a merge."""
        named = {name for _, name, _ in self._catalog.segments()}
        for folder in (self.folder / SEGMENTS).iterdir():
            if f"{SEGMENTS}/{folder.name}" not in named:
                shutil.rmtree(folder, ignore_errors=True)

    def _next_generation(self) -> None:
        self._catalog.set_meta("generation", self._catalog.meta("generation") + 1)
