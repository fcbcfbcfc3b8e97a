"""How much of one text is in another, word for word: n-grams in common, edit distance, common subsequence (CJEU 5.2).

Words are runs of letters and digits in small letters. CJEU counts punctuation marks as words too, so its figures are higher; like
there (its Table 5), an n-gram that comes twice counts once. Texts are compared whole, however long they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lexfuse.data.arrays import F64, I32, I64, offsets_of
from lexfuse.kernels.compilation import read_only_view
from lexfuse.text.analysis.analyser import WORD
from lexfuse.text.letters import compose

NGRAMS = range(2, 11)
EDITS = "edit distance"
SUBSEQUENCE = "LCS"
QUERY_LENGTH = "query length"


def ngrams_in_common(n: int) -> str:
    """The name of the metric that counts n-grams.

    >>> ngrams_in_common(3)
    '3-grams in common'
    """
    return f"{n}-grams in common"


METRICS = (*map(ngrams_in_common, NGRAMS), EDITS, SUBSEQUENCE, QUERY_LENGTH)


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared.

    >>> words_of("L’article 3(6), and/or C‑569/13")
    ['l', 'article', '3', '6', 'and', 'or', 'c', '569', '13']
    """
    return WORD.findall(compose(text).lower())


def shared_words(pairs: Sequence[tuple[str, Sequence[str]]]) -> dict[str, F64]:
    """Every metric of every query text against the texts of its documents, as the mean over them.

    Each query needs at least one document. The distance is the least number of words to replace, insert or delete; the common
    subsequence is the longest sequence of words that both have in the same order, with others in between or not.

    >>> found = shared_words([("the court has held that", ["has the court held that ?"])])
    >>> [found[name].tolist() for name in ("2-grams in common", "3-grams in common", "edit distance", "LCS", "query length")]
    [[2.0], [0.0], [2.0], [4.0], [5.0]]
    """
    from lexfuse.kernels.text_overlap_numba import common_elements, edits_and_subsequences

    texts: dict[str, int] = {}
    first = [texts.setdefault(query, len(texts)) for query, documents in pairs for _ in documents]
    second = [texts.setdefault(document, len(texts)) for _, documents in pairs for document in documents]
    starts, words, vocabulary = _coded(texts)
    one, two = read_only_view(np.array(first, dtype=np.int64)), read_only_view(np.array(second, dtype=np.int64))
    rows = offsets_of(np.array([len(documents) for _, documents in pairs]))

    found: dict[str, I64] = {}
    for n, (gram_starts, grams) in _grams(starts, words).items():
        found[ngrams_in_common(n)] = common_elements(read_only_view(gram_starts), read_only_view(grams), one, two)
    found[EDITS], found[SUBSEQUENCE] = edits_and_subsequences(read_only_view(starts), read_only_view(words), one, two, vocabulary)
    found[QUERY_LENGTH] = np.diff(starts)[one]
    return {
        name: np.add.reduceat(values, rows[:-1]) / np.diff(rows) if len(pairs) else np.zeros(0) for name, values in found.items()
    }


def _coded(texts: Iterable[str]) -> tuple[I64, I32, int]:
    """The words of all texts by number (CSR), and how many different ones there are."""
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(word, len(numbers)) for word in words_of(text)] for text in texts]
    words = np.concatenate([np.array(row, dtype=np.int32) for row in rows]) if rows else np.zeros(0, dtype=np.int32)
    return offsets_of(np.array([len(row) for row in rows], dtype=np.int64)), words, len(numbers)


def _grams(starts: I64, words: I32) -> Mapping[int, tuple[I64, I64]]:
    """For every n the distinct n-grams of every text, by number, rising (CSR).

    An n-gram is an (n-1)-gram and one more word, so it is numbered by a pair of numbers and no n-gram is ever spelt out.
    """
    text = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    left = starts[1:][text] - np.arange(len(words))  # words up to the end of the text, this one counted
    number, at = words.astype(np.int64), np.arange(len(words))
    found = {}
    for n in NGRAMS:
        kept = left[at] >= n
        at, number = at[kept], number[kept]
        _, number = np.unique(number * (int(words.max(initial=0)) + 1) + words[at + n - 1], return_inverse=True)
        width = int(number.max(initial=0)) + 1
        rows = np.sort(text[at] * width + number)
        distinct = rows[np.diff(rows, prepend=-1) > 0]  # np.unique hashes numbers, many times slower
        found[n] = offsets_of(np.bincount(distinct // width, minlength=len(starts) - 1)), distinct % width
    return found
