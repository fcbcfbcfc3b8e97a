"""``lexfuse train query-table``: query weights of a SPLADE model as a table, without training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.import_ import refuse_existing
from lexfuse.cli.output.console import AsJson, SkipBad, line, noted_report, print_json, progress_bar
from lexfuse.data.files import written_folder
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.encode.query_table import QueryTable, is_query_table, write_query_table
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import DataError, StorageError
from lexfuse.train.query_table import mean_query_table


def query_table(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A SPLADE model: a folder, a shipped model, or a hub id.")],
    queries: Annotated[Path, typer.Argument(metavar="QUERIES", help="Questions to take the weights from.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder of the table to write.")],
    judged: Annotated[
        Path | None, typer.Option("--judged", help="Only questions with judgements in this file, such as qrels/train.tsv.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Processors that encode [default: all of them].")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it holds a query table.")] = False,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Make a table of query weights from a SPLADE model, so that no model is needed for queries.

    The channel keeps the model for documents and gets the table for queries. Such queries are faster and find less: measure it.

        lexfuse train query-table fr-legal-splade queries.jsonl my-table --judged qrels/train.tsv

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
        raise DataError("there are no questions in it to take weights from", path=queries)
    encoder = SparseEncoder.load(fetch_model(model), threads=threads)
    with progress_bar("reading questions and tokens", len(texts) + len(encoder.terms)) as progress:
        weights = mean_query_table(encoder, texts, progress=progress)
    with written_folder(out, replace=force) as partial:
        similarity = "cosine" if encoder.cosine else "dot"
        write_query_table(
            partial, weights, encoder.folder.transformer, similarity=similarity, lowercase=encoder.folder.lowercase
        )  # fmt: skip
    result = {
        "out": str(out), "questions": len(texts), "terms": int((weights > 0).sum()),
        "fingerprint": QueryTable.load(out).fingerprint, "skipped": report.skipped,
    }  # fmt: skip
    if json:
        print_json(result)
        return
    for name, value in result.items():
        line(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}")
