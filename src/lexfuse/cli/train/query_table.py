"""``lexfuse train query-table``: a table of query weights that is learned from a SPLADE model, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.import_ import refuse_existing
from lexfuse.cli.output.console import AsJson, SkipBad, line, noted_report, print_json, progress_bar
from lexfuse.data.files import written_folder
from lexfuse.data.formats.file_format import read_corpus, read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.encode.query_table import QueryTable, is_query_table, write_query_table
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.train.query_table import MOST_TERMS, learned_query_table, short_texts

SENTENCES = 20_000


def query_table(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A SPLADE model: a folder, a shipped model, or a hub id.")],
    queries: Annotated[Path, typer.Argument(metavar="QUERIES", help="Questions to learn from.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder of the table to write.")],
    judged: Annotated[
        Path | None, typer.Option("--judged", help="Only questions with judgements in this file, such as qrels/train.tsv.")
    ] = None,
    corpora: Annotated[
        list[Path] | None,
        typer.Option("--corpus", help="Learn from sentences and headings of these documents too (may be repeated)."),
    ] = None,
    sentences: Annotated[
        int | None,
        typer.Option(
            "--sentences",
            min=2,
            help=f"Sentences and headings to draw from each --corpus [default: {SENTENCES:,}].",
            show_default=False,
        ),
    ] = None,
    most_terms: Annotated[int, typer.Option("--most-terms", min=1, help="Terms of a query at most.")] = MOST_TERMS,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Processors that encode [default: all of them].")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it holds a query table.")] = False,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Learn a table of query weights from a SPLADE model, so that no model is needed for queries.

    For each word the table has the terms that the model adds to questions with it. Learning needs no judgements and no GPU: the
    model reads the questions and sentences once. The channel keeps the model for documents and gets the table for queries. Do
    not learn from questions that you measure with: --judged names those to learn from.

        lexfuse train query-table fr-legal-splade queries.jsonl my-table --judged qrels/train.tsv --corpus library

        lexfuse index INDEX --channels splade --query-model splade=my-table
    """
    refuse_existing(out, force)
    if out.is_dir() and any(out.iterdir()) and not is_query_table(out):
        raise StorageError(f"{str(out)!r} holds other files and no query table; choose another folder")
    with noted_report(skip_bad) as report:
        asked = read_queries(queries, report)
        chosen = None if judged is None else set(read_qrels(judged, report, queries=asked.ids).queries)
    texts = [text for id, text in zip(asked.ids, asked.text, strict=True) if chosen is None or id in chosen]
    if not texts:
        raise DataError("there are no questions in it to learn from", path=queries)
    if sentences is not None and not corpora:
        raise ConfigError("--sentences is the number for each --corpus, and none is given; add --corpus or leave it out")
    with noted_report(skip_bad) as report:
        others = [
            text for place in corpora or () for text in short_texts(read_corpus(place, report), sentences or SENTENCES, report)
        ]
    encoder = SparseEncoder.load(fetch_model(model), threads=threads)
    with progress_bar("reading questions, sentences and tokens", len(texts) + len(others) + len(encoder.terms)) as progress:
        rows = learned_query_table(encoder, texts, others, progress=progress)
    with written_folder(out, replace=force) as partial:
        similarity = "cosine" if encoder.cosine else "dot"
        write_query_table(
            partial, rows, encoder.folder.transformer, similarity=similarity, lowercase=encoder.folder.lowercase,
            most_terms=most_terms,
        )  # fmt: skip
    result = {
        "out": str(out), "questions": len(texts), "sentences": len(others), "weights": len(rows.weights),
        "fingerprint": QueryTable.load(out).fingerprint, "skipped": report.skipped,
    }  # fmt: skip
    if json:
        print_json(result)
        return
    for name, value in result.items():
        line(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")
