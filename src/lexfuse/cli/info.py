"""``lexfuse info``: what an index, a collection, a run or a file of judgements holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.channels.cost import ChannelCost, costs_of
from lexfuse.channels.distribution import drawn_queries
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, spinner, table
from lexfuse.cli.output.summaries import index_figures, print_document, print_statistics, print_summary
from lexfuse.data.collection_statistics import statistics_of, summary_of
from lexfuse.data.corpus import Corpus
from lexfuse.data.files import existing, lines
from lexfuse.data.formats.beir import Collection, is_collection, read_collection
from lexfuse.data.formats.fields import document_record
from lexfuse.data.formats.file_format import read_corpus, read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import RUN_COLUMNS, columns, read_run
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.encode.pair_encoder import PairEncoder
from lexfuse.errors import ConfigError, DataError
from lexfuse.index import Index
from lexfuse.rerank.cross_encoder_cost import cross_encoder_cost
from lexfuse.rerank.reranker import DEPTH
from lexfuse.search.version_difference import document_history
from lexfuse.storage.postgres.address import PostgresAddress, index_location
from lexfuse.storage.snapshot import Snapshot

CATALOG = "catalog.sqlite"  # what makes a folder an index


def info(
    place: Annotated[str, typer.Argument(metavar="PATH", help="An index, a corpus folder or file, a TREC run, or judgements.")],
    document: Annotated[str | None, typer.Option("--document", "-d", help="Show this document of the corpus instead.")] = None,
    history: Annotated[bool, typer.Option("--history", help="With --document of an index: list its versions.")] = False,
    cost: Annotated[bool, typer.Option("--cost", help="Measure the time and size of every channel of an index.")] = False,
    queries: Annotated[
        Path | None, typer.Option("--queries", help="Queries for --cost [default: first words of documents].")
    ] = None,
    cross_encoder: Annotated[
        str | None,
        typer.Option("--cross-encoder", help="A model to time with --cost as a reranker of BM25: a folder or a hub id."),
    ] = None,
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help=f"Documents that the cross-encoder reads for a query [default: {DEPTH}].")
    ] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Describe an index, a collection, a run or judgements.

    lexfuse info data/legi

    lexfuse info data/legi --document LEGIARTI000019071190

    lexfuse info legi.index --document LEGIARTI000019071190 --history

    lexfuse info runs/bm25.trec

    lexfuse info legi.index --cost --cross-encoder models/monobert
    """
    path = index_location(place)
    if cross_encoder is not None and not cost:
        raise ConfigError("--cross-encoder names a model to time; give --cost with it")
    if depth is not None and cross_encoder is None:
        raise ConfigError("--depth is what a cross-encoder reads; name the model with --cross-encoder")
    if cost:
        show_costs(path, queries, json, cross_encoder, depth or DEPTH)
        return
    report = ReadReport(skip_bad=skip_bad)
    if history and document is None:
        raise ConfigError("--history lists the versions of a document; name it with --document")
    if document is not None:
        if not isinstance(path, Path):
            raise ConfigError("--document shows a document of a corpus or an index folder; give its path")
        if (existing(path) / CATALOG).is_file():
            _show_versions(path, document, json, history=history)
        elif history:
            raise ConfigError("--history is for an index; build one with lexfuse index, or read the records of the corpus")
        else:
            _show_document(path, document, report, json)
        return
    with spinner(f"reading {path}"):
        title, figures = _figures(path, report)
    if json:
        print_json({**figures, "skipped": report.skipped, "report": report.lines()})
        return
    for remark in report.lines():
        note(remark)
    if "documents" in figures:
        print_summary(title, figures)
        print_statistics(figures["statistics"])
    else:
        table(title, ["", "count"], [row for name, value in figures.items() for row in _rows(name, value)])


def _rows(name: str, value: Any) -> list[tuple[str, object]]:
    """A figure as rows of a table; what is grouped is set under its name."""
    if isinstance(value, dict):
        return [row for part, inner in value.items() for row in _rows(f"{name}: {part}", inner)]
    return [(name.replace("_", " "), value if isinstance(value, int) else str(value))]


