"""TREC runs as commands take them: read, with the lowest possible score of each, and those that match words first.

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


def read_runs(paths: Sequence[Path], bounds: Sequence[str] | None, report: ReadReport) -> list[Run]:
    """The runs of files, each with the bound that an option states for it."""
    stated: dict[int, float | dict[str, float]] = {}
    for option in bounds or []:
        name, separator, value = option.rpartition("=")
        if not separator or not value:
            raise ConfigError(f"--bound takes RUN=NUMBER, such as dense=-1; got {option!r}")
        at = _place(name, paths, "--bound")
        if at in stated:
            raise ConfigError(f"--bound is given twice for the run {name!r}; give it once")
        stated[at] = _low(value, option)
    runs = [read_run(path, report=report) for path in paths]
    return [run.bounded(stated[at]) if at in stated else run for at, run in enumerate(runs)]


def lexical_first(runs: Sequence[Run], paths: Sequence[Path], named: Sequence[str] | None) -> tuple[list[Run], int, str]:
    """The runs with those that match words first, how many these are, and that in words.

    They are those that are named. Else, where every run states its bound, they are those that cannot fall below 0 beside some
    that can, as BM25 beside a cosine. Only where neither tells does the order of the files: the first one is lexical.
    """
    above = {at for at, run in enumerate(runs) if run.low is not None and bool((run.low >= 0).all())}
    if named:
        words, why = {_place(name, paths, "--lexical") for name in named}, "as --lexical says"
    elif all(run.low is not None for run in runs) and 0 < len(above) < len(runs):
        words, why = above, "whose scores are never negative (--lexical RUN names others)"
    else:
        words, why = {0}, "the first of the runs (--lexical RUN names others)"
    order = sorted(range(len(runs)), key=lambda at: (at not in words, runs[at].name))
    first = " and ".join(runs[at].name for at in order[: len(words)])
    return [runs[at] for at in order], len(words), f"tm2c2 counts as lexical: {first}, {why}"


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


def _place(name: str, paths: Sequence[Path], option: str) -> int:
    """The file that a name stands for: its path, its name or that of its run."""
    found = [at for at, path in enumerate(paths) if name in (str(path), path.name, stem(path))]
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
