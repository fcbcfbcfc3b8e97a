"""BSARD, table 2: recall, MAP and MRR of TF-IDF, BM25, word vectors and bi-encoders, with the time of a query.

What bi-encoders rank is read from ``zero-shot.npz``, ``siamese.npz`` and ``two-tower.npz`` in the folder that --models names;
recipes/rankings.py stores it there. Word vectors come from ``word2vec.bin`` and ``fasttext.bin`` in that folder, which may be
published ones or those of recipes/french_word_vectors.py; without a file, word2vec is what ``lexfuse train static`` trains.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import Retriever
from lexfuse.data.arrays import F32
from lexfuse.data.corpus import Corpus
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.static_encoder import StaticEncoder, WordWeighting, plain_words
from lexfuse.encode.word_vector_file import read_word_vectors
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.text.annotation import with_languages
from lexfuse.train.static_vectors import StaticTraining, train_static, with_corpus_idf
from reproduce.experiment import Experiment
from reproduce.result import Measured

DEPTH = 500
MEASURES = {"R@100": "R@100", "R@200": "R@200", "R@500": "R@500", "MAP@100": "AP@100", "MRR@100": "RR@100"}
PACKAGED = {"dense": ChannelPlan("fr-legal-dense")}
SHIPPED = "fr-legal-dense, the model of the package"
STORED = {"encoder, zero-shot": "zero-shot", "siamese, trained": "siamese", "two-tower, trained": "two-tower"}
FILES = {"word2vec": "word2vec.bin", "fastText": "fasttext.bin"}
TRAINING = StaticTraining(dimension=500)
TIMED = 20  # queries


def measure(experiment: Experiment) -> Measured:
    """One row a system, in percent as the paper has them."""
    queries, qrels = experiment.dataset.judged(experiment.dataset.test)
    rows = {}
    for name, run, milliseconds in _runs(experiment, queries):
        found = evaluate(qrels, run, " ".join(MEASURES.values()))
        rows[name] = {"latency, ms": milliseconds} | {name: 100 * found.mean(measure) for name, measure in MEASURES.items()}
    return Measured(rows, notes=(f"{len(qrels.queries)} questions of {experiment.dataset.test}.",))


def _runs(experiment: Experiment, queries: Queries) -> Iterator[tuple[str, Run, float]]:
    plain = experiment.snapshot(IndexSettings(citations=False))
    retrievers: dict[str, Retriever] = {"TF-IDF": TfIdf(plain), "BM25 (k1 1.0, b 0.6)": BM25(plain, 1.0, 0.6)}
    if experiment.slow:
        retrievers[SHIPPED] = open_retriever(experiment.snapshot(IndexSettings(citations=False), PACKAGED), "dense")
    for name, retriever in retrievers.items():
        ask = partial(retriever.retrieve, k=DEPTH)
        yield name, ask(queries), latency(ask, queries)
    yield from _word_vectors(experiment, queries)
    for name, file in STORED.items():
        if (stored := experiment.stored_ranking(file)) is not None:
            yield name, stored.of(queries), math.nan if stored.milliseconds is None else stored.milliseconds


def latency(ask: Callable[[Queries], Run], queries: Queries) -> float:
    """Milliseconds of one query, asked alone; the first is asked once more before."""
    some = [queries.select([at]) for at in range(min(TIMED, len(queries)))]
    ask(some[0])
    start = time.perf_counter()
    for one in some:
        ask(one)
    return 1000 * (time.perf_counter() - start) / len(some)


def _word_vectors(experiment: Experiment, queries: Queries) -> Iterator[tuple[str, Run, float]]:
    """The mean of the vectors of the words, plain and weighted by idf, compared by cosine."""
    corpus = with_languages(experiment.dataset.collection.corpus)
    texts = [whole_text(document) for document in corpus]
    for name, trained in _static_encoders(experiment, corpus).items():
        for suffix, weighting in (("", WordWeighting.NONE), (", words weighted by idf", WordWeighting.IDF)):
            encoder = replace(trained, weighting=weighting)
            ask = partial(_nearest, encoder, encoder.encode(texts, Side.PASSAGE), corpus.ids)
            yield name + suffix, ask(queries), latency(ask, queries)


def _static_encoders(experiment: Experiment, corpus: Corpus) -> dict[str, StaticEncoder]:
    """Word vectors from files where they are there, and those that LexFuse trains on the corpus."""
    folder = experiment.models
    files = {} if folder is None else {name: folder / file for name, file in FILES.items() if (folder / file).is_file()}
    own = "PPMI and SVD" if "word2vec" in files else "word2vec"
    read = {name: with_corpus_idf(StaticEncoder(read_word_vectors(path), plain_words()), corpus) for name, path in files.items()}
    return {**read, own: train_static(corpus, TRAINING)}


def _nearest(encoder: StaticEncoder, vectors: F32, docs: Ids, queries: Queries) -> Run:
    """The documents with the highest cosines, by exact search."""
    scores = encoder.encode(queries.text, Side.QUERY) @ vectors.T
    depth = min(DEPTH, len(docs))
    best = np.argpartition(-scores, depth - 1, axis=1)[:, :depth].astype(np.int32)
    query = np.repeat(np.arange(len(queries), dtype=np.int32), depth)
    return Run.from_arrays("word2vec", queries.ids, docs, query, best.ravel(), np.take_along_axis(scores, best, axis=1).ravel())
