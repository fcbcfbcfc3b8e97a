"""Answers to one question, ready to be shown: documents it cites first, then the best matches, each with a snippet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.retrieve.bm25 import BM25
from lexfuse.retrieve.citation import CitationLookup
from lexfuse.retrieve.lexical import TermPart
from lexfuse.retrieve.retriever import Mask
from lexfuse.text.snippets import Snippet, snippet

_SMALL = 0.01  # weight in a snippet of a term that says next to nothing


class Found(StrEnum):
    """How an answer was found.

    >>> Found("citation")
    <Found.CITATION: 'citation'>
    """

    CITATION = "citation"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Answer:
    """A document that answers, why, and the part of its text to show.

    >>> Answer.__slots__[0]
    'rank'
    """

    rank: int
    found: Found
    score: float
    document: Document
    snippet: Snippet
    parts: tuple[TermPart, ...]  # what each word of the question adds to the BM25 score, also for a document found by citation


def answers(retriever: BM25, question: Query, k: int, *, within: Mask | None = None) -> list[Answer]:
    """The k best answers to a question.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index:
    ...     _ = index.add([Document("a", text="Le préavis est de deux mois.", language="fr"), Document("b", number="L2")])
    ...     with index.snapshot() as snapshot:
    ...         [(a.document.id, a.found.value) for a in answers(BM25(snapshot), Query("q", "préavis, article L. 2", "fr"), 5)]
    [('b', 'citation'), ('a', 'words')]
    """
    snapshot, queries = retriever.snapshot, Queries.of([question])
    cited = CitationLookup(snapshot).retrieve(queries, k, within=within).hits(question.id)
    named = {hit.doc for hit in cited}
    matching = retriever.retrieve(queries, k + len(named), within=within).hits(question.id)
    found = [(Found.CITATION, hit) for hit in cited] + [(Found.WORDS, hit) for hit in matching if hit.doc not in named]
    return [
        _answer(retriever, question, rank, how, hit.score, snapshot.document(hit.doc))
        for rank, (how, hit) in enumerate(found[:k], start=1)
    ]


def _answer(retriever: BM25, question: Query, rank: int, found: Found, score: float, document: Document) -> Answer:
    parts = tuple(retriever.explain(question, document.id))
    analyser = retriever.snapshot.settings.analyser(document.language)
    shown = snippet(document.text, analyser, {part.term: max(part.idf, _SMALL) for part in parts})
    return Answer(rank, found, score, document, shown, parts)
