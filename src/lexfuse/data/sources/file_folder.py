"""A folder of files, a zip file, or one file as documents; every file is accounted for.

Files are read and never executed or unpacked to disk. A file that cannot be read does not stop the import: it is skipped, and
the account says why. Links are not followed, since they may lead out of the folder.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.files import existing, read_bytes
from lexfuse.data.formats.file_documents import documents_of
from lexfuse.data.formats.legal_xml.law import unique_id
from lexfuse.data.formats.legal_xml.legi_versions import join_legi_versions
from lexfuse.data.formats.text_file import ZIP, FileType, file_type
from lexfuse.data.formats.word.package import BROKEN
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DamagedFileError, DataError, FileTypeError, LockedFileError, UnreadableFileError

LARGEST_FILE = 1 << 29  # bytes of one file
LARGEST_ARCHIVE = 1 << 32  # unpacked bytes of all files in one zip file
LARGEST_RATIO = 1000  # unpacked bytes per packed byte of a member; more is a bomb
MOST_MEMBERS = 200_000
DEEPEST_ARCHIVE = 3  # zip files inside each other
_CHECKED_FROM = 1 << 24
_ENCRYPTED = 1
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".jsonlines", ".json", ".parquet", ".xlsx", ".ods")
_TEMPORARY = ("~$", ".~lock")
_SHOWN = 20  # skipped files named in a text report

Divide = Callable[[Document], list[Document]]


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file: its documents, or the reason why it was skipped."""

    file: str
    documents: int = 0
    code: str = ""  # of the error
    reason: str = ""

    @property
    def imported(self) -> bool:
        """Whether the file gave documents."""
        return not self.code


@dataclass(frozen=True, slots=True)
class FileAccount:
    """The outcome of every file, in the order in which they were read."""

    outcomes: tuple[FileOutcome, ...]

    @property
    def imported(self) -> int:
        """The number of files that gave documents."""
        return sum(outcome.imported for outcome in self.outcomes)

    @property
    def skipped(self) -> tuple[FileOutcome, ...]:
        """The files that gave none."""
        return tuple(outcome for outcome in self.outcomes if not outcome.imported)

    def lines(self) -> list[str]:
        """A line with the counts, then one for each skipped file, at most 20.

        >>> account = FileAccount((FileOutcome("a.pdf", 3), FileOutcome("b.pdf", code="scanned-file", reason="has no text")))
        >>> account.lines()
        ['2 files: 1 imported, 1 skipped (1 scanned-file)', 'skipped b.pdf: has no text']
        """
        kinds = Counter(outcome.code for outcome in self.skipped)
        counts = f" ({', '.join(f'{count:,} {code}' for code, count in kinds.most_common())})" if kinds else ""
        count = f"{len(self.outcomes):,} {'file' if len(self.outcomes) == 1 else 'files'}"
        head = f"{count}: {self.imported:,} imported, {len(self.skipped):,} skipped{counts}"
        named = [f"skipped {outcome.file}: {outcome.reason}" for outcome in self.skipped[:_SHOWN]]
        more = len(self.skipped) - _SHOWN
        return [head, *named, *([f"{more:,} more skipped; --json names them all"] if more > 0 else [])]

    def as_json(self) -> dict[str, object]:
        """The account as plain values: counts, and every skipped file."""
        skipped = [{"file": one.file, "code": one.code, "reason": one.reason} for one in self.skipped]
        return {"files": len(self.outcomes), "imported": self.imported, "skipped": len(skipped), "skipped_files": skipped}


@dataclass(slots=True)
class _FolderReader:
    report: ReadReport
    divide: Divide | None
    divided: bool
    documents: dict[str, Document] = field(default_factory=dict)
    outcomes: list[FileOutcome] = field(default_factory=list)

    def file(self, name: str, read: Callable[[], bytes], depth: int = 0) -> None:
        """Read one file; an archive is read member by member."""
        try:
            if PurePosixPath(name).name.startswith((".", *_TEMPORARY)):
                raise FileTypeError("is a hidden or temporary file")
            if name.lower().removesuffix(".gz").endswith(_TABLES):
                raise FileTypeError("is a table; import it alone, with the names of its columns")
            raw = read()
            if raw.startswith(ZIP) and file_type(raw, Path(name)) is FileType.ZIP:
                self.archive(name, raw, depth)
                return
            self.keep(name, documents_of(raw, name, self.report, divided=self.divided))
        except DataError as error:
            self.skip(name, error)

    def keep(self, name: str, found: list[Document]) -> None:
        if self.divide and self.divided and len(found) == 1 and not (found[0].code or found[0].number):
            found = self.divide(found[0])
        found = self.distinct(name, found)
        self.documents |= {one.id: one for one in found}
        self.outcomes.append(FileOutcome(name, len(found)))
        self.report.kept += len(found)

    def distinct(self, name: str, found: list[Document]) -> list[Document]:
        """The documents of a file whose ids no other file has; another version of a text states the same ids."""
        twice = [one for one in found if one.id in self.documents]
        if not twice:
            return found
        other = self.documents[twice[0].id].extra.get("file")
        if all(one.id in self.documents and self.documents[one.id].text == one.text for one in found):
            raise DataError(f"has the same documents as {other!r}")
        if not all("#" in one.id for one in found):
            raise DataError(f"its document {twice[0].id!r} has the id of one in {other!r}; ids must be unique")
        self.report.note("its ids are those of another file; they begin with its path instead", path=name)
        taken: set[str] = set()
        base = "_".join(name.split())
        return [replace(one, id=unique_id(f"{base}#{one.id.rpartition('#')[2]}", taken)) for one in found]

    def skip(self, name: str, error: DataError) -> None:
        at = f" (line {error.line})" if error.line is not None else ""
        self.outcomes.append(FileOutcome(name, code=error.code, reason=f"{error.reason}{at}"))

    def archive(self, name: str, raw: bytes, depth: int) -> None:
        """The members of a zip file; nothing is unpacked to disk, so no path in it can lead anywhere."""
        if depth >= DEEPEST_ARCHIVE:
            raise DataError(f"zip files are more than {DEEPEST_ARCHIVE} levels inside each other; unpack them first")
        try:
            with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                files = (one for one in archive.infolist() if not one.filename.endswith("/"))  # a name may be empty
                entries = sorted(files, key=lambda one: one.filename)
                _refuse_bomb(entries)
                for entry in entries:
                    self.member(name, archive, entry, depth)
        except BROKEN as error:
            raise DamagedFileError(f"the zip file is damaged ({error or type(error).__name__}); pack it again") from None

    def member(self, name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, depth: int) -> None:
        inside = f"{name}/{entry.filename}"
        try:
            parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
            if entry.filename.startswith(("/", "\\")) or ".." in parts or ":" in entry.filename[:3]:
                raise DataError("has a path that leads out of the zip file")
            if not parts:
                raise DamagedFileError("has no name; pack the zip file again")
            if stat.S_ISLNK(entry.external_attr >> 16):
                raise DataError("is a symbolic link, which is not followed")
            if entry.flag_bits & _ENCRYPTED:
                raise LockedFileError("has a password; pack it without one")
            if "__MACOSX" in parts or any(part.startswith(".") for part in parts):
                raise FileTypeError("is a hidden or temporary file")
        except DataError as error:
            self.skip(inside, error)
            return
        self.file(inside, lambda: _unpacked(archive, entry), depth + 1)


