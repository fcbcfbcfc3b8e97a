"""``lexfuse tune``: parameters that suit a collection, chosen on judged queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.options.search_flags import IndexArgument, QueriesArgument, QueryFilterFlags
from lexfuse.cli.options.values import numbers_in
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, noted_report, print_json, progress_bar, table
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.index import Index
from lexfuse.optimisation.bm25_parameters import B_S, K1S, tune_bm25


def bm25(
    folder: IndexArgument,
    queries: QueriesArgument,
    qrels: Annotated[Path, typer.Argument(metavar="QRELS", help="Judgements of a train or dev split.")],
    filters: QueryFilterFlags,
    measure: Annotated[str, typer.Option("--measure", "-m", help="The measure to maximise.")] = "nDCG@10",
    k1: Annotated[str, typer.Option("--k1", help="Values of k1 to try: 0.6,0.9,1.2")] = "",
    b: Annotated[str, typer.Option("--b", help="Values of b to try: 0.4,0.75,1")] = "",
    depth: Annotated[int, typer.Option(help="Documents to rank per query.")] = 1000,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save all values of the grid as JSON.")] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Tune k1 and b on a grid, without indexing again.

    lexfuse tune bm25 legi.index data/legi data/legi/qrels/train.tsv -m nDCG@10 -o surface.json
    """
    with noted_report(skip_bad) as report:
        asked = read_queries(queries, report)
        judged = read_qrels(qrels, report, queries=asked.ids)
    k1s, b_s = numbers_in(k1, "--k1") or K1S, numbers_in(b, "--b") or B_S
    with Index(folder) as index, progress_bar("trying", len(k1s) * len(b_s)) as progress:
        tuned = tune_bm25(
            index.snapshot, asked, judged, measure, k1s=k1s, b_s=b_s, k=depth,
            within=filters.mask(index.snapshot), before_query_date=filters.before_query_date, progress=progress,
        )  # fmt: skip
    if out is not None:
        tuned.save(out)
    if json:
        print_json(tuned.as_json())
        return
    rows = [(f"{row:g}", *map(float, tuned.surface[at])) for at, row in enumerate(tuned.k1s)]
    table(
        f"{tuned.measure} on {tuned.queries:,} queries; k1 down, b across",
        ["k1 \\ b", *(f"{value:g}" for value in tuned.b_s)],
        rows,
    )
    line(f"best: k1 {tuned.k1:g}, b {tuned.b:g} with {tuned.measure} {tuned.value:.4f}", style="bold")
    if tuned.at_edge:
        note(f"the best {' and '.join(tuned.at_edge)} lies at the edge of the grid; try values beyond it")
