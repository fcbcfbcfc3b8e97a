"""One line of the table: a metric, our value, and the value of a peer where there is one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_DIGITS = 5  # that figures are kept with


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric as it was measured; a ratio above 1 means that ours is better, unless the script says otherwise."""

    metric: str
    ours: float
    peer: str | None = None
    theirs: float | None = None
    ratio: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values.

        >>> Figure("qps", 12.345678).as_json()
        {'metric': 'qps', 'ours': 12.346, 'peer': None, 'theirs': None, 'ratio': None}
        """
        return {name: rounded(value) if isinstance(value, float) else value for name, value in asdict(self).items()}


def rounded(value: float) -> float | None:
    """A value with five digits; what JSON cannot hold becomes None.

    >>> rounded(123456.7), rounded(0.0123456), rounded(math.inf)
    (123460.0, 0.012346, None)
    """
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None


def figures_of(record: Mapping[str, Any]) -> Iterator[Figure]:
    """The figures of a line that a script printed.

    A line with `metric` and `ours` is one figure. Of every other line each number is one: texts and whole groups name it.

    >>> [figure.metric for figure in figures_of({"collection": "scifact", "nDCG@10": 0.7, "bytes": {"words": 3}})]
    ['scifact nDCG@10', 'scifact bytes words']
    """
    if "metric" in record and is_number(record.get("ours")):
        peer = record.get("peer")
        theirs, ratio = (float(one) if is_number(one := record.get(name)) else None for name in ("theirs", "ratio"))
        yield Figure(str(record["metric"]), float(record["ours"]), None if theirs is None else str(peer), theirs, ratio)
        return
    yield from _numbers([str(value) for value in record.values() if isinstance(value, str)], record)


def _numbers(names: Sequence[str], values: Mapping[str, Any]) -> Iterator[Figure]:
    for name, value in values.items():
        if is_number(value):
            yield Figure(" ".join([*names, name]), float(value))
        elif isinstance(value, Mapping):
            yield from _numbers([*names, name], value)


def is_number(value: object) -> bool:
    """Whether a value is a figure.

    >>> is_number(1), is_number(True), is_number(math.nan), is_number("1")
    (True, False, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def record_of(line: str) -> dict[str, Any] | None:
    """The object of a line of a script's output; None if the line is something else.

    >>> record_of('{"metric": "qps", "ours": 3}'), record_of("3,000 documents")
    ({'metric': 'qps', 'ours': 3}, None)
    """
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def shown(value: float | None) -> str:
    """A value of the table.

    >>> shown(1234567.8), shown(0.01234), shown(None)
    ('1,234,568', '0.01234', '')
    """
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
