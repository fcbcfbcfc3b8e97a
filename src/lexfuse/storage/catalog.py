"""The catalog: one SQLite file that lists the content of the index; `catalog_file` opens and changes it.

Only what the catalog names exists: segment files are written first, and the transaction that names them makes them visible.
Readers keep the state they opened (SQLite's write-ahead log); a second writer is refused at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple

import orjson

from lexfuse.data.document import Document
from lexfuse.errors import DataError, LexFuseError, UnknownDocumentError, UnknownFieldError
from lexfuse.storage.catalog_file import FORMAT, NUMBERS, sqlite_errors
from lexfuse.storage.document_rows import COLUMNS, LONG, OPTIONAL, SHORT, DocumentRow, check_types, checksum_of, document_of
from lexfuse.storage.folder_names import CHANNEL_NAME, part_folder, segment_folder
from lexfuse.storage.history.period_table import AT_ONCE, PeriodTable, marks
from lexfuse.storage.history.version_rows import MARK
from lexfuse.storage.stored_channel import ChannelSettings
from lexfuse.storage.table_digests import DIGESTS

FORMER_FEEDBACK = "query, doc, grade, rank, profile, moment, generation"  # columns of a table that an older LexFuse created
FEEDBACK = f"{FORMER_FEEDBACK}, judge"  # columns of the table that `feedback` creates
SERIAL = "serial"  # identifies one version of a document
_SETTINGS = ("settings", DIGESTS, *NUMBERS)
_DISTRIBUTION = "distribution:"  # prefix of the settings with a distribution; an older index has none

_SCHEMA = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE segments (number INTEGER PRIMARY KEY, folder TEXT NOT NULL, documents INTEGER NOT NULL, manifest TEXT NOT NULL);
CREATE TABLE tombstones (segment INTEGER NOT NULL, ordinal INTEGER NOT NULL, PRIMARY KEY (segment, ordinal)) WITHOUT ROWID;
CREATE TABLE documents (serial INTEGER PRIMARY KEY, segment INTEGER NOT NULL, ordinal INTEGER NOT NULL,
                        id TEXT NOT NULL UNIQUE, {", ".join(SHORT)});
CREATE TABLE channels (name TEXT PRIMARY KEY, settings TEXT NOT NULL, passages INTEGER NOT NULL, cut INTEGER NOT NULL,
                       seconds REAL NOT NULL);
CREATE TABLE parts (number INTEGER PRIMARY KEY, channel TEXT NOT NULL, folder TEXT NOT NULL, documents INTEGER NOT NULL,
                    manifest TEXT NOT NULL);
CREATE TABLE contents (serial INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, {", ".join(LONG)});
"""
_WHOLE = "documents JOIN contents USING (serial)"
_ROW = f"id, {', '.join(COLUMNS)}"


class CatalogSegment(NamedTuple):
    """A segment as listed in the catalog."""

    number: int
    folder: str
    documents: int  # including deleted ones
    manifest: str  # sha256


class CatalogChannel(NamedTuple):
    """A channel as listed in the catalog, with what was encoded for it so far."""

    name: str
    settings: ChannelSettings
    passages: int
    cut: int  # documents whose end was not encoded
    seconds: float


