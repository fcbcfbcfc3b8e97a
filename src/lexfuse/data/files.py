"""Read and write files without loss: plain or gzipped, complete or not at all, same bytes every time.

A written file is on disk under its name when its writer returns: a power failure right afterwards loses nothing.
"""

from __future__ import annotations

import ctypes
import errno
import gzip
import hashlib
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import orjson

from lexfuse.data.partial_files import claimed_file, claimed_folder
from lexfuse.errors import DataError, NotFoundError, StorageError

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 23
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
# Limits on compressed data, which is damaged or hostile beyond them: a few megabytes can unpack to terabytes.
LONGEST_LINE = 1 << 27  # bytes
LARGEST_UNPACKED = 1 << 29  # bytes of a file that is read at once
LARGEST_RATIO = 250  # unpacked bytes per packed byte; text stays below 20
_CHECKED_FROM = 1 << 26  # unpacked bytes; a small file may repeat one byte


def existing(path: str | Path) -> Path:
    """The path if it exists, else `NotFoundError`."""
    path = Path(path)
    if not path.exists():
        raise NotFoundError(f"no file or folder {str(path)!r}; check the path")
    return path


def open_bytes(path: str | Path) -> IO[bytes]:
    """Open a file for reading; gzip is recognised by its content, not by the name."""
    path = existing(path)
    if path.is_dir():
        raise DataError("is a folder, a file was expected", path=path)
    try:
        raw = path.open("rb")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}; check its permissions", path=path) from None
    if raw.peek(2)[:2] == GZIP_MAGIC:  # peek: a pipe cannot be rewound
        raw.close()
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return raw


def lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    r"""Number (from 1) and bytes of every line that is not blank; only ``\n`` and ``\r\n`` end a line.

    Truncated or damaged gzip data is a `DataError` that names the file and the last good line.
    """
    for number, line in raw_lines(path):
        if stripped := line.strip(b"\r\n"):
            yield number, stripped


def raw_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and bytes of every line, including blank lines and line ends."""
    number = 0
    with open_bytes(path) as stream, _damage_named(path, lambda: number):
        for number, line in enumerate(iter(partial(stream.readline, LONGEST_LINE + 1), b""), start=1):
            _refuse_bomb(stream, path, len(line))
            yield number, line


def chunks(path: str | Path, size: int = CHUNK) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines, each with the number of its first line, for readers that process many lines at once."""
    number = 1
    with open_bytes(path) as stream, _damage_named(path, lambda: number - 1):
        while block := stream.read(size):
            rest = stream.readline(LONGEST_LINE + 1)
            _refuse_bomb(stream, path, len(rest))
            block += rest
            yield number, block
            number += block.count(b"\n")


def read_bytes(path: str | Path) -> bytes:
    """The whole content of a plain or gzipped file."""
    with open_bytes(path) as stream, _damage_named(path, lambda: None):
        if not isinstance(stream, gzip.GzipFile):
            return stream.read()
        raw = stream.read(LARGEST_UNPACKED + 1)
        if len(raw) > LARGEST_UNPACKED:
            raise DataError(f"the gzip data unpacks to more than {LARGEST_UNPACKED:,} bytes; unpack it first", path=path)
        return raw


def checksum(file: Path) -> str:
    """The sha256 of a file, as hexadecimal digits."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _refuse_bomb(stream: IO[bytes], path: str | Path, line: int) -> None:
    """Refuse an endless line, and gzip data that expands far more than text does."""
    if line > LONGEST_LINE:
        raise DataError(f"a line is longer than {LONGEST_LINE:,} bytes; check that the file is complete and is text", path=path)
    if isinstance(stream, gzip.GzipFile) and (unpacked := stream.tell()) > _CHECKED_FROM:
        packed = cast("IO[bytes]", stream.fileobj).tell()
        if unpacked > LARGEST_RATIO * packed:
            reason = f"{packed:,} bytes of gzip data unpack to more than {unpacked:,} bytes, which text never does"
            raise DataError(f"{reason}; if it is right, unpack the file first", path=path)


def decode(raw: bytes, *, path: str | Path, line: int | None = None) -> str:
    r"""Decode UTF-8 and drop a byte-order mark; other bytes are a `DataError` that names the position.

    >>> decode("é".encode(), path="a.txt")
    'é'
    >>> decode(b"\xe9", path="a.txt", line=4)
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: a.txt, line 4: byte 0xe9 at position 0 is not UTF-8; convert the file to UTF-8 first
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"byte {raw[error.start]:#04x} at position {error.start} is not UTF-8; convert the file to UTF-8 first"
        raise DataError(reason, path=path, line=line) from None


