"""What commands print: tables for people, one JSON value for programs, progress and notes on standard error.

Text that comes from users or files is never read as markup.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Annotated, Any

import orjson
import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from lexfuse.data.read_report import ReadReport
from lexfuse.errors import BoundWarning

_SOON = 5.0  # seconds that need no word
WIDTH_OF_FILES = 160  # where the output is no terminal, nothing needs to be squeezed

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of tables.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Skip bad records, and report how many, instead of stopping at the first.")
]


@cache
def screen() -> Console:
    """Standard output for people."""
    console = Console(highlight=False)
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=WIDTH_OF_FILES)


@cache
def side() -> Console:
    """Standard error: progress, notes and errors."""
    return Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON value, indented for reading, with keys in their own order; letters that the output lacks are escaped."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if encoding.lower().replace("-", "") != "utf8" and not text.isascii():
        text = json.dumps(orjson.loads(text), indent=2) + "\n"
    sys.stdout.write(text)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers_from: int = 1) -> None:
    """A table on the screen; columns from `numbers_from` on are set to the right."""
    grid = Table(
        title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    for position, column in enumerate(columns):
        number = position >= numbers_from
        grid.add_column(Text(column), justify="right" if number else "left", no_wrap=number, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell_text(cell)) for cell in row))
    screen().print(grid)


def cell_text(value: object) -> str:
    """A value as a table shows it: thousands separated, measures with four decimals.

    >>> cell_text(29104), cell_text(0.5), cell_text(None), cell_text("a")
    ('29,104', '0.5000', '–', 'a')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)


def line(text: str = "", style: str = "") -> None:
    """A line on the screen, as it is."""
    screen().print(Text(text, style=style))


def note(text: str) -> None:
    """A remark on standard error."""
    side().print(Text(text, style="yellow"), soft_wrap=True)


@contextmanager
def noted_report(skip_bad: bool = False) -> Iterator[ReadReport]:
    """A report for readers of files; its remarks become notes once everything is read."""
    report = ReadReport(skip_bad=skip_bad)
    yield report
    for remark in report.lines():
        note(remark)


@contextmanager
def warnings_noted() -> Iterator[None]:
    """Show warnings of the library as notes, each once, and pass on all other warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=BoundWarning)
        yield
    for text in dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, BoundWarning)):
        note(text)
    for one in caught:
        if not issubclass(one.category, BoundWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def print_error(text: str) -> None:
    """An error on standard error."""
    side().print(Text(text, style="red"), soft_wrap=True)


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show that work of unknown length is in progress."""
    with side().status(escape(what)):
        yield


def _tenths(what: str, total: int) -> Callable[[int], None]:
    """Prints a line for each tenth of work that takes longer than a few seconds."""
    started, shown = time.monotonic(), 0

    def tell(done: int) -> None:
        nonlocal shown
        tenth = 10 * done // max(total, 1)
        if tenth > shown and time.monotonic() - started > _SOON:
            shown = tenth
            note(f"{what}: {done:,} of {total:,}")

    return tell


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, or a line for each tenth without a terminal; call it with the number done so far.

    A total of 0 means an unknown length: only activity is shown.
    """
    if not total:
        with spinner(what):
            yield lambda _: None
        return
    if not side().is_terminal:
        yield _tenths(what, total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=side(), transient=True) as progress:
        task = progress.add_task(escape(what), total=total)
        yield lambda done: progress.update(task, completed=done)
