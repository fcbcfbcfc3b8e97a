"""Reads uploaded files in child processes, so that a harmful file affects a child only.

A parser holds the interpreter lock, may need any amount of memory, and cannot be stopped from inside. So it runs in a separate
process, `lexfuse.service.upload_child`, which has limits and is killed at the deadline of the request. A child reads one file
after another and ends with the service.
"""

from __future__ import annotations

import signal
from threading import Lock
from typing import NamedTuple

import orjson

from lexfuse.deadline import Deadline
from lexfuse.errors import DataError, MissingDependencyError, UnreadableFileError, error_classes
from lexfuse.service.child_process import ChildProcess
from lexfuse.service.upload_child import MEMORY, PROCESSOR_SECONDS

_MODULE = "lexfuse.service.upload_child"
_ERRORS = {kind.code: kind for kind in error_classes(DataError)}
_ADVICE = "save it as plain text, or send a part of it"


class UploadText(NamedTuple):
    """The text of a file, and remarks about it."""

    text: str
    notes: list[str]


class UploadReader:
    """Reads files in child processes; thread-safe: each thread has a child while it reads.

    >>> reader = UploadReader()
    >>> reader.read(b"<p>The appeal is dismissed.</p>", "judgment.html", Deadline(60)).text
    'The appeal is dismissed.'
    >>> reader.close()
    """

    def __init__(self) -> None:
        """Start without children."""
        self._lock = Lock()
        self._idle: list[ChildProcess] = []
        self._closed = False

    def read(self, raw: bytes, name: str, deadline: Deadline) -> UploadText:
        """The text of a file; `UnreadableFileError` if it has none, or needs too much time or memory."""
        child = self._taken()
        try:
            answer = orjson.loads(child.ask(name.encode("utf-8", "replace"), raw, seconds=deadline.left))
        except EOFError:
            child.kill()
            raise _failure(child, name, deadline) from None
        except BaseException:
            child.kill()
            raise
        self._give_back(child)
        if code := answer.get("code"):
            raise _ERRORS[code](answer["reason"], path=answer["path"])
        if missing := answer.get("missing"):
            raise MissingDependencyError(missing)
        return UploadText(answer["text"], answer["notes"])

    def close(self) -> None:
        """End idle children; the others end after their file."""
        with self._lock:
            self._closed, idle, self._idle = True, self._idle, []
        for child in idle:
            child.kill()

    def _taken(self) -> ChildProcess:
        with self._lock:
            return self._idle.pop() if self._idle else ChildProcess(_MODULE, quiet=True)

    def _give_back(self, child: ChildProcess) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(child)
                return
        child.kill()


def _failure(child: ChildProcess, name: str, deadline: Deadline) -> Exception:
    """The error of a child that ended instead of answering."""
    if deadline.passed:
        return deadline.error()
    if child.process.returncode == -signal.SIGXCPU:
        reason = f"the file takes more than {PROCESSOR_SECONDS} seconds to read; {_ADVICE}"
    else:
        reason = f"the file needs more than {MEMORY >> 20:,} MB of memory to read, or is damaged; {_ADVICE}"
    return UnreadableFileError(reason, path=name)
