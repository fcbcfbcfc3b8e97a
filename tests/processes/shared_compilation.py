"""Processes that need the same compiled loop wait for the first of them to compile it, and then read it from the cache.

In a fresh checkout no loop is compiled yet. Without this, every worker and every command that a worker starts compiles the same
loops at the same time, each for half a minute of processor time. `one_compiles` does the same for the modules that all workers
import at the start.
"""

import hashlib
import importlib.util
import os
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such locks on Windows: every process compiles for itself
    fcntl = None

_HERE = hashlib.sha256(str(Path(__file__).resolve()).encode()).hexdigest()[:16]  # another checkout has another cache
_NAME = f"lexfuse-compilation-{os.getuid() if hasattr(os, 'getuid') else 0}-{_HERE}"
_THREADS = threading.RLock()
_depth = 0  # of loops that this process compiles for one another


def _place(suffix: str = "") -> Path:
    """The file that is locked; processes that this one starts have the same folder."""
    return Path(tempfile.gettempdir()) / f"{_NAME}{suffix}"


@contextmanager
def one_compiles(module: Path):
    """Where a module has not been compiled yet, the process that comes first goes on alone, and the others wait for its end."""
    if fcntl is None or Path(importlib.util.cache_from_source(str(module))).is_file():
        yield
        return
    with _place(".modules").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(file, fcntl.LOCK_SH)  # together with the others that waited
        yield


def share_compilation() -> None:
    """Let numba of this process compile a loop only while no other process does; it looks into the cache first."""
    from numba.core.dispatcher import Dispatcher

    if hasattr(Dispatcher.compile, "alone"):
        return
    alone = Dispatcher.compile

    def compile(dispatcher, signature):
        with _turn():
            return alone(dispatcher, signature)

    compile.alone = alone
    Dispatcher.compile = compile


@contextmanager
def _turn():
    global _depth
    if fcntl is None:
        yield
        return
    with _THREADS:
        if _depth:
            yield
            return
        with _place().open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # ends with the file, also when the process is killed
            _depth += 1
            try:
                yield
            finally:
                _depth -= 1
