"""The XML files inside a zip package (DOCX, ODT), within limits on their size; nothing is written to disk."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from pathlib import Path

from lexfuse.errors import DamagedFileError, DataError, LockedFileError

LARGEST_PART = 1 << 26  # bytes of one XML file; the text of 10,000 pages
LARGEST_RATIO = 400  # unpacked bytes per packed byte; XML of word processors stays below 100
_CHECKED_FROM = 1 << 22  # a small part may repeat itself
_ENCRYPTED = 1  # the flag of a member
BROKEN = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    NotImplementedError,
    struct.error,
    lzma.LZMAError,
    zlib.error,
)


class Package:
    r"""A zip package in memory.

    >>> Package(b"PK\x03\x04 and nothing else", "a.docx")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DamagedFileError: a.docx: the file is damaged (File is not a zip file); save it again
    """

    def __init__(self, raw: bytes, path: str | Path) -> None:
        """Open the package; `DamagedFileError` if it is not a zip file."""
        self.path = path
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(raw))
            self.names = frozenset(self._archive.namelist())
        except BROKEN as error:
            raise self._damaged(error) from None

    def read(self, name: str) -> bytes:
        """The bytes of one part; one that is missing, encrypted or far too large is an error."""
        try:
            entry = self._archive.getinfo(name)
        except KeyError:
            raise DamagedFileError(f"the file has no part {name}; save it again", path=self.path) from None
        if entry.flag_bits & _ENCRYPTED:
            raise LockedFileError("the file has a password; save it without one", path=self.path)
        packed = max(entry.compress_size, 1)
        if entry.file_size > LARGEST_PART or (entry.file_size > _CHECKED_FROM and entry.file_size > LARGEST_RATIO * packed):
            reason = f"part {name} has {packed:,} bytes that unpack to {entry.file_size:,}, which text never does"
            raise DataError(f"{reason}; the file is damaged or hostile", path=self.path)
        try:
            return self._archive.read(entry)  # never more than the declared size
        except BROKEN as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> DamagedFileError:
        return DamagedFileError(f"the file is damaged ({error or type(error).__name__}); save it again", path=self.path)
