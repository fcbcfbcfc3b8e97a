"""What a reader met: how much it kept, what it refused, what it put right, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lexfuse.errors import DataError

EXAMPLES = 3
NAMES = 20  # that a message lists
LONGEST_NAME = 100  # characters
REASONS = 20  # of a kind that are told one by one: reasons may name ids, so there may be thousands


@dataclass(slots=True)
class ReadReport:
    """Counts and first places of everything out of the ordinary in a reading.

    Strict by default: a bad record raises. With ``skip_bad`` it is counted and left out.

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
        """Refuse a record: raise, or count it and go on.

        >>> ReadReport().bad(DataError("empty line"))
        Traceback (most recent call last):
        ...
        lexfuse.errors.DataError: empty line
        """
        if not self.skip_bad:
            raise error
        self._add(self._bad, error.reason, error.path, error.line)

    def note(self, what: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        """Tell that something was put right by a stated rule; nothing is left out.

        >>> report = ReadReport()
        >>> report.note("scores out of order, sorted", path="a.trec", line=3)
        >>> report.lines()
        ['1 noted: scores out of order, sorted (a.trec, line 3)']
        """
        self._add(self._noted, what, path, line)

    @property
    def skipped(self) -> int:
        """How many records were left out.

        >>> ReadReport().skipped
        0
        """
        return sum(self._counts[reason] for reason in self._bad)

    def lines(self) -> list[str]:
        """One line a reason, with its count and the first places; the last line counts what is too much to tell.

        >>> ReadReport().lines()
        []
        """
        return [*self._told("skipped", self._bad), *self._told("noted", self._noted)]

    def _told(self, kind: str, reasons: dict[str, list[str]]) -> list[str]:
        told = [f"{self._counts[reason]:,} {kind}: {reason}{_at(places)}" for reason, places in reasons.items()]
        if len(told) <= REASONS:
            return told
        more = sum(self._counts[reason] for reason in list(reasons)[REASONS:])
        return [*told[:REASONS], f"{more:,} more {kind}, for {len(told) - REASONS:,} other reasons"]

    def _add(self, reasons: dict[str, list[str]], reason: str, path: str | Path | None, line: int | None) -> None:
        places = reasons.setdefault(reason, [])
        self._counts[reason] += 1
        if path is not None and len(places) < EXAMPLES:
            places.append(f"{path}, line {line}" if line is not None else str(path))


def listed(names: Sequence[str]) -> str:
    """Names for a message; of many only the first, and of long ones only the beginning.

    >>> listed(["id", "text"]), listed(["column"] * 100_000)[-24:]
    ("'id', 'text'", "'column' and 99,980 more")
    """
    shown = (repr(name) if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]!r}…" for name in names[:NAMES])
    return ", ".join(shown) + (f" and {len(names) - NAMES:,} more" if len(names) > NAMES else "")


def _at(places: list[str]) -> str:
    return f" ({'; '.join(places)})" if places else ""
