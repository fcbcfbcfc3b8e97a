"""SDR inference: corresponding paragraphs, found through their sentences (RPRS, section 4.3.2).

The sentence matrix M has the cosine of every query sentence with every candidate sentence. A cell of the paragraph matrix P is
the mean, over the sentences of a query paragraph, of the highest cosine with a sentence of a candidate's paragraph. P is
normalised over all candidates: each row (a query paragraph) is standardised over the paragraphs of all candidates, so that a
paragraph similar to everything counts little; a constant row becomes 0. The score of a candidate is the mean over query
paragraphs of the highest cell in its columns.

`lexfuse.rerank.sdr_retriever` ranks all documents in the same way, without a first stage.

Neither text that defines the normalisation of P gives a formula; the z-score of rows is our reading. Training is not part of
this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.data.queries import Query
from lexfuse.rerank.sentence_vectors import CandidateSentences, SentenceReranker
from lexfuse.text.paragraphs import ParagraphMap

DEPTH = 50
AT_ONCE = 256  # query sentences in one product


@dataclass(frozen=True)
class Sdr(SentenceReranker):
    """The first `depth` documents of a ranking by SDR inference over the sentences of a dense channel."""

    sentences: PassageRetriever
    depth: int = DEPTH

    @property
    def name(self) -> str:
        """Constant: the name of its part in runs."""
        return "sdr"

    def document_scores(self, query: Query, docs: I32) -> F32:
        """The scores of documents, given by their numbers; NaN for one without sentences, for all if the query has none."""
        snapshot, asked, candidates = self.sentences.snapshot, self.reader.query(query), self.reader.candidates(docs)
        paragraphs = ParagraphMap(query.text).of([span.start for span in asked.spans])
        texts = [document.text for document in snapshot.documents([snapshot.ids[int(doc)] for doc in docs])]
        return sdr_scores(asked.vectors, paragraphs, candidates, candidate_paragraphs(candidates, texts))


def candidate_paragraphs(candidates: CandidateSentences, texts: list[str]) -> I64:
    r"""The paragraph of every candidate sentence, counted from 0 in its document.

    >>> spans = [np.array([[0, 5], [6, 10]], np.int32)]
    >>> candidate_paragraphs(CandidateSentences.of([np.eye(2, dtype=np.float32)], spans), ["Rent.\nNo."]).tolist()
    [0, 1]
    """
    starts = candidates.starts.tolist()
    found = [
        ParagraphMap(text).of(candidates.spans[first:last, 0])
        for text, first, last in zip(texts, starts[:-1], starts[1:], strict=True)
        if last > first
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def sdr_scores(queries: F32, query_paragraph: I64, candidates: CandidateSentences, paragraph: I64) -> F32:
    """The total score S of every candidate; NaN for one without sentences, and for all if the query has none.

    Paragraph numbers are per sentence and ascend, in the query and in each candidate.

    >>> candidates = CandidateSentences.of([np.array([[1, 0]], np.float32), np.array([[0, 1]], np.float32)])
    >>> sdr_scores(np.array([[1, 0]], np.float32), np.array([0]), candidates, np.array([0, 0])).tolist()
    [1.0, -1.0]
    """
    scores = np.full(len(candidates), np.nan, dtype=np.float32)
    held = np.flatnonzero(candidates.lengths)
    if not len(queries) or not len(held):
        return scores
    columns = first_sentences(candidates, paragraph)
    matrix = paragraph_matrix(queries, query_paragraph, candidates.vectors, columns)
    scores[held] = best_paragraphs(matrix, candidates.owner[columns])
    return scores


def first_sentences(candidates: CandidateSentences, paragraph: I64) -> I64:
    """The row of the first sentence of every paragraph of every candidate: the columns of P.

    >>> first_sentences(CandidateSentences.of([np.eye(2, dtype=np.float32)] * 2), np.array([0, 0, 0, 1])).tolist()
    [0, 2, 3]
    """
    if not len(paragraph):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.append(True, (np.diff(candidates.owner) != 0) | (np.diff(paragraph) != 0)))


def best_paragraphs(matrix: F64, owner: I32 | I64) -> F64:
    """The score of every candidate from P, whose columns are in the order of their candidates; ``owner`` names them.

    >>> best_paragraphs(np.array([[0.0, 1.0, 0.5]]), np.array([0, 0, 1])).round(2).tolist()
    [1.22, 0.0]
    """
    begins = np.flatnonzero(np.append(True, np.diff(owner) != 0))  # first paragraph of each candidate
    scores: F64 = np.maximum.reduceat(_normalised(matrix), begins, axis=1).mean(axis=0)
    return scores


def paragraph_matrix(queries: F32, query_paragraph: I64, vectors: F32, columns: I64) -> F64:
    """P: the mean over each query paragraph of the highest cosine with each candidate paragraph, given by its first row.

    >>> paragraph_matrix(np.eye(2, dtype=np.float32), np.array([0, 0]), np.eye(2, dtype=np.float32), np.array([0, 1]))
    array([[0.5, 0.5]])
    """
    rows = np.flatnonzero(np.append(True, np.diff(query_paragraph) != 0))
    counts = np.diff(np.append(rows, len(queries)))
    paragraph = np.repeat(np.arange(len(rows)), counts)
    sums = np.zeros((len(rows), len(columns)))
    for first in range(0, len(queries), AT_ONCE):
        best = np.maximum.reduceat(queries[first : first + AT_ONCE] @ vectors.T, columns, axis=1).astype(np.float64)
        own = paragraph[first : first + AT_ONCE]
        begins = np.flatnonzero(np.append(True, np.diff(own) != 0))
        sums[own[begins]] += np.add.reduceat(best, begins, axis=0)
    matrix: F64 = sums / counts[:, None]
    return matrix


def _normalised(matrix: F64) -> F64:
    """NRM(P): every row with mean 0 and deviation 1 over the paragraphs of all candidates."""
    deviation = matrix.std(axis=1, keepdims=True)
    flat = deviation < 1e-9 * np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1.0)  # only rounding errors
    return np.where(flat, 0.0, (matrix - matrix.mean(axis=1, keepdims=True)) / np.where(flat, 1.0, deviation))
