"""``lexfuse similar``: a whole judgment as the query, from a file or from the index."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexfuse.cli.fusing import chosen
from lexfuse.cli.output import AsJson, line, note, print_json, table, working
from lexfuse.cli.searching import AsOf, Filters, FusionName, ProfileFile, answer_json, is_given, masked, pipeline_of, show

if TYPE_CHECKING:
    import datetime

    from lexfuse.data.queries import Query
    from lexfuse.fuse.explaining import Explanation
    from lexfuse.index.snapshot import Snapshot
    from lexfuse.rerank.alignment import ProportionalRelevance
    from lexfuse.rerank.layout import TextParagraph
    from lexfuse.retrieve.informative import ChosenTerms, InformativeBM25
    from lexfuse.retrieve.resembling import Candidates
    from lexfuse.retrieve.retriever import Mask, Retriever
    from lexfuse.text.kli import TermChoice

_TERMS_SHOWN = 60
_PAIRS_SHOWN = 5  # of paragraphs that met
_WIDTH = 50  # characters of a paragraph that are shown


def similar(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index folder.")],
    source: Annotated[str, typer.Argument(metavar="FILE|ID", help="A text, HTML or PDF file, or the id of a document.")],
    k: Annotated[int, typer.Option("-k", help="How many results.")] = 10,
    channel: Annotated[
        str, typer.Option("--channel", "-c", help="What ranks, if not bm25 and, where the index has sentences, RPRS: bm25,dense")
    ] = "bm25",
    fusion: FusionName = "tm2c2",
    profile: ProfileFile = None,
    k1: Annotated[float, typer.Option("--k1", help="BM25: how soon more occurrences of a word stop counting.")] = 2.8,
    b: Annotated[float, typer.Option("--b", help="BM25: how much long documents are held back, 0 to 1.")] = 1.0,
    kli: Annotated[
        float, typer.Option("--kli", help="How many of the terms, most informative first: 0.1 is a tenth, 50 is fifty, 1 is all.")
    ] = 0.1,
    term_weights: Annotated[
        str, typer.Option("--term-weights", help="What each term counts: once, count (as often as it occurs) or kli.")
    ] = "once",
    terms: Annotated[str, typer.Option("--terms", help="Search by these words instead: word,word=2,…")] = "",
    add_term: Annotated[list[str] | None, typer.Option("--add-term", help="Add a word, or word=weight. May be repeated.")] = None,
    drop_term: Annotated[list[str] | None, typer.Option("--drop-term", help="Leave a word out. May be repeated.")] = None,
    show_terms: Annotated[bool, typer.Option("--show-terms", help="Show the terms, and do not search.")] = False,
    exclude_self: Annotated[bool, typer.Option("--exclude-self", help="Leave out the document itself.")] = False,
    before: Annotated[str | None, typer.Option("--before", help="Only documents dated before this day.")] = None,
    before_own_date: Annotated[
        bool, typer.Option("--before-own-date", help="Only documents dated before the one that is given by its id.")
    ] = False,
    mask: Annotated[bool, typer.Option("--mask", help="Hide citations of decisions in the query.")] = False,
    filters: Filters = None,
    as_of: AsOf = None,
    language: Annotated[str, typer.Option("--language", "-l", help="Language of the file; detected if not given.")] = "",
    explain: Annotated[bool, typer.Option("--explain", help="Show what each word adds to each score.")] = False,
    json: AsJson = False,
) -> None:
    """Find documents like a whole judgment: a file, or a document of the index.

    BM25 asks for the tenth of its terms that tell it best from the other documents; look at them with --show-terms. Where the
    index has a channel of sentences, the best 100 are then compared sentence by sentence (RPRS).

    lexfuse similar cases.index judgment.pdf --exclude-self --before 2020-01-01

    lexfuse similar cases.index "ECLI:EU:C:2023:373" --exclude-self --before-own-date --mask

    lexfuse similar cases.index judgment.txt --drop-term appellant --add-term "estoppel=2"
    """
    from functools import partial

    from lexfuse.index.index import Index
    from lexfuse.pipeline import open_similar
    from lexfuse.retrieve.resembling import candidates

    choice = _choice(kli, term_weights, terms, add_term, drop_term)
    opened = pipeline_of(
        context, profile, channel, lambda: chosen(fusion, "", None, "", None, "", ""), k1, b, False, False, terms=choice
    )
    if profile is None and not is_given(context, "channel"):
        opened = partial(open_similar, terms=choice, k1=k1, b=b)
    with Index(folder) as index, index.snapshot() as snapshot:
        asked = _asked(snapshot, source, language, mask)
        day = _day(asked, before, before_own_date)
        own = _own(snapshot, asked, source) if exclude_self else ()
        allowed = candidates(snapshot, masked(snapshot, filters, as_of), own=own, before=day)
        retriever = opened(snapshot)
        chosen_terms = _chosen_terms(retriever, asked.query) if show_terms or choice.edited else None
        _tell(allowed, chosen_terms)
        if show_terms:
            _show_terms(chosen_terms, json)
        else:
            _search(retriever, asked, allowed, k, explain=explain, json=json)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The query, and the document that it is, if it is one of the index."""

    query: Query
    document: str | None
    text: str  # before citations were hidden


