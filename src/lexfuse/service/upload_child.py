"""The program that reads files for `lexfuse.service.uploads`: frames on standard input, an answer to each on standard output.

It has limits of memory and processor time, and writes no file. The service starts it.
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

MEMORY = 1 << 30  # bytes of address space
PROCESSOR_SECONDS = 25  # per file
_NICE = 10  # searches have priority
_LENGTH = 8  # bytes of the length of a frame


def framed(raw: bytes) -> bytes:
    r"""Bytes with their length in front.

    >>> framed(b"law")
    b'\x00\x00\x00\x00\x00\x00\x00\x03law'
    """
    return len(raw).to_bytes(_LENGTH, "big") + raw


def unframed(stream: IO[bytes]) -> bytes:
    """The next frame; `EOFError` at the end of the stream.

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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service ends it
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