class Catalog(PeriodTable):
    """An open catalog; every statement sees the newest state, except inside `reading` or `writing`."""

    schema = _SCHEMA
    summed: ClassVar = {**PeriodTable.summed, **{table: f"SELECT * FROM {table}" for table in ("segments", "channels", "parts")}}  # noqa: S608
    counted: ClassVar = {"feedback": f"SELECT {FEEDBACK} FROM feedback"}  # noqa: S608 -- constants

    @property
    def feedback_columns(self) -> str:
        """The columns of the table of feedback: without judges if an older LexFuse created it."""
        return FEEDBACK if "judge" in {row[1] for row in self._rows("PRAGMA table_info(feedback)")} else FORMER_FEEDBACK

    def _selected(self, table: str) -> str:
        if table == "feedback":
            return f"SELECT {self.feedback_columns} FROM feedback"  # noqa: S608 -- constants
        return super()._selected(table)

    def segments(self) -> list[CatalogSegment]:
        """Every segment, oldest first."""
        found = [
            CatalogSegment(*row) for row in self._rows("SELECT number, folder, documents, manifest FROM segments ORDER BY number")
        ]
        return self._checked("segments", found, [segment_folder(one.number) for one in found if type(one.number) is int])

    def tombstones(self) -> list[tuple[int, int]]:
        """Segment and ordinal of every deleted document."""
        found = self._rows("SELECT segment, ordinal FROM tombstones ORDER BY segment, ordinal")
        if any(type(value) is not int for row in found for value in row):
            raise self._wrong("tombstones")
        return found

    def members(self, segment: int) -> list[tuple[int, str]]:
        """Ordinal and id of a segment's live documents, by ordinal."""
        return self._rows("SELECT ordinal, id FROM documents WHERE segment = ? ORDER BY ordinal", (segment,))

    def _checked(self, table: str, found: list[CatalogSegment], folders: list[str]) -> list[CatalogSegment]:
        """The rows of a table if an index can have written them, each with the folder of its number; nothing else is opened."""
        if [one.folder for one in found] != folders:
            raise self._wrong(table)
        if any(type(one.documents) is not int or one.documents < 0 or type(one.manifest) is not str for one in found):
            raise self._wrong(table)
        return found

    def present(self, ids: Sequence[str]) -> set[str]:
        """Which of these ids are documents of the index."""
        found = {id for (id,) in self._rows_of_ids("SELECT id FROM documents", ids)}
        return {id for id in found if MARK not in id} if self.has_history else found

    def column(self, name: str) -> tuple[list[int], list[int], list[Any]]:
        """Segments, ordinals and one column of all documents, as three parallel lists."""
        if name not in (*COLUMNS, SERIAL):
            raise UnknownFieldError(f"documents have no field {name!r}; they have {', '.join(COLUMNS)}")
        table = _WHOLE if name in LONG else "documents"
        columns: tuple[list[int], list[int], list[Any]] = ([], [], [])
        # As JSON, a million values arrive in a few strings instead of a million rows.
        every = ", ".join(f"json_group_array({column})" for column in ("segment", "ordinal", name))
        some = f"SELECT serial, segment, ordinal, {name} FROM {table} WHERE serial > ? ORDER BY serial LIMIT {AT_ONCE}"  # noqa: S608
        after = -1
        while (found := self._rows(f"SELECT max(serial), {every} FROM ({some})", (after,))[0])[0] is not None:  # noqa: S608
            after, *lists = found
            if not isinstance(after, int):
                raise self._wrong("documents")
            for column, values in zip(columns, lists, strict=True):
                column += orjson.loads(values)
        types = {int} if name == SERIAL else {str, type(None)} if name in OPTIONAL else {str}
        if not {*map(type, columns[0]), *map(type, columns[1])} <= {int} or not {*map(type, columns[2])} <= types:
            raise self._wrong("documents")
        return columns

    def document(self, id: str) -> Document:
        """A whole document; `NotFoundError` if it is not in the index."""
        return self.whole([id])[0]

    def whole(self, ids: Sequence[str]) -> list[Document]:
        """Whole documents in this order; `NotFoundError` for one that the index does not have."""
        rows = self._rows_of_ids(f"SELECT {_ROW} FROM {_WHOLE}", ids)  # noqa: S608 -- constants
        found = {document.id: document for document in map(document_of, rows)}
        for id in ids:
            if id not in found:
                raise UnknownDocumentError(f"the index has no document {id!r}")
        return [found[id] for id in ids]

    def heads(self, ids: Sequence[str]) -> dict[str, Document]:
        """Documents by id without text and extra fields, for lists; unknown ids are skipped."""
        rows = self._rows_of_ids(f"SELECT id, {', '.join(SHORT)} FROM documents", ids)  # noqa: S608 -- constants
        return {row[0]: document_of((*row, None, "")) for row in rows}

    def documents(self) -> Iterator[Document]:
        """All documents, by id."""
        with sqlite_errors(self.path):
            for row in self.connection.execute(f"SELECT {_ROW} FROM {_WHOLE} ORDER BY id"):  # noqa: S608 -- constants
                yield document_of(row)

    def serials(self) -> list[int]:
        """The serial number of every document, ascending."""
        return [serial for (serial,) in self._rows("SELECT serial FROM documents ORDER BY serial")]  # rowids are always integers

    def versions(self, serials: Sequence[int]) -> dict[int, Document]:
        """Whole documents by serial number, without those that are deleted."""
        statement = f"SELECT serial, {_ROW} FROM {_WHOLE} WHERE serial IN ({marks(len(serials))}) ORDER BY serial"  # noqa: S608
        rows = self._rows(statement, list(serials))
        return {serial: document_of(row) for serial, *row in rows}

    def encoded_texts(self, ids: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        """The serial number of each of these documents, and a digest of what its vectors depend on; unknown ids are skipped."""
        rows = self._rows_of_ids(f"SELECT id, serial, title, headings, text, language FROM {_WHOLE}", ids)  # noqa: S608
        return {id: (serial, sha256(repr(read).encode("utf-8", "surrogatepass")).digest()) for id, serial, *read in rows}

    def channels(self) -> list[CatalogChannel]:
        """Every channel in addition to the segments, by name."""
        rows = self._rows("SELECT name, settings, passages, cut, seconds FROM channels ORDER BY name")
        try:
            found = [CatalogChannel(row[0], ChannelSettings.from_json(orjson.loads(row[1])), *row[2:]) for row in rows]
        except ValueError:
            raise self._wrong("channels") from None
        for name, _, *encoded in found:
            if not isinstance(name, str) or not CHANNEL_NAME.fullmatch(name) or [*map(type, encoded)] != [int, int, float]:
                raise self._wrong("channels")
        return found

    def parts(self, channel: str) -> list[CatalogSegment]:
        """The parts of a channel, oldest first."""
        statement = "SELECT number, folder, documents, manifest FROM parts WHERE channel = ? ORDER BY number"
        found = [CatalogSegment(*row) for row in self._rows(statement, (channel,))]
        return self._checked("parts", found, [part_folder(channel, one.number) for one in found if type(one.number) is int])

    def insert_channel(self, name: str, settings: ChannelSettings) -> None:
        """Add a channel."""
        self.connection.execute(
            "INSERT INTO channels VALUES (?, ?, 0, 0, 0.0)", (name, orjson.dumps(settings.as_json()).decode())
        )

    def remove_channel(self, name: str) -> None:
        """Remove a channel."""
        self.connection.execute("DELETE FROM channels WHERE name = ?", (name,))
        self.connection.execute("DELETE FROM parts WHERE channel = ?", (name,))
        self._forget_distributions(f"{name}:")

    def distributions(self) -> dict[str, Any]:
        """The stored score distributions as plain values by key: the channel, a colon, its parameters."""
        rows = self._rows("SELECT name, value FROM meta WHERE name GLOB ? ORDER BY name", (f"{_DISTRIBUTION}*",))
        try:
            return {name.removeprefix(_DISTRIBUTION): orjson.loads(value) for name, value in rows}
        except ValueError:
            raise DataError("a distribution of scores is damaged; estimate it again", path=self.path) from None

    def keep_distribution(self, key: str, values: dict[str, Any]) -> None:
        """Store a distribution, replacing an older one with the same key."""
        self.set_meta(f"{_DISTRIBUTION}{key}", values)

    def _forget_distributions(self, beginning: str) -> None:
        self.connection.execute("DELETE FROM meta WHERE name GLOB ?", (f"{_DISTRIBUTION}{beginning}*",))

    def replace_parts(self, channel: str, old: Sequence[CatalogSegment], new: CatalogSegment | None) -> None:
        """Replace parts (or none) by one part (or none)."""
        self.connection.executemany("DELETE FROM parts WHERE number = ?", [(part.number,) for part in old])
        if new is not None:
            row = (new.number, channel, new.folder, new.documents, new.manifest)
            self.connection.execute("INSERT INTO parts VALUES (?, ?, ?, ?, ?)", row)

    def count_encoded(self, channel: str, passages: int, cut: int, seconds: float) -> None:
        """Add to the counts of what was encoded for a channel, and to the time."""
        statement = "UPDATE channels SET passages = passages + ?, cut = cut + ?, seconds = seconds + ? WHERE name = ?"
        self.connection.execute(statement, (passages, cut, seconds, channel))

    def insert(self, segment: CatalogSegment, rows: Sequence[DocumentRow]) -> None:
        """Add a segment and its documents, in the order of their ordinals."""
        self.connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?)", segment)
        first = self.meta("next_serial")  # never reused: channels identify documents by it
        self.set_meta("next_serial", first + len(rows))
        size = 1 + len(SHORT)
        documents = ((first + at, segment.number, at, *row[:size]) for at, row in enumerate(rows))
        contents = ((first + at, checksum_of(row), *row[size:]) for at, row in enumerate(rows))
        self.connection.executemany(f"INSERT INTO documents VALUES ({marks(3 + size)})", documents)  # noqa: S608
        self.connection.executemany(f"INSERT INTO contents VALUES ({marks(2 + len(LONG))})", contents)  # noqa: S608

    def remove(self, ids: Sequence[str]) -> None:
        """Delete documents with all their versions; all must be present."""
        one = [(id,) for id in (*ids, *self.remove_periods(ids))]
        self.connection.executemany("INSERT INTO tombstones SELECT segment, ordinal FROM documents WHERE id = ?", one)
        self.connection.executemany("DELETE FROM contents WHERE serial = (SELECT serial FROM documents WHERE id = ?)", one)
        self.connection.executemany("DELETE FROM documents WHERE id = ?", one)

    def replace(self, old: Sequence[CatalogSegment], new: CatalogSegment | None, ids: Sequence[str]) -> None:
        """Replace several segments by one or none; its ids are in the order of their ordinals."""
        numbers = [(segment.number,) for segment in old]
        self.connection.executemany("DELETE FROM segments WHERE number = ?", numbers)
        self.connection.executemany("DELETE FROM tombstones WHERE segment = ?", numbers)
        if new is not None:
            self.connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?)", new)
            places = ((new.number, ordinal, id) for ordinal, id in enumerate(ids))
            self.connection.executemany("UPDATE documents SET segment = ?, ordinal = ? WHERE id = ?", places)

    def forget_places(self) -> None:
        """Remove all segments and tombstones, including damaged rows; the documents stay."""
        for table in ("segments", "tombstones"):
            self.connection.execute(f"DELETE FROM {table}")  # noqa: S608 -- constants

    def forget_parts(self, channel: str) -> None:
        """Remove every part of a channel, including damaged rows."""
        self.connection.execute("DELETE FROM parts WHERE channel = ?", (channel,))

    def forget_lost_parts(self) -> None:
        """Remove parts of channels that do not exist."""
        self.connection.execute("DELETE FROM parts WHERE channel NOT IN (SELECT name FROM channels)")

    def clear(self) -> None:
        """Remove every document, segment and channel."""
        for table in ("segments", "tombstones", "documents", "contents", "channels", "parts"):
            self.connection.execute(f"DELETE FROM {table}")  # noqa: S608 -- constants
        self.connection.execute("DROP TABLE IF EXISTS periods")
        self.set_meta("format", FORMAT)
        self.connection.execute(f"DELETE FROM meta WHERE name NOT IN ({marks(len(_SETTINGS))})", _SETTINGS)  # noqa: S608

    def damages(self) -> list[str]:
        """SQLite's findings about its file, documents and tables that differ from what was written, and missing rows."""
        try:
            found = self.malformed()
            found += self._damaged_documents()
            tables = self.damaged_tables((*self.summed, *self.counted))
            found += [f"table {table} has other rows than were written" for table in tables]
            names = [name for (name,) in self._rows("SELECT name FROM meta WHERE name NOT GLOB ?", (f"{_DISTRIBUTION}*",))]
            found += [f"its meta table has an unknown setting {name!r}" for name in names if name not in _SETTINGS]
        except LexFuseError as error:
            return [str(error)]
        return [f"{self.path}: {line}" for line in found]

    def _damaged_documents(self) -> list[str]:
        found = []
        with sqlite_errors(self.path):
            for checksum, *row in self.connection.execute(f"SELECT checksum, {_ROW} FROM {_WHOLE}"):  # noqa: S608 -- constants
                try:
                    check_types(row)
                    whole = checksum_of(row) == checksum
                except ValueError:
                    whole = False
                if not whole:
                    found.append(f"document {row[0]!r} has other bytes than were written")
        counts = [self._rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("documents", "contents", _WHOLE)]  # noqa: S608
        if len(set(counts)) > 1:
            found.append(
                f"tables documents and contents have {counts[0]:,} and {counts[1]:,} rows, {counts[2]:,} of them together"
            )
        found += self.damaged_periods()
        (last,) = self._rows("SELECT coalesce(max(serial), 0) FROM documents")[0]
        if last >= self.meta("next_serial"):
            found.append(f"a document has the serial number {last:,}, which was never given")
        return found
