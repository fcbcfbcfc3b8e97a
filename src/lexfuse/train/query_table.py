"""A query table without training: what a SPLADE model gives the tokens of questions, on average.

The weight of a token is its mean weight in the vectors of the questions that hold it. A token of no question has the weight that
the model gives it as a question by itself. Terms that the model adds to a question are lost; documents keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexfuse.data.arrays import F32
from lexfuse.encode.encoder import Progress, Side, no_progress
from lexfuse.encode.sparse_encoder import MOST_TOKENS, SparseEncoder, activated


def mean_query_table(encoder: SparseEncoder, questions: Sequence[str], *, progress: Progress = no_progress) -> F32:
    """The weight of every term of a model's vocabulary in a question; ``progress`` gets the number of finished texts.

    >>> table = mean_query_table(SparseEncoder.load("fr-legal-splade"), ["Quand poser un congé ?"])  # doctest: +SKIP
    """
    tokens, size = encoder.tokens, len(encoder.terms)
    sums, counts = np.zeros(size), np.zeros(size)
    for question, (terms, weights) in zip(questions, encoder.encode(questions, Side.QUERY, progress=progress), strict=True):
        held = np.unique(tokens.inner_ids(question))
        counts[held] += 1
        known = np.isin(terms, held)
        sums[terms[known]] += weights[known]
    table = np.where(counts > 0, sums / np.maximum(counts, 1), 0.0).astype(np.float32)
    unseen = np.flatnonzero(counts == 0)
    rows = [tokens.wrapped(np.array([token], dtype=np.int32)) for token in unseen.tolist()]
    for at, logits in encoder.transformer.outputs(
        tokens, rows, lambda done: progress(len(questions) + done), most_tokens=MOST_TOKENS
    ):
        terms, weights = activated(logits, encoder.logarithms)
        table[unseen[at]] = weights[terms == unseen[at]].sum()
    return table
