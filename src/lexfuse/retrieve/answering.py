"""Answers to one question, ready to be shown: documents it cites first, then the best matches, each with a snippet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Hit
from lexfuse.retrieve.bm25 import BM25
from lexfuse.retrieve.citation import CitationLookup
from lexfuse.retrieve.colbert import Colbert, TokenMatch
from lexfuse.retrieve.dense import Dense
from lexfuse.retrieve.lexical import LexicalRetriever, TermPart
from lexfuse.retrieve.retriever import Mask, Retriever
from lexfuse.text.passages import Passage
from lexfuse.text.sentences import Span
from lexfuse.text.snippets import Snippet, snippet

_SMALL = 0.01  # weight in a snippet of a term that says next to nothing


@dataclass(frozen=True, slots=True)
class Answer:
    """A document that answers, which channel found it, and the part of its text to show.

    >>> Answer.__slots__[0]
    'rank'
    """

    rank: int
    found: str  # the name of the retriever: "citation", "bm25", "dense" …
    score: float
    document: Document
    snippet: Snippet
    parts: tuple[TermPart, ...]  # what each term of the question adds to the score, where terms make it
    matches: tuple[TokenMatch, ...] = ()  # which token each token of the question met, where tokens make it
    passage: Passage | None = None  # the passage that is nearest to the question, where vectors were compared
    sources: Mapping[str, float] = field(default_factory=dict)  # raw scores of the sources, where several were fused


def answers(
    retriever: Retriever,
    question: Query,
    k: int,
    *,
    within: Mask | None = None,
    members: Sequence[Retriever] = (),
    cited_first: bool = True,
) -> list[Answer]:
    """The k best answers to a question; `members` are the retrievers that the one given is made of, if it is.

    A whole judgment cites more documents than anybody wants to see first: for one, say ``cited_first=False``.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index:
    ...     _ = index.add([Document("a", text="Le préavis est de deux mois.", language="fr"), Document("b", number="L2")])
    ...     with index.snapshot() as snapshot:
    ...         [(a.document.id, a.found) for a in answers(BM25(snapshot), Query("q", "préavis, article L. 2", "fr"), 5)]
    [('b', 'citation'), ('a', 'bm25')]
    """
    snapshot, queries = retriever.snapshot, Queries.of([question])
    lookup = CitationLookup(snapshot)
    cited = lookup.retrieve(queries, k, within=within).hits(question.id) if cited_first else []
    named = {hit.doc for hit in cited}
    matching = retriever.retrieve(queries, k + len(named), within=within).hits(question.id)
    found = [(lookup.name, hit) for hit in cited] + [(retriever.name, hit) for hit in matching if hit.doc not in named]
    shower = _Shower(members or [retriever], question)
    return [shower.answer(rank, how, hit, snapshot.document(hit.doc)) for rank, (how, hit) in enumerate(found[:k], start=1)]


class _Shower:
    """Makes answers of documents: what of the text to show, and what to mark in it."""

    def __init__(self, members: Sequence[Retriever], question: Query) -> None:
        self._question = question
        self._words = next((one for one in members if isinstance(one, BM25)), BM25(members[0].snapshot))
        self._terms = next((one for one in members if isinstance(one, LexicalRetriever)), None)
        self._late = next((one for one in members if isinstance(one, Colbert)), None)
        self._dense = next((one for one in members if isinstance(one, Dense)), None)
        self._vector = self._dense.read(Queries.of([question]))[0] if self._dense else None

    def answer(self, rank: int, found: str, hit: Hit, document: Document) -> Answer:
        words = self._words.explain(self._question, document.id)
        parts = words if self._terms is self._words else self._terms.explain(self._question, document.id) if self._terms else []
        late = self._late if self._late and self._late.holds(document.id) else None
        matches = late.explain(self._question, document.id) if late else []
        nearest = self._nearest(document)
        shown = self._snippet(document, words, nearest or Passage(0, len(document.text)))
        return Answer(rank, found, hit.score, document, shown, tuple(parts), tuple(matches), nearest, hit.parts)

    def _snippet(self, document: Document, terms: list[TermPart], passage: Passage) -> Snippet:
        """The window of a passage that matches best."""
        analyser = self._words.snapshot.settings.analyser(document.language)
        weights = {part.term: max(part.idf, _SMALL) for part in terms}
        shown = snippet(passage.of(document.text), analyser, weights)
        start = passage.start
        matches = tuple(Span(match.start + start, match.end + start) for match in shown.matches)
        return Snippet(Span(shown.span.start + start, shown.span.end + start), matches)

    def _nearest(self, document: Document) -> Passage | None:
        if self._dense and self._vector is not None and self._dense.holds(document.id):
            return self._dense.best_passage(self._vector, document.id)
        return None
