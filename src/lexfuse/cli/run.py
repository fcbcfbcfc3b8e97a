"""``lexfuse run``: rank documents for many queries and write a TREC run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.fuse import Alpha, Beta, Eta, MissingName, Normaliser, Weights
from lexfuse.cli.options.run_files import lowest, write_bounds
from lexfuse.cli.options.search_flags import K1, B, fusion_from_flags, masked, spec_from_flags
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, spinner
from lexfuse.cli.search import AsOf, Channel, Cosine, Exact, Filters, FusionName, ProfileFile
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import stem, write_run
from lexfuse.data.read_report import ReadReport
from lexfuse.search.candidates import retrieve_blocks
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations as hidden
from lexfuse.text.kli import TermChoice


def run(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index folder.")],
    queries: Annotated[
        Path, typer.Argument(metavar="QUERIES", help="Queries: a BEIR folder or a .jsonl, .csv or .parquet file.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The TREC run to write, .gz to pack it.")],
    qrels: Annotated[Path | None, typer.Option("--qrels", help="Rank only the queries that these judgements judge.")] = None,
    channel: Channel = "bm25",
    fusion: FusionName = "tm2c2",
    weights: Weights = "",
    alpha: Alpha = None,
    eta: Eta = "",
    beta: Beta = None,
    normaliser: Normaliser = "",
    missing: MissingName = "",
    exact: Exact = False,
    cosine: Cosine = None,
    k1: K1 = 1.2,
    b: B = 0.75,
    profile: ProfileFile = None,
    depth: Annotated[
        int, typer.Option(help="How many documents a query; without a profile also how many candidates of each channel.")
    ] = 1000,
    filters: Filters = None,
    as_of: AsOf = None,
    before_query_date: Annotated[
        bool, typer.Option("--before-query-date", help="Only documents dated before the query.")
    ] = False,
    kli: Annotated[
        float | None,
        typer.Option("--kli", help="bm25 by the most informative terms of long queries: 0.1 for a tenth, 50 for 50."),
    ] = None,
    mask: Annotated[
        bool, typer.Option("--mask", help="Hide citations of decisions in the queries, for a fair test of text matching.")
    ] = False,
    bounds: Annotated[
        Path | None,
        typer.Option(
            "--bounds", help="Write the lowest possible score of every query, for --bound RUN=FILE of fuse, tune and advise."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run; that of the file if not given.")] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Rank documents for many queries and write a TREC run.

    lexfuse run legi.index data/legi --qrels data/legi/qrels/dev.tsv --depth 1000 -o bm25.trec

    lexfuse run legi.index data/legi --channel bm25,dense --fusion rrf --eta 60 -o fused.trec

    lexfuse run legi.index data/legi --profile labour.toml -o labour.trec
    """
    opened = spec_from_flags(
        context,
        profile,
        channel,
        lambda: fusion_from_flags(fusion, weights, alpha, eta, beta, normaliser, missing),
        k1,
        b,
        exact,
        cosine,
        depth=depth,
        terms=None if kli is None else TermChoice(kli),
        name=name or stem(out),
    )
    report = ReadReport(skip_bad=skip_bad)
    asked = read_queries(queries, report)
    if qrels is not None:
        judged = read_qrels(qrels, report, queries=asked.ids).queries
        asked = asked.select([asked.ids.ordinal(query) for query in judged])
    if mask:
        asked = replace(asked, text=tuple(hidden(text, DECISIONS) for text in asked.text))
    for remark in report.lines():
        note(remark)
    with IndexFolder(folder) as index, index.snapshot() as snapshot, spinner("searching"):
        within = masked(snapshot, filters, as_of)
        retriever = opened(snapshot)
        if before_query_date:
            ranking = retrieve_before(retriever, asked, depth, within=within)
        else:
            ranking = retrieve_blocks(retriever, asked, depth, within=within)
        write_run(ranking, out)
    if bounds is not None:
        write_bounds(ranking, bounds)
    low, words = lowest(ranking)
    if json:
        print_json({"out": str(out), "queries": len(asked), "hits": len(ranking), "lowest_possible_score": low})
    else:
        line(f"{out}: {len(asked):,} queries, {len(ranking):,} hits{words}")
