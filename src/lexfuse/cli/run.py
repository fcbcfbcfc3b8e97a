"""``lexfuse run``: rank documents for many queries and write a TREC run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lexfuse.cli.options.run_files import lowest, write_bounds
from lexfuse.cli.options.search_flags import IndexArgument, QueriesArgument, QueryFilterFlags, SearchFlags, TermFlags
from lexfuse.cli.output.console import AsJson, SkipBad, line, noted_report, print_json, spinner
from lexfuse.cli.output.coverage import note_unknown
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import stem, write_run
from lexfuse.index import Index
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations as hidden


def run(
    folder: IndexArgument,
    queries: QueriesArgument,
    search: SearchFlags,
    terms: TermFlags,
    filters: QueryFilterFlags,
    out: Annotated[Path, typer.Option("--out", "-o", help="The TREC run to write; .gz compresses it.")],
    qrels: Annotated[Path | None, typer.Option("--qrels", help="Rank only the queries that these judgements judge.")] = None,
    depth: Annotated[
        int, typer.Option(help="Documents per query; without a profile also the candidates of each channel.")
    ] = 1000,
    mask: Annotated[
        bool, typer.Option("--mask", help="Mask citations of decisions in the queries, for a fair test of text matching.")
    ] = False,
    exclude_self: Annotated[
        bool, typer.Option("--exclude-self", help="Exclude the document that has the id of the query.")
    ] = False,
    operators: Annotated[
        bool, typer.Option("--operators", help='Read "phrases", -word, AND OR NOT, word*, /s and field:word in the queries.')
    ] = False,
    bounds: Annotated[
        Path | None,
        typer.Option(
            "--bounds", help="Write the lowest possible score of every query, for --bound RUN=FILE of fuse, tune and advise."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run [default: that of the file].")] = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Rank documents for many queries and write a TREC run.

    lexfuse run legi.index data/legi --qrels data/legi/qrels/dev.tsv --depth 1000 -o bm25.trec

    lexfuse run legi.index data/legi --channels bm25,dense --fusion rrf --eta 60 -o fused.trec

    lexfuse run legi.index data/legi --profile labour.toml -o labour.trec
    """
    with noted_report(skip_bad) as report:
        asked = read_queries(queries, report)
        if qrels is not None:
            judged = read_qrels(qrels, report, queries=asked.ids).queries
            asked = asked.select([asked.ids.ordinal(query) for query in judged])
    if mask:
        asked = replace(asked, text=tuple(hidden(text, DECISIONS) for text in asked.text))
    with Index.open(folder) as index, spinner("searching"):
        spec = search.spec(index, depth=depth, terms=terms)
        ranking = index.run(
            asked,
            depth=depth,
            profile=spec,
            name=name or stem(out),
            filters=filters.filters or (),
            as_of=filters.day(),
            before_query_date=filters.before_query_date,
            exclude_self=exclude_self,
            operators=operators,
        )
        write_run(ranking, out)
        coverage = index.version.coverage(filters.day() or spec.as_of)
    note_unknown(coverage)
    if bounds is not None:
        write_bounds(ranking, bounds)
    low, words = lowest(ranking)
    if json:
        print_json({"out": str(out), "queries": len(asked), "hits": len(ranking), "lowest_possible_score": low})
    else:
        line(f"{out}: {len(asked):,} queries, {len(ranking):,} hits{words}")
