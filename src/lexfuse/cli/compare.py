"""``lexfuse compare``: whether one run is better than another, or only by chance."""

from __future__ import annotations

from typing import Annotated

import typer

from lexfuse.cli.evaluate import Judgements, Measures, Runs, read_both
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, spinner, table
from lexfuse.evaluation.comparison import compare as compare_runs
from lexfuse.evaluation.evaluation import MEASURES
from lexfuse.evaluation.measure_names import parse_measures
from lexfuse.evaluation.significance_options import Correction, PairedTest


def compare(
    qrels: Judgements,
    runs: Runs,
    measures: Measures = MEASURES,
    baseline: Annotated[
        str | None, typer.Option("--baseline", "-b", help="Name of the run to compare with [default: the first].")
    ] = None,
    test: Annotated[PairedTest, typer.Option(help="Paired test, two-tailed.")] = PairedTest.T,
    correction: Annotated[Correction, typer.Option(help="Correction over all comparisons made.")] = Correction.HOLM,
    level: Annotated[float, typer.Option(help="Level of significance.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of bootstrap and randomisation.")] = 0,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Compare runs with a baseline: differences, intervals, effect sizes, tests.

    lexfuse compare qrels/test.tsv bm25.trec hybrid.trec --baseline bm25 -m "nDCG@10 R@100"
    """
    wanted = parse_measures(measures)
    judged, ranked = read_both(qrels, runs, skip_bad)
    with spinner("comparing"):
        comparison = compare_runs(
            judged, ranked, wanted, baseline=baseline, test=test, correction=correction, level=level, seed=seed
        )
    for remark in comparison.notes():
        note(remark)
    if json:
        print_json(comparison.as_json())
        return
    title = f"{len(comparison.evaluations[0].queries):,} queries, compared with {comparison.baseline}"
    head, *rows = [cells[:7] + cells[8:] for cells in comparison.table()]  # the raw p is in --json
    table(title, head, rows, numbers_from=2)
    line(
        f"* significant at {level:g}: {test.value} test, two-tailed, {correction.value} correction over all comparisons",
        style="dim",
    )
