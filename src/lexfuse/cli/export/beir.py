"""``lexfuse export beir``: the documents of an index as a BEIR folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lexfuse.bridges.beir import write_beir
from lexfuse.cli.output.console import AsJson, line, print_json, spinner
from lexfuse.data.collection_statistics import summary_of
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import stem
from lexfuse.index import Index


def beir(
    index: Annotated[str, typer.Argument(metavar="INDEX", help="The index folder, or a postgresql:// address.")],
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    queries: Annotated[Path | None, typer.Option(help="Queries to write with the documents.")] = None,
    qrels: Annotated[
        list[Path] | None, typer.Option(help="Judgements to write; the file name is the split's name. May be repeated.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="Write the versions in force on this day, of an index with history.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is a collection already.")] = False,
    json: AsJson = False,
) -> None:
    """Write the documents of an index as a BEIR folder, for tools that read this format.

    It has corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv, and appears only when it is complete.

        lexfuse export beir legi.index legi-beir --queries questions.csv --qrels test.tsv
    """
    asked = read_queries(queries) if queries else None
    names = asked.ids if asked else None
    judged = {stem(path): read_qrels(path, queries=names) for path in qrels or ()}
    with spinner(f"writing {out}"), Index.open(index) as opened:
        written = write_beir(opened, out, queries=asked, qrels=judged, as_of=as_of, replace=force)
    if json:
        print_json({"out": str(out), **summary_of(written)})
        return
    counts = f"{len(written.corpus):,} documents, {len(asked) if asked else 0:,} queries and {len(judged)} splits of judgements"
    line(f"wrote {counts} to {out}")
