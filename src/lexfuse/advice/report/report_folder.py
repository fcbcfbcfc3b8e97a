"""The files of a report: the page, the figures and the profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from lexfuse.advice.report.json_report import advice_json
from lexfuse.advice.report.page import report_of
from lexfuse.data.files import written_file

if TYPE_CHECKING:
    from lexfuse.advice.advice import Advice

REPORT, ADVICE, PROFILE = "report.html", "advice.json", "profile.toml"


def write_report(advice: Advice, folder: Path) -> None:
    """Write the files, each complete or not at all; the folder is made if there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    with written_file(folder / REPORT) as file:
        file.write(report_of(advice).encode())
    with written_file(folder / ADVICE) as file:
        file.write(orjson.dumps(advice_json(advice), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    if advice.spec is not None:
        advice.spec.save(folder / PROFILE)
