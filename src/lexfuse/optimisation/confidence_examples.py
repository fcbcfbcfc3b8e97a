"""Questions to calibrate a confidence on: their features, and what is known of them.

A question is judged by those whose questions are expected, or by others, or it is off topic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexfuse.channels.query_context import query_context
from lexfuse.channels.retriever import QueryVector
from lexfuse.data.arrays import F64, I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.search.asked_question import read_question
from lexfuse.search.confidence import SEEN, confidence_features, query_vector
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.results import find_documents
from lexfuse.search.spec.confidence_spec import unit_length
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.search.words.correction import Spelling

OFF_TOPIC_SHARE = 1 / 3  # of all questions
NO_JUDGEMENTS = Qrels.of([])


@dataclass(frozen=True, eq=False)
class ConfidenceExamples:
    """Features of questions, whether the best result of each is relevant, and whether the corpus answers it at all."""

    features: tuple[Mapping[str, float], ...]
    relevant: F64
    on_topic: F64
    without: int = 0  # questions that had no results or no words
    vectors: F64 | None = None  # of the questions, of length one, where the search compares vectors
    model: str = ""  # that made them
    further: F64 | None = None  # whether others judged, who find more or fewer results relevant; None for no question

    def matrix(self, names: Sequence[str]) -> F64:
        """A row each question."""
        return np.array([[one[name] for name in names] for one in self.features], dtype=np.float64).reshape(-1, len(names))

    def some(self, chosen: I64) -> ConfidenceExamples:
        """Some of the questions, by their places."""
        vectors = None if self.vectors is None else self.vectors[chosen]
        further = None if self.further is None else self.further[chosen]
        features = tuple(self.features[at] for at in chosen.tolist())
        return ConfidenceExamples(features, self.relevant[chosen], self.on_topic[chosen], 0, vectors, self.model, further)

    @property
    def kinds(self) -> I64:
        """2 for a judged question, 1 for one that others judged, 0 for one off the topic."""
        judged = 2 * self.on_topic.astype(np.int64)
        return judged if self.further is None else judged - self.further.astype(np.int64)

    @property
    def own(self) -> I64:
        """The places of all questions but those that others judged."""
        return np.flatnonzero(self.kinds != 1)

    @property
    def weights(self) -> F64:
        """The weight of each question: off-topic ones are a third of all."""
        real = float(self.on_topic.sum())
        off = len(self.on_topic) - real
        each = real * OFF_TOPIC_SHARE / (1 - OFF_TOPIC_SHARE) / off if off else 0.0
        return np.where(self.on_topic > 0, 1.0, each)


def read_examples(
    version: IndexVersion,
    spec: SearchSpec,
    queries: Queries,
    qrels: Qrels,
    off_topic: Queries,
    further: Qrels = NO_JUDGEMENTS,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> ConfidenceExamples:
    """The features of questions that are judged, off topic, or judged by others (`further`), read as `search` reads them.

    >>> queries, none = Queries.of([Query("q", "retard de prêt", "fr")]), Queries.of([])
    >>> found = read_examples(IndexVersion(snapshot), SearchSpec.of("bm25"), queries, Qrels.of([("q", "lib-4", 1)]), none)
    >>> found.relevant.tolist(), found.on_topic.tolist()
    ([1.0], [1.0])
    """
    features, relevant, kinds, vectors, without = [], [], [], [], 0
    for number, (query, right, kind) in enumerate(_every(queries, qrels, further, off_topic), start=1):
        best, found, vector = _answered(version, spec, query)
        progress(number)
        if found is None:
            without += 1
            continue
        features.append(found)
        relevant.append(float(best in right))
        kinds.append(kind)
        vectors += [] if vector is None else [vector]
    rows = np.array([unit_length(one.vector) for one in vectors]) if vectors and len(vectors) == len(features) else None
    model = vectors[0].model if rows is not None else ""
    real, others = np.array([float(kind > 0) for kind in kinds]), np.array([float(kind == 1) for kind in kinds])
    return ConfidenceExamples(tuple(features), np.array(relevant), real, without, rows, model, others)


def _every(queries: Queries, qrels: Qrels, further: Qrels, off_topic: Queries) -> Iterable[tuple[Query, set[str], int]]:
    """The questions with their relevant documents and their kinds."""
    for kind, judged in ((2, qrels), (1, further)):
        known = set(judged.queries)
        for query in queries:
            if query.id in known:
                yield query, {doc for doc, grade in judged.judged(query.id).items() if grade > 0}, kind
    yield from ((query, set[str](), 0) for query in off_topic)


def _answered(
    version: IndexVersion, spec: SearchSpec, query: Query
) -> tuple[str, Mapping[str, float] | None, QueryVector | None]:
    opened = version.search_by(spec, everyday=True)
    question = read_question(version, query, spelling=Spelling.AUTO, by_words=opened.by_words(query)).ranked
    with query_context():
        found = find_documents(opened.retriever, question, SEEN, within=opened.within, citations=version.citations)
        features = confidence_features(version, opened.retriever, question, found)
        vector = query_vector(opened.retriever, question)
    return (found[0].hit.doc if found else ""), features, vector
