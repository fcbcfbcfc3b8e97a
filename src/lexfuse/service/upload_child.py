"""The program that reads files for `lexfuse.service.uploads`: frames on standard input, an answer to each on standard output.

It has limits of memory and processor time, and writes no file. The service starts it.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

import orjson

from lexfuse.data.formats.text_file import text_of
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, MissingDependencyError
from lexfuse.service.child_process import framed, unframed

MEMORY = 1 << 30  # bytes of address space
PROCESSOR_SECONDS = 25  # per file
_NICE = 10  # searches have priority


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
