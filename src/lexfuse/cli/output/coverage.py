"""What an index knows about the day of ``--as-of``: a note on the screen, figures in JSON."""

from __future__ import annotations

from typing import Any

from lexfuse.cli.output.console import note
from lexfuse.storage.history.day_coverage import DayCoverage


def note_unknown(coverage: DayCoverage | None) -> None:
    """A note on the documents that are unknown on the day, if there are any."""
    if coverage is not None and coverage.unknown:
        note(coverage.note)


def coverage_json(coverage: DayCoverage | None) -> dict[str, Any]:
    """The figures as a part of a JSON answer; empty if no day was asked for.

    >>> import datetime
    >>> coverage_json(DayCoverage(datetime.date(2010, 1, 1), documents=3, in_force=1, unknown=2))
    {'coverage': {'day': '2010-01-01', 'documents': 3, 'in_force': 1, 'unknown': 2}}
    """
    if coverage is None:
        return {}
    counts = {"documents": coverage.documents, "in_force": coverage.in_force, "unknown": coverage.unknown}
    return {"coverage": {"day": coverage.day.isoformat(), **counts}}
