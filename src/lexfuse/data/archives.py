"""Read files inside folders, npm tarballs and wheels in place: nothing is unpacked to disk.

A member is matched by the last part of its name, so no path inside an archive is ever followed.
"""

from __future__ import annotations

import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from lexfuse.data.files import decode, existing, read_bytes
from lexfuse.data.formats.json_text import from_json
from lexfuse.errors import DataError, NotFoundError

# The largest real member has 56 MB; a far larger one means a damaged or hostile archive.
LARGEST_MEMBER = 1 << 29

_TAR = (".tgz", ".tar.gz", ".tar")
_ZIP = (".whl", ".zip")
_ENCRYPTED = 1  # the flag of a member


def members(path: str | Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Location and content of every file whose name matches a pattern, sorted by name.

    ``path`` is a file, an archive or a folder. The plain files of a folder come first; its archives are opened only when no plain
    file matches, so that a tarball next to its unpacked copy is not read twice.
    """
    path, pattern = existing(path), re.compile(name)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.is_file())
        plain = [file for file in found if pattern.fullmatch(file.name)]
        for file in plain or [file for file in found if file.name.endswith(_TAR + _ZIP)]:
            yield from members(file, name)
    elif path.name.endswith(_TAR):
        yield from _tar_members(path, pattern)
    elif path.name.endswith(_ZIP):
        yield from _zip_members(path, pattern)
    elif pattern.fullmatch(path.name):
        yield str(path), read_bytes(path)


def required_members(path: str | Path, name: str, expected: str) -> Iterator[tuple[str, bytes]]:
    """`members` of a file, folder or archive; a JSON file may have any name. `NotFoundError` when nothing matches."""
    path = existing(path)
    plain = path.is_file() and path.name.endswith((".json", ".json.gz"))
    found = False
    for place, raw in members(path, re.escape(path.name) if plain else name):
        found = True
        yield place, raw
    if not found:
        raise NotFoundError(f"no {expected} in {str(path)!r}; give the file, the package's tarball or its data folder")


def has_member(path: str | Path, name: str) -> bool:
    """Whether a file, archive or folder has a member whose name matches; false for an unreadable archive."""
    try:
        return any(True for _ in members(path, name))
    except DataError:
        return False


def parse_json(raw: bytes, place: str) -> Any:
    """Parse the JSON bytes of a file; invalid JSON is a `DataError` that names the position.

    >>> parse_json(b'{"a": 1', "code.json")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: code.json: not valid JSON: unexpected end of data at character 8; the file may be ...
    """
    decode(raw, path=place)  # bytes that are not UTF-8 are named as such
    try:
        return from_json(raw)
    except DataError as error:
        raise DataError(f"{error.reason}; the file may be damaged or cut short, fetch it again", path=place) from None


def _tar_members(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path) as archive:
            entries = [entry for entry in archive if entry.isfile() and pattern.fullmatch(PurePosixPath(entry.name).name)]
            for entry in sorted(entries, key=lambda entry: entry.name):
                _refuse_huge(path, entry.name, entry.size)
                stream = archive.extractfile(entry)
                yield f"{path}:{entry.name}", b"" if stream is None else stream.read()
    except (tarfile.TarError, EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"the archive is damaged ({error}); fetch it again", path=path) from None


def _zip_members(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if pattern.fullmatch(PurePosixPath(entry.filename).name)]
            for entry in sorted(entries, key=lambda entry: entry.filename):
                _refuse_huge(path, entry.filename, entry.file_size)
                if entry.flag_bits & _ENCRYPTED:
                    raise DataError(f"member {entry.filename!r} has a password; save the archive without one", path=path)
                yield f"{path}:{entry.filename}", archive.read(entry)
    except NotImplementedError as error:  # an unknown compression method
        raise DataError(f"the archive cannot be read ({error}); pack it again as a plain zip file", path=path) from None
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError, struct.error, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"the archive is damaged ({error}); fetch it again", path=path) from None


def _refuse_huge(path: Path, name: str, size: int) -> None:
    if size > LARGEST_MEMBER:
        raise DataError(f"member {name!r} declares {size:,} bytes; at most {LARGEST_MEMBER:,} are read", path=path)
