"""``lexfuse evaluate``: what runs reach on judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.output.console import AsJson, SkipBad, note, noted_report, print_json, spinner, table
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import read_run
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.evaluation import MEASURES
from lexfuse.evaluation.evaluation import evaluate as evaluate_runs
from lexfuse.evaluation.measure_names import parse_measures

Judgements = Annotated[Path, typer.Argument(metavar="QRELS", help="Judgements: TREC (query 0 document grade) or BEIR (.tsv).")]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN…", help="TREC runs, plain or gzipped.")]
Measures = Annotated[
    str, typer.Option("--measures", "-m", help="Measures, with spaces between: nDCG@10 R@100 P(rel=2)@5 microF1@5 …")
]


def evaluate(
    qrels: Judgements,
    runs: Runs,
    measures: Measures = MEASURES,
    per_query: Annotated[bool, typer.Option("--per-query", help="Show every query, not only the means.")] = False,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Measure runs against judgements.

    Queries that a run does not rank count as zero, and are named. Ties are broken by document id.

        lexfuse evaluate qrels/test.tsv bm25.trec dense.trec -m "nDCG@10 R@100 RR@10"
    """
    wanted = parse_measures(measures)
    judged, ranked = read_both(qrels, runs, skip_bad)
    with spinner("measuring"):
        evaluations = evaluate_runs(judged, ranked, wanted)
    for remark in evaluations.notes():
        note(remark)
    if json and per_query:
        values = {
            e.run: {str(m): dict(zip(e.queries, v.tolist(), strict=True)) for m, v in e.per_query.items()} for e in evaluations
        }
        print_json(values)
    elif json:
        print_json({e.run: {str(measure): mean for measure, mean in e.means.items()} for e in evaluations})
    elif per_query:
        for e in evaluations:
            rows = [[query, *(float(values[at]) for values in e.per_query.values())] for at, query in enumerate(e.queries)]
            table(e.run, ["query", *map(str, e.per_query)], rows)
    else:
        rows = [[e.run, *e.means.values()] for e in evaluations]
        table(f"{len(evaluations[0].queries):,} queries", ["run", *map(str, wanted)], rows)


def read_both(qrels: Path, runs: list[Path], skip_bad: bool) -> tuple[Qrels, list[Run]]:
    """Judgements and runs from files, with the remarks of their readers; run names must differ."""
    with noted_report(skip_bad) as report, spinner("reading"):
        judged = read_qrels(qrels, report)
        ranked = [read_run(path, report=report) for path in runs]
    names = [run.name for run in ranked]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"two runs have the name {twice[0]!r}, which is the file's; rename one of the files")
    return judged, ranked
