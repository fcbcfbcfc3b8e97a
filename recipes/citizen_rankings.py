"""What the models of `french_citizen.py` rank for the dev and test questions, made on a GPU and stored.

    python recipes/citizen_rankings.py RANKINGS COLLECTION… dense=work/fr-legal-dense splade=work/fr-legal-splade

A collection is a folder in BEIR layout; fr-public takes its articles from fr-labour: ``fr-public:fr-labour``. A model is the kind
of a model and its folder with safetensors. Articles are read whole, in windows of as many tokens as the model reads, of which the
best counts. RANKINGS gets a file ``COLLECTION.KIND.npz``: the queries, and the first 1,000 articles of each with their scores.
``bench/citizen_quality.py`` fuses them with BM25.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from french_citizen import ASKED, LATE_ASKED, SPARSE_ASKED
from stages import learner_of, say, scored

from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.qrels import Qrels
from lexfuse.train.examples.labelled_examples import PassageWindow, judged_pool
from lexfuse.train.models.colbert import ColbertLearner
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.splade import SpladeLearner

DEPTH = 1000
KINDS = {"dense": (DenseLearner, ASKED), "splade": (SpladeLearner, SPARSE_ASKED), "colbert": (ColbertLearner, LATE_ASKED)}


def read(given: str) -> Collection:
    """A collection, or its questions and the articles of another one."""
    own, _, other = given.partition(":")
    if not other:
        return read_collection(own)
    folder = Path(own)
    qrels = {path.stem: read_qrels(path) for path in sorted((folder / "qrels").glob("*.tsv"))}
    return Collection(read_collection(other).corpus, read_queries(folder / "queries.jsonl.gz"), qrels)


def rank(collection: Collection, kind: str, folder: Path, out: Path) -> None:
    """Write the rankings of the dev and test questions by a model."""
    if collection.queries is None:
        raise SystemExit("the collection has no queries")
    qrels = Qrels.of(
        (query, doc, grade)
        for split in ("dev", "test")
        if split in collection.qrels
        for query, judged in collection.qrels[split].as_dict().items()
        for doc, grade in judged.items()
    )
    learner_class, settings = KINDS[kind]
    learner = learner_of(learner_class, folder, settings)
    tokens = learner.base.tokens
    length = min(settings.passage_length, tokens.window)
    units = PassageWindow(tokens, length, len(tokens.before) + len(tokens.after))
    pool = judged_pool(collection.corpus, collection.queries, qrels, units=units, candidates=None, depth=DEPTH)
    say(f"{out.name}: {len(pool.questions):,} questions, {len(pool.docs):,} articles in {len(pool.passages):,} windows")
    found = scored(learner, learner.texts(pool.questions, pool.passages))
    by_article = np.maximum.reduceat(found, np.searchsorted(pool.owner, np.arange(len(pool.docs))), axis=1)
    best = np.argsort(-by_article, axis=1, kind="stable")[:, :DEPTH].astype(np.int32)
    np.savez_compressed(
        out,
        queries=np.array([*pool.queries]),
        docs=np.array([*pool.docs]),
        doc=best,
        score=np.take_along_axis(by_article, best, axis=1),
    )


def main() -> None:
    """Rank the questions of each collection by each model."""
    parser = argparse.ArgumentParser(description="What the fifth generation of the French models ranks")
    parser.add_argument("out", type=Path)
    parser.add_argument("given", nargs="+", help="collections, and models as KIND=FOLDER")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    models = [one.split("=", 1) for one in options.given if "=" in one]
    for given in (one for one in options.given if "=" not in one):
        collection = read(given)
        for kind, folder in models:
            rank(collection, kind, Path(folder), options.out / f"{Path(given.partition(':')[0]).name}.{kind}.npz")


if __name__ == "__main__":
    main()
