"""docs/results.md: every result that was kept, with its plots, and what was not measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reproduce.datasets import known_datasets, stand_ins
from reproduce.paper_table import PAPERS, PaperTable, all_tables
from reproduce.result import NONE, Cell, DatasetResult, Result

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
PAGE = ROOT / "docs" / "results.md"
INTRODUCTION = """\
# Results

The tables and figures of the five papers, measured with LexFuse: paper | ours | difference. This page is written by
`make reproduce`; do not edit it.

```console no-run
python -m reproduce                      # list the tables and figures
python -m reproduce --table BRUCH-1      # measure one
make reproduce                           # measure all that two cores can do within an hour, and write this page
python -m reproduce --all --collect      # the same, nothing written: public collections that are missing are made first
```

Each dataset of a paper is a folder in the one that `--data` names: in the BEIR layout (`corpus.jsonl`, `queries.jsonl`,
`qrels/SPLIT.tsv`), or the authors' files where `lexfuse import` reads them. Where it is missing, a collection in `LEXFUSE_DATA`
with the same task is measured. **Another collection** means that: the task is the paper's, the data is not, and figures cannot be
compared. On the paper's own data every difference above .01 has a reason in the last column. [coverage.md](coverage.md) lists
everything in the papers and its state.
"""


def kept_results(folder: Path = RESULTS) -> dict[str, Result]:
    """The results in a folder, by number of their table."""
    return {path.stem: Result.read(path) for path in sorted(folder.glob("*.json"))}


def write_page(path: Path = PAGE, folder: Path = RESULTS) -> None:
    """Write the page of all results that were kept."""
    path.write_text("\n".join(page_lines(kept_results(folder), folder.name)) + "\n", "utf-8")


def page_lines(results: Mapping[str, Result], plots: str) -> Iterator[str]:
    """The page, line by line."""
    yield INTRODUCTION
    yield from _overview(results)
    yield from _collections()
    for paper, title in PAPERS.items():
        tables = [table for table in all_tables().values() if table.paper_name == paper]
        if tables:
            yield f"\n## {paper}\n\n{title}."
        for table in tables:
            if (result := results.get(table.number)) is not None:
                yield from _section(table, result, plots)


def _overview(results: Mapping[str, Result]) -> Iterator[str]:
    yield "| | | measured on | seconds | date | commit |\n|---|---|---|---|---|---|"
    for number, table in all_tables().items():
        if (result := results.get(number)) is None:
            yield f"| {number} | {table.title} | not measured{f': {table.slow}' if table.slow else ''} | | | |"
            continue
        where = ", ".join(one.dataset + ("" if one.own else " (another collection)") for one in result.datasets)
        about = result.circumstances
        link = f"[{number}](#{number.lower()})"
        yield f"| {link} | {table.title} | {where} | {result.seconds:.0f} | {about.date} | {about.commit} |"
    machines = sorted({result.circumstances.machine for result in results.values()})
    yield "\nMachine: " + "; ".join(machines) + "." if machines else ""


def _collections() -> Iterator[str]:
    """Where each dataset comes from, and which collection replaces it."""
    yield "\n## Collections\n\n`--data FOLDER` names the folder that has these folders.\n"
    yield "| folder | what it is | read or made by | where it is missing |\n|---|---|---|---|"
    for name, about in known_datasets().items():
        reader = f"`lexfuse import --from {about['importer']}`" if "importer" in about else "BEIR layout only"
        reader = f"`lexfuse collect {about['public']}`" if "public" in about else reader
        other = " or ".join(f"`{other}`" for other in stand_ins(name)) + (", another collection" if stand_ins(name) else "")
        yield f"| `{name}` | {about['title']} | {reader} | {other} |"


def _section(table: PaperTable, result: Result, plots: str) -> Iterator[str]:
    yield f'\n### <a id="{table.number.lower()}"></a>{table.number}: {table.title}\n'
    if table.claim:
        yield f"Paper: {table.claim}\n"
    if table.settings:
        yield f"Ours: {table.settings}\n"
    for one in result.datasets:
        yield from _dataset(one, plots)


def _dataset(one: DatasetResult, plots: str) -> Iterator[str]:
    label = one.label if one.own else one.label.replace("ANOTHER COLLECTION", "**another collection**")
    yield f"On {label}.\n"
    yield from _compared([cell for cell in one.cells if cell.paper != NONE])
    yield from _ours([cell for cell in one.cells if cell.paper == NONE])
    yield from (f"{note}\n" for note in one.notes)
    yield from (f"![{description}]({plots}/{name})\n" for name, description in one.plots)


def _compared(cells: Sequence[Cell]) -> Iterator[str]:
    """What the paper has, a line for each figure."""
    if not cells:
        return
    reasons = any(cell.why for cell in cells)
    yield from _table(["", "measure", "paper", "ours", "difference", *(["why"] if reasons else [])], [
        [cell.row, cell.column, cell.paper, cell.ours, cell.difference, *([cell.why] if reasons else [])] for cell in cells
    ])  # fmt: skip


def _ours(cells: Sequence[Cell]) -> Iterator[str]:
    """What the paper does not print, or draws only: a line for each row."""
    if not cells:
        return
    columns = list(dict.fromkeys(cell.column for cell in cells))
    rows: dict[str, dict[str, str]] = {}
    for cell in cells:
        rows.setdefault(cell.row, {})[cell.column] = cell.ours
    lines = [[row, *(values.get(column, "") for column in columns)] for row, values in rows.items()]
    yield from _table(["ours", *columns], lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(entry.replace("|", "\\|").replace("*", "\\*") for entry in row) + " |"
    yield ""
