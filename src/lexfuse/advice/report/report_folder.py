"""The files of a report: the page, the figures as plain JSON in a stable order, and the profile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexfuse.advice.findings import Configuration, Difference, ScoreBasis
from lexfuse.advice.report.page import report_of
from lexfuse.data.files import write_json, written_file

if TYPE_CHECKING:
    from lexfuse.advice.advice import Advice

REPORT, ADVICE, PROFILE = "report.html", "advice.json", "profile.toml"
VERSION = 1  # of advice.json


def write_report(advice: Advice, folder: Path) -> None:
    """Write the files, each complete or not at all; the folder is created if necessary."""
    folder.mkdir(parents=True, exist_ok=True)
    with written_file(folder / REPORT) as file:
        file.write(report_of(advice).encode())
    write_json(folder / ADVICE, advice_json(advice))
    if advice.spec is not None:
        advice.spec.save(folder / PROFILE)


def advice_json(advice: Advice) -> dict[str, Any]:
    """The advice as values that JSON knows; numbers that it does not know (NaN, infinities) become null.

    Fields have the names and the order of the dataclasses; the spec, which has a file, is left out. The advice also has its
    verdict, a configuration its name, a difference its outcome and the basis of scores its words.

    >>> from lexfuse.advice.advice import Advice
    >>> from lexfuse.advice.findings import ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), math.nan)
    >>> plain = advice_json(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ()))
    >>> plain["version"], plain["chosen"]["configuration"], plain["chosen"]["value"]
    (1, {'members': ['bm25'], 'method': '', 'name': 'bm25'}, None)
    """
    return {"version": VERSION, **_plain(advice), "verdict": advice.verdict.value}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        shown = [field.name for field in fields(value) if field.metadata.get("json", True)]
        plain = {name: _plain(getattr(value, name)) for name in shown}
        if isinstance(value, Configuration):
            plain["name"] = value.name
        if isinstance(value, Difference):
            plain["outcome"] = value.outcome.value
        if isinstance(value, ScoreBasis):
            plain["words"] = value.words
        return plain
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
