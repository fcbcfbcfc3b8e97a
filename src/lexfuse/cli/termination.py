"""SIGTERM as an orderly end of a command."""

from __future__ import annotations

import signal
from types import FrameType

from lexfuse.errors import TERMINATED


def end_on_sigterm() -> None:
    """Have SIGTERM end this process as an exception does: what is open is put in order, and the exit code is 143.

    >>> end_on_sigterm()  # doctest: +SKIP
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one is enough: a second must not interrupt the tidying
        raise SystemExit(TERMINATED)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, end)
