"""``lexfuse fuse``: one run of several, from any system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.options.run_files import BoundOptions, LexicalRuns, bounds_by_run, lexical_runs, read_runs
from lexfuse.cli.options.search_flags import fusion_from_flags
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, spinner, warnings_noted
from lexfuse.data.formats.trec_run import stem, write_run
from lexfuse.data.read_report import ReadReport
from lexfuse.fusion.run_fusion import fuse_runs

Method = Annotated[str, typer.Option("--method", "-m", help="tm2c2, convex, rrf, srrf, borda, combmnz or combmax.")]
Weights = Annotated[str, typer.Option("--weights", help="Weights of the sources, in their order: 0.2,0.8")]
Alpha = Annotated[float | None, typer.Option("--alpha", help="tm2c2: the share of all sources but the first.")]
Eta = Annotated[str, typer.Option("--eta", help="rrf, srrf: the constant, or one a source: 10,4")]
Beta = Annotated[float | None, typer.Option("--beta", help="srrf: how steep the sigmoid is.")]
Normaliser = Annotated[
    str, typer.Option("--normaliser", help="min-max, theoretical-min-max, z-score, percentile or identity; one, or one a source.")
]
MissingName = Annotated[str, typer.Option("--missing", help="A score that a source does not give: rescore, min or zero.")]


def fuse(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="TREC runs of the same queries, plain or .gz.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The TREC run to write, .gz to pack it.")],
    method: Method = "tm2c2",
    weights: Weights = "",
    alpha: Alpha = None,
    eta: Eta = "",
    beta: Beta = None,
    normaliser: Normaliser = "",
    missing: MissingName = "",
    bounds: BoundOptions = None,
    lexical: LexicalRuns = None,
    depth: Annotated[int, typer.Option(help="How many documents a query.")] = 1000,
    name: Annotated[str | None, typer.Option(help="Name of the run; that of the file if not given.")] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Fuse runs of any systems into one.

    A file has nobody to ask for a score that it does not hold: that is the lowest of its list (or rank after the last), or 0 with
    --missing zero. For tm2c2 state the lowest possible score of each run; else 0 is assumed, or the lowest of the run if some are
    negative, with a warning. Percentiles are those of all scores of the run.

        lexfuse fuse bm25.trec dense.trec --bound bm25=0 --bound dense=-1 -o fused.trec

        lexfuse fuse bm25.trec dense.trec --method rrf --eta 60 -o fused.trec
    """
    fusion = fusion_from_flags(method, weights, alpha, eta, beta, normaliser, missing)
    stated, words = bounds_by_run(bounds, runs), lexical_runs(lexical, runs)
    report = ReadReport(skip_bad=skip_bad)
    with spinner("reading"):
        read = read_runs(runs, report)
    for remark in report.lines():
        note(remark)
    with spinner("fusing"), warnings_noted():
        fused = fuse_runs(read, fusion, depth, stated, lexical=words, name=name or stem(out))
        write_run(fused.run, out)
    for remark in fused.notes:
        note(remark)
    queries, hits = len(fused.run.queries), len(fused.run)
    if json:
        figures = {"imputed": fused.imputed, "assumed_bounds": fused.assumed_bounds}
        print_json({"out": str(out), "queries": queries, "hits": hits, **figures})
    else:
        line(f"{out}: {queries:,} queries, {hits:,} hits")
