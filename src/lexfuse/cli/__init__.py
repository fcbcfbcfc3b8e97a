"""The command line: thin faces over library calls.

Every command prints for people by default and one JSON value with ``--json``; progress, notes and errors
go to standard error. Exit codes come from the table in `lexfuse.errors`.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end with the exit code of what happened.

    >>> main()  # doctest: +SKIP
    """
    from lexfuse.cli.app import app
    from lexfuse.errors import LexFuseError

    try:
        app(prog_name="lexfuse")
    except LexFuseError as error:
        from lexfuse.cli.output import complain

        complain(f"{error.title}: {error}")
        sys.exit(error.exit_code)