@contextmanager
def written_file(path: str | Path, *, private: bool = False, verbatim: bool = False) -> Iterator[IO[bytes]]:
    """Write a file that gets its name only when it is complete; ``private`` gives it mode 0600.

    A name that ends with ``.gz`` is gzipped, unless the bytes are written ``verbatim``.

    Gzip stores neither name nor time, so the same content gives the same bytes.

    >>> with written_file(folder / "a.txt.gz") as out:
    ...     _ = out.write(b"law")
    >>> read_bytes(folder / "a.txt.gz")
    b'law'
    """
    path = Path(path)
    with named_storage_errors(path):
        if path.is_dir():
            raise StorageError(f"cannot write {str(path)!r}: it is a folder; give a file name")
        if path.exists() and not path.is_file():  # a device or pipe is written directly
            with path.open("wb") as stream:
                yield stream
            return
        if path.is_symlink():  # replace the target of the link, not the link
            path = path.resolve()
        make_folder(path.parent)
        if not os.access(path.parent, os.W_OK):
            raise StorageError(f"cannot write {str(path)!r}: the folder is read-only; write elsewhere")
        handle, partial = claimed_file(path)
        try:
            with os.fdopen(handle, "wb") as raw:  # holds the lock until the rename
                if path.suffix == ".gz" and not verbatim:
                    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                        yield cast("IO[bytes]", packed)
                else:
                    yield raw
                raw.flush()
                os.fsync(raw.fileno())
                os.fchmod(raw.fileno(), 0o600 if private else 0o666 & ~_umask())
                os.replace(partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        sync_name(path)


def write_json(path: str | Path, values: Any) -> None:
    """Write plain values as indented JSON, complete or not at all."""
    with written_file(path) as out:
        out.write(orjson.dumps(values, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@contextmanager
def written_folder(path: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """Write a folder that gets its name only when it is complete; an old one stays until then.

    >>> with written_folder(folder / "corpus") as partial:
    ...     _ = (partial / "a.txt").write_text("law")
    >>> [path.name for path in (folder / "corpus").iterdir()]
    ['a.txt']
    """
    path = Path(path)
    _refuse_existing(path, replace)
    with named_storage_errors(path):
        if path.is_symlink():  # replace the target of the link, not the link
            path = path.resolve()
        make_folder(path.parent)
        _refuse_existing(path, replace)  # "new/../old" is there only now
        handle, partial = claimed_folder(path)
        try:
            yield partial
            partial.chmod(0o777 & ~_umask())
            for folder, _, names in os.walk(partial):
                sync(*(Path(folder, name) for name in names), Path(folder))
            old = _put_in_place(path, partial)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        finally:
            os.close(handle)
        sync_name(path)
        if old is not None:  # only now: before the rename is on disk, a power failure restores the old folder
            _remove_old(old, path)


def _refuse_existing(path: Path, replace: bool) -> None:
    if path.exists() and not replace:
        raise StorageError(f"{str(path)!r} already exists; choose another name or replace it with --force")


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents, and flush their names to disk."""
    missing = []
    while not path.exists() and path != path.parent:
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def sync(*paths: Path) -> None:
    """Flush files to disk; for a folder, the names in it. A new name survives a crash only once its folder is flushed."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sync_name(path: Path) -> None:
    """Flush the name of a file that was just renamed; the error says that the file itself is in place."""
    try:
        sync(path.parent)
    except OSError as error:
        reason = f"{error.strerror or error}; a power failure may lose it; check the disk"
        raise StorageError(f"{str(path)!r} is written, but its name could not be flushed to disk: {reason}") from error


def _put_in_place(path: Path, partial: Path) -> Path | None:
    """Rename the new folder, atomically where the system can, and return where the old one is now."""
    if not path.exists():
        partial.rename(path)
        return None
    if _exchanged(path, partial):
        return partial
    old = partial.with_name(partial.name + "-old")
    try:
        path.rename(old)
        partial.rename(path)
    except BaseException:
        if old.exists() and not path.exists():
            old.rename(path)
        raise
    return old


def _remove_old(old: Path, path: Path) -> None:
    try:
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    except OSError as error:
        reason = f"what it replaces could not be removed: {error.strerror or error}; remove {str(old)!r} yourself"
        raise StorageError(f"{str(path)!r} is written, but {reason}") from error


def _exchanged(path: Path, other: Path) -> bool:
    """Swap two names in one step, so that neither is ever missing; false if the system cannot."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except AttributeError:
        return False
    return not rename(_HERE, os.fsencode(path), _HERE, os.fsencode(other), _EXCHANGE)


@contextmanager
def named_storage_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's write errors into a `StorageError` that names the target.

    >>> with named_storage_errors(Path("out")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    ...
    lexfuse.errors.StorageError: cannot write 'out': No space left on device; free some space ...
    """
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        advice = "free some space or write elsewhere" if full else "check the path and its permissions"
        raise StorageError(f"cannot write {str(path)!r}: {error.strerror or error}; {advice}; nothing was changed") from error


@contextmanager
def _damage_named(path: str | Path, line: Callable[[], int | None]) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        last = line()
        after = f" after line {last}" if last is not None else ""
        raise DataError(f"the gzip data is truncated or damaged{after} ({error}); fetch the file again", path=path) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
