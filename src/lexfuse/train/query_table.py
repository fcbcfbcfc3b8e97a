"""Query weights by look-up, learned from a SPLADE model: what each token adds to a question, without reading the question.

The vector of a text is approximated by the sum of one row of terms and weights for each of its distinct tokens. A row has at most
`ROW` terms: those that the model gave most weight in texts with the token, and the token itself. Weights minimise the squared
difference to the model's vectors, with a penalty that makes them sparse, by gradients with a rate for each weight (AdaGrad). A
token of no text has itself as its only term, with the weight that the model gives it when it is the whole text: what the
model adds to a rare token alone is noise. Passages keep the vectors of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lexfuse.data.arrays import F64, I32, I64, offsets_of
from lexfuse.data.corpus import Corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.encode.encoder import Progress, Side, no_progress
from lexfuse.encode.query_table import TokenWeights
from lexfuse.encode.sparse_encoder import MOST_TOKENS, SparseEncoder, SparseVector, activated
from lexfuse.train.adaptation.corpus_sentences import short_sentences
from lexfuse.train.examples.training_pair import LEAST_WORDS, stable_random, word_count
from lexfuse.train.structure.heading_pairs import names_of

ROW = 64  # terms of a token
MOST_TERMS = 64  # of a query
EPOCHS = 12
RATE, PENALTY = 0.05, 0.01
QUESTION = 3.0  # what a question counts for; another text counts for 1
MOST_WORDS = 35  # of a sentence or heading: sums of rows approximate the vectors of short texts better
LEAST = 1e-3  # lower weights are dropped
_START = 0.3  # of the mean weight, for terms that a token adds: other tokens of a text add them too
_BLOCK = 8_192  # texts whose pairs of tokens and terms are counted at once


class _Lesson(NamedTuple):
    """A text as a table sees it, and the vector to approximate."""

    tokens: I32
    vector: SparseVector
    importance: np.float32


def short_texts(corpus: Corpus, amount: int, report: ReadReport | None = None) -> list[str]:
    """Texts as short as questions, drawn at random: headings, a third at most, and sentences.

    >>> headings = ("Titre II : Fin du bail", "Section 1 : Congé")
    >>> document = Document("a", text="Le bail dure un an.", language="fr", headings=headings)
    >>> short_texts(Corpus.of([document]), 6)
    ['Fin du bail Congé', 'Le bail dure un an.']
    """
    paths = (" ".join(names_of(headings)[-2:]) for headings in dict.fromkeys(corpus.headings))
    headings = [path for path in dict.fromkeys(paths) if LEAST_WORDS <= word_count(path) <= MOST_WORDS]
    headings.sort(key=lambda path: stable_random(1, "heading", path))
    headings = headings[: amount // 3]
    return headings + short_sentences(corpus, amount - len(headings), MOST_WORDS, report=report)


def learned_query_table(
    encoder: SparseEncoder, questions: Sequence[str], texts: Sequence[str] = (), *, progress: Progress = no_progress
) -> TokenWeights:
    """A table that approximates what a model gives questions and other texts; ``progress`` gets the number of finished texts.

    >>> table = learned_query_table(SparseEncoder.load("fr-legal-splade"), ["Quand poser un congé ?"])  # doctest: +SKIP
    """
    every = [*questions, *texts]
    vectors = encoder.encode(every, Side.QUERY, progress=progress)
    tokens = [np.unique(encoder.tokens.inner_ids(text)).astype(np.int32) for text in every]
    importance = np.where(np.arange(len(every)) < len(questions), np.float32(QUESTION), np.float32(1))
    lessons = [_Lesson(*one) for one in zip(tokens, vectors, importance, strict=True)]
    table = _fitted(_start(lessons, len(encoder.terms)), lessons)
    return _with_alone(table, encoder, lambda done: progress(len(every) + done))


def _start(lessons: Sequence[_Lesson], size: int) -> TokenWeights:
    """Rows of the terms that a model gave most weight in texts with a token, with a share of their mean weight."""
    pairs, mass = np.empty(0, dtype=np.int64), np.empty(0)
    for first in range(0, len(lessons), _BLOCK):
        some = lessons[first : first + _BLOCK]
        found = [(one.tokens[:, None].astype(np.int64) * size + one.vector[0]).ravel() for one in some]
        given = [np.tile(one.vector[1], len(one.tokens)) for one in some]
        pairs, mass = _summed(np.concatenate([pairs, *found]), np.concatenate([mass, *given]))
    texts = np.bincount(np.concatenate([one.tokens for one in lessons]), minlength=size)
    held = np.flatnonzero(texts)
    pairs, mass = _summed(np.concatenate([pairs, held * size + held]), np.concatenate([mass, np.zeros(len(held))]))
    token, term = np.divmod(pairs, size)
    best = np.lexsort((term, -mass, term != token, token))  # the token itself is the first of its row
    rank = np.arange(len(best)) - offsets_of(np.bincount(token, minlength=size))[token[best]]
    kept = np.sort(best[rank < ROW])
    token, term = token[kept], term[kept]
    weights = mass[kept] / texts[token] * np.where(term == token, 1.0, _START)
    starts = offsets_of(np.bincount(token, minlength=size))
    return TokenWeights(starts.astype(np.int32), term.astype(np.int32), weights.astype(np.float32))


def _summed(keys: I64, values: F64) -> tuple[I64, F64]:
    """Distinct keys, and the sum of the values of each."""
    distinct, back = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(back, values, len(distinct)).astype(np.float64)


def _fitted(table: TokenWeights, lessons: Sequence[_Lesson]) -> TokenWeights:
    """The table with weights that approximate the vectors; the same lessons give the same weights."""
    weights, squares = table.weights.copy(), np.full(len(table.weights), 1e-6, dtype=np.float32)
    missing = np.zeros(len(table.starts) - 1, dtype=np.float32)  # what the table gives too much, by term
    rate, penalty, draw = np.float32(RATE), np.float32(PENALTY), np.random.default_rng(0)
    for _ in range(EPOCHS):
        for number in draw.permutation(len(lessons)).tolist():
            tokens, (terms, wanted), importance = lessons[number]
            places = table.places(tokens)
            own = table.terms[places]
            np.add.at(missing, own, weights[places])
            missing[terms] -= wanted
            gradient = missing[own] * importance + penalty
            squares[places] += np.square(gradient)
            weights[places] = np.maximum(weights[places] - rate * gradient / np.sqrt(squares[places]), np.float32(0))
            missing[own] = missing[terms] = 0
    return _without_least(table._replace(weights=weights))


def _without_least(table: TokenWeights) -> TokenWeights:
    kept = table.weights >= LEAST
    starts = offsets_of(kept)[table.starts]
    return TokenWeights(starts.astype(np.int32), table.terms[kept], table.weights[kept])


def _with_alone(table: TokenWeights, encoder: SparseEncoder, progress: Progress) -> TokenWeights:
    """Tokens of no text get the weight that the model gives them alone."""
    tokens = encoder.tokens
    unseen = np.flatnonzero(np.diff(table.starts) == 0).astype(np.int32)
    alone = np.zeros(len(table.starts) - 1, dtype=np.float32)
    rows = [tokens.wrapped(np.array([token], dtype=np.int32)) for token in unseen.tolist()]
    for at, logits in encoder.transformer.outputs(tokens, rows, progress, most_tokens=MOST_TOKENS):
        terms, weights = activated(logits, encoder.logarithms)
        alone[unseen[at]] = weights[terms == unseen[at]].sum()
    added = np.flatnonzero(alone).astype(np.int32)
    places = table.starts[added]
    return TokenWeights(
        (table.starts + offsets_of(alone > 0)).astype(np.int32),
        np.insert(table.terms, places, added),
        np.insert(table.weights, places, alone[added]),
    )
