"""``lexfuse tune rprs`` and ``lexfuse tune structure``: parameters of rerankers, chosen on judged queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.options.flag_group import numbers_in, whole_numbers_in
from lexfuse.cli.options.search_flags import BeforeQueryDate, IndexArgument, QueriesArgument
from lexfuse.cli.output.console import (
    AsJson,
    SkipBad,
    line,
    note,
    noted_report,
    print_json,
    progress_bar,
    spinner,
    table,
)
from lexfuse.cli.tune.parameters import QrelsFile
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.index import Index
from lexfuse.optimisation.cross_validation import FOLDS
from lexfuse.optimisation.rprs_surface import RprsGrid
from lexfuse.optimisation.structure_weights import tune_structure
from lexfuse.optimisation.tuned_rprs import tune_rprs
from lexfuse.rerank.structure import DEPTH as STRUCTURE_DEPTH
from lexfuse.search.similar import SENTENCES
from lexfuse.search.spec.spec import SearchSpec


def rprs(
    folder: IndexArgument,
    queries: QueriesArgument,
    qrels: QrelsFile,
    measure: Annotated[str, typer.Option("--measure", "-m", help="The measure to maximise.")] = "AP",
    first: Annotated[
        Path | None,
        typer.Option("--first", help="A profile of the first stage [default: BM25 on the most informative terms]."),
    ] = None,
    channel: Annotated[str, typer.Option("--channel", help="The channel of sentences.")] = SENTENCES,
    n: Annotated[str, typer.Option("--n", help="Values of n to try [default: 1 to 10].")] = "",
    k1: Annotated[str, typer.Option("--k1", help="Values of k1 to try [default: 0 to 3 by 0.2].")] = "",
    b: Annotated[str, typer.Option("--b", help="Values of b to try [default: 0 to 1 by 0.1].")] = "",
    depths: Annotated[str, typer.Option("--depths", help="Depths to try [default: 15 to 100 by 5].")] = "",
    frequency: Annotated[
        bool, typer.Option("--frequency/--no-frequency", help="RPRS with frequencies, or without (k1 = 0).")
    ] = True,
    before_query_date: BeforeQueryDate = False,
    folds: Annotated[int, typer.Option(help="Folds of cross-validation.")] = FOLDS,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the complete result as JSON.")] = None,
    save_profile: Annotated[
        Path | None, typer.Option("--save-profile", help="Save the tuned search as a profile, for run --profile.")
    ] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Tune the sentence-level reranker of whole judgments (RPRS) on a grid.

    lexfuse tune rprs cases.index data/cases data/cases/qrels/train.tsv -m AP --save-profile rprs.toml

    Sentences are compared once; every point of the grid is then counted.
    """
    usual = RprsGrid()
    grid = RprsGrid(
        tuple(whole_numbers_in(n, "--n")) or usual.n,
        tuple(numbers_in(k1, "--k1")) or usual.k1,
        tuple(numbers_in(b, "--b")) or usual.b,
        tuple(whole_numbers_in(depths, "--depths")) or usual.depth,
    )
    stage = SearchSpec.read(first) if first is not None else None
    with noted_report(skip_bad) as report:
        asked = read_queries(queries, report)
        judged = read_qrels(qrels, report, queries=asked.ids)
    with Index(folder) as index:
        tuned = tune_rprs(
            index, asked, judged, measure, first=stage, channel=channel, grid=grid, frequency=frequency,
            before_query_date=before_query_date, folds=folds, progress=progress_bar,
        )  # fmt: skip
    if out is not None:
        tuned.save(out)
    if save_profile is not None:
        tuned.spec.save(save_profile)
    if json:
        print_json(tuned.as_json())
        return
    for name, curve in tuned.curves.items():
        if len(curve) > 1:
            table(
                f"{tuned.surface.measure} by {name}, the others at their best",
                [name, "mean"],
                [(f"{at:g}", mean) for at, mean in curve.items()],
            )
    for words in str(tuned).splitlines():
        line(words)
    if tuned.at_edge:
        note(f"the best {' and '.join(tuned.at_edge)} is at the edge of the grid; try values beyond it")


def structure(
    folder: IndexArgument,
    queries: QueriesArgument,
    qrels: QrelsFile,
    measure: Annotated[str, typer.Option("--measure", "-m", help="The measure to maximise.")] = "R@100",
    first: Annotated[Path | None, typer.Option("--first", help="A profile of the first stage [default: BM25].")] = None,
    step: Annotated[float, typer.Option("--step", help="Step of the grid of weights.")] = 0.05,
    depth: Annotated[int, typer.Option("--depth", help="Documents to rerank per query.")] = STRUCTURE_DEPTH,
    before_query_date: BeforeQueryDate = False,
    folds: Annotated[int, typer.Option(help="Folds of cross-validation.")] = FOLDS,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the complete result as JSON.")] = None,
    save_profile: Annotated[
        Path | None, typer.Option("--save-profile", help="Save the tuned search as a profile, for run --profile.")
    ] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Tune how much the section of an article, and articles that cite it, count for its rank.

    lexfuse tune structure legi.index data/legi data/legi/qrels/dev.tsv --first hybrid.toml --save-profile structure.toml

    The first stage is ranked once; every point of the grid of weights is then counted.
    """
    stage = SearchSpec.read(first) if first is not None else None
    with noted_report(skip_bad) as report:
        asked = read_queries(queries, report)
        judged = read_qrels(qrels, report, queries=asked.ids)
    with Index(folder) as index, spinner("ranking"):
        tuned = tune_structure(
            index,
            asked,
            judged,
            measure,
            first=stage,
            step=step,
            depth=depth,
            folds=folds,
            before_query_date=before_query_date,
        )
    if out is not None:
        tuned.save(out)
    if save_profile is not None:
        tuned.spec.save(save_profile)
    if json:
        print_json(tuned.as_json())
        return
    for words in str(tuned).splitlines():
        line(words)
