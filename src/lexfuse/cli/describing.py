"""``lexfuse info``: what a collection, a run or a file of judgements holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexfuse.cli.output import AsJson, SkipBad, note, print_json, table, working
from lexfuse.cli.summary import print_document, print_summary, summary_of

if TYPE_CHECKING:
    from lexfuse.data.report import Report


def info(
    path: Annotated[Path, typer.Argument(help="A corpus folder or file, a TREC run, or judgements.")],
    document: Annotated[str | None, typer.Option("--document", "-d", help="Show this document of the corpus instead.")] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Tell what a collection, a run or judgements hold.

    lexfuse info data/legi

    lexfuse info data/legi --document LEGIARTI000019071190

    lexfuse info runs/bm25.trec
    """
    from lexfuse.data.report import Report

    report = Report(skip_bad=skip_bad)
    if document is not None:
        _show_document(path, document, report, json)
        return
    with working(f"reading {path}"):
        title, figures = _figures(path, report)
    if json:
        print_json({**figures, "skipped": report.skipped, "report": report.lines()})
        return
    for remark in report.lines():
        note(remark)
    if "documents" in figures:
        print_summary(title, figures)
    else:
        table(title, ["", "count"], [(name.replace("_", " "), value) for name, value in figures.items()])


def _figures(path: Path, report: Report) -> tuple[str, dict[str, Any]]:
    from lexfuse.data.beir import Collection, is_collection, read_collection
    from lexfuse.data.files import existing, lines
    from lexfuse.data.formats import read_corpus
    from lexfuse.data.judgements import read_qrels
    from lexfuse.data.trec import RUN_COLUMNS, read_run

    existing(path)
    if is_collection(path):
        return f"collection {path}", summary_of(read_collection(path, report))
    suffix = path.name.removesuffix(".gz")
    if path.is_dir() or suffix.endswith((".jsonl", ".ndjson", ".jsonlines", ".csv", ".parquet")):
        return f"corpus {path}", summary_of(Collection(read_corpus(path, report)))
    first = next(iter(lines(path)), (0, b""))[1]
    if len(first.split()) == RUN_COLUMNS:
        run = read_run(path, report=report)
        depths = [int(run.offsets[row + 1] - run.offsets[row]) for row in range(len(run.queries))]
        return f"run {run.name}", {
            "queries": len(run.queries),
            "hits": len(run),
            "ranked_documents": len(run.docs),
            "shortest_ranking": min(depths, default=0),
            "longest_ranking": max(depths, default=0),
        }
    qrels = read_qrels(path, report)
    grades = Counter(qrels.grade.tolist())
    figures = {"queries": len(qrels.queries), "judgements": len(qrels), "judged_documents": len(qrels.docs)}
    return f"judgements {path}", figures | {f"grade_{grade}": grades[grade] for grade in sorted(grades)}


def _show_document(path: Path, id: str, report: Report, json: bool) -> None:
    from lexfuse.data.fields import document_record
    from lexfuse.data.formats import read_corpus

    with working(f"reading {path}"):
        corpus = read_corpus(path, report)
    found = corpus.document(id)
    if json:
        print_json(document_record(found))
    else:
        print_document(found, corpus, characters=100_000)
