"""``lexfuse search``: ask the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexfuse.cli.fusing import Alpha, Beta, Eta, MissingName, Normaliser, Weights, chosen
from lexfuse.cli.output import AsJson, line, note, print_json, screen

if TYPE_CHECKING:
    from rich.text import Text

    from lexfuse.data.arrays import Bools
    from lexfuse.fuse.explaining import Explanation
    from lexfuse.fuse.fusion import Fusion
    from lexfuse.index.snapshot import Snapshot
    from lexfuse.retrieve.answering import Answer
    from lexfuse.retrieve.colbert import TokenMatch
    from lexfuse.retrieve.lexical import TermPart
    from lexfuse.retrieve.retriever import Retriever
    from lexfuse.text.kli import TermChoice

_PARTS_SHOWN = 20  # terms that add to a score; a whole judgment has hundreds

Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", help="field=value, field=a,b, date>=2020-01-01, headings^=A > B, court!=X. May be repeated."),
]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Only what was in force on this day.")]
Channel = Annotated[
    str,
    typer.Option(
        "--channel",
        "-c",
        help="What ranks: bm25, tfidf, citation, tfidf-1gram, tfidf-2gram, tfidf-bigram, a channel of the index, or several: "
        "bm25,dense",
    ),
]
FusionName = Annotated[
    str, typer.Option("--fusion", help="How several channels become one: tm2c2, convex, rrf, srrf, borda, combmnz, combmax.")
]
Cosine = Annotated[
    bool | None,
    typer.Option(
        "--cosine/--dot", help="Compare learned sparse vectors by cosine or dot product; as their model was trained if not given."
    ),
]
Exact = Annotated[bool, typer.Option("--exact", help="Look at every document, where the channel is searched by clusters.")]
K1 = Annotated[float, typer.Option("--k1", help="BM25: how soon more occurrences of a word stop counting.")]
B = Annotated[float, typer.Option("--b", help="BM25: how much long documents are held back, 0 to 1.")]
ProfileFile = Annotated[
    Path | None, typer.Option("--profile", help="A search profile (TOML), in the place of all options that say how to rank.")
]


def search(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index folder.")],
    question: Annotated[str, typer.Argument(help="What to look for, in any words; citations are understood.")],
    k: Annotated[int, typer.Option("-k", help="How many results.")] = 10,
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
    profile: ProfileFile = None,
    filters: Filters = None,
    as_of: AsOf = None,
    language: Annotated[str, typer.Option("--language", "-l", help="Language of the question; detected if not given.")] = "",
    k1: K1 = 1.2,
    b: B = 0.75,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each word adds to each score.")] = False,
    why: Annotated[
        list[str] | None, typer.Option("--why", metavar="ID", help="Explain this document too, found or not. May be repeated.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Find documents: those the question cites first, then the best matches.

    lexfuse search legi.index "durée du préavis de démission"

    lexfuse search legi.index "licenciement économique" --filter "code=Code du travail" --as-of 2024-01-01 --explain

    lexfuse search legi.index "licenciement économique" --profile labour.toml --why LEGIARTI000018764571
    """
    from lexfuse.data.queries import Query
    from lexfuse.fuse.composite import Composite, explanations_of, members_of
    from lexfuse.fuse.methods import usual_fusions
    from lexfuse.index.index import Index
    from lexfuse.retrieve.answering import answers

    asked = Query("q", question, language)
    opened = pipeline_of(
        context, profile, channel, lambda: chosen(fusion, weights, alpha, eta, beta, normaliser, missing), k1, b, exact, cosine
    )
    with Index(folder) as index, index.snapshot() as snapshot:
        within = masked(snapshot, filters, as_of)
        retriever = opened(snapshot)
        members = members_of(retriever, asked)
        found = answers(retriever, asked, k, within=within, members=members)
        fused: dict[str, Explanation] = {}
        if explain and isinstance(retriever, Composite):
            docs = [answer.document.id for answer in found]
            fused = dict(zip(docs, retriever.explanations(asked, docs, within=within), strict=True))
        others = usual_fusions()
        wanted = explanations_of(retriever, asked, why, within=within, others=others) if why else []
    if json:
        results = [answer_json(answer, explain, fused.get(answer.document.id)) for answer in found]
        print_json({"results": results} | ({"why": [asdict(one) for one in wanted]} if why else {}))
        return
    if not found:
        note("nothing found; try other words, or fewer filters")
    for answer in found:
        show(answer, explain, fused.get(answer.document.id))
    for one in wanted:
        show_why(one)


HOW_TO_RANK = (
    "channel", "fusion", "weights", "alpha", "eta", "beta", "normaliser", "missing", "k1", "b", "exact", "cosine",
    "kli", "term_weights", "terms", "add_term", "drop_term",
)  # fmt: skip


