"""What was measured for a table: cells of paper | ours | difference, plots, and when, where and with which code."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from reproduce.datasets import Dataset
from reproduce.paper_table import HOME, PaperFigure, PaperTable

NONE = "–"


@dataclass(frozen=True, slots=True)
class Marked:
    """A measured value with the marks of its significance tests."""

    value: float
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing: its file name without the suffix, what a reader who cannot see it needs to know, and its SVG text."""

    name: str
    description: str
    svg: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What a module measures on one dataset: rows of values by column, plots, and sentences about what was found."""

    rows: Mapping[str, Mapping[str, float | Marked]]
    plots: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()  # of documents: printed where --text asks for them, never kept


@dataclass(frozen=True, slots=True)
class Cell:
    """One number: the paper's, ours, and why they differ where they do."""

    row: str
    column: str
    paper: str
    ours: str
    difference: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """When, with which code and on which machine."""

    date: str
    commit: str
    machine: str

    @classmethod
    def now(cls) -> Circumstances:
        """Those of this process."""
        return cls(datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), _commit(), _machine())


@dataclass(frozen=True, slots=True)
class DatasetResult:
    """The cells of one dataset."""

    dataset: str
    label: str
    own: bool
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]
    plots: tuple[tuple[str, str], ...]  # file name and description


@dataclass(frozen=True, slots=True)
class Result:
    """A table as it was measured."""

    number: str
    datasets: tuple[DatasetResult, ...]
    seconds: float
    circumstances: Circumstances
    svg: Mapping[str, str] = field(default_factory=dict)  # of the plots, by file name
    texts: tuple[str, ...] = ()  # of documents, which are not ours to publish

    @property
    def figures(self) -> frozenset[tuple[str, str, str]]:
        """Dataset, row and column of what was measured; of a plot, dataset and name."""
        cells = {(one.dataset, cell.row, cell.column) for one in self.datasets for cell in one.cells if cell.ours != NONE}
        return frozenset(cells | {(one.dataset, name, "") for one in self.datasets for name, _ in one.plots})

    def as_json(self) -> dict[str, Any]:
        """Plain values; plots are files, and texts are not kept."""
        return {name: value for name, value in asdict(self).items() if name not in ("svg", "texts")}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Result:
        """What `as_json` gave."""
        datasets = tuple(
            DatasetResult(
                one["dataset"],
                one["label"],
                one["own"],
                tuple(Cell(**cell) for cell in one["cells"]),
                tuple(one["notes"]),
                tuple((name, description) for name, description in one["plots"]),
            )
            for one in values["datasets"]
        )
        return cls(values["number"], datasets, values["seconds"], Circumstances(**values["circumstances"]))

    def save(self, folder: Path) -> None:
        """Write the values and the plots into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, svg in self.svg.items():
            (folder / name).write_text(svg, "utf-8")
        text = json.dumps(self.as_json(), indent=1, ensure_ascii=False)
        (folder / f"{self.number}.json").write_text(text + "\n", "utf-8")

    @classmethod
    def read(cls, path: Path) -> Result:
        """A result that was saved."""
        return cls.from_json(json.loads(path.read_text("utf-8")))


def dataset_result(table: PaperTable, dataset: Dataset, measured: Measured) -> DatasetResult:
    """Put what was measured next to what the paper says; what was not measured has a dash."""
    cells = tuple(_cells(table, dataset, measured))
    return DatasetResult(
        dataset.name,
        dataset.label,
        dataset.own,
        cells,
        measured.notes,
        tuple((f"{plot.name}.svg", plot.description) for plot in measured.plots),
    )


def _cells(table: PaperTable, dataset: Dataset, measured: Measured) -> Iterator[Cell]:
    paper = table.rows(dataset.paper)
    for row in _both(measured.rows, paper):
        ours, theirs = measured.rows.get(row, {}), paper.get(row, {})
        if not ours and row in table.why:
            yield Cell(row, " / ".join(theirs), " / ".join(map(str, theirs.values())), NONE, NONE, table.why[row])
            continue
        for column in _both(ours, theirs):
            cell = _cell(table, dataset, row, column, theirs.get(column), ours.get(column))
            if dataset.own or cell.ours != NONE or cell.why:  # else the row is of the paper's collection alone
                yield cell


def _both(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """The names of the paper in its order, then the others."""
    return list(dict.fromkeys([*second, *first]))


def _cell(
    table: PaperTable, dataset: Dataset, row: str, column: str, paper: PaperFigure | None, ours: float | Marked | None
) -> Cell:
    value = ours if isinstance(ours, Marked) or ours is None else Marked(ours)
    difference, why = NONE, ""
    if paper is not None and value is not None and math.isfinite(value.value):
        away = value.value - paper.number
        difference = f"{away:+,.{max(paper.decimals, 0)}f}"
        if dataset.own and abs(away) > table.tolerance:
            why = table.why.get(f"{row}, {column}", "not explained")
    elif paper is not None and value is None:
        why = table.why.get(f"{row}, {column}", "")
    shown = NONE if value is None else f"{_number(value.value, paper)}{' ' if value.mark else ''}{value.mark}"
    return Cell(row, column, NONE if paper is None else str(paper), shown, difference, why)


def _number(value: float, paper: PaperFigure | None) -> str:
    if not math.isfinite(value):
        return NONE
    grouping = "," if paper is None or paper.grouped else ""
    if isinstance(value, int) or (float(value).is_integer() and paper is not None and paper.decimals == 0):
        return f"{int(value):{grouping}}"
    decimals = 4 if abs(value) < 2 else 2 if abs(value) < 1000 else 0
    return f"{value:{grouping}.{decimals}f}"


@cache
def _commit() -> str:
    """The commit of the code, and whether files differ from it."""
    try:
        head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HOME, capture_output=True, text=True, check=True)
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--", ":/src", ":/reproduce"], cwd=HOME, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.stdout.strip() + (" with changes" if changed.stdout.strip() else "")


@cache
def _machine() -> str:
    """Processor, cores and system, without the name of the machine."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        named = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        processor = named[0] if named else processor
    return f"{processor}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
