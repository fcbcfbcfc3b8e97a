"""``lexfuse search``: ask the index."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexfuse.cli.output import AsJson, line, note, print_json, screen

if TYPE_CHECKING:
    from lexfuse.data.arrays import Bools
    from lexfuse.data.document import Document
    from lexfuse.data.run import Hit
    from lexfuse.index.snapshot import Snapshot
    from lexfuse.retrieve.bm25 import BM25, TermPart
    from lexfuse.text.snippets import Snippet

Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", help="field=value, field=a,b, date>=2020-01-01, headings^=A > B, court!=X. May be repeated."),
]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Only what was in force on this day.")]
K1 = Annotated[float, typer.Option("--k1", help="BM25: how soon more occurrences of a word stop counting.")]
B = Annotated[float, typer.Option("--b", help="BM25: how much long documents are held back, 0 to 1.")]


def search(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index folder.")],
    question: Annotated[str, typer.Argument(help="What to look for, in any words; citations are understood.")],
    k: Annotated[int, typer.Option("-k", help="How many results.")] = 10,
    filters: Filters = None,
    as_of: AsOf = None,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Language of the question; detected if not given.")
    ] = None,
    k1: K1 = 1.2,
    b: B = 0.75,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each word adds to each score.")] = False,
    json: AsJson = False,
) -> None:
    """Find documents: those the question cites first, then the best matches by BM25.

    lexfuse search legi.index "durée du préavis de démission"

    lexfuse search legi.index "licenciement économique" --filter "code=Code du travail" --as-of 2024-01-01 --explain
    """
    from lexfuse.data.queries import Queries, Query
    from lexfuse.index.index import Index
    from lexfuse.retrieve.bm25 import BM25
    from lexfuse.retrieve.citation import CitationLookup
    from lexfuse.text.languages import detect

    spoken = language or detect(question)
    queries = Queries.of([Query("q", question, spoken)])
    with Index(folder) as index, index.snapshot() as snapshot:
        within = masked(snapshot, filters, as_of)
        retriever = BM25(snapshot, k1=k1, b=b)
        cited = CitationLookup(snapshot).retrieve(queries, k, within=within).hits("q")
        named = {hit.doc for hit in cited}
        words = [hit for hit in retriever.retrieve(queries, k + len(named), within=within).hits("q") if hit.doc not in named]
        results = [
            _result(snapshot, retriever, queries, hit, rank, source, explain)
            for rank, (source, hit) in enumerate([("citation", hit) for hit in cited] + [("bm25", hit) for hit in words], start=1)
        ][:k]
        if json:
            print_json({"language": spoken, "results": [_as_json(result) for result in results]})
        elif not results:
            note("nothing found; try other words, or fewer filters")
        else:
            for result in results:
                _show(result)


def masked(snapshot: Snapshot, filters: list[str] | None, as_of: str | None) -> Bools | None:
    """The mask of the filters given on the command line."""
    from lexfuse.errors import ConfigError, DataError
    from lexfuse.index.filters import Condition, within

    day: date | None = None
    if as_of is not None:
        from lexfuse.data.dates import parse_date

        try:
            day = parse_date(as_of)
        except DataError as error:
            raise ConfigError(f"--as-of: {error}") from None
    return within(snapshot, [Condition.parse(text) for text in filters or []], as_of=day)


def _result(snapshot: Snapshot, retriever: BM25, queries: Any, hit: Hit, rank: int, source: str, explain: bool) -> dict[str, Any]:
    from lexfuse.text.snippets import snippet

    document = snapshot.document(hit.doc)
    parts = retriever.explain(queries[0], hit.doc)
    analyser = snapshot.settings.analyser(document.language)
    found = snippet(document.text, analyser, {part.term: max(part.idf, 0.01) for part in parts})
    return {
        "rank": rank,
        "source": source,
        "score": hit.score,
        "document": document,
        "snippet": found,
        "parts": [part for part in parts if part.in_document] if explain else [],
    }


def _as_json(result: dict[str, Any]) -> dict[str, Any]:
    document: Document = result["document"]
    found: Snippet = result["snippet"]
    return {
        "rank": result["rank"],
        "id": document.id,
        "source": result["source"],
        "score": result["score"],
        "title": document.title,
        "headings": list(document.headings),
        "snippet": found.span.of(document.text),
        "matches": [[match.start - found.span.start, match.end - found.span.start] for match in found.matches],
        "explanation": [_part(part) for part in result["parts"]],
    }


def _part(part: TermPart) -> dict[str, Any]:
    return {
        "term": part.term,
        "in_query": part.in_query,
        "in_document": part.in_document,
        "idf": part.idf,
        "contribution": part.contribution,
    }


def _show(result: dict[str, Any]) -> None:
    from rich.text import Text

    document: Document = result["document"]
    how = "cited" if result["source"] == "citation" else f"{result['score']:.3f}"
    head = Text(f"{result['rank']}. {document.title or document.id}", style="bold")
    head.append(f"  {how}  [{document.id}]", style="dim")
    screen().print(head)
    place = " › ".join(part for part in (document.court, *document.headings[-3:]) if part)
    if place:
        line(f"   {place}", style="dim")
    screen().print(_marked(result["snippet"], document.text), soft_wrap=False)
    for part in result["parts"]:
        line(
            f"     {part.term}: {part.contribution:+.3f}  (in the document {part.in_document:g}x, idf {part.idf:.2f})",
            style="cyan",
        )
    line()


def _marked(found: Any, text: str) -> Any:
    from rich.text import Text

    shown = Text("   … " if found.span.start else "   ")
    at = found.span.start
    for match in found.matches:
        shown.append(text[at : match.start])
        shown.append(match.of(text), style="bold yellow")
        at = match.end
    shown.append(text[at : found.span.end])
    return shown.append(" …") if found.span.end < len(text) else shown
