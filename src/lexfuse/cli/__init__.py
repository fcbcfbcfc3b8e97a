"""The command line: thin faces over library calls.

Every command prints for people by default and one JSON value with ``--json``; progress, notes and errors
go to standard error. Exit codes come from the table in `lexfuse.errors`.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line and end with the exit code of what happened.

    >>> main()  # doctest: +SKIP
    """
    import signal

    if interruptible := signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C among the imports ends the process, without a traceback
    from lexfuse.cli.process import run

    run(interruptible=interruptible)
