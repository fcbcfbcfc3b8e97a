"""The catalog: one SQLite file that says what the index holds.

Whatever the catalog does not name does not exist: segment files are written first, and the one transaction
that names them makes them visible. Readers keep the state they opened (SQLite's write-ahead log); a second
writer is refused at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from lexfuse.data.document import Document, Kind, Status
from lexfuse.errors import DataError, NotFoundError, StorageError

FORMAT = 1
FILE = "catalog.sqlite"

# Columns of a document in the catalog; the long ones last, so that reading the others skips them.
PLAIN = ("title", "language", "kind", "code", "number", "court", "date", "valid_from", "valid_to", "status")
LISTS = ("headings", "identifiers", "citations")
COLUMNS = (*PLAIN, *LISTS, "extra", "text")

_SCHEMA = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE segments (number INTEGER PRIMARY KEY, folder TEXT NOT NULL, documents INTEGER NOT NULL);
CREATE TABLE tombstones (segment INTEGER NOT NULL, ordinal INTEGER NOT NULL, PRIMARY KEY (segment, ordinal)) WITHOUT ROWID;
CREATE TABLE documents (id TEXT PRIMARY KEY, segment INTEGER NOT NULL, ordinal INTEGER NOT NULL, {", ".join(COLUMNS)});
CREATE UNIQUE INDEX documents_place ON documents (segment, ordinal);
"""


class Catalog:
    """An open catalog; reading methods see the state at the start of their transaction.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     catalog = Catalog.create(Path(folder), {"fields": ["text"]})
    ...     catalog.meta("fields")
    ['text']
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        """Wrap a connection; use `create` or `open`."""
        self.connection = connection
        self.path = path

    @classmethod
    def create(cls, folder: Path, settings: dict[str, Any]) -> Catalog:
        """A new, empty catalog in a folder."""
        catalog = cls(_connect(folder / FILE), folder / FILE)
        with catalog.writing():
            for statement in filter(str.strip, _SCHEMA.split(";")):
                catalog.connection.execute(statement)
            for name, value in {"format": FORMAT, "generation": 0, "next_segment": 1, **settings}.items():
                catalog.set_meta(name, value)
        return catalog

    @classmethod
    def open(cls, folder: Path) -> Catalog:
        """The catalog of an index folder; a missing, damaged or newer one is a clear error."""
        path = folder / FILE
        if not path.is_file():
            raise NotFoundError(f"no index in {str(folder)!r} (it has no {FILE}); build one with lexfuse index CORPUS {folder}")
        catalog = cls(_connect(path), path)
        found = catalog.meta("format")
        if found > FORMAT:
            raise DataError(f"the index has format {found}, this LexFuse reads up to {FORMAT}; use a newer LexFuse", path=path)
        return catalog

    def meta(self, name: str) -> Any:
        """One setting of the index."""
        return orjson.loads(self._rows("SELECT value FROM meta WHERE name = ?", (name,))[0][0])

    def set_meta(self, name: str, value: Any) -> None:
        """Change a setting, inside `writing`."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, orjson.dumps(value).decode()))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction, for the only writer: all of it happens, or none."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise StorageError(f"{str(self.path.parent)!r} is being written by another process; wait for it to end") from error
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException as error:
            self.connection.rollback()
            if isinstance(error, sqlite3.OperationalError):
                raise StorageError(f"cannot write {str(self.path)!r}: {error}; nothing was changed") from error
            raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent state for several reads."""
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.rollback()

    def segments(self) -> list[tuple[int, str, int]]:
        """Number, folder and size of every segment, oldest first."""
        return self._rows("SELECT number, folder, documents FROM segments ORDER BY number")

    def tombstones(self) -> list[tuple[int, int]]:
        """Segment and ordinal of every deleted document."""
        return self._rows("SELECT segment, ordinal FROM tombstones ORDER BY segment, ordinal")

    def place(self, id: str) -> tuple[int, int] | None:
        """Segment and ordinal of a document, None if the index does not have it."""
        rows = self._rows("SELECT segment, ordinal FROM documents WHERE id = ?", (id,))
        return rows[0] if rows else None

    def column(self, name: str) -> list[tuple[int, int, Any]]:
        """Segment, ordinal and one column of every document."""
        if name not in COLUMNS:
            raise NotFoundError(f"documents have no field {name!r}; they have {', '.join(COLUMNS)}")
        return self._rows(f"SELECT segment, ordinal, {name} FROM documents")  # noqa: S608 -- one of COLUMNS

    def document(self, id: str) -> Document:
        """A whole document; `NotFoundError` if the index does not have it."""
        rows = self._rows(f"SELECT id, {', '.join(COLUMNS)} FROM documents WHERE id = ?", (id,))  # noqa: S608
        if not rows:
            raise NotFoundError(f"the index has no document {id!r}")
        return _document(rows[0])

    def documents(self) -> Iterator[Document]:
        """All documents, by id."""
        for row in self.connection.execute(f"SELECT id, {', '.join(COLUMNS)} FROM documents ORDER BY id"):  # noqa: S608
            yield _document(row)

    def insert(self, segment: int, documents: Iterable[Document]) -> None:
        """Name the documents of a new segment, in the order of their ordinals."""
        marks = ", ".join("?" * (3 + len(COLUMNS)))
        rows = ((document.id, segment, ordinal, *_values(document)) for ordinal, document in enumerate(documents))
        self.connection.executemany(f"INSERT INTO documents VALUES ({marks})", rows)  # noqa: S608

    def remove(self, id: str) -> bool:
        """Bury a document; False if there is none."""
        place = self.place(id)
        if place is None:
            return False
        self.connection.execute("INSERT INTO tombstones VALUES (?, ?)", place)
        self.connection.execute("DELETE FROM documents WHERE id = ?", (id,))
        return True

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def _rows(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        try:
            return self.connection.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"the catalog cannot be read ({error}); restore it or build the index again", path=self.path
            ) from None


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=0.2, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise DataError(f"is no catalog ({error}); restore it or build the index again", path=path) from None
    return connection


def _values(document: Document) -> Iterator[Any]:
    for name in COLUMNS:
        value = getattr(document, name)
        if name in LISTS or name == "extra":
            yield orjson.dumps(value if name == "extra" else list(value)).decode() if value else None
        else:
            yield None if value is None else str(value)


def _document(row: tuple[Any, ...]) -> Document:
    from lexfuse.data.dates import parse_date

    values = dict(zip(("id", *COLUMNS), row, strict=True))
    for name in LISTS:
        values[name] = tuple(orjson.loads(values[name])) if values[name] else ()
    for name in ("date", "valid_from", "valid_to"):
        values[name] = parse_date(values[name])
    values["extra"] = orjson.loads(values["extra"]) if values["extra"] else {}
    values["kind"], values["status"] = Kind(values["kind"]), Status(values["status"])
    return Document(**values)
