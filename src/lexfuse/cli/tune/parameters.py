"""``lexfuse tune``: weights of sources, constants of fusions, and parameters of BM25, chosen on judged queries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.lexical.bm25 import IdfForm
from lexfuse.cli.options.flag_group import FlagGroup, names_in, numbers_in, whole_numbers_in
from lexfuse.cli.options.run_files import BoundOptions, bounds_by_run, read_runs
from lexfuse.cli.options.search_flags import (
    K1,
    B,
    ChannelNames,
    FilterFlags,
    FusionFlags,
    Idf,
    IndexArgument,
    MissingScores,
    Normaliser,
    QueriesArgument,
    QueryFilterFlags,
    SearchFlags,
)  # fmt: skip
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
    warnings_noted,
)
from lexfuse.cli.output.coverage import note_unknown
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.fusion.fusion import Fusion
from lexfuse.index import Index
from lexfuse.optimisation.bm25_parameters import B_S, K1S, tune_bm25
from lexfuse.optimisation.tuned_search import TunedSearch, TuneGrid, tune

QrelsFile = Annotated[Path, typer.Argument(metavar="QRELS", help="Judgements of a train or dev split.")]


@dataclass(frozen=True, kw_only=True)
class TuneFlags(FlagGroup):
    """What is tuned, on which measure, and where the result goes."""

    fusion: Annotated[str, typer.Option("--fusion", help="A fusion with weights: tm2c2, convex, rrf or srrf.")] = "tm2c2"
    normaliser: Normaliser = ""
    missing: MissingScores = None
    measure: Annotated[str, typer.Option("--measure", "-m", help="The measure to maximise.")] = "nDCG@10"
    step: Annotated[float, typer.Option("--step", help="Step of the first grid of weights.")] = 0.05
    folds: Annotated[int, typer.Option("--folds", help="Folds of the cross-validation.")] = 5
    eta: Annotated[str, typer.Option("--eta", help="rrf, srrf: values of the constant to try: 5,20,60")] = ""
    eta_each: Annotated[bool, typer.Option("--eta-each", help="Try every combination of one eta for each source.")] = False
    with_weights: Annotated[
        bool, typer.Option("--with-weights", help="Tune the weights together with --eta and --beta; else they are equal.")
    ] = False
    beta: Annotated[str, typer.Option("--beta", help="srrf: values of beta to try: 20,40,100")] = ""
    depths: Annotated[str, typer.Option("--depths", help="Depths of the lists to try: 100,1000")] = ""
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the complete result as JSON.")] = None
    skip_bad: SkipBad = False
    json: AsJson = False

    def method(self) -> Fusion:
        """The fusion before it is tuned."""
        return FusionFlags(fusion=self.fusion, normaliser=self.normaliser, missing=self.missing).method()

    def grid(self, *, bm25: bool = False) -> TuneGrid:
        """What to tune in addition to the weights."""
        etas, betas = tuple(numbers_in(self.eta, "--eta")), tuple(numbers_in(self.beta, "--beta"))
        return TuneGrid(etas, betas, self.eta_each, self.with_weights, tuple(whole_numbers_in(self.depths, "--depths")), bm25)


def weights(
    folder: IndexArgument,
    queries: QueriesArgument,
    qrels: QrelsFile,
    tuning: TuneFlags,
    filters: FilterFlags,
    channels: ChannelNames = "bm25,dense",
    depth: Annotated[int, typer.Option(help="Documents that each channel ranks for a query.")] = 1000,
    bm25: Annotated[bool, typer.Option("--bm25", help="Tune k1 and b together with the weights.")] = False,
    classes: Annotated[bool, typer.Option("--classes", help="Test whether classes of queries need their own weights.")] = False,
    k1: K1 = SearchFlags.k1,
    b: B = SearchFlags.b,
) -> None:
    """Tune the weights of channels, and compare them with equal weights on other queries.

    lexfuse tune weights legi.index data/legi data/legi/qrels/dev.tsv --channels bm25,dense -m R@100

    With --eta or --beta these are tuned, at equal weights:

    lexfuse tune weights legi.index data/legi data/legi/qrels/dev.tsv --fusion rrf --eta 4,10,60 --eta-each
    """
    fusion, grid = tuning.method(), tuning.grid(bm25=bm25)
    with noted_report(tuning.skip_bad) as report:
        asked = read_queries(queries, report)
        judged = read_qrels(qrels, report, queries=asked.ids)
    names = names_in(channels)
    options: dict[str, Any] = {"k1": k1, "b": b} if "bm25" in names else {}
    with Index(folder) as index, warnings_noted():
        tuned = tune(
            index, asked, judged, tuning.measure, fusion=fusion, grid=grid, classes=classes, channels=names, depth=depth,
            filters=filters.filters or (), as_of=filters.day(), step=tuning.step, folds=tuning.folds, progress=progress_bar,
            **options,
        )  # fmt: skip
        note_unknown(index.version.coverage(filters.day()))
    _show(tuned, tuning)


def runs(
    qrels: QrelsFile,
    files: Annotated[list[Path], typer.Argument(metavar="RUN...", help="TREC runs of the same queries, plain or .gz.")],
    tuning: TuneFlags,
    bounds: BoundOptions = None,
    queries: Annotated[
        Path | None, typer.Option("--queries", help="Queries, to test whether classes of them need their own weights.")
    ] = None,
) -> None:
    """Tune the weights of TREC runs of any systems.

    lexfuse tune runs qrels/dev.tsv bm25.trec dense.trec --bound bm25=0 --bound dense=-1

    lexfuse tune runs qrels/dev.tsv bm25.trec dense.trec --fusion rrf --eta 5,20,60
    """
    fusion, grid, stated = tuning.method(), tuning.grid(), bounds_by_run(bounds, files)
    with noted_report(tuning.skip_bad) as report, spinner("reading"):
        judged = read_qrels(qrels, report)
        read = read_runs(files, report)
        asked = read_queries(queries, report) if queries is not None else None
    with warnings_noted():
        tuned = tune(
            read, asked, judged, tuning.measure, fusion=fusion, grid=grid, classes=asked is not None, bounds=stated,
            step=tuning.step, folds=tuning.folds, progress=progress_bar,
        )  # fmt: skip
    _show(tuned, tuning)


def bm25(
    folder: IndexArgument,
    queries: QueriesArgument,
    qrels: QrelsFile,
    filters: QueryFilterFlags,
    measure: Annotated[str, typer.Option("--measure", "-m", help="The measure to maximise.")] = "nDCG@10",
    k1: Annotated[str, typer.Option("--k1", help="Values of k1 to try: 0.6,0.9,1.2")] = "",
    b: Annotated[str, typer.Option("--b", help="Values of b to try: 0.4,0.75,1")] = "",
    idf: Idf = IdfForm.LUCENE,
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
        version = index.version.on(filters.day())
        tuned = tune_bm25(
            version.snapshot, asked, judged, measure, k1s=k1s, b_s=b_s, k=depth, idf=idf,
            within=version.within(filters.filters or (), filters.day()),
            before_query_date=filters.before_query_date, progress=progress,
        )  # fmt: skip
        note_unknown(index.version.coverage(filters.day()))
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
        note(f"the best {' and '.join(tuned.at_edge)} is at the edge of the grid; try values beyond it")


def _show(found: TunedSearch, tuning: TuneFlags) -> None:
    """Save what was found if asked, and print it."""
    if tuning.out is not None:
        found.save(tuning.out)
    if tuning.json:
        print_json(found.as_json())
        return
    tuned, constants = found.weights, found.constants
    if constants is not None:
        rows = list(zip(constants.trials, constants.values, strict=True))
        table(
            constants.measure, [f"tried, {'at equal weights' if tuned is None else 'each with its best weights'}", "mean"], rows
        )
    if tuned is not None and len(tuned.sources) == 2:
        band = tuned.surface.band()
        shown = zip(tuned.surface.weights[::-1], tuned.surface.means[::-1].tolist(), band[::-1], strict=True)
        table(
            f"{tuned.measure} on {len(tuned.queries):,} queries",
            [f"weight of {tuned.sources[1]}", "mean", "95 % low", "high"],
            [(f"{pair[1]:g}", mean, one.low, one.high) for pair, mean, one in shown],
        )
    for words in str(found).splitlines():
        line(words)
