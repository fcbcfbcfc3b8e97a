"""Inverse cloze: a sentence of a text as the query for the rest of it (Lee, Chang and Toutanova, 2019).

The sentence is left in the passage in one pair of ten, as they do, so that a model learns from words in common too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from lexfuse.data.corpus import Corpus
from lexfuse.data.sources.legi_html import CELLS
from lexfuse.encode.passage_plan import whole_text
from lexfuse.text.passages import Passage
from lexfuse.text.sentences.splitter import split_sentences
from lexfuse.train.examples.training_pair import TrainingPair, stable_random, word_count

TAKEN_OUT = 0.9  # of the pairs have passages without the sentence
EVERY = 5  # sentences of a text for each pair beyond the first
MOST = 4  # pairs of a text
LEAST_WORDS, MOST_WORDS = 6, 80  # of a sentence that can be a query; numbers and single letters do not count to the least

_WORD = re.compile(r"[^\W\d_]{2,}")


def cloze_pairs(corpus: Corpus, distinct: list[int], seed: int, left: Counter[str]) -> Iterator[TrainingPair]:
    """Pairs of a sentence and the rest of its document: one pair, and one more for every five sentences.

    >>> text = "Le locataire paie le loyer chaque mois. Le bailleur rend le dépôt de garantie au départ."
    >>> pairs = list(cloze_pairs(Corpus.of([Document("a", text=text, language="fr")]), [0], 1, Counter()))
    >>> len(pairs), pairs[0].query in text
    (1, True)
    """
    for ordinal in distinct:
        text, id = corpus.text[ordinal], corpus.ids[ordinal]
        spans = split_sentences(text, corpus.language[ordinal])
        fit = [span for span in spans if _fit(span.of(text))]
        if len(spans) < 2 or not fit:
            left[f"documents without two sentences, or without one of {LEAST_WORDS} to {MOST_WORDS} words"] += 1
            continue
        fit.sort(key=lambda span: stable_random(seed, "sentence", id, str(span.start)))
        for span in fit[: min(1 + len(spans) // EVERY, MOST)]:
            taken_out = stable_random(seed, "cloze", id, str(span.start)) < TAKEN_OUT
            rest = replace(corpus[ordinal], text=_without(text, span)) if taken_out else corpus[ordinal]
            yield TrainingPair(" ".join(span.of(text).split()), whole_text(rest))


def _fit(sentence: str) -> bool:
    """Whether this is a sentence in words, not a row of a table."""
    return CELLS not in sentence and len(_WORD.findall(sentence)) >= LEAST_WORDS and word_count(sentence) <= MOST_WORDS


def _without(text: str, span: Passage) -> str:
    """The text without a sentence; the break before it stays."""
    return (text[: span.start].rstrip(" ") + text[span.end :]).strip()
