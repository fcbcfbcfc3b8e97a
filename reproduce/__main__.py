"""``python -m reproduce``: list the tables and figures of the papers, or measure some or all of them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lexfuse.errors import ConfigError, DataError, LexFuseError, NotFoundError
from reproduce.atlas.measurement import Study
from reproduce.atlas.page import ENTRIES, write_atlas
from reproduce.atlas.study_collection import SETTINGS, find_collection, study_collections
from reproduce.console import aligned, result_lines
from reproduce.coverage import write_coverage
from reproduce.datasets import DataFolders, Dataset
from reproduce.experiment import Experiment, Workspace
from reproduce.page import RESULTS, ROOT, write_page
from reproduce.paper_table import PaperTable, all_tables, find_table
from reproduce.public_data import collect_missing, needed_by
from reproduce.result import Circumstances, Result, dataset_result


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """What the user asks for."""
    parser = argparse.ArgumentParser(prog="python -m reproduce", description="Measure tables and figures of the papers.")
    parser.add_argument("--table", action="append", metavar="NUMBER", help="measure this one, such as BRUCH-1 (may be repeated)")
    parser.add_argument("--all", action="store_true", help="measure all that two cores can do within an hour")
    parser.add_argument("--data", type=Path, help="folder of the papers' datasets, looked in before LEXFUSE_DATA")
    parser.add_argument(
        "--collect", action="store_true", help="first make the public collections that are missing, in the folder data of --work"
    )
    parser.add_argument("--work", type=Path, default=ROOT / ".reproduce", help="where indexes are kept [%(default)s]")
    parser.add_argument(
        "--write",
        action="store_true",
        help="keep the results in docs/results and write docs/results.md; --all replaces no result that has more figures",
    )
    parser.add_argument("--models", type=Path, help="folder of trained models or of their rankings, for rows that need them")
    parser.add_argument("--slow", action="store_true", help="also rows that take more than an hour on two cores")
    parser.add_argument(
        "--atlas",
        nargs="*",
        metavar="COLLECTION",
        help="advise on these collections, all at hand if none is named; docs/atlas.md",
    )
    parser.add_argument("--text", action="store_true", help="print the texts of examples too; they are never kept")
    parser.add_argument("--coverage", action="store_true", help="write docs/coverage.md")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Run, and return the exit status: that of the error where there is one."""
    asked = arguments(given)
    try:
        run(asked)
    except LexFuseError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def run(asked: argparse.Namespace) -> None:
    """Do what was asked for; everything is checked before anything is measured or written."""
    if asked.table and asked.all:
        raise ConfigError("--table and --all were both given; take one")
    if asked.atlas is not None and (asked.table or asked.all):
        raise ConfigError("--atlas was given with --table or --all; take one")
    if asked.coverage:
        write_coverage()
    elif asked.atlas is not None:
        run_atlas(asked)
    elif asked.table or asked.all:
        run_tables(asked)
    elif asked.write:
        write_page()
        write_atlas()
    else:
        print("\n".join(listing()))


def run_tables(asked: argparse.Namespace) -> None:
    """Measure tables and figures of the papers."""
    tables = [find_table(number) for number in asked.table or ()]
    if asked.all:
        tables = [table for table in all_tables().values() if asked.slow or not table.slow]
    folders = data_folders(asked, [name for table in tables for name in table.datasets])
    chosen = {table.number: datasets for table in tables if (datasets := at_hand(folders, table, skip=asked.all)) is not None}
    if not chosen:
        raise NotFoundError("none of the collections is there, so nothing was measured; name their folder with --data")
    with Workspace(asked.work, say=lambda words: print(words, file=sys.stderr, flush=True)) as workspace:
        for number, datasets in chosen.items():
            table, everything = all_tables()[number], tuple(datasets)
            experiments = [Experiment(one, workspace, asked.slow, asked.models, everything) for one in datasets]
            result = measured_or_left_out(table, experiments, skip=asked.all)
            if result is None:
                continue
            print("\n".join([*result_lines(table, result), *(result.texts if asked.text else ())]), end="\n\n", flush=True)
            if asked.write and not (asked.all and lacks_figures(result, RESULTS / f"{number}.json")):
                result.save(RESULTS)
    if asked.write:
        write_page()


