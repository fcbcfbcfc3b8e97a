"""A child process that answers one request after another: frames on its standard input and output.

The service starts it and kills it when an answer takes too long; a child whose standard input ends has no service any more, and
ends too.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from typing import IO, cast

_LENGTH = 8  # bytes of the length of a frame
_BLOCK = 1 << 16  # bytes that are read at once, as many as a pipe holds


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


class ChildProcess:
    """A process that runs a module of LexFuse.

    >>> child = ChildProcess("lexfuse.service.upload_child", quiet=True)
    >>> child.ask(b"judgment.txt", b"The appeal is dismissed.", seconds=60)
    b'{"text":"The appeal is dismissed.","notes":[]}'
    >>> child.kill()
    """

    def __init__(self, module: str, *, quiet: bool = False) -> None:
        """Start it; the standard error of a quiet one goes nowhere."""
        pipe, errors = subprocess.PIPE, subprocess.DEVNULL if quiet else None
        command = (sys.executable, "-P", "-m", module)  # -P: import no module from the current folder
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, bufsize=0)  # noqa: S603 -- a module of ours
        self._to, self._from = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        for one in (self._to, self._from):
            os.set_blocking(one.fileno(), False)

    def ask(self, *frames: bytes, seconds: float) -> bytes:
        """The answer to frames; `EOFError` if the process has ended, or was killed because it took longer."""
        end = time.monotonic() + seconds
        unsent = memoryview(b"".join(map(framed, frames)))
        received = bytearray()
        try:
            while unsent:
                self._wait(self._to, select.POLLOUT, end)
                unsent = unsent[self._to.write(unsent) or 0 :]
            while len(received) < _LENGTH or len(received) < _LENGTH + int.from_bytes(received[:_LENGTH], "big"):
                self._wait(self._from, select.POLLIN, end)
                if not (more := self._from.read(_BLOCK)):
                    raise EOFError
                received += more
        except (BrokenPipeError, EOFError):
            self.process.wait()
            raise EOFError from None
        return bytes(received[_LENGTH:])

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()
        for pipe in (self._to, self._from):
            pipe.close()

    def _wait(self, pipe: IO[bytes], event: int, end: float) -> None:
        """Wait until a pipe can be read or written; kill the process if it takes too long."""
        ready = select.poll()
        ready.register(pipe, event)
        if not ready.poll(max(0.0, 1000 * (end - time.monotonic()))):
            self.process.kill()
            raise EOFError