def _figures(path: Path | PostgresAddress, report: ReadReport) -> tuple[str, dict[str, Any]]:
    if isinstance(path, PostgresAddress) or (existing(path) / CATALOG).is_file():
        with Index.open(path) as index:
            return f"index {path}", index_figures(index)
    if is_collection(path):
        return f"collection {path}", _collection_figures(read_collection(path, report))
    suffix = path.name.lower().removesuffix(".gz")
    if path.is_dir() or suffix.endswith((".jsonl", ".ndjson", ".jsonlines", ".csv", ".parquet")):
        return f"corpus {path}", _collection_figures(Collection(read_corpus(path, report)))
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


def _collection_figures(collection: Collection) -> dict[str, Any]:
    return {**summary_of(collection), "statistics": statistics_of(collection)}


def _show_document(path: Path, id: str, report: ReadReport, json: bool) -> None:
    with spinner(f"reading {path}"):
        corpus = read_corpus(path, report)
    found = corpus.document(id)
    if json:
        print_json(document_record(found))
    else:
        print_document(found, corpus, characters=100_000)


def _show_versions(path: Path, name: str, json: bool, *, history: bool) -> None:
    """A document of an index as it is today, or all its versions."""
    with Index.open(path) as index:
        versions = document_history(index.version, name)
        shown = versions if history else [index.document(versions[0].id)]
        cited = index.snapshot.heads(list(dict.fromkeys(shown[-1].citations)))
    if json:
        records = [document_record(one) for one in shown]
        print_json({"id": shown[0].id, "versions": records} if history else records[0])
    elif history:
        rows = [[str(one.valid_from or "…"), str(one.valid_to or "…"), _beginning(one.text)] for one in shown]
        table(f"{shown[0].id}: {len(shown):,} version{'s' if len(shown) > 1 else ''}", ["from", "until", "text"], rows)
    else:
        print_document(replace(shown[0], citations=tuple(one.id for one in cited)), Corpus.of(cited), characters=100_000)


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= SHOWN else f"{words[:SHOWN]}…"


SHOWN = 80  # characters of a version in a list
DRAWN = 50  # queries where none are given
READ = 5  # queries that a cross-encoder is timed on: it takes seconds for each


def show_costs(folder: Path | PostgresAddress, queries: Path | None, json: bool, cross_encoder: str | None, depth: int) -> None:
    """Time every channel of an index on queries, and a cross-encoder on the first of them, and show what each costs."""
    encoder = None if cross_encoder is None else PairEncoder.load(cross_encoder)
    with Index.open(folder) as index, spinner("timing every channel"):
        asked = read_queries(queries) if queries else _drawn(index.snapshot)
        costs = costs_of(index.snapshot, asked)
        some = asked.select(range(min(READ, len(asked))))
        if encoder is not None:
            costs.append(cross_encoder_cost(index.snapshot, encoder, some, depth=depth))
    if json:
        print_json({"queries": len(asked), "channels": [asdict(cost) for cost in costs]})
        return
    names = [
        "channel",
        "on disk",
        "of text",
        "vectors",
        "passages/s",
        "FLOPs/query",
        "read p50",
        "p95",
        "search p50",
        "p95",
        "memory",
    ]
    table(f"costs of {folder}, {len(asked):,} queries one by one", names, [_row(cost) for cost in costs])
    line(
        "Times in milliseconds for the 100 best; vectors of bm25 and splade are postings; memory is the peak so far.", style="dim"
    )
    if encoder is not None:
        line(f"The cross-encoder was timed on {len(some)} queries: read is BM25, search is {depth:,} documents.", style="dim")


def _row(cost: ChannelCost) -> list[object]:
    speed = None if cost.passages_per_second is None else f"{cost.passages_per_second:.1f}"
    times = [f"{value:.1f}" for value in (cost.read_p50, cost.read_p95, cost.search_p50, cost.search_p95)]
    return [
        cost.channel, _mega(cost.bytes), f"{cost.ratio:.2f}x", cost.vectors, speed, f"{cost.flops:.1e}", *times,
        _mega(cost.peak_memory),
    ]  # fmt: skip


def _mega(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _drawn(snapshot: Snapshot) -> Queries:
    """Queries for an index that has none."""
    if not len(snapshot):
        raise DataError("the index is empty, so there is nothing to time; add documents first")
    return drawn_queries(snapshot, DRAWN)