def _choice(kli: float, weights: str, only: str, added: list[str] | None, dropped: list[str] | None) -> TermChoice:
    from lexfuse.errors import ConfigError
    from lexfuse.text.kli import TermChoice, TermWeight, WeightedWord

    if weights not in set(TermWeight):
        raise ConfigError(f"--term-weights must be one of {', '.join(TermWeight)}; got {weights!r}")
    return TermChoice(
        kli,
        TermWeight(weights),
        only=tuple(WeightedWord.parse(word) for word in only.split(",") if word.strip()),
        added=tuple(map(WeightedWord.parse, added or ())),
        dropped=tuple(dropped or ()),
    )


def _asked(snapshot: Snapshot, source: str, language: str, mask: bool) -> _Asked:
    """The query of a file or, where there is none of that name, of a document."""
    import os

    from lexfuse.data.queries import Query
    from lexfuse.data.report import Report
    from lexfuse.data.textfiles import read_text
    from lexfuse.errors import NotFoundError
    from lexfuse.retrieve.resembling import ID, query_of
    from lexfuse.text.citation import DECISIONS
    from lexfuse.text.citations import mask as hidden

    held, document = source in snapshot.ids, None
    if os.path.exists(source) and not (held and os.path.isdir(source)):  # unlike Path.exists, no error for what cannot be a name
        if held:
            note(f"{source!r} is a file and the id of a document too; the file was read")
        report = Report()
        query = Query(ID, read_text(source, report), language)
        for remark in report.lines():
            note(remark)
    elif held:
        document = source
        query = query_of(snapshot, snapshot.document(source))
        query = replace(query, language=language or query.language)
    else:
        raise NotFoundError(f"there is no file {source!r}, and no document of that id in the index; check the name")
    shown = replace(query, text=hidden(query.text, DECISIONS)) if mask else query
    return _Asked(shown, document, query.text)


def _day(asked: _Asked, before: str | None, own: bool) -> datetime.date | None:
    """The day before which documents must be dated; the earlier one where both are asked for."""
    from lexfuse.data.dates import parse_date
    from lexfuse.errors import ConfigError, DataError

    try:
        told = parse_date(before)
    except DataError as error:
        raise ConfigError(f"--before: {error}") from None
    if before and told is None:
        raise ConfigError(f"--before: a known day was expected, got {before!r}")
    if not own:
        return told
    if asked.document is None:
        raise ConfigError("--before-own-date: a file has no date of its own; say --before 2020-01-01")
    if asked.query.date is None:
        raise DataError(f"document {asked.document!r} has no date; say --before 2020-01-01")
    return min(told or asked.query.date, asked.query.date)


def _own(snapshot: Snapshot, asked: _Asked, source: str) -> tuple[str, ...]:
    """The documents of the index that are the query: by id, by the name of the file, or by their text."""
    from lexfuse.data.trec import stem
    from lexfuse.retrieve.resembling import same_documents

    if asked.document is not None:
        return (asked.document,)
    named = {name for name in (Path(source).name, stem(Path(source))) if name in snapshot.ids}
    own = tuple(sorted(named.union(same_documents(snapshot, replace(asked.query, text=asked.text)))))
    if not own:
        note(f"--exclude-self: no document of the index has the name or the text of {source!r}; none was left out")
    return own


def _chosen_terms(retriever: Retriever, query: Query) -> ChosenTerms | None:
    """The terms that bm25 is asked for; None where the pipeline has no choice of terms."""
    from lexfuse.fuse.composite import members_of
    from lexfuse.retrieve.informative import InformativeBM25

    words: InformativeBM25 | None = next((one for one in members_of(retriever, query) if isinstance(one, InformativeBM25)), None)
    return words.terms(query) if words else None


def _tell(allowed: Candidates, terms: ChosenTerms | None) -> None:
    from lexfuse.retrieve.informative import notes_of

    if allowed.own:
        note(f"left out as the document itself: {', '.join(allowed.own)}")
    if allowed.undated:
        note(f"{allowed.undated:,} documents have no date and were left out")
    for remark in notes_of(terms) if terms else ():
        note(remark)


