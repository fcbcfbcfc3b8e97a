"""What a collection or an index holds, in figures: shown by ``import``, ``index``, ``info`` and ``demo``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lexfuse.channels.distribution import ChannelDistribution, described
from lexfuse.cli.output.console import line, table
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.index import Index
from lexfuse.storage.folder_names import file_sizes
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.segment import LEXICAL

MOST_SHOWN = 12
COUNTED = {"topics": "questions by topic", "relevant_documents": "relevant documents by code", "years": "documents by year"}


def print_summary(title: str, summary: dict[str, Any]) -> None:
    """The figures as tables."""
    rows: list[tuple[str, object]] = [("documents", summary["documents"])]
    for field in ("languages", "kinds", "codes", "courts"):
        counts = list(summary[field].items())
        rows += [(f"  {field[:-1]}: {name}", count) for name, count in counts[:MOST_SHOWN]]
        if len(counts) > MOST_SHOWN:
            rows.append((f"  {len(counts) - MOST_SHOWN:,} more {field}", sum(count for _, count in counts[MOST_SHOWN:])))
    rows += [
        ("with a heading path", summary["headings"]),
        ("with a date", summary["dated"]),
        ("with a first day in force", summary["validity"]),
        ("citations between documents", summary["citations"]),
        *([("  found in the text", summary["citations_found_in_text"])] if "citations_found_in_text" in summary else []),
        ("words", summary["words"]["total"]),
        ("  a document, mean", round(summary["words"].get("mean", 0))),
        ("  a document, median", summary["words"].get("median", 0)),
        ("  longest document", summary["words"].get("longest", 0)),
        ("queries", summary["queries"]),
    ]
    rows += [
        (f"  {split}: judgements of {counts['queries']:,} queries", counts["judgements"])
        for split, counts in summary["qrels"].items()
    ]
    table(title, ["", "count"], rows)


def print_statistics(figures: Mapping[str, Any]) -> None:
    """The further figures of a collection as tables; lists are cut to the most frequent."""
    spreads = {"words of a question": figures.get("query_words", {})}
    splits, cited = figures.get("splits", {}), figures.get("paragraph_citations", {})
    spreads |= {f"relevant to a question of {name}": split["relevant_of_a_query"] for name, split in splits.items()}
    spreads |= {name.replace("_", " "): value for name, value in cited.items() if isinstance(value, dict)}
    columns = ("mean", "standard_deviation", "median", "longest")
    rows = [[name, *(_number(value.get(column)) for column in columns)] for name, value in spreads.items() if value]
    if rows:
        table("distributions", ["", "mean", "standard deviation", "median", "largest"], rows)
    single: list[tuple[str, object]] = [("different words", figures.get("vocabulary"))]
    single += [(f"{name} that cite or are cited", cited[name]) for name in ("decisions", "paragraphs") if name in cited]
    single += [("citations of paragraphs", cited["citations"])] if "citations" in cited else []
    for name, split in splits.items():
        years = f", {split['first_year']}–{split['last_year']}" if "first_year" in split else ""
        single.append((f"{name}{years}: relevant pairs", split["relevant"]))
    table("figures", ["", "count"], single)
    for part, title in COUNTED.items():
        counts = figures.get(part, {})
        if len(counts) > 1:
            table(title, ["", "count"], list(counts.items())[:MOST_SHOWN])


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def print_document(document: Document, corpus: Corpus, *, characters: int = 600) -> None:
    """One document: its title, place, dates, the beginning of its text, and what it cites."""
    line(document.title or document.id, style="bold")
    place = " › ".join(part for part in (document.code, *document.headings) if part)
    facts = [
        ("id", document.id),
        ("place", place),
        ("court", document.court),
        ("date", document.date and document.date.isoformat()),
        ("in force", _validity(document)),
        ("identifiers", ", ".join(document.identifiers)),
        ("language", document.language),
    ]
    for name, value in facts:
        if value:
            line(f"  {name}: {value}", style="dim")
    cut = document.text[:characters]
    line(f"{cut}{' …' if len(document.text) > characters else ''}")
    if document.citations:
        cited = [_short_name(corpus.document(id), document.code) for id in document.citations]
        more = f" and {len(cited) - MOST_SHOWN:,} more" if len(cited) > MOST_SHOWN else ""
        line(f"  cites: {', '.join(cited[:MOST_SHOWN])}{more}", style="dim")


def _short_name(document: Document, here: str) -> str:
    """The number of an article, with its code if that is another one; else the id."""
    if not document.number:
        return document.id
    return document.number if document.code == here else f"{document.number} ({document.code})"


def _validity(document: Document) -> str:
    if document.valid_from is None and document.valid_to is None:
        return document.status.value
    start = f"from {document.valid_from.isoformat()}" if document.valid_from else "from an unknown day"
    end = f" until {document.valid_to.isoformat()}" if document.valid_to else ""
    return f"{start}{end}{f' ({document.status.value})' if document.status else ''}"


def index_figures(index: Index) -> dict[str, Any]:
    """Counts of an index as plain values."""
    snapshot = index.snapshot
    figures: dict[str, Any] = {"documents alive": len(snapshot)}
    if isinstance(snapshot, FolderSnapshot):
        figures |= {"documents deleted": len(snapshot.numbering) - len(snapshot), "segments": len(snapshot.segments)}
    figures |= {
        "generation": snapshot.generation,
        "fingerprint": snapshot.settings.fingerprint,
        "settings": snapshot.settings.as_json(),
        "languages": dict(Counter(snapshot.column("language")).most_common()),
    }
    if isinstance(snapshot, FolderSnapshot):
        figures |= {"bytes": sum(file_sizes(snapshot.folder)), LEXICAL: _word_figures(snapshot.postings(LEXICAL))}
    else:
        figures[LEXICAL] = {"bytes": snapshot.channel_bytes(LEXICAL)}
    for name in snapshot.channels:
        named, numbering = snapshot.channel(name).named, snapshot.channel_numbering(name)
        figures[name] = {
            "model": named.settings.model,
            "fingerprint": named.settings.fingerprint,
            "documents": int(numbering.alive.sum()),
            "complete": numbering.complete,
            "bytes": snapshot.channel_bytes(name),
            **named.settings.options,
        }
    if snapshot.distributions:
        figures["distributions"] = distribution_figures(snapshot.distributions)
    return figures


def _word_figures(postings: Postings) -> dict[str, Any]:
    return {
        "terms": int((postings.document_frequency > 0).sum()),
        "postings": len(postings),
        "mean length": round(postings.mean_length, 2),
    }


def distribution_figures(kept: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The sample behind each distribution of an index, and its quartiles."""
    figures = {}
    for found in map(ChannelDistribution.from_json, kept.values()):
        name = f"{found.channel} ({described(found.parameters)})" if found.parameters else found.channel
        figures[name] = {
            "scores": found.scores,
            "queries": found.queries,
            "from": found.origin.value,
            "documents then": found.documents,
            "quartiles": [round(found.levels[at], 4) for at in (250, 500, 750)],
        }
    return figures
