"""``lexfuse tune weights`` and ``lexfuse tune runs``: weights of sources, chosen on judged queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.fuse import MissingName, Normaliser
from lexfuse.cli.options.run_files import BoundOptions, bounds_by_run, read_runs
from lexfuse.cli.options.search_flags import K1, B, fusion_from_flags, parsed_day, values_of
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, progress_bar, spinner, table, warnings_noted
from lexfuse.cli.search import AsOf, Channel, Filters
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError
from lexfuse.index import Index
from lexfuse.optimisation.tuned_search import TunedSearch, TuneGrid, tune

QrelsFile = Annotated[Path, typer.Argument(metavar="QRELS", help="Judgements of a train or dev split.")]
Tuned = Annotated[str, typer.Option("--fusion", help="A fusion with weights: tm2c2, convex, rrf or srrf.")]
MeasureName = Annotated[str, typer.Option("--measure", "-m", help="What to make as high as possible.")]
Step = Annotated[float, typer.Option("--step", help="Step of the first grid of weights.")]
Folds = Annotated[int, typer.Option("--folds", help="Folds of the cross-validation.")]
Etas = Annotated[str, typer.Option("--eta", help="rrf, srrf: values of the constant to try: 5,20,60")]
EtaEach = Annotated[bool, typer.Option("--eta-each", help="Try every combination of one eta a source.")]
WithWeights = Annotated[
    bool, typer.Option("--with-weights", help="Tune the weights together with --eta and --beta; else they are equal.")
]
Betas = Annotated[str, typer.Option("--beta", help="srrf: values of beta to try: 20,40,100")]
Depths = Annotated[str, typer.Option("--depths", help="Depths of the lists to try: 100,1000")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Save everything that was found as JSON.")]


def weights(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index folder.")],
    queries: Annotated[
        Path, typer.Argument(metavar="QUERIES", help="Queries: a BEIR folder or a .jsonl, .csv or .parquet file.")
    ],
    qrels: QrelsFile,
    channel: Channel = "bm25,dense",
    fusion: Tuned = "tm2c2",
    normaliser: Normaliser = "",
    missing: MissingName = "",
    measure: MeasureName = "nDCG@10",
    depth: Annotated[int, typer.Option(help="How many documents a query each channel ranks.")] = 1000,
    step: Step = 0.05,
    folds: Folds = 5,
    eta: Etas = "",
    eta_each: EtaEach = False,
    with_weights: WithWeights = False,
    beta: Betas = "",
    depths: Depths = "",
    bm25: Annotated[bool, typer.Option("--bm25", help="Tune k1 and b together with the weights.")] = False,
    classes: Annotated[bool, typer.Option("--classes", help="See whether kinds of queries need weights of their own.")] = False,
    k1: K1 = 1.2,
    b: B = 0.75,
    filters: Filters = None,
    as_of: AsOf = None,
    out: Out = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Weights of several channels: the best, what they are worth on other queries, and whether equal ones do as well.

    lexfuse tune weights legi.index data/legi data/legi/qrels/dev.tsv --channel bm25,dense -m R@100

    With --eta or --beta these are tuned, at equal weights:

    lexfuse tune weights legi.index data/legi data/legi/qrels/dev.tsv --fusion rrf --eta 4,10,60 --eta-each
    """
    method = fusion_from_flags(fusion, "", None, "", None, normaliser, missing)
    grid = _grid(eta, eta_each, with_weights, beta, depths, bm25)
    report = ReadReport(skip_bad=skip_bad)
    asked = read_queries(queries, report)
    judged = read_qrels(qrels, report, queries=asked.ids)
    for remark in report.lines():
        note(remark)
    names = [one.strip() for one in channel.split(",")]
    options: dict[str, Any] = {"k1": k1, "b": b} if "bm25" in names else {}
    with Index(folder) as index, warnings_noted():
        tuned = tune(
            index, asked, judged, measure, fusion=method, grid=grid, classes=classes, channels=names, depth=depth,
            filters=filters or (), as_of=parsed_day(as_of), step=step, folds=folds, progress=progress_bar, **options,
        )  # fmt: skip
    _show(tuned, out, json)


def runs(
    qrels: QrelsFile,
    files: Annotated[list[Path], typer.Argument(metavar="RUN...", help="TREC runs of the same queries, plain or .gz.")],
    fusion: Tuned = "tm2c2",
    normaliser: Normaliser = "",
    missing: MissingName = "",
    measure: MeasureName = "nDCG@10",
    step: Step = 0.05,
    folds: Folds = 5,
    eta: Etas = "",
    eta_each: EtaEach = False,
    with_weights: WithWeights = False,
    beta: Betas = "",
    depths: Depths = "",
    bounds: BoundOptions = None,
    queries: Annotated[
        Path | None, typer.Option("--queries", help="Queries, to see whether kinds of them need weights of their own.")
    ] = None,
    out: Out = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """The same for runs of any systems; a score that a run does not hold is the lowest of its list.

    lexfuse tune runs qrels/dev.tsv bm25.trec dense.trec --bound bm25=0 --bound dense=-1

    lexfuse tune runs qrels/dev.tsv bm25.trec dense.trec --fusion rrf --eta 5,20,60
    """
    method = fusion_from_flags(fusion, "", None, "", None, normaliser, missing)
    grid = _grid(eta, eta_each, with_weights, beta, depths)
    stated, report = bounds_by_run(bounds, files), ReadReport(skip_bad=skip_bad)
    with spinner("reading"):
        judged = read_qrels(qrels, report)
        read = read_runs(files, report)
        asked = read_queries(queries, report) if queries is not None else None
    for remark in report.lines():
        note(remark)
    with warnings_noted():
        tuned = tune(
            read, asked, judged, measure, fusion=method, grid=grid, classes=asked is not None, bounds=stated,
            step=step, folds=folds, progress=progress_bar,
        )  # fmt: skip
    _show(tuned, out, json)


def _grid(eta: str, eta_each: bool, with_weights: bool, beta: str, depths: str, bm25: bool = False) -> TuneGrid:
    """What is to be tried, as the options say it."""
    cuts = values_of(depths or None, "depths") or []
    if any(one != int(one) for one in cuts):
        raise ConfigError(f"--depths takes whole numbers, got {depths!r}")
    etas, betas = (tuple(values_of(text or None, name) or ()) for text, name in ((eta, "eta"), (beta, "beta")))
    return TuneGrid(etas, betas, eta_each, with_weights, tuple(int(one) for one in cuts), bm25)


def _show(found: TunedSearch, out: Path | None, json: bool) -> None:
    """Save what was found if asked, and print it."""
    if out is not None:
        found.save(out)
    if json:
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
