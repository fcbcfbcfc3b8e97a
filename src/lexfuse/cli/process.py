"""The command as a process: its streams, its signals, and the exit code for whatever ends it. It never ends with a raw traceback.

Output that cannot be written is an error: a full disk ends the command with the code of `StorageError`, a closed pipe
(``| head -1``) ends it silently with 141, as it ends other programs. Ctrl-C ends it with 130 and SIGTERM with 143, after open
files and folders are put in order. ``LEXFUSE_TRACEBACK=1`` shows the traceback of an internal error.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Never

import typer

from lexfuse.cli.app import app
from lexfuse.cli.output.console import print_error
from lexfuse.errors import BROKEN_PIPE, INTERRUPTED, TERMINATED, ConfigError, LexFuseError, StorageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SHOW_TRACEBACK = "LEXFUSE_TRACEBACK"
NARROWEST = 20  # columns


class Output(io.FileIO):
    """Standard output or standard error; keeps the first failure to write."""

    failure: OSError | None = None

    def __init__(self, descriptor: int, *, closed: bool, lossy: bool) -> None:
        """A stream that was closed before the start fails like one that cannot be written; a lossy one never fails."""
        super().__init__(descriptor, "wb", closefd=False)
        self._closed_before, self._lossy = closed, lossy

    def write(self, data: ReadableBuffer, /) -> int:
        """Write; after a failure all output is discarded, so that nothing fails again at exit."""
        try:
            if self._closed_before and self.failure is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return super().write(data)
        except OSError as error:
            self.failure = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if self._lossy:
                return memoryview(data).nbytes
            raise


def run(*, interruptible: bool) -> Never:
    """Run the command that the arguments name, and end the process."""
    if sys.stdout is not sys.__stdout__:  # a program that calls `main` keeps its streams and signals
        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.exit(_exit_code(interruptible=False))
    _restart_in_utf8()
    output = _replace_streams(_closed_descriptors())
    _widen()
    end_on_sigterm()
    sys.exit(_after_output(output, _exit_code(output, interruptible=interruptible)))


def end_on_sigterm() -> None:
    """Have SIGTERM end this process as an exception does: open files are closed, and the exit code is 143."""

    def end(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second signal must not interrupt the cleaning up
        raise SystemExit(TERMINATED)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)


def _restart_in_utf8() -> None:
    """Start again in Python's UTF-8 mode where the locale cannot read the arguments, so that no question is garbled."""
    if sys.getfilesystemencoding() != "utf-8" and any("\udc80" <= letter <= "\udcff" for word in sys.argv for letter in word):
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  (this very command)


def _closed_descriptors() -> set[int]:
    """Which of the three standard streams are closed; their numbers are taken, so that no file of an index gets one of them."""
    closed = set()
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest free number, which is this one
            closed.add(descriptor)
    return closed


def _replace_streams(closed: set[int]) -> Output:
    """Standard streams that take any text in any locale, and remember what could not be written."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (for the whole process)
    output = Output(1, closed=1 in closed, lossy=False)
    sys.stdout = _text(output, sys.stdout)
    sys.stderr = _text(Output(2, closed=2 in closed, lossy=True), sys.stderr)
    return output


def _text(raw: Output, before: object) -> io.TextIOWrapper:
    """Text on a stream, in the encoding that it had; letters that the encoding lacks are written as escapes."""
    encoding = before.encoding if isinstance(before, io.TextIOWrapper) else "utf-8"
    unbuffered = isinstance(before, io.TextIOWrapper) and before.write_through
    lines = raw.isatty() or raw.fileno() == 2
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, encoding, "backslashreplace", line_buffering=lines, write_through=unbuffered)


def _widen() -> None:
    """Use a minimum width for a terminal that reports none or a few columns; otherwise nothing is shown."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)


@contextmanager
def _interrupts(allowed: bool) -> Iterator[None]:
    """Let Ctrl-C interrupt the body; before and after it there is nothing to clean up, and Ctrl-C ends the process."""
    try:
        if allowed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        if allowed:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _exit_code(output: Output | None = None, *, interruptible: bool) -> int:
    """Run the command and report its error; returns the exit code."""
    try:
        with _interrupts(interruptible):
            app(prog_name="lexfuse")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except LexFuseError as error:
        _complain(f"{error.title}: {error}")
        return error.exit_code
    except OSError as error:
        if output is None or output.failure is None:
            _complain(f"{StorageError.title}: {error}; check the path, its permissions and the space on the disk")
        return StorageError.exit_code
    except UnicodeEncodeError as error:
        shown = ascii(error.object[max(0, error.start - 20) : error.end + 20])
        _complain(f"{ConfigError.title}: {shown} is not valid UTF-8 text; check the arguments, and the locale (LANG, LC_ALL)")
        return ConfigError.exit_code
    except MemoryError:
        _complain("Out of memory: give the command more memory, or less to do at once")
        return StorageError.exit_code
    except Exception as error:
        if os.environ.get(SHOW_TRACEBACK):
            traceback.print_exc()
        _complain(_internal(error))
        return LexFuseError.exit_code
    return 0


def _after_output(output: Output, code: int) -> int:
    """The exit code once everything is written, or could not be."""
    with suppress(OSError, ValueError):  # kept in `output`; a stream that someone has closed has nothing to write
        sys.stdout.flush()
    if output.failure is None:
        return code
    if output.failure.errno == errno.EPIPE:
        return BROKEN_PIPE
    _complain(
        f"{StorageError.title}: cannot write to standard output: {output.failure.strerror}; free some space or write elsewhere"
    )
    return StorageError.exit_code


def _complain(text: str) -> None:
    """Show an error on standard error, as plain text if it cannot be formatted."""
    try:
        print_error(text)
    except Exception:
        typer.echo(text, err=True)


def _internal(error: Exception) -> str:
    """The message of an unexpected error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}, line {last.lineno}"
    message = f"{LexFuseError.title}: {type(error).__name__}: {error} ({place})"
    return f"{message}; this is a bug in LexFuse, please report it; {SHOW_TRACEBACK}=1 shows the traceback"
