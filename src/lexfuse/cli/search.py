"""``lexfuse search``: search an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from rich.text import Text

from lexfuse.channels.explanation import Explanation, TermPart, TokenMatch
from lexfuse.channels.query_context import query_context
from lexfuse.cli.options.search_flags import CHANNELS, FilterFlags, IndexArgument, SearchFlags
from lexfuse.cli.output.console import AsJson, line, note, print_json, screen
from lexfuse.cli.output.coverage import coverage_json, note_unknown
from lexfuse.index import Index
from lexfuse.search.hits import Hits
from lexfuse.search.results import SearchHit
from lexfuse.search.words.correction import Spelling

_PARTS_SHOWN = 20  # terms that add to a score; a whole judgment has hundreds


@dataclass(frozen=True, kw_only=True)
class _SearchFlags(SearchFlags):
    """How to rank; without a flag as the page does."""

    channels: Annotated[
        str,
        typer.Option(
            "--channels", "-c", help=f"{CHANNELS} [default: the profile that the page searches by; bm25 with other flags]"
        ),
    ] = ""


def search(
    folder: IndexArgument,
    question: Annotated[str, typer.Argument(help="The question, in any words; citations are understood.")],
    search: _SearchFlags,
    filters: FilterFlags,
    k: Annotated[int, typer.Option("-k", help="The number of results.")] = 10,
    language: Annotated[str, typer.Option("--language", "-l", help="Language of the question [default: detected].")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="Read the question as plain text: operators are words.")] = False,
    spelling: Annotated[
        Spelling,
        typer.Option("--spelling", help="Misspelt words: auto corrects if no word is known, else offers; apply corrects; off."),
    ] = Spelling.AUTO,
    everyday: Annotated[
        bool, typer.Option("--everyday/--no-everyday", help="Search everyday words also as the law writes them.")
    ] = True,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each word adds to each score.")] = False,
    why: Annotated[
        list[str] | None, typer.Option("--why", metavar="ID", help="Explain this document too, found or not. May be repeated.")
    ] = None,
    metadata: Annotated[bool, typer.Option("--metadata", help="Show the metadata of each result; --json always has it.")] = False,
    json: AsJson = False,
) -> None:
    """Search an index: cited documents first, then the best matches.

    lexfuse search legi.index "durée du préavis de démission"

    lexfuse search legi.index "licenciement économique" --filter "code=Code du travail" --as-of 2024-01-01 --explain

    lexfuse search legi.index "licenciement économique" --profile hybrid --why LEGIARTI000018764571

    A question may have operators, which every result must satisfy: "exact phrase", -word, AND OR NOT in capitals with
    parentheses, word* (words that begin so), a /s b (one sentence), a /p b (one paragraph), a /5 b (at most five words apart),
    title:word, code:"Code civil" and other fields. Words without an operator only rank.

    Words that no document has are compared with those of the index, and everyday words ("heures sup", "patron") are also
    searched as the law writes them; docs/everyday-words.md.

    lexfuse search legi.index '"cause réelle et sérieuse" AND licenci* -économique title:indemnité'
    """
    asked: dict[str, Any] = {"filters": filters.filters or (), "as_of": filters.day()}
    asked |= {"operators": not plain, "spelling": spelling, "everyday": everyday}
    with Index.open(folder) as index, query_context():
        default = index.version.default_profile
        spec = search.spec(index) if search.given else index.version.specs[default]
        asked["profile"] = spec if search.given else default
        found = index.search(question, k, language=language, **asked)
        fused = fusions_of(found, routed=bool(spec.classes)) if explain else {}
        wanted = [index.explain(question, id, language=language, **asked) for id in why or ()]
        unused = [name for name in index.channels if name not in {channel.name for channel in spec.channels}]
    if json:
        results = [answer_json(answer, explain, fused.get(answer.document.id)) for answer in found]
        notes = {"notes": list(found.notes)} if found.notes else {}
        more = {"why": [one.as_json() for one in wanted]} if why else {}
        print_json({"results": results, **_question_json(found), **coverage_json(found.coverage), **notes, **more})
        return
    for text in (*_question_notes(found), *found.notes):
        note(text)
    if not found:
        hint = f", or search by meaning: --channels {','.join(['bm25', *unused])}" if unused else ""
        note(f"nothing found; try other words, or fewer filters{hint}")
    for answer in found:
        show(answer, explain, fused.get(answer.document.id), metadata=metadata)
        if explain and found.notes:
            _show_conditions(answer.explain())
    for one in wanted:
        show_why(one)
    note_unknown(found.coverage)


def _question_json(found: Hits) -> dict[str, Any]:
    """The correction, the expansions and the confidence of a question, where there are any."""
    corrected = {"correction": asdict(found.correction)} if found.correction else {}
    expanded = {"expansions": [asdict(one) for one in found.expansions]} if found.expansions else {}
    return {**corrected, **expanded, **({"confidence": asdict(found.confidence)} if found.confidence else {})}


def _question_notes(found: Hits) -> Iterator[str]:
    """How the question was read, in words."""
    if found.correction and found.correction.applied:
        yield f"searched for: {found.correction.question} (as it is written: --spelling off)"
    elif found.correction:
        yield f"did you mean: {found.correction.question} (--spelling apply searches it)"
    if found.confidence and found.confidence.answers:
        yield f"the first result answers with a probability of {found.confidence.answer:.0%}"
    elif found.confidence:
        yield "nothing here clearly answers this; these are the nearest results"
    for one in found.expansions:
        yield f"{one.words}: also searched as {', '.join(one.law)} (only as it is written: --no-everyday)"


def fusions_of(hits: Iterable[SearchHit], *, routed: bool) -> dict[str, Explanation]:
    """What the sources or a reranker contributed to hits; nothing if a single channel ranks and queries are not routed."""
    explained = {hit.id: hit.explain() for hit in hits}
    return {id: why for id, why in explained.items() if routed or len(why.parts) > 1 or why.before}


def answer_json(answer: SearchHit, explain: bool, why: Explanation | None = None) -> dict[str, Any]:
    """One answer as plain values."""
    document, span = answer.document, answer.snippet.span
    result = {
        "rank": answer.rank,
        "id": document.id,
        "found": answer.found,
        "score": answer.score,
        "title": document.title,
        "headings": list(document.headings),
        "snippet": span.of(document.text),
        "matches": [[match.start - span.start, match.end - span.start] for match in answer.snippet.matches],
        "metadata": answer.metadata,
    }
    if answer.passage:
        result["passage"] = [answer.passage.start, answer.passage.end]
    if answer.sources:
        result["sources"] = dict(answer.sources)
    if why:
        result["fusion"] = why.as_json()
    if explain:
        parts: list[TermPart | TokenMatch] = [*answer.parts, *answer.matches]
        result["explanation"] = [asdict(part) for part in parts]
    return result


def show(answer: SearchHit, explain: bool = False, why: Explanation | None = None, *, metadata: bool = False) -> None:
    """One answer on the screen: title, place, marked snippet and, if asked, metadata, and what each source and word adds."""
    document = answer.document
    how = "cited" if answer.found == "citation" else f"{answer.score:.3f}"
    head = Text(f"{answer.rank}. {document.title or document.id}", style="bold")
    screen().print(head.append(f"  {how}  [{document.id}]", style="dim"))
    place = " › ".join(part for part in (document.court, *document.headings[-3:]) if part)
    if place:
        line(f"   {place}", style="dim")
    screen().print(_marked(answer))
    for name, value in answer.metadata.items() if metadata else ():
        line(f"     {name}: {', '.join(map(str, value)) if isinstance(value, list) else value}", style="blue")
    _show_sources(why)
    if explain:
        _show_parts(answer)
    line()


def show_why(why: Explanation) -> None:
    """Why a document has its rank, or would have, and its rank by other fusions."""
    place = f"rank {why.rank}" if why.listed else f"not among the candidates; would be rank {why.rank}"
    line(f"{why.doc}: {place}, score {why.score:.3f}", style="bold")
    _show_conditions(why)
    _show_sources(why)
    _show_structure(why)
    if others := why.others or (why.before.others if why.before else {}):
        ranks = ", ".join(f"{name} rank {rank}" for name, rank in others.items())
        before = " before reranking" if why.before else ""
        line(f"     under each fusion with its usual parameters{before}: {ranks}", style="dim")
    line()


def _show_conditions(why: Explanation) -> None:
    """Which parts of a question with operators hold."""
    for one in why.conditions:
        line(f"     {one.condition}: {'holds' if one.holds else 'does not hold'}", style="green")


def _show_sources(why: Explanation | None) -> None:
    """What each source adds; for a reranked document also the values before."""
    if why is None:
        return
    for source in why.parts:
        score = "unknown" if source.score is None else f"{source.score:.3f}"
        place = f"rank {source.rank}" if source.rank else "not ranked"
        shown = f"score {score}, {place}, normalised {source.value:.3f}{' (imputed)' if source.imputed else ''}"
        line(f"     {source.source}: {source.contribution:+.3f}  ({shown}, weight {source.weight:.2f})", style="magenta")
    if why.before:
        line(f"     before reranking: rank {why.before.rank}, score {why.before.score:.3f}", style="magenta")
        _show_sources(why.before)


def _show_structure(why: Explanation) -> None:
    """What the section of a document and its citations add, where documents were reranked by the structure of the law."""
    for found in [one.structure for one in why.evidence.values() if one.structure]:
        if found.path:
            members = f"{found.candidates} of {found.documents} documents are candidates"
            line(f"     section {' › '.join(found.path)}: {members}", style="cyan")
        added = f"own score {found.own:+.3f}, best document there ({found.best_document}) {found.section:+.3f}"
        citing = f" ({found.citing_document})" if found.citing_document else ""
        line(f"     {added}, cited{citing} {found.cited:+.3f}", style="cyan")


def _show_parts(answer: SearchHit) -> None:
    """The parts of the score: common terms, or matching tokens."""
    adding = [part for part in answer.parts if part.contribution]
    for part in adding[:_PARTS_SHOWN]:
        held = f"in the question {part.in_query:g}, in the document {part.in_document:g}, idf {part.idf:.2f}"
        line(f"     {part.term}: {part.contribution:+.3f}  ({held})", style="cyan")
    if rest := adding[_PARTS_SHOWN:]:
        line(f"     {len(rest):,} more terms: {sum(part.contribution for part in rest):+.3f}  (all with --json)", style="cyan")
    for match in answer.matches:
        line(f"     {match.in_query} met {match.in_document}: {match.similarity:+.3f}", style="cyan")


def _marked(answer: SearchHit) -> Text:
    text, span = answer.document.text, answer.snippet.span
    shown = Text("   … " if span.start else "   ")
    at = span.start
    for match in answer.snippet.matches:
        shown.append(text[at : match.start]).append(match.of(text), style="bold yellow")
        at = match.end
    shown.append(text[at : span.end])
    return shown.append(" …") if span.end < len(text) else shown
