"""A result as text: the cells as aligned columns, then what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reproduce.paper_table import PaperTable
from reproduce.result import Cell, Result

HEAD = ("", "measure", "paper", "ours", "difference", "why")


def result_lines(table: PaperTable, result: Result) -> Iterator[str]:
    """Everything about a result, line by line."""
    yield f"{table.number}  {table.title}"
    for one in result.datasets:
        yield f"on {one.label}"
        if one.cells:
            yield from aligned([HEAD, *(_row(cell) for cell in one.cells)])
        yield from one.notes
        yield from (f"plot: {description} ({name})" for name, description in one.plots)
    about = result.circumstances
    yield f"{result.seconds:.0f} s, {about.date}, commit {about.commit}, {about.machine}"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as their widest entry."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)).rstrip()


def _row(cell: Cell) -> tuple[str, ...]:
    return cell.row, cell.column, cell.paper, cell.ours, cell.difference, cell.why