def read_files(
    path: str | Path, report: ReadReport | None = None, *, divided: bool = True, divide: Divide | None = None
) -> tuple[Corpus, FileAccount]:
    """The documents of a folder, a zip file or one file, and what became of each file.

    A text with articles or sections is divided into them; ``divide`` may divide one that has none, such as a judgment with
    numbered paragraphs. Without ``divided`` every file is one document. Files of LEGI articles are versions of documents. No
    readable file at all is a `DataError`.

    >>> _ = (folder / "a.txt").write_text("The lease ends.")
    >>> _ = (folder / "b.pdf").write_text("")
    >>> corpus, account = read_files(folder)
    >>> corpus.ids.names, account.lines()[0]
    (('a.txt',), '2 files: 1 imported, 1 skipped (1 empty-file)')
    """
    path = existing(path)
    reading = _FolderReader(report if report is not None else ReadReport(), divide, divided)
    if path.is_dir():
        for name, file, refused in _walked(path):
            if refused:
                reading.skip(name, refused)
            else:
                reading.file(name, lambda file=file: _content(file))  # type: ignore[misc]
    else:
        reading.file(path.name, lambda: _content(path))
    account = FileAccount(tuple(reading.outcomes))
    if not reading.documents:
        reasons = "; ".join(account.lines()[:4]) if account.outcomes else "it has no files"
        raise DataError(f"no document could be read: {reasons}", path=path)
    documents = join_legi_versions(reading.documents.values(), reading.report)
    if not documents:
        raise DataError(f"no document could be read: {'; '.join(reading.report.lines()[:4])}", path=path)
    return Corpus.of(documents), account


def _walked(folder: Path) -> Iterator[tuple[str, Path, DataError | None]]:
    """Every file by its path in the folder, sorted; links and hidden folders come with the reason why they are not read."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        here = Path(place)
        for name in list(folders):
            refused = _refused(here / name)
            if refused:
                folders.remove(name)
                yield (here / name).relative_to(folder).as_posix(), here / name, refused
        for name in sorted(names):
            file = here / name
            yield file.relative_to(folder).as_posix(), file, DataError(_LINK) if file.is_symlink() else None


_LINK = "is a symbolic link, which is not followed; copy what it points to"


def _refused(place: Path) -> DataError | None:
    if place.is_symlink():
        return DataError(_LINK)
    return FileTypeError("is a hidden folder") if place.name.startswith(".") else None


def _content(file: Path) -> bytes:
    if not file.is_file():  # a pipe would never end
        raise FileTypeError("is not a plain file")
    if (size := file.stat().st_size) > LARGEST_FILE:
        raise UnreadableFileError(f"has {size:,} bytes; at most {LARGEST_FILE:,} are read")
    return read_bytes(file)


def _refuse_bomb(entries: Iterable[zipfile.ZipInfo]) -> None:
    entries = list(entries)
    total = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_MEMBERS or total > LARGEST_ARCHIVE:
        most = f"at most {MOST_MEMBERS:,} files of {LARGEST_ARCHIVE:,} bytes are read"
        raise DataError(f"the zip file has {len(entries):,} files of {total:,} bytes in all; {most}; divide it")


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, never more than it declares; one that unpacks far beyond its size is refused before."""
    packed = max(entry.compress_size, 1)
    if entry.file_size > LARGEST_FILE or (entry.file_size > _CHECKED_FROM and entry.file_size > LARGEST_RATIO * packed):
        raise DataError(f"has {packed:,} bytes that unpack to {entry.file_size:,}; the zip file is damaged or hostile")
    try:
        return archive.read(entry)
    except BROKEN as error:
        raise DamagedFileError(f"is damaged in the zip file ({error or type(error).__name__}); pack it again") from None