def lacks_figures(result: Result, stored: Path) -> bool:
    """Whether a stored result has figures that were not measured now, for want of models, time or data; says so."""
    lacking = sorted(Result.read(stored).figures - result.figures) if stored.exists() else []
    if lacking:
        example = " ".join(filter(None, lacking[0]))
        print(
            f"{result.number}: the stored result is kept, because {len(lacking):,} of its figures were not measured now, such as "
            f"{example!r}; --table {result.number} --write replaces it",
            file=sys.stderr,
        )
    return bool(lacking)


def run_atlas(asked: argparse.Namespace) -> None:
    """Advise on collections; all that are named must be at hand before anything is measured or written."""
    wanted = [find_collection(name) for name in asked.atlas] or list(study_collections().values())
    folders = data_folders(asked, [], [one.public for one in wanted if one.public])
    chosen = []
    for one in wanted:
        try:
            one.place(folders)
        except NotFoundError as error:
            if asked.atlas:
                raise
            print(f"{one.name} is left out: {error}", file=sys.stderr)
            continue
        chosen.append(one)
    if not chosen:
        raise NotFoundError("none of the collections is there, so nothing was measured; name their folder with --data")
    for one in chosen:
        sample = one.sample(folders)
        for setting in SETTINGS:
            say = partial(print, file=sys.stderr, flush=True)
            entry = Study(one, setting, sample, asked.work, asked.models, say).measured()
            print(f"{one.name}, {setting}: {' '.join(entry.words)}", flush=True)
            if asked.write:
                entry.save(ENTRIES)
    if asked.write:
        write_atlas()


def data_folders(asked: argparse.Namespace, datasets: Sequence[str], public: Sequence[str] = ()) -> DataFolders:
    """The folders of collections; with --collect, public ones that are missing are made first."""
    collected = asked.work / "data"
    folders = DataFolders.of(asked.data, collected)
    if not asked.collect:
        return folders
    missing = [*needed_by(datasets, folders), *(name for name in public if not folders.holds(name))]
    collect_missing(missing, collected, lambda words: print(words, file=sys.stderr, flush=True))
    return DataFolders.of(asked.data, collected)


def listing() -> list[str]:
    """The tables and figures, with what each is measured on and how long it takes."""
    rows = [("number", "title", "datasets", "minutes", "")]
    rows += [
        (one.number, one.title, " ".join(one.datasets), f"{one.minutes:g}", one.slow and f"not with --all: {one.slow}")
        for one in all_tables().values()
    ]
    return [*aligned(rows), "", "Measure one: python -m reproduce --table NUMBER. All that are quick: make reproduce."]


def at_hand(folders: DataFolders, table: PaperTable, *, skip: bool) -> list[Dataset] | None:
    """The datasets that a table can be measured on; with `skip` a table without any is named and left out."""
    try:
        return folders.datasets(table.datasets, table.others)
    except NotFoundError as error:
        if not skip:
            raise
        print(f"{table.number} is left out: {error}", file=sys.stderr)
        return None


def measured_or_left_out(table: PaperTable, experiments: Sequence[Experiment], *, skip: bool) -> Result | None:
    """Measure a table; with `skip`, one that the collection has no data for is named and left out."""
    try:
        return measured(table, experiments)
    except (DataError, NotFoundError) as error:
        if not skip:
            raise
        print(f"{table.number} is left out: {error}", file=sys.stderr)
        return None


def measured(table: PaperTable, experiments: Sequence[Experiment]) -> Result:
    """Measure a table by each of its experiments."""
    start = time.perf_counter()
    found = []
    drawings: dict[str, str] = {}
    texts: list[str] = []
    for experiment in experiments:
        one = table.measure(experiment)
        found.append(dataset_result(table, experiment.dataset, one))
        drawings |= {f"{plot.name}.svg": plot.svg for plot in one.plots}
        texts += one.texts
    return Result(table.number, tuple(found), time.perf_counter() - start, Circumstances.now(), drawings, tuple(texts))


if __name__ == "__main__":
    sys.exit(main())
