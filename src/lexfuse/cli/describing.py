"""``lexfuse info``: what an index, a collection, a run or a file of judgements holds."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexfuse.cli.costing import show_costs
from lexfuse.cli.distributing import distribution_figures
from lexfuse.cli.output import AsJson, SkipBad, note, print_json, table, working
from lexfuse.cli.summary import print_document, print_summary, summary_of

if TYPE_CHECKING:
    from lexfuse.data.report import Report

CATALOG = "catalog.sqlite"  # what makes a folder an index


def info(
    path: Annotated[Path, typer.Argument(help="An index, a corpus folder or file, a TREC run, or judgements.")],
    document: Annotated[str | None, typer.Option("--document", "-d", help="Show this document of the corpus instead.")] = None,
    cost: Annotated[bool, typer.Option("--cost", help="Time every channel of an index, and show what it costs.")] = False,
    queries: Annotated[
        Path | None, typer.Option("--queries", help="Queries for --cost; the first words of documents if not given.")
    ] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Tell what an index, a collection, a run or judgements hold.

    lexfuse info data/legi

    lexfuse info data/legi --document LEGIARTI000019071190

    lexfuse info runs/bm25.trec

    lexfuse info legi.index --cost
    """
    from lexfuse.data.report import Report

    if cost:
        show_costs(path, queries, json)
        return
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
        table(title, ["", "count"], [row for name, value in figures.items() for row in _rows(name, value)])


def _rows(name: str, value: Any) -> list[tuple[str, object]]:
    """A figure as rows of a table; what is grouped is set under its name."""
    if isinstance(value, dict):
        return [row for part, inner in value.items() for row in _rows(f"{name}: {part}", inner)]
    return [(name.replace("_", " "), value if isinstance(value, int) else str(value))]


def _figures(path: Path, report: Report) -> tuple[str, dict[str, Any]]:
    from lexfuse.data.beir import Collection, is_collection, read_collection
    from lexfuse.data.files import existing, lines
    from lexfuse.data.formats import read_corpus
    from lexfuse.data.judgements import read_qrels
    from lexfuse.data.trec import RUN_COLUMNS, columns, read_run

    existing(path)
    if (path / CATALOG).is_file():
        return f"index {path}", _index_figures(path)
    if is_collection(path):
        return f"collection {path}", summary_of(read_collection(path, report))
    suffix = path.name.lower().removesuffix(".gz")
    if path.is_dir() or suffix.endswith((".jsonl", ".ndjson", ".jsonlines", ".csv", ".parquet")):
        return f"corpus {path}", summary_of(Collection(read_corpus(path, report)))
    first = next(iter(lines(path)), (0, b""))[1]
    if len(columns(first)) == RUN_COLUMNS:
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


def _index_figures(path: Path) -> dict[str, Any]:
    from lexfuse.index.building import LEXICAL
    from lexfuse.index.folder import CHANNELS
    from lexfuse.index.snapshot import open_snapshot

    sizes = dict(_sizes(path))
    with open_snapshot(path) as snapshot:
        figures: dict[str, Any] = {
            "documents alive": len(snapshot),
            "documents deleted": len(snapshot.numbering) - len(snapshot),
            "segments": len(snapshot.segments),
            "generation": snapshot.generation,
            "fingerprint": snapshot.settings.fingerprint,
            "settings": snapshot.settings.as_json(),
            "languages": dict(Counter(snapshot.column("language")).most_common()),
            "bytes": sum(sizes.values()),
        }
        postings = snapshot.postings(LEXICAL)
        figures[LEXICAL] = {
            "terms": int((postings.document_frequency > 0).sum()),
            "postings": len(postings),
            "mean length": round(postings.mean_length, 2),
        }
        for name in snapshot.channels:
            named, numbering = snapshot.channel(name).named, snapshot.channel_numbering(name)
            figures[name] = {
                "model": named.settings.model,
                "fingerprint": named.settings.fingerprint,
                "documents": int(numbering.alive.sum()),
                "complete": numbering.complete,
                "bytes": sum(size for file, size in sizes.items() if file.is_relative_to(path / CHANNELS / name)),
                **named.settings.options,
            }
        if snapshot.distributions:
            figures["distributions"] = distribution_figures(snapshot.distributions)
    return figures


def _sizes(folder: Path) -> Iterator[tuple[Path, int]]:
    """The bytes of every file; a log or a segment that a writer removes meanwhile is not counted."""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            found = path.lstat()
            if stat.S_ISREG(found.st_mode):
                yield path, found.st_size


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