def pipeline_of(
    context: typer.Context,
    profile: Path | None,
    channel: str,
    method: Callable[[], Fusion],
    k1: float,
    b: float,
    exact: bool,
    cosine: bool | None,
    *,
    depth: int | None = None,
    terms: TermChoice | None = None,
    name: str | None = None,
) -> Callable[[Snapshot], Retriever]:
    """What opens the pipeline of a profile or of the options; both at once are refused before anything is opened."""
    from lexfuse.errors import ConfigError
    from lexfuse.pipeline import DEPTH, open_pipeline

    given = [option for option in HOW_TO_RANK if is_given(context, option)]
    if profile is not None:
        from lexfuse.profile import Profile

        if given:
            options = ", ".join(f"--{option.replace('_', '-')}" for option in given)
            raise ConfigError(f"--profile says how to rank, and so does {options}; leave one out, or change the profile")
        read = Profile.read(profile)
        return lambda snapshot: read.open(snapshot, name=name)
    channels = [one.strip() for one in channel.split(",") if one.strip()]
    alone = [option for option in given if option in HOW_TO_RANK[1:8]]
    if alone and len(set(channels)) < 2:
        raise ConfigError(f"--{alone[0]} is about fusing several channels; give them too: --channel bm25,dense")
    reading = [option for option in given if option in HOW_TO_RANK[12:]]
    if reading and "bm25" not in channels:
        raise ConfigError(f"--{reading[0].replace('_', '-')} chooses words for bm25; give that channel too: --channel bm25")
    fusion = method() if len(set(channels)) > 1 else None
    return lambda snapshot: open_pipeline(
        snapshot, channels, fusion, depth=depth or DEPTH, k1=k1, b=b, exact=exact, cosine=cosine, terms=terms, name=name
    )


def is_given(context: typer.Context, option: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def masked(snapshot: Snapshot, filters: list[str] | None, as_of: str | None) -> Bools | None:
    """The mask of the filters given on the command line."""
    from lexfuse.data.dates import parse_date
    from lexfuse.errors import ConfigError, DataError
    from lexfuse.index.filters import Condition, within

    try:
        day = parse_date(as_of)
    except DataError as error:
        raise ConfigError(f"--as-of: {error}") from None
    return within(snapshot, [Condition.parse(text) for text in filters or []], as_of=day)


def answer_json(answer: Answer, explain: bool, why: Explanation | None = None) -> dict[str, Any]:
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
    }
    if answer.passage:
        result["passage"] = [answer.passage.start, answer.passage.end]
    if answer.sources:
        result["sources"] = dict(answer.sources)
    if why:
        result["fusion"] = asdict(why)
    if explain:
        parts: list[TermPart | TokenMatch] = [*answer.parts, *answer.matches]
        result["explanation"] = [asdict(part) for part in parts]
    return result


def show(answer: Answer, explain: bool = False, why: Explanation | None = None) -> None:
    """One answer on the screen: title, place, marked snippet and, if asked, what each source and word adds."""
    from rich.text import Text

    document = answer.document
    how = "cited" if answer.found == "citation" else f"{answer.score:.3f}"
    head = Text(f"{answer.rank}. {document.title or document.id}", style="bold")
    screen().print(head.append(f"  {how}  [{document.id}]", style="dim"))
    place = " › ".join(part for part in (document.court, *document.headings[-3:]) if part)
    if place:
        line(f"   {place}", style="dim")
    screen().print(_marked(answer))
    _show_sources(why)
    if explain:
        _show_parts(answer)
    line()


def show_why(why: Explanation) -> None:
    """Why a document stands where it stands, or would, and where other fusions put it."""
    place = f"rank {why.rank}" if why.listed else f"not among the candidates; would be rank {why.rank}"
    line(f"{why.doc}: {place}, score {why.score:.3f}", style="bold")
    _show_sources(why)
    if why.others:
        ranks = ", ".join(f"{name} rank {rank}" for name, rank in why.others.items())
        line(f"     by each fusion as it usually is: {ranks}", style="dim")
    line()


def _show_sources(why: Explanation | None) -> None:
    """What each source adds; for a reranked document also what was before."""
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


def _show_parts(answer: Answer) -> None:
    """What makes the score: terms that both hold, or tokens that met."""
    adding = [part for part in answer.parts if part.contribution]
    for part in adding[:_PARTS_SHOWN]:
        held = f"in the question {part.in_query:g}, in the document {part.in_document:g}, idf {part.idf:.2f}"
        line(f"     {part.term}: {part.contribution:+.3f}  ({held})", style="cyan")
    if rest := adding[_PARTS_SHOWN:]:
        line(f"     {len(rest):,} more terms: {sum(part.contribution for part in rest):+.3f}  (all with --json)", style="cyan")
    for match in answer.matches:
        line(f"     {match.in_query} met {match.in_document}: {match.similarity:+.3f}", style="cyan")


def _marked(answer: Answer) -> Text:
    from rich.text import Text

    text, span = answer.document.text, answer.snippet.span
    shown = Text("   … " if span.start else "   ")
    at = span.start
    for match in answer.snippet.matches:
        shown.append(text[at : match.start]).append(match.of(text), style="bold yellow")
        at = match.end
    shown.append(text[at : span.end])
    return shown.append(" …") if span.end < len(text) else shown
