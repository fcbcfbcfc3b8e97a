"""Answers to one question, ready to be shown: documents it cites first, then the best matches, each with a snippet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from lexfuse.channels.citation import CitationLookup
from lexfuse.channels.explanation import Evidence, Explanation, TermPart, TokenMatch
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.columns.metadata_columns import metadata_of
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Hit
from lexfuse.deadline import check
from lexfuse.errors import ConfigError
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.passages import Passage
from lexfuse.text.snippets import Snippet, citing_terms, snippet

_SMALL = 0.01  # weight in a snippet of a term that says next to nothing


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A document that answers, which channel found it, and the part of its text to show."""

    rank: int
    found: str  # the name of the retriever: "citation", "bm25", "dense" …
    score: float
    document: Document
    snippet: Snippet
    parts: tuple[TermPart, ...]  # what each term of the question adds to the score, where terms make it
    matches: tuple[TokenMatch, ...] = ()  # which token each token of the question met, where tokens make it
    passage: Passage | None = None  # the passage that is nearest to the question, where vectors were compared
    sources: Mapping[str, float] = field(default_factory=dict)  # raw scores of the sources, where several were fused
    explainer: Callable[[str], Explanation] | None = field(default=None, repr=False, compare=False)

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.document.id

    @property
    def title(self) -> str:
        """The title of the document, or its id where it has none."""
        return self.document.title or self.document.id

    @property
    def metadata(self) -> dict[str, Any]:
        """The fields of the document that only its corpus has: texts, numbers, and lists of them."""
        return metadata_of(self.document.extra)

    def explain(self) -> Explanation:
        """What every source contributed to the score."""
        if self.explainer is None:
            raise ConfigError("this hit was made without its search; search with an Index to explain hits")
        return self.explainer(self.document.id)


class FoundDocument(NamedTuple):
    """A document that answers, and who found it: a lookup of citations, or the retriever."""

    by: str
    hit: Hit


def find_documents(
    retriever: Retriever, question: Query, k: int, *, within: Mask | None = None, citations: CitationLookup | None = None
) -> list[FoundDocument]:
    """What answers a question, best first: the documents that it cites, if a lookup is given, then the k best others.

    >>> question = Query("q", "la cotisation de l'article L. 2", "fr")
    >>> found = find_documents(open_retriever(snapshot, "bm25"), question, 1, citations=CitationLookup(snapshot))
    >>> [(one.by, one.hit.doc) for one in found]
    [('citation', 'lib-2'), ('bm25', 'lib-6')]
    """
    queries = Queries.of([question])
    cited = citations.retrieve(queries, k, within=within).hits(question.id) if citations else []
    named = {hit.doc for hit in cited}
    matching = retriever.retrieve(queries, k + len(named), within=within).hits(question.id)
    first = [FoundDocument(citations.name, hit) for hit in cited] if citations else []
    return first + [FoundDocument(retriever.name, hit) for hit in matching if hit.doc not in named][:k]


class ResultBuilder:
    """Makes answers of documents: what of the text to show, and what to mark in it.

    >>> builder = ResultBuilder([open_retriever(snapshot, "bm25")], Query("q", "horaires", "fr"))
    >>> [answer] = builder.answers([FoundDocument("bm25", Hit("lib-5", 1, 0.5))])
    >>> answer.snippet.marked(answer.document.text, "[", "]")
    "Les [horaires] d'ouverture sont affichés à l'entrée de chaque bibliothèque."
    """

    def __init__(
        self,
        members: Sequence[Retriever],
        question: Query,
        *,
        words: Retriever | None = None,
        explainer: Callable[[str], Explanation] | None = None,
    ) -> None:
        """Take the retrievers that have something to show: terms, tokens that met, the nearest passage.

        Where none of them marks words, `words` does; one that is kept saves counting the words of the index for every question.
        """
        self._question, self._explainer = question, explainer
        # By the language of a document: its analyser, and the terms that are not marked.
        self._languages: dict[str, tuple[Analyser, frozenset[str]]] = {}
        self._words = next((one for one in members if one.marks_words), words or open_retriever(members[0].snapshot, LEXICAL))
        first = next((one for one in members if one.shows_terms), None)  # terms of a second one would not be shown
        self._members = [one for one in members if one is first or one is self._words or not one.shows_terms]

    def answers(self, found: Sequence[FoundDocument], *, after: int = 0) -> list[SearchHit]:
        """Answers for the documents that were found, in this order; `after` is the number of results before them."""
        docs = [one.hit.doc for one in found]
        every = [one.evidence(self._question, docs) for one in self._members]
        places = [at for at, one in enumerate(self._members) if one is self._words]
        words = every[places[0]] if places else self._words.evidence(self._question, docs)
        documents = self._words.snapshot.documents(docs)
        return [
            self._answer(rank, one, document, words[at].terms or (), [evidence[at] for evidence in every])
            for at, (rank, one, document) in enumerate(
                zip(range(after + 1, after + len(docs) + 1), found, documents, strict=True)
            )
        ]

    def _answer(
        self, rank: int, found: FoundDocument, document: Document, words: Sequence[TermPart], evidence: Sequence[Evidence]
    ) -> SearchHit:
        check()
        terms = next((one.terms for one in evidence if one.terms is not None), ())
        tokens = next((one.tokens for one in evidence if one.tokens is not None), ())
        nearest = next((one.passage for one in evidence if one.passage is not None), None)
        shown = self._snippet(document, words, nearest or Passage(0, len(document.text)))
        score, sources = found.hit.score, found.hit.parts
        return SearchHit(rank, found.by, score, document, shown, terms, tokens, nearest, sources, self._explainer)

    def _snippet(self, document: Document, terms: Sequence[TermPart], passage: Passage) -> Snippet:
        """The window of a passage that matches best."""
        if document.language not in self._languages:
            analyser = _lasting(self._words.snapshot.settings.analyser(document.language))
            self._languages[document.language] = analyser, citing_terms(self._question.text, analyser)
        analyser, citing = self._languages[document.language]
        weights = {part.term: max(part.idf, _SMALL) for part in terms if part.term not in citing}
        shown = snippet(passage.of(document.text), analyser, weights)
        start = passage.start
        matches = tuple(Passage(match.start + start, match.end + start) for match in shown.matches)
        return Snippet(Passage(shown.span.start + start, shown.span.end + start), matches, shown.text, shown.weights)


@lru_cache(maxsize=16)
def _lasting(analyser: Analyser) -> Analyser:
    """The first of equal analysers: it knows the words that it has met."""
    return analyser
