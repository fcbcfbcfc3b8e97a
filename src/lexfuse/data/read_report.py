"""Report of a reader: how many records it kept, skipped and corrected, why, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lexfuse.errors import DataError

EXAMPLES = 3
NAMES = 20  # listed in a message
LONGEST_NAME = 100  # characters
REASONS = 20  # listed one by one: reasons may contain ids, so there may be thousands


@dataclass(slots=True)
class ReadReport:
    """Counts and first locations of the records that were skipped or corrected.

    Strict by default: a bad record raises. With ``skip_bad`` it is counted and skipped.

    >>> report = ReadReport(skip_bad=True)
    >>> report.bad(DataError("no field 'text'", path="c.jsonl", line=7))
    >>> report.skipped, report.lines()
    (1, ["1 skipped: no field 'text' (c.jsonl, line 7)"])
    """

    skip_bad: bool = False
    kept: int = 0
    _bad: dict[str, list[str]] = field(default_factory=dict)
    _noted: dict[str, list[str]] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def bad(self, error: DataError) -> None:
        """Refuse a record: raise, or count and skip it."""
        if not self.skip_bad:
            raise error
        self._add(self._bad, error.reason, error.path, error.line)

    def note(self, what: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        """Record a correction made by a stated rule; nothing is skipped.

        >>> report = ReadReport()
        >>> report.note("scores out of order, sorted", path="a.trec", line=3)
        >>> report.lines()
        ['1 noted: scores out of order, sorted (a.trec, line 3)']
        """
        self._add(self._noted, what, path, line)

    @property
    def skipped(self) -> int:
        """The number of skipped records."""
        return sum(self._counts[reason] for reason in self._bad)

    def lines(self) -> list[str]:
        """One line per reason with its count and first locations; a last line counts the reasons that are not listed."""
        return [*self._summary("skipped", self._bad), *self._summary("noted", self._noted)]

    def _summary(self, kind: str, reasons: dict[str, list[str]]) -> list[str]:
        lines = [f"{self._counts[reason]:,} {kind}: {reason}{_at(places)}" for reason, places in reasons.items()]
        if len(lines) <= REASONS:
            return lines
        more = sum(self._counts[reason] for reason in list(reasons)[REASONS:])
        return [*lines[:REASONS], f"{more:,} more {kind}, for {len(lines) - REASONS:,} other reasons"]

    def _add(self, reasons: dict[str, list[str]], reason: str, path: str | Path | None, line: int | None) -> None:
        places = reasons.setdefault(reason, [])
        self._counts[reason] += 1
        if path is not None and len(places) < EXAMPLES:
            places.append(f"{path}, line {line}" if line is not None else str(path))


def listed(names: Sequence[str]) -> str:
    """Names for a message: at most the first 20, long ones shortened.

    >>> listed(["id", "text"]), listed(["column"] * 100_000)[-24:]
    ("'id', 'text'", "'column' and 99,980 more")
    """
    shown = (repr(name) if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]!r}…" for name in names[:NAMES])
    return ", ".join(shown) + (f" and {len(names) - NAMES:,} more" if len(names) > NAMES else "")


def _at(places: list[str]) -> str:
    return f" ({'; '.join(places)})" if places else ""