def _show_terms(chosen_terms: ChosenTerms | None, json: bool) -> None:
    from lexfuse.errors import ConfigError

    if chosen_terms is None:
        raise ConfigError("--show-terms: this pipeline has no choice of terms; only bm25 has")
    found = chosen_terms.terms
    if json:
        print_json({"distinct": chosen_terms.distinct, "terms": [asdict(term) for term in found]})
        return
    title = f"{len(found):,} of {chosen_terms.distinct:,} terms"
    rows = [[term.word, term.term, term.count, term.informativeness, term.weight] for term in found[:_TERMS_SHOWN]]
    table(title, ("word", "term", "in the query", "KLI", "weight"), rows, numbers_from=2)
    if len(found) > _TERMS_SHOWN:
        line(f"{len(found) - _TERMS_SHOWN:,} more; all with --json")


def _search(retriever: Retriever, asked: _Asked, allowed: Candidates, k: int, *, explain: bool, json: bool) -> None:
    from lexfuse.fuse.composite import Composite, members_of
    from lexfuse.retrieve.answering import answers
    from lexfuse.retrieve.dense import Dense

    query, within = asked.query, allowed.within
    members = [one for one in members_of(retriever, query) if not isinstance(one, Dense)]  # one vector says little of a judgment
    with working("searching"):
        found = answers(retriever, query, k, within=within, members=members, cited_first=False)
    docs = [answer.document.id for answer in found]
    why: dict[str, Explanation] = {}
    if explain and isinstance(retriever, Composite):
        why = dict(zip(docs, retriever.explanations(query, docs, within=within), strict=True))
    met = _met(retriever, query, docs, within) if explain else {}
    if json:
        results = [answer_json(answer, explain, why.get(answer.document.id)) for answer in found]
        for result in results:
            result |= {"rprs": met[result["id"]].as_json()} if result["id"] in met else {}
        print_json(_about(asked, allowed) | {"results": results})
    elif not found:
        note("nothing found; no word of the query is in the documents, or the filters leave none")
    else:
        for answer in found:
            show(answer, explain, why.get(answer.document.id))
            if answer.document.id in met:
                _show_met(met[answer.document.id], query.text, answer.document.text)


def _met(retriever: Retriever, query: Query, docs: list[str], within: Mask | None) -> dict[str, ProportionalRelevance]:
    """Which sentences and paragraphs met, for those of the documents that RPRS reranked."""
    from lexfuse.data.queries import Queries
    from lexfuse.rerank.reranker import Reranked
    from lexfuse.rerank.rprs import Rprs

    if not isinstance(retriever, Reranked) or not isinstance(retriever.reranker, Rprs):
        return {}
    reranker = retriever.reranker
    ranking = retriever.retriever.retrieve(Queries.of([query]), reranker.depth, within=within)
    compared = [hit.doc for hit in ranking.hits(query.id)]
    return {doc: reranker.explain(query, compared, doc) for doc in docs if doc in compared}


def _show_met(met: ProportionalRelevance, query: str, text: str) -> None:
    if met.query_proportion is None or met.document_proportion is None:
        return
    line(f"     RPRS: {met.query_proportion:.3f} of the query, {met.document_proportion:.3f} of the document", style="magenta")
    for pair in met.paragraphs[:_PAIRS_SHOWN]:
        ours, theirs = _beginning(query, pair.query), _beginning(text, pair.doc)
        line(f"     {pair.meetings} met, cosine {pair.cosine:.2f}: {ours} ↔ {theirs}", style="cyan")
    if len(met.paragraphs) > _PAIRS_SHOWN:
        line(f"     {len(met.paragraphs) - _PAIRS_SHOWN:,} more pairs of paragraphs  (all with --json)", style="cyan")
    line()


def _beginning(text: str, paragraph: TextParagraph) -> str:
    """The number of a paragraph, if it has one, and its first words."""
    words = " ".join(text[paragraph.start : paragraph.end].split())
    shown = f"“{words[:_WIDTH]}…”" if len(words) > _WIDTH else f"“{words}”"
    return f"§ {paragraph.number} {shown}" if paragraph.number else shown


def _about(asked: _Asked, allowed: Candidates) -> dict[str, Any]:
    """What was asked, and what was left out."""
    left_out = {"own": list(allowed.own), "later": allowed.later, "undated": allowed.undated}
    return {"query": {"document": asked.document, "words": len(asked.query.text.split())}, "left_out": left_out}
