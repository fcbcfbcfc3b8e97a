"""docs/coverage.md: everything that the papers hold, with the command, the code, the figure and the status of each.

coverage.toml is its source. A command is refused where it names a table, a script, a command or an option that does not exist, so
that the page cannot promise what is not there.
"""

from __future__ import annotations

import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command

from lexfuse.cli.app import LazyCommand, app
from lexfuse.errors import DataError, NotFoundError
from reproduce.page import RESULTS, ROOT
from reproduce.paper_table import PAPERS, all_tables, find_table

SOURCE = Path(__file__).parent / "coverage.toml"
PAGE = ROOT / "docs" / "coverage.md"
STATES = ("done", "partial", "missing")
INTRODUCTION = """\
One row per system, variant, table and figure of the five papers. **Done**: right, reachable by a user, and shown on real
data. `python -m reproduce --coverage` makes this page of `reproduce/coverage.toml`. A test checks that every command, option,
script and file in it exists.
"""


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """One system, variant, table or figure of a paper."""

    paper: str
    item: str
    command: str
    code: str  # a file or folder
    figure: str  # a number of a table in reproduce/, a page, or nothing
    status: str
    note: str = ""

    def problems(self) -> Iterator[str]:
        """What is wrong with the row; nothing if it is right."""
        where = f"{self.paper}, {self.item}"
        if self.paper not in PAPERS:
            yield f"{where}: unknown paper"
        if self.status not in STATES:
            yield f"{where}: the status {self.status!r} is unknown; it must be one of {', '.join(STATES)}"
        if self.status != "done" and not self.note:
            yield f"{where}: {self.status} without a note that says what is left"
        if self.status == "done" and not self.figure:
            yield f"{where}: done without a figure"
        if not (ROOT / self.code).exists():
            yield f"{where}: no file {self.code}"
        if self.figure and self.figure not in all_tables() and not (ROOT / self.figure).exists():
            yield f"{where}: no table and no page {self.figure}"
        if self.status == "done" and self.figure in all_tables() and not (RESULTS / f"{self.figure}.json").exists():
            yield f"{where}: done, but docs/results has no {self.figure}"
        try:
            check_command(self.command)
        except NotFoundError as error:
            yield f"{where}: {error}"


def read_coverage(path: Path = SOURCE) -> list[CoverageRow]:
    """The rows of the file, checked."""
    rows = [CoverageRow(**row) for row in tomllib.loads(path.read_text("utf-8"))["row"]]
    if problems := [problem for row in rows for problem in row.problems()]:
        raise DataError("; ".join(problems), path=path)
    return rows


def check_command(command: str) -> None:
    """Refuse a command that names what does not exist; it is not run."""
    program, *words = shlex.split(command)
    if program == "lexfuse":
        _check_lexfuse(words)
    elif program == "python" and words[:2] == ["-m", "reproduce"]:
        for at, word in enumerate(words):
            if word == "--table":
                find_table(words[at + 1])
    elif program == "python" and words:
        if not (ROOT / words[0]).is_file():
            raise NotFoundError(f"no script {words[0]}")
    else:
        raise NotFoundError(f"{command!r} is no command of lexfuse, of python -m reproduce or of a script")


def _check_lexfuse(words: list[str]) -> None:
    """Follow the names of commands, then look every option up."""
    command: Any = get_command(app)
    while isinstance(command, TyperGroup):
        name = words.pop(0) if words else ""
        command = command.commands.get(name)
        if command is None:
            raise NotFoundError(f"lexfuse has no command {name!r}")
    parameters = command.load().params if isinstance(command, LazyCommand) else command.params
    known = {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}
    for word in words:
        if word.startswith("-") and word not in known:
            raise NotFoundError(f"lexfuse {command.name} has no option {word}")


def write_coverage(path: Path = PAGE, source: Path = SOURCE) -> None:
    """Write the page; a file with a wrong row is a `DataError`, and nothing is written."""
    path.write_text("\n".join(coverage_lines(read_coverage(source))) + "\n", "utf-8")


def coverage_lines(rows: list[CoverageRow]) -> Iterator[str]:
    """The page, line by line."""
    counts = Counter(row.status for row in rows)
    yield "# Coverage of the papers\n"
    yield INTRODUCTION
    yield f"{len(rows)} rows: " + ", ".join(f"{counts[state]} {state}" for state in STATES) + "."
    for paper, title in PAPERS.items():
        yield f"\n## {paper}\n\n{title}.\n"
        yield "| | command | code | figure | status |\n|---|---|---|---|---|"
        for row in rows:
            if row.paper == paper:
                status = row.status + (f": {row.note}" if row.note else "")
                yield f"| {row.item} | `{row.command}` | `{row.code}` | {_link(row.figure)} | {status} |"


def _link(figure: str) -> str:
    if figure in all_tables():
        return f"[{figure}](results.md#{figure.lower()})"
    return f"[{Path(figure).stem}]({Path(figure).name})" if figure else ""
