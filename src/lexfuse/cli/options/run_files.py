"""TREC runs as commands take them, with the options that state their lowest possible scores and which of them match words.

A TREC file has no place for the lowest possible score of its source (its tag names the run, and other programs show it), so that
score is stated on the command line. ``lexfuse run`` prints it, and ``--bounds`` writes it where it depends on the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from lexfuse.data.files import decode, lines, written_file
from lexfuse.data.formats.trec_run import read_run, stem
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.fusion.run_fusion import Bounds

BoundOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--bound",
        metavar="RUN=NUMBER",
        help="The lowest possible score of a run: bm25=0, dense=-1. A file in place of the number holds one for each query. "
        "May be repeated.",
    ),
]
LexicalRuns = Annotated[
    list[str] | None,
    typer.Option("--lexical", metavar="RUN", help="tm2c2: a run that matches words; the others share alpha. May be repeated."),
]


def read_runs(paths: Sequence[Path], report: ReadReport) -> list[Run]:
    """The runs of files."""
    return [read_run(path, report=report) for path in paths]


def bounds_by_run(options: Sequence[str] | None, paths: Sequence[Path]) -> Bounds:
    """The lowest possible scores that ``--bound`` states, by the names of the runs."""
    stated: dict[str, float | dict[str, float]] = {}
    for option in options or []:
        name, separator, value = option.rpartition("=")
        if not separator or not value:
            raise ConfigError(f"--bound takes RUN=NUMBER, such as dense=-1; got {option!r}")
        run = _run_name(name, paths, "--bound")
        if run in stated:
            raise ConfigError(f"--bound is given twice for the run {name!r}; give it once")
        stated[run] = _low(value, option)
    return stated


def lexical_runs(names: Sequence[str] | None, paths: Sequence[Path]) -> list[str]:
    """The runs that ``--lexical`` names."""
    return [_run_name(name, paths, "--lexical") for name in names or []]


def lowest(run: Run) -> tuple[float | None, str]:
    """The lowest possible score of a run if it is one for all queries, and what to say about it."""
    if run.low is None or not len(run.low) or not np.isfinite(run.low).all():
        return None, ""
    low = float(run.low.min())
    if low < float(run.low.max()):
        return None, "; the lowest possible score depends on the query, and --bounds FILE writes it"
    return low, f"; the lowest possible score is {low:g}"


def write_bounds(run: Run, path: Path) -> None:
    """The lowest possible score of every query, one a line, for ``--bound RUN=FILE``."""
    if run.low is None or not np.isfinite(run.low).all():
        raise ConfigError("these scores have no lowest possible one to write; leave out --bounds, or take one channel")
    with written_file(path) as out:
        out.writelines(f"{query}\t{low!r}\n".encode() for query, low in zip(run.queries, run.low.tolist(), strict=True))


def _run_name(name: str, paths: Sequence[Path], option: str) -> str:
    """The name of the run that is meant by its path, by the name of its file or by its own name."""
    found = [stem(path) for path in paths if name in (str(path), path.name, stem(path))]
    if len(found) != 1:
        problem = "names no run" if not found else "names several runs"
        raise ConfigError(f"{option} {problem}: {name!r}; there are {', '.join(stem(path) for path in paths)}")
    return found[0]


def _low(value: str, option: str) -> float | dict[str, float]:
    """A number, or what a file of two columns holds: a query and its number."""
    with suppress(ValueError):
        return float(value)
    if not Path(value).is_file():
        raise ConfigError(
            f"--bound takes RUN=NUMBER or RUN=FILE, such as dense=-1; got {option!r}, and there is no file {value!r}"
        )
    lows: dict[str, float] = {}
    for number, raw in lines(value):
        line = decode(raw, path=value, line=number).rstrip("\r\n")
        query, _, low = line.rpartition("\t")
        try:
            lows[query] = float(low)
        except ValueError:
            raise DataError(f"expected a query, a tab and a number, got {line[:80]!r}", path=value, line=number) from None
    return lows
