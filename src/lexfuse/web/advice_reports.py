"""Advice reports: their list, their summaries, and how a report is served safely.

The operator names the folders of reports. A requested name is looked up in the list and never used as a path, and a link that
leads out of its folder is not followed.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import orjson

from lexfuse.advice.findings import Outcome, Verdict
from lexfuse.errors import DataError, NotFoundError
from lexfuse.service.problems import without_paths

ADVICE, REPORT, PROFILE = "advice.json", "report.html", "profile.toml"
_LARGEST = 64 << 20  # bytes of a report, or of its figures
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_CONTENTS = re.compile(r'(<nav aria-label="contents">.*?<ol>)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Experiment:
    """The summary of an advice report."""

    name: str  # in the address
    folder: Path
    title: str  # the collection
    day: datetime.date  # when the figures were written
    verdict: Verdict
    words: tuple[str, ...]  # sentences of the verdict, in English
    measure: str = ""
    chosen: str = ""
    value: float | None = None  # of the chosen configuration on dev
    test: float | None = None  # and on test, if it was measured
    best_single: str = ""
    best_value: float | None = None
    documents: int = 0
    queries: int = 0
    test_queries: int = 0
    profile: bool = False  # whether it has a search profile


def experiments_in(folders: Iterable[Path]) -> tuple[list[Experiment], list[str]]:
    """The reports of folders, newest first, and the errors of those that cannot be shown.

    A folder is a report or contains reports. The second of two with the same name gets a number.
    """
    found: list[Experiment] = []
    wrong, names, seen = [], set(), set()
    for folder in _report_folders(folders):
        if (real := folder.resolve()) in seen:
            continue
        seen.add(real)
        name, count = folder.name, 1
        while name in names:
            count += 1
            name = f"{folder.name}-{count}"
        try:
            found.append(_experiment(folder, name))
            names.add(name)
        except DataError as error:
            wrong.append(f"{folder.name}: {without_paths(error.reason)}")
    return sorted(found, key=lambda each: (-each.day.toordinal(), each.name)), wrong


def experiment_named(experiments: Iterable[Experiment], name: str) -> Experiment:
    """The report with a name.

    >>> experiment_named([], "../secret")
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: there is no experiment '../secret'; /experiments lists those there are
    """
    for each in experiments:
        if each.name == name:
            return each
    raise NotFoundError(f"there is no experiment {name[:80]!r}; /experiments lists those there are")


@dataclass(frozen=True, slots=True)
class ServedReport:
    """A report to send: the page, and a content security policy that allows only its inline style and script."""

    page: str
    policy: str


def served(experiment: Experiment, back: str, back_words: str) -> ServedReport:
    """The page of an experiment, with a link back to the site in its contents.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, REPORT).write_text('<nav aria-label="contents"><ol></ol></nav>', "utf-8")
    ...     served(Experiment("a", Path(folder), "a", datetime.date(2024, 5, 2), Verdict.FUSE, ()), "/experiments", "Back").page
    '<nav aria-label="contents"><ol><li><a href="/experiments">Back</a></li></ol></nav>'
    """
    text = _bytes(experiment.folder, REPORT).decode("utf-8", "replace")
    link = f'<li><a href="{escape(back)}">{escape(back_words)}</a></li>'
    page = _CONTENTS.sub(lambda found: found[1] + link, text, count=1)
    return ServedReport(page, policy_of(page))


def policy_of(page: str) -> str:
    """A content security policy that allows exactly the inline style and script of a page, in a sandbox.

    >>> policy_of("<style>p{}</style><script>1</script><script src=x></script>").split("; ")[1][:27]
    "style-src 'sha256-gG2yISYer"
    """
    styles = " ".join(_hash(text) for text in _STYLE.findall(page)) or "'none'"
    scripts = " ".join(_hash(text) for text in _SCRIPT.findall(page)) or "'none'"
    return (
        f"default-src 'none'; style-src {styles}; script-src {scripts}; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; sandbox allow-scripts"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _report_folders(folders: Iterable[Path]) -> Iterable[Path]:
    for folder in folders:
        if (folder / ADVICE).is_file():
            yield folder
        if folder.is_dir():
            inside = sorted(each for each in folder.iterdir() if each.is_dir() and not each.is_symlink())
            yield from (each for each in inside if (each / ADVICE).is_file())


def _experiment(folder: Path, name: str) -> Experiment:
    if not _own_file(folder, REPORT):
        raise DataError(f"there is no {REPORT}; run lexfuse advise again")
    try:
        plain = orjson.loads(_bytes(folder, ADVICE))
        return _read(folder, name, plain)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        raise DataError(f"{ADVICE} is not what lexfuse advise writes; run lexfuse advise again") from None


def _read(folder: Path, name: str, plain: dict[str, Any]) -> Experiment:
    chosen, measure = plain["chosen"], str(plain["measure"])
    confirmation = plain.get("confirmation")
    chosen_name = str(chosen["configuration"]["name"])
    singles = [each for each in plain["tried"] if len(each["configuration"]["members"]) == 1 and each["value"] is not None]
    best = max(singles, key=lambda each: float(each["value"])) if singles else None
    written = (folder / ADVICE).stat().st_mtime
    return Experiment(
        name=name,
        folder=folder,
        title=str(plain["collection"]),
        day=datetime.datetime.fromtimestamp(written, datetime.UTC).date(),
        verdict=_verdict(plain),
        words=tuple(map(str, plain["words"])),
        measure=measure,
        chosen=chosen_name,
        value=_number(chosen["value"]),
        test=_number(confirmation["means"][measure][chosen_name]) if confirmation else None,
        best_single=str(best["configuration"]["name"]) if best else "",
        best_value=_number(best["value"]) if best else None,
        documents=int(plain["documents"]),
        queries=int(plain["queries"]),
        test_queries=int(confirmation["queries"]) if confirmation else 0,
        profile=_own_file(folder, PROFILE),
    )


def _verdict(plain: dict[str, Any]) -> Verdict:
    """The stored verdict; reports of earlier versions have only the outcome it follows from."""
    if "verdict" in plain:
        return Verdict(plain["verdict"])
    versus = plain["chosen"]["versus_member"]
    if not versus:
        return Verdict.ALONE
    found = {Outcome.BETTER: Verdict.FUSE, Outcome.WORSE: Verdict.HARM, Outcome.EQUAL: Verdict.UNPROVEN}
    return found[Outcome(versus["outcome"])]


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _own_file(folder: Path, name: str) -> bool:
    """Whether a folder contains a file itself, not a link to another folder."""
    path = folder / name
    return path.is_file() and path.resolve().parent == folder.resolve()


def _bytes(folder: Path, name: str) -> bytes:
    if not _own_file(folder, name):
        raise NotFoundError(f"the report of {folder.name!r} no longer has its {name}; /experiments lists those there are")
    path = folder / name
    if path.stat().st_size > _LARGEST:
        raise DataError(f"{name} is larger than {_LARGEST >> 20} MB, so it is not a report")
    return path.read_bytes()
