"""What the results of a question say about whether the best one answers it: features for a calibrated confidence.

    coverage    share of the question's words, weighted by their idf, that the best result has
    widest      the same for the best of the first ten results
    heading     share of the question's words, weighted alike, that the title and the headings of the best result have
    subject     the same for all headings of the first ten results together
    unknown     share of the question's words, weighted by their idf, that no document has
    score       score of the best result by its words, relative to the highest that the question could reach
    strength    the same score, not relative, as a logarithm
    gap         how far the tenth result is below the first, relative to the first
    length      number of words, as a logarithm
    rarity      highest idf of a word of the question; common: the mean
    common
    SOURCE      highest raw score of each fused source among the first ten results
    question    the vector of the question along the direction in which questions that the corpus answers differ from others,
                where the search compares vectors; it depends on the calibration (`ConfidenceSpec.along`)

A word of the question that the lexicon knows counts as covered where a word of the law is there instead. The features depend on
the first ten results, however many are shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lexfuse.channels.explanation import TermPart
from lexfuse.channels.lexical.bm25 import expansions_of
from lexfuse.channels.query_terms import QueryLanguages
from lexfuse.channels.retriever import QueryVector, Retriever
from lexfuse.data.document import Document
from lexfuse.data.queries import Query
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.results import FoundDocument
from lexfuse.search.spec.confidence_spec import QUESTION, ConfidenceSpec
from lexfuse.storage.postgres.snapshot import PostgresSnapshot
from lexfuse.storage.segments.segment import LEXICAL

SEEN = 10  # results that the features are computed from


class _Question(NamedTuple):
    """The words of a question: their idf, and the terms that stand for each."""

    idf: dict[str, float]
    instead: dict[str, frozenset[str]]  # terms of the law, by the terms of everyday words
    unknown: frozenset[str]

    def covered(self, parts: Sequence[TermPart]) -> set[str]:
        """The words that a document has, or has a word of the law for."""
        held = {part.term for part in parts if part.in_document > 0}
        return {term for term in self.idf if term in held or self.instead.get(term, frozenset()) & held}

    def titled(self, version: IndexVersion, document: Document) -> set[str]:
        """The words that the title and the headings of a document have, or have a word of the law for."""
        analyser = version.snapshot.settings.analyser(document.language)
        held = {term for text in (document.title, *document.headings) for term in analyser.terms(text)}
        return {term for term in self.idf if term in held or self.instead.get(term, frozenset()) & held}

    def share(self, terms: set[str] | frozenset[str]) -> float:
        """How much of the question some of its words are."""
        total = math.fsum(self.idf.values())
        return math.fsum(self.idf[term] for term in sorted(terms)) / total if total else 0.0


def confidence_features(
    version: IndexVersion,
    retriever: Retriever,
    query: Query,
    found: Sequence[FoundDocument],
    calibration: ConfidenceSpec | None = None,
) -> Mapping[str, float] | None:
    """The features of a question with its results, best first, as far as a calibration needs them; None for nothing to judge by.

    That is: no result, a question without words, or an index in PostgreSQL, which does not say how rare a word is.

    >>> from lexfuse.search.results import find_documents
    >>> version, query = IndexVersion(snapshot), Query("q", "retard de prêt", "fr")
    >>> found = find_documents(version.pipeline(), query, 10)
    >>> {name: round(value, 2) for name, value in confidence_features(version, version.pipeline(), query, found).items()}
    {'coverage': 1.0, 'widest': 1.0, ... 'unknown': 0.0, 'score': 0.46, 'strength': 0.78, 'gap': 1.0, 'length': 1.1, ...}
    """
    if not found or isinstance(version.snapshot, PostgresSnapshot):
        return None
    question = _read(version, retriever, query)
    if not question.idf:
        return None
    first = found[:SEEN]
    words = next((one for one in retriever.members(query) if one.marks_words), version.words)
    evidence = [one.terms or () for one in words.evidence(query, [one.hit.doc for one in first])]
    covers = [question.covered(parts) for parts in evidence]
    best = math.fsum(part.contribution for part in evidence[0])
    bound = math.fsum(part.in_query * part.idf for part in evidence[0])
    named = [question.titled(version, one) for one in version.snapshot.heads([one.hit.doc for one in first])]
    top, last = first[0].hit.score, first[-1].hit.score if len(first) == SEEN else 0.0
    vector = {QUESTION: calibration.along(query_vector(retriever, query))} if calibration and calibration.question else {}
    sources = {name: [one.hit.parts.get(name, math.nan) for one in first] for one in first for name in one.hit.parts}
    return {
        "coverage": question.share(covers[0]),
        "widest": max(question.share(one) for one in covers),
        "heading": question.share(named[0]),
        "subject": question.share(set().union(*named)),
        "unknown": question.share(question.unknown),
        "score": best / bound if bound > 0 else 0.0,
        "strength": math.log1p(max(best, 0.0)),
        "gap": min(max((top - last) / abs(top), 0.0), 1.0) if top else 0.0,
        "length": math.log1p(len(question.idf)),
        "rarity": max(question.idf.values()),
        "common": math.fsum(question.idf.values()) / len(question.idf),
        **{name: max((one for one in scores if one == one), default=0.0) for name, scores in sources.items()},
        **vector,
    }


def query_vector(retriever: Retriever, query: Query) -> QueryVector | None:
    """The vector of a question by the first of the channels that has one.

    >>> query_vector(IndexVersion(snapshot).pipeline(), Query("q", "retard")) is None
    True
    """
    found = (one.query_vector(query) for one in retriever.members(query))
    return next((one for one in found if one is not None), None)


def _read(version: IndexVersion, retriever: Retriever, query: Query) -> _Question:
    """The words of a question with their idf; one that no document has is as rare as can be."""
    snapshot = version.snapshot
    languages: QueryLanguages = version.cached("query languages", lambda: QueryLanguages(snapshot))
    analyser = snapshot.settings.analyser(languages.of(query.text, query.language))
    postings = snapshot.postings(LEXICAL)
    idf, unknown = {}, set()
    for token in analyser.tokens(query.text):
        for term in token.terms[:1]:  # of a citation the article, not its chapter
            number = postings.vocabulary.find(term)
            frequency = 0 if number is None else int(postings.document_frequency[number])
            idf[term] = math.log1p((postings.documents - frequency + 0.5) / (frequency + 0.5))
            if not frequency:
                unknown.add(term)
    instead = {term: frozenset(one.terms) for one in expansions_of(retriever, query) for term in one.own}
    return _Question(idf, instead, frozenset(unknown - instead.keys()))
