"""What a collection holds, in figures: shown by ``import``, ``info`` and ``demo``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from lexfuse.cli.output.console import line, table
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection

MOST_SHOWN = 12


def summary_of(collection: Collection) -> dict[str, Any]:
    """Counts of a collection as plain values."""
    corpus = collection.corpus
    words = np.array([len(text.split()) for text in corpus.text])
    quantiles = {name: int(np.quantile(words, q)) for name, q in (("median", 0.5), ("longest", 1.0))}
    return {
        "documents": len(corpus),
        "words": {"total": int(words.sum()), **quantiles},
        "languages": _counts(corpus.language, "unknown"),
        "kinds": _counts(kind.value for kind in corpus.kind),
        "codes": _counts(code for code in corpus.code if code),
        "courts": _counts(court for court in corpus.court if court),
        "dated": int((~np.isnat(corpus.date)).sum()),
        "validity": int((~np.isnat(corpus.valid_from)).sum()),
        "headings": sum(map(bool, corpus.headings)),
        "citations": sum(map(len, corpus.citations)),
        "queries": len(collection.queries) if collection.queries else 0,
        "qrels": {split: {"queries": len(qrels.queries), "judgements": len(qrels)} for split, qrels in collection.qrels.items()},
    }


def _counts(values: Iterable[str], empty: str = "") -> dict[str, int]:
    return dict(Counter(value or empty for value in values).most_common())


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
        ("  a document, median", summary["words"]["median"]),
        ("  longest document", summary["words"]["longest"]),
        ("queries", summary["queries"]),
    ]
    rows += [
        (f"  {split}: judgements of {counts['queries']:,} queries", counts["judgements"])
        for split, counts in summary["qrels"].items()
    ]
    table(title, ["", "count"], rows)


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
