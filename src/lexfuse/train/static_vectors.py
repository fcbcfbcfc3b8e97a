"""Word vectors from a corpus in a minute: co-occurrence counts, positive PMI, truncated SVD.

Levy, Goldberg and Dagan (2015) show that this matches word2vec, of whose objective it is the matrix form; here it is faster
and deterministic. Words are the terms of the index (stems, citations, no stop words). Two words co-occur if they are in one
window; windows overlap by half, so near words count more than far ones. Contexts are smoothed by the exponent 3/4, and the left
singular vectors are used without singular values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.data.arrays import F32, F64, I32, offsets_of, read_only
from lexfuse.data.corpus import Corpus
from lexfuse.dependencies import Extra
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.static_encoder import StaticEncoder, WordWeighting
from lexfuse.encode.word_vectors import WordVectors
from lexfuse.errors import ConfigError, DataError
from lexfuse.kernels.threads import one_core_each
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.analysis.vocabulary import TermEncoder, Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SMOOTHING = 0.75  # of the contexts (Levy et al. 2015, section 3.2)
_SPARE = 20  # dimensions that the randomised SVD computes and drops
_BLOCK = 2048  # words whose co-occurrences are counted at once
_READ, _COUNTED = 20, 40  # percent of the work
Percent = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class StaticTraining:
    """Settings of training word vectors.

    >>> StaticTraining(dimension=0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: dimension must be 1 or more, got 0; 500 is usual
    """

    dimension: int = 500
    window: int = 30  # words
    min_count: int = 3  # words that occur less often have no vector
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        for name, least, usual in (("dimension", 1, 500), ("window", 2, 30), ("min_count", 1, 3), ("seed", 0, 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be {least} or more, got {getattr(self, name)}; {usual} is usual")


def train_static(
    corpus: Corpus, training: StaticTraining, *, language: str = "", progress: Percent = lambda _: None
) -> StaticEncoder:
    """Word vectors of a corpus; the default language is that of most documents.

    >>> texts = ["contrat travail salarié", "contrat travail préavis", "loyer bail locataire", "loyer bail logement"] * 3
    >>> corpus = Corpus.of(Document(str(at), text=text, language="fr") for at, text in enumerate(texts))
    >>> encoder = train_static(corpus, StaticTraining(dimension=2))
    >>> sorted(encoder.vectors.words)[:3]
    ['bail', 'contrat', 'locatair']
    """
    Extra.STATIC.require("training word vectors")
    language = language or most_common_language(corpus)
    rows, words = _read(corpus, Analyser(language), training.min_count, progress)
    if len(words) <= training.dimension:
        reason = f"the corpus has {len(words):,} words that occur {training.min_count} times or more"
        raise DataError(f"{reason}, too few for {training.dimension} dimensions; take fewer, or more text")
    counts = _windows(rows, training.window, len(words))
    matrix = _positive_pmi(counts, progress)
    with one_core_each():  # the same bytes on any number of cores, and no waiting where they have other work
        vectors = _singular_vectors(matrix, training, progress)
    idf = _idf(rows, len(words))
    origin = {"method": "PPMI and SVD", **asdict(training), "documents": len(corpus), "tokens": sum(map(len, rows))}
    return StaticEncoder(WordVectors(words, vectors), Analyser(language), idf, WordWeighting.NONE, origin)


def with_corpus_idf(encoder: StaticEncoder, corpus: Corpus, *, progress: Percent = lambda _: None) -> StaticEncoder:
    """Existing word vectors with the idf of a corpus; its words get vectors from n-grams if possible.

    >>> encoder = StaticEncoder(WordVectors(Vocabulary(["loi"]), np.eye(1, dtype=np.float32)), Analyser("fr"))
    >>> with_corpus_idf(encoder, Corpus.of([Document("a", text="La loi")])).weighting
    <WordWeighting.IDF: 'idf'>
    """
    words, known = Vocabulary(list(encoder.vectors.words)), encoder.vectors
    rows = []
    terms = TermEncoder(encoder.analyser, words, grows=known.subwords is not None)
    for at, document in enumerate(corpus, start=1):
        rows.append(terms.encode(whole_text(document)))
        progress(100 * at // len(corpus))
    new = [known.of(word) for word in words[len(known.words) :]]
    added = np.array([np.zeros(known.dimension) if row is None else row for row in new], dtype=np.float32)
    matrix = np.concatenate([known.matrix, added.reshape(-1, known.dimension)])
    idf = _idf(rows, len(words))
    return replace(encoder, vectors=WordVectors(words, matrix), idf=idf, weighting=WordWeighting.IDF)


def most_common_language(corpus: Corpus) -> str:
    """The most frequent known language of the documents.

    >>> most_common_language(Corpus.of([Document("a", language="fr"), Document("b")]))
    'fr'
    """
    counts = Counter(language for language in corpus.language if language)
    return min(counts, key=lambda language: (-counts[language], language), default="")


def _read(corpus: Corpus, analyser: Analyser, least: int, progress: Percent) -> tuple[list[I32], Vocabulary]:
    """Every document as numbers of the sufficiently frequent words, in alphabetical order."""
    met = Vocabulary()
    terms = TermEncoder(analyser, met)
    rows: list[I32] = []
    for at, document in enumerate(corpus, start=1):
        rows.append(terms.encode(whole_text(document)))
        progress(_READ * at // len(corpus))
    counts = np.bincount(np.concatenate(rows), minlength=len(met)) if rows else np.empty(0, dtype=np.int64)
    kept = sorted((word, at) for at, word in enumerate(met) if counts[at] >= least)
    place = np.full(len(met), -1, dtype=np.int32)
    place[[at for _, at in kept]] = np.arange(len(kept), dtype=np.int32)
    numbered = [place[row] for row in rows]
    return [row[row >= 0] for row in numbered], Vocabulary([word for word, _ in kept])


def _idf(rows: Sequence[I32], words: int) -> F32:
    held = np.concatenate([np.empty(0, dtype=np.int32), *(np.unique(row) for row in rows)])
    return read_only(np.log((len(rows) + 1) / (np.bincount(held, minlength=words) + 1)).astype(np.float32))


def _windows(rows: Sequence[I32], window: int, words: int) -> csr_array[Any]:
    """The counts of each word in each window; the windows of a document overlap by half."""
    from scipy.sparse import csr_array

    pieces = [piece for row in rows for piece in _pieces(row, window)]
    ends = offsets_of(np.array([len(piece) for piece in pieces], dtype=np.int64))
    flat = np.concatenate([np.empty(0, dtype=np.int32), *pieces])
    counts = csr_array((np.ones(len(flat), dtype=np.float32), flat, ends), shape=(len(pieces), words))
    counts.sum_duplicates()
    return counts


def _pieces(row: I32, window: int) -> Iterator[I32]:
    start = 0
    while True:
        yield row[start : start + window]
        if start + window >= len(row):
            return
        start += window // 2


def _positive_pmi(counts: csr_array[Any], progress: Percent) -> csr_array[Any]:
    """max(0, ln(P(word, context) / (P(word) P(context)^0.75))), where a word is not its own context."""
    from scipy.sparse import csr_array, vstack

    once = _sums(counts, 0)
    totals = np.asarray(counts.T @ _sums(counts, 1)).ravel() - once  # co-occurrences of every word
    smoothed = totals**SMOOTHING
    chance = smoothed / max(smoothed.sum(), 1.0)
    by_word, blocks = counts.T.tocsr(), []
    for first in range(0, by_word.shape[0], _BLOCK):
        pairs = (by_word[first : first + _BLOCK] @ counts).tocoo()
        word = pairs.row + first
        value = pairs.data - np.where(word == pairs.col, once[word], 0.0)
        held = value > 0
        word, context, value = word[held], pairs.col[held], value[held]
        pmi = np.log(value / (totals[word] * chance[context]))
        above = pmi > 0
        shape = (pairs.shape[0], by_word.shape[0])
        blocks.append(csr_array((pmi[above].astype(np.float32), (word[above] - first, context[above])), shape=shape))
        progress(_READ + (_COUNTED - _READ) * min(first + _BLOCK, by_word.shape[0]) // by_word.shape[0])
    return vstack(blocks, format="csr")


def _sums(counts: csr_array[Any], axis: int) -> F64:
    return np.asarray(counts.sum(axis=axis, dtype=np.float64)).ravel()


def _singular_vectors(matrix: csr_array[Any], training: StaticTraining, progress: Percent) -> F32:
    """The first left singular vectors by a randomised SVD (Halko et al. 2011) with one power iteration.

    Signs are fixed (the largest entry is positive), and entries are scaled to about 1.
    """
    size = min(training.dimension + _SPARE, matrix.shape[0])
    drawn = np.random.default_rng(training.seed).standard_normal((matrix.shape[1], size), dtype=np.float32)
    basis = _orthonormal(matrix @ drawn)
    progress(55)
    basis = _orthonormal(matrix.T @ basis)
    progress(70)
    basis = _orthonormal(matrix @ basis)
    progress(85)
    small = (matrix.T @ basis).T
    rotation, values, _ = np.linalg.svd(small, full_matrices=False)
    vectors = (basis @ rotation)[:, : training.dimension]
    vectors[:, values[: training.dimension] <= 1e-5 * values[0]] = 0  # beyond the rank: noise
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    progress(100)
    return read_only((vectors * np.where(largest < 0, -1, 1) * np.sqrt(len(vectors))).astype(np.float32))


def _orthonormal(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.linalg.qr(columns)[0]
