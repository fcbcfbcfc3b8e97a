"""``lexfuse similar``: a whole judgment as the query, from a file or from the index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from lexfuse.channels.explanation import Explanation, ProportionalRelevance
from lexfuse.channels.lexical.chosen_terms import ChosenTerms
from lexfuse.channels.query_context import query_context
from lexfuse.cli.options.search_flags import K1, B, FilterFlags, IndexArgument, SearchFlags, TermFlags
from lexfuse.cli.output.console import AsJson, line, note, noted_report, print_json, progress_bar, spinner, table
from lexfuse.cli.output.coverage import coverage_json, note_unknown
from lexfuse.cli.search import answer_json, fusions_of, show
from lexfuse.data.formats.text_file import read_text
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.index import Index
from lexfuse.search.similar import known_day
from lexfuse.search.similar_hits import SentenceProgress, SimilarHits
from lexfuse.text.kli import TermChoice, TermWeight
from lexfuse.text.paragraphs import TextParagraph

_TERMS_SHOWN = 60
_PAIRS_SHOWN = 5  # of paragraphs that met
_MANY_SENTENCES = 5000  # some minutes of encoding
_WIDTH = 50  # characters of a paragraph that are shown


@dataclass(frozen=True, kw_only=True)
class _SimilarFlags(SearchFlags):
    """How to rank; the parameters of BM25 suit long queries."""

    k1: K1 = 2.8
    b: B = 1.0


@dataclass(frozen=True, kw_only=True)
class _QueryTermFlags(TermFlags):
    """The terms of the judgment that bm25 searches by."""

    kli: Annotated[
        float | None,
        typer.Option(
            "--kli",
            help="Terms to search by, most informative first: 0.1 is a tenth, 50 is fifty, 1 is all [default: a tenth, "
            "at least ten].",
        ),
    ] = None
    term_weights: Annotated[
        TermWeight, typer.Option("--term-weights", help="The weight of a term: 1, its count, or its informativeness.")
    ] = TermWeight.ONCE
    terms: Annotated[str, typer.Option("--terms", help="Search by these words instead: word,word=2,…")] = ""
    add_term: Annotated[list[str] | None, typer.Option("--add-term", help="Add a word, or word=weight. May be repeated.")] = None
    drop_term: Annotated[list[str] | None, typer.Option("--drop-term", help="Leave a word out. May be repeated.")] = None

    def choice(self) -> TermChoice:
        """The choice of terms."""
        words = [word for word in self.terms.split(",") if word.strip()]
        return TermChoice.of(self.kli, self.term_weights, only=words, added=self.add_term or (), dropped=self.drop_term or ())


def similar(
    folder: IndexArgument,
    source: Annotated[
        str, typer.Argument(metavar="FILE|ID", help="A text, HTML, PDF, DOCX or ODT file, or the id of a document.")
    ],
    search: _SimilarFlags,
    terms: _QueryTermFlags,
    filters: FilterFlags,
    k: Annotated[int, typer.Option("-k", help="The number of results.")] = 10,
    show_terms: Annotated[bool, typer.Option("--show-terms", help="Show the terms instead of searching.")] = False,
    exclude_self: Annotated[bool, typer.Option("--exclude-self", help="Exclude the document itself.")] = False,
    before: Annotated[str | None, typer.Option("--before", help="Only documents dated before this day.")] = None,
    before_own_date: Annotated[
        bool, typer.Option("--before-own-date", help="Only documents dated before the given document.")
    ] = False,
    mask: Annotated[bool, typer.Option("--mask", help="Mask citations of decisions in the query.")] = False,
    language: Annotated[str, typer.Option("--language", "-l", help="Language of the file [default: detected].")] = "",
    explain: Annotated[bool, typer.Option("--explain", help="Show what each word adds to each score.")] = False,
    json: AsJson = False,
) -> None:
    """Find documents like a whole judgment: a file, or a document of the index.

    BM25 searches by its most informative terms, a tenth of them; --show-terms lists them. If the index has a channel of
    sentences, the best 100 documents are then compared sentence by sentence (RPRS).

    lexfuse similar cases.index judgment.pdf --exclude-self --before 2020-01-01

    lexfuse similar cases.index "ECLI:EU:C:2023:373" --exclude-self --before-own-date --mask

    lexfuse similar cases.index judgment.txt --drop-term appellant --add-term "estoppel=2"
    """
    choice = terms.choice()
    how: dict[str, Any] = {}
    if search.profile is None and "channels" not in search.given:
        if unused := {"exact", "cosine"} & {*search.given}:
            raise ConfigError(f"--{min(unused)} is a parameter of --channels; name the channels too")
        how = {"terms": choice, "k1": search.k1, "b": search.b}
    known_day(before, "--before")
    with Index.open(folder) as index, query_context(), _sentence_progress() as progress:
        spec = search.spec(index, terms=terms)
        how = how or {"profile": spec}
        found = index.similar(
            k=k,
            **_query(index, source),
            **how,
            terms_only=show_terms,
            exclude_self=exclude_self,
            before=before or "",
            before_own_date=before_own_date,
            mask=mask,
            filters=filters.filters or (),
            as_of=filters.day(),
            language=language,
            align=explain,
            progress=progress,
        )
        why = fusions_of(found, routed=bool(spec.classes)) if explain else {}
    _note(found, source, exclude_self=exclude_self)
    if show_terms:
        _show_terms(found.terms, json)
    else:
        _show(found, why, explain=explain, json=json)


def _query(index: Index, source: str) -> dict[str, str]:
    """The text of a file or, if there is no such file, a document of the index."""
    held = source in index
    if os.path.exists(source) and not (held and os.path.isdir(source)):  # unlike Path.exists, no error for an impossible name
        if held:
            note(f"{source!r} is both a file and the id of a document; the file was read")
        with noted_report() as report, spinner("reading the file"):  # a PDF takes some tenths of a second a page
            return {"text": read_text(source, report), "file_name": source}
    if not held:
        raise NotFoundError(f"there is no file {source!r}, and no document with that id in the index; check the name")
    return {"document": source}


@contextmanager
def _sentence_progress() -> Iterator[SentenceProgress]:
    """A progress bar for the sentences of the query; encoding those of a long one is nearly all of the work."""
    bars: list[Callable[[int], None]] = []
    with ExitStack() as opened:

        def show(done: int, total: int) -> None:
            if not bars:
                if total > _MANY_SENTENCES:
                    note(f"the query has {total:,} sentences, which takes a while; --channels bm25 ranks by words only")
                bars.append(opened.enter_context(progress_bar("reading the query, sentences", total)))
            bars[0](done)

        yield show


def _note(found: SimilarHits, source: str, *, exclude_self: bool) -> None:
    """Notes on what was left out, and on terms that have no effect."""
    if found.eligible.own:
        note(f"left out as the document itself: {', '.join(found.eligible.own)}")
    elif exclude_self:
        note(f"--exclude-self: no document of the index has the name or the text of {source!r}; none was left out")
    if found.eligible.undated:
        note(f"{found.eligible.undated:,} documents have no date and were left out")
    for remark in found.notes:
        note(remark)
    note_unknown(found.coverage)


def _show_terms(chosen_terms: ChosenTerms | None, json: bool) -> None:
    if chosen_terms is None:
        raise ConfigError("--show-terms: this pipeline selects no terms; only bm25 does")
    found = chosen_terms.terms
    if json:
        print_json({"distinct": chosen_terms.distinct, "terms": [asdict(term) for term in found]})
        return
    title = f"{len(found):,} of {chosen_terms.distinct:,} terms"
    rows = [[term.word, term.term, term.count, term.informativeness, term.weight] for term in found[:_TERMS_SHOWN]]
    table(title, ("word", "term", "in the query", "KLI", "weight"), rows, numbers_from=2)
    if len(found) > _TERMS_SHOWN:
        line(f"{len(found) - _TERMS_SHOWN:,} more; all with --json")


def _show(found: SimilarHits, why: Mapping[str, Explanation], *, explain: bool, json: bool) -> None:
    met = found.alignments
    if json:
        results = [answer_json(hit, explain, why.get(hit.id)) for hit in found]
        for result in results:
            result |= {"rprs": met[result["id"]].as_json()} if result["id"] in met else {}
        print_json(_about(found) | {"results": results})
    elif not found:
        note("nothing found; no word of the query is in the documents, or the filters exclude them all")
    for hit in () if json else found:
        show(hit, explain, why.get(hit.id))
        if hit.id in met:
            _show_met(met[hit.id], found.query.query.text, hit.document.text)


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


def _about(found: SimilarHits) -> dict[str, Any]:
    """What was asked, and what was left out."""
    asked, eligible = found.query, found.eligible
    left_out = {"own": list(eligible.own), "later": eligible.later, "undated": eligible.undated}
    return {"query": {"document": asked.document, "words": len(asked.query.text.split())}, "left_out": left_out} | coverage_json(
        found.coverage
    )
