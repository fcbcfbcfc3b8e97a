"""What Ray prints goes to standard error: standard output is for the answer of the command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def ray_messages_apart() -> Iterator[Callable[[str], None]]:
    """Redirect standard output to standard error, and give a function that writes a line to standard output nevertheless.

    >>> with ray_messages_apart() as write_line:
    ...     os.write(1, b"(raylet) a node was lost")
    24
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)

    def write_line(text: str) -> None:
        os.write(kept, f"{text}\n".encode())

    try:
        yield write_line
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
