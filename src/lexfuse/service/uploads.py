"""Reads uploaded files in child processes, so that a harmful file affects a child only.

A parser holds the interpreter lock, may need any amount of memory, and cannot be stopped from inside. So it runs in a separate
process, `lexfuse.service.upload_child`, which has limits and is killed at the deadline of the request. A child reads one file
after another and ends with the service.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from threading import Lock, Timer
from typing import IO, Any, NamedTuple, cast

import orjson

from lexfuse.deadline import Deadline
from lexfuse.errors import DataError, MissingDependencyError, UnreadableFileError, error_classes
from lexfuse.service.upload_child import MEMORY, PROCESSOR_SECONDS, framed, unframed

_COMMAND = (sys.executable, "-P", "-m", "lexfuse.service.upload_child")  # -P: import no module from the current folder
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
        self._idle: list[_Child] = []
        self._closed = False

    def read(self, raw: bytes, name: str, deadline: Deadline) -> UploadText:
        """The text of a file; `UnreadableFileError` if it has none, or needs too much time or memory."""
        child = self._taken()
        try:
            answer = child.ask(raw, name, deadline)
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

    def _taken(self) -> _Child:
        with self._lock:
            return self._idle.pop() if self._idle else _Child()

    def _give_back(self, child: _Child) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(child)
                return
        child.kill()


class _Child:
    """One child process."""

    def __init__(self) -> None:
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(_COMMAND, stdin=pipe, stdout=pipe, stderr=nothing)  # noqa: S603 -- constants
        self._to, self._from = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)

    def ask(self, raw: bytes, name: str, deadline: Deadline) -> dict[str, Any]:
        """The child's answer for a file; the child is killed at the deadline."""
        watch = Timer(deadline.left, self._process.kill)
        watch.daemon = True
        watch.start()
        try:
            self._to.write(framed(name.encode("utf-8", "replace")) + framed(raw))
            self._to.flush()
            answer = unframed(self._from)
        except (BrokenPipeError, EOFError):
            self._process.wait()
            raise self._failure(name, deadline) from None
        finally:
            watch.cancel()
        answered: dict[str, Any] = orjson.loads(answer)
        return answered

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._to, self._from):
            with suppress(OSError):  # unsent data is lost on purpose
                pipe.close()

    def _failure(self, name: str, deadline: Deadline) -> Exception:
        if deadline.passed:
            return deadline.error()
        if self._process.returncode == -signal.SIGXCPU:
            reason = f"the file takes more than {PROCESSOR_SECONDS} seconds to read; {_ADVICE}"
        else:
            reason = f"the file needs more than {MEMORY >> 20:,} MB of memory to read, or is damaged; {_ADVICE}"
        return UnreadableFileError(reason, path=name)
