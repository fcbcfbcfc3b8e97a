"""``lexfuse fuse``: one run of several, from any system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.options.run_files import BoundOptions, LexicalRuns, bounds_by_run, lexical_runs, read_runs
from lexfuse.cli.options.search_flags import FusionFlags
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, noted_report, print_json, spinner, warnings_noted
from lexfuse.data.formats.trec_run import stem, write_run
from lexfuse.fusion.run_fusion import fuse_runs


def fuse(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="TREC runs of the same queries, plain or .gz.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The TREC run to write; .gz compresses it.")],
    fusing: FusionFlags,
    bounds: BoundOptions = None,
    lexical: LexicalRuns = None,
    depth: Annotated[int, typer.Option(help="Documents per query.")] = 1000,
    name: Annotated[str | None, typer.Option(help="Name of the run [default: that of the file].")] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Fuse runs of any systems into one.

    A document that a run does not list gets the lowest score of the run's list (or the rank after the last), or 0 with
    --missing zero. For tm2c2, state the lowest possible score of each run; otherwise 0 is assumed, or the lowest of the run if
    some are negative, with a warning. Percentiles are those of all scores of the run.

        lexfuse fuse bm25.trec dense.trec --bound bm25=0 --bound dense=-1 -o fused.trec

        lexfuse fuse bm25.trec dense.trec --fusion rrf --eta 60 -o fused.trec
    """
    fusion = fusing.method()
    stated, words = bounds_by_run(bounds, runs), lexical_runs(lexical, runs)
    with noted_report(skip_bad) as report, spinner("reading"):
        read = read_runs(runs, report)
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
