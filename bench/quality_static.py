"""What word vectors trained on the corpus itself find, beside BM25: BSARD's word2vec row, on fr-labour.

Reads the collection fr-labour (a BEIR folder) from the folder that --data or the environment variable LEXFUSE_DATA names. The
development split is the default; --test measures the test split, which is for the end, not for choosing. With --gensim its
skip-gram word2vec is trained on the same tokens as a peer, on one thread so that it too is the same every time (minutes).
BSARD reports R@100 .494, R@500 .716 and RR@100 .215 for French word2vec vectors of 500 dimensions, on its own data.

    python bench/quality_static.py [--data FOLDER] [--test] [--gensim] [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.arrays import F32
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.static_encoder import StaticEncoder, WordWeighting
from lexfuse.encode.word_vectors import WordVectors
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.analysis.vocabulary import Vocabulary
from lexfuse.text.annotation import with_languages
from lexfuse.train.static_vectors import StaticTraining, train_static

MEASURES = "R@100 R@500 RR@100"
DEPTH = 500
BSARD = {"R@100": 0.4941, "R@500": 0.7157, "RR@100": 0.2149}


def ranked(name: str, queries: Queries, docs: Ids, scores: F32) -> Run:
    """The best documents of every query by exact search."""
    best = np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH].astype(np.int32)
    query = np.repeat(np.arange(len(queries), dtype=np.int32), DEPTH)
    return Run.from_arrays(name, queries.ids, docs, query, best.ravel(), np.take_along_axis(scores, best, axis=1).ravel())


def dense_runs(name: str, encoder: StaticEncoder, collection: Collection, queries: Queries) -> Iterator[tuple[str, Run]]:
    """The plain mean and the mean weighted by idf."""
    texts = [whole_text(document) for document in collection.corpus]
    for weighting in (WordWeighting.NONE, WordWeighting.IDF):
        weighted = replace(encoder, weighting=weighting)
        vectors = weighted.encode(texts, Side.PASSAGE)
        scores = weighted.encode(queries.text, Side.QUERY) @ vectors.T
        shown = f"{name}, {'idf weights' if weighting is WordWeighting.IDF else 'plain mean'}"
        yield shown, ranked(shown, queries, collection.corpus.ids, scores)


def gensim_encoder(ours: StaticEncoder, collection: Collection, training: StaticTraining) -> StaticEncoder:
    """Skip-gram with negative sampling on the same tokens, with gensim's usual window and epochs."""
    from gensim.models import Word2Vec

    tokens = [ours.analyser.terms(whole_text(document)) for document in collection.corpus]
    model = Word2Vec(
        tokens, vector_size=200, window=5, min_count=training.min_count, sg=1, epochs=5, workers=1, seed=training.seed
    )
    words = Vocabulary(model.wv.index_to_key)
    places = [ours.vectors.words.find(word) for word in words]
    return replace(ours, vectors=WordVectors(words, model.wv.vectors), idf=ours.idf[places])


def runs(collection: Collection, queries: Queries, training: StaticTraining, *, gensim: bool) -> Iterator[tuple[str, Run]]:
    """Every run with its name."""
    with tempfile.TemporaryDirectory() as folder:
        index = IndexFolder.create(Path(folder, "index"))
        index.add(collection.corpus)
        yield "BM25 1.2/0.75", BM25(index.snapshot()).retrieve(queries, DEPTH)
    start = time.perf_counter()
    encoder = train_static(collection.corpus, training)
    name = f"PPMI-SVD {training.dimension} ({time.perf_counter() - start:.0f} s)"
    yield from dense_runs(name, encoder, collection, queries)
    if gensim:
        start = time.perf_counter()
        peer = gensim_encoder(encoder, collection, training)
        yield from dense_runs(f"gensim skip-gram 200 ({time.perf_counter() - start:.0f} s)", peer, collection, queries)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("LEXFUSE_DATA"), help="folder of the collections")
    parser.add_argument("--test", action="store_true", help="the test split instead of the development split")
    parser.add_argument("--gensim", action="store_true", help="train gensim's word2vec beside (minutes)")
    parser.add_argument("--quick", action="store_true", help="200 dimensions instead of 500")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the folder of the collections with --data or LEXFUSE_DATA")
    split = "test" if arguments.test else "dev"
    collection = read_collection(Path(arguments.data) / "fr-labour")
    assert collection.queries is not None
    collection = replace(collection, corpus=with_languages(collection.corpus))
    qrels = collection.qrels[split]
    queries = collection.queries.select([collection.queries.ids.ordinal(id) for id in qrels.queries])
    training = StaticTraining(dimension=200 if arguments.quick else 500)
    for name, run in runs(collection, queries, training, gensim=arguments.gensim):
        means = {str(measure): mean for measure, mean in evaluate(qrels, run, MEASURES).means.items()}
        if not arguments.json:
            print(
                f"{f'fr-labour {split} {name}':<60}" + "  ".join(f"{measure} {mean:.4f}" for measure, mean in means.items()),
                flush=True,
            )
            continue
        for measure, mean in means.items():
            theirs = BSARD[measure] if name.startswith("PPMI") else None
            peer = None if theirs is None else "BSARD's word2vec on its own data"
            ratio = None if theirs is None else round(mean / theirs, 4)
            line = {"metric": f"fr-labour {split} {name} {measure}", "ours": round(mean, 4)}
            print(json.dumps(line | {"peer": peer, "theirs": theirs, "ratio": ratio}), flush=True)


if __name__ == "__main__":
    main()
