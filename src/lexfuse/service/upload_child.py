"""The program that reads files for `lexfuse.service.uploads`: frames on standard input, an answer to each on standard output.

It runs with limits of its own and writes no file. It is never imported for its own sake: the service starts it.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from typing import IO

import orjson

from lexfuse.data.formats.text_file import text_of
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, MissingDependencyError

MEMORY = 1 << 30  # bytes of addresses
PROCESSOR_SECONDS = 25  # for one file
_NICE = 10  # searches come first
_LENGTH = 8  # bytes that say how long a frame is


def framed(raw: bytes) -> bytes:
    r"""Bytes after their length.

    >>> framed(b"law")
    b'\x00\x00\x00\x00\x00\x00\x00\x03law'
    """
    return len(raw).to_bytes(_LENGTH, "big") + raw


def unframed(stream: IO[bytes]) -> bytes:
    """The next frame; `EOFError` if the other side has ended.

    >>> import io
    >>> unframed(io.BytesIO(framed(b"law")))
    b'law'
    """
    length = stream.read(_LENGTH)
    raw = stream.read(int.from_bytes(length, "big")) if len(length) == _LENGTH else b""
    if len(length) < _LENGTH or len(raw) < int.from_bytes(length, "big"):
        raise EOFError
    return raw


def main() -> None:
    """Read files until the service ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service decides when to end
    os.nice(_NICE)
    for limit, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (value, value))
    while True:
        try:
            name, raw = unframed(sys.stdin.buffer).decode("utf-8"), unframed(sys.stdin.buffer)
        except EOFError:
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        spent = int(used.ru_utime + used.ru_stime)
        resource.setrlimit(resource.RLIMIT_CPU, (spent + PROCESSOR_SECONDS, resource.RLIM_INFINITY))
        sys.stdout.buffer.write(framed(orjson.dumps(_answer(raw, name))))
        sys.stdout.buffer.flush()


def _answer(raw: bytes, name: str) -> dict[str, object]:
    report = ReadReport()
    try:
        return {"text": text_of(raw, name, report), "notes": report.lines()}
    except DataError as error:
        return {"code": error.code, "reason": error.reason, "path": error.path}
    except MissingDependencyError as error:
        return {"missing": str(error)}


if __name__ == "__main__":
    main()
