"""What FUSE's neural systems say on French law: dense, SPLADE, ColBERT and a cross-encoder, zero-shot and in-domain, on one GPU.

    lexfuse run INDEX FR-LABOUR --depth 1000 -o bm25.trec                       any machine, before: what BM25 ranks
    python recipes/french_scores.py seeds FR-LABOUR bm25.trec WORK SCORES       what each seed of ``french_seeds.py`` reaches
    python recipes/french_scores.py scores FR-LABOUR bm25.trec WORK SCORES      what the models say
    python recipes/french_scores.py costs FR-LABOUR bm25.trec WORK SCORES       time and operations of a query

FR-LABOUR is the collection, INDEX an index of it, WORK the models of ``french_citizen.py`` and ``french_seeds.py``. Zero-shot are
the models that have learned from pairs of texts alone: they have seen no judgement of a question, though titles of the ministry's
sheets with the text below them, none of a sheet behind a dev or test question. FUSE's zero-shot models learned from mMARCO,
another setting. In-domain is the seed of each kind with the highest R@100 on dev, as in FUSE's table 4, so ``seeds`` comes
before ``scores``.

Articles are read whole, in windows of as many tokens as a model was trained on, of which the best counts. The cross-encoder
reranks the first 1,000 of BM25 by their beginnings, as monoBERT does. SCORES gets one table for each setting and split: the
scores by all models of what one of them or BM25 has among its first 1,000, and of what is judged; and the distribution of all
scores on dev. ``reproduce`` makes FUSE's tables of them, if SCORES lies next to the collection under the name fr-labour-scores.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from french_seeds import SEEDS, STARTS, kinds, model_name
from query_cost import query_cost
from stages import learner_of, say, scored

from lexfuse.channels.distribution import ScoreLevels
from lexfuse.data.arrays import F32, I64
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.formats.trec_run import read_run
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.train.examples.dev_evaluation import DevQueries
from lexfuse.train.examples.labelled_examples import PassageWindow, judged_pool
from lexfuse.train.models.learner import Learner, TokenisedTexts

DEPTH = 1000  # of every ranking
SPLITS = ("dev", "test")
SEEDS_FILE = "seeds.json"  # of the measures of seeds
CROSS = "cross"
MEASURES = "R@10 R@50 R@100 R@500 R@1000 RR@100"  # of seeds
CHOICE = "R@100"  # on dev, by which a seed is chosen
SOURCES = ("dense", "splade", "colbert", CROSS)  # of the tables


class Scorer:
    """Asks the models of a folder the questions of both splits, over whole articles."""

    def __init__(self, collection: Collection, first: Run, work: Path, out: Path) -> None:
        """``first`` is what BM25 ranks."""
        if missing := [split for split in SPLITS if split not in collection.qrels]:
            raise SystemExit(f"the collection has no judgements of {missing[0]}; it has {', '.join(collection.qrels) or 'none'}")
        self.collection, self.first, self.work, self.out = collection, first, work, out
        self.qrels = Qrels.of(
            (query, doc, grade)
            for split in SPLITS
            for query, judged in collection.qrels[split].as_dict().items()
            for doc, grade in judged.items()
        )
        if unranked := [query for query in self.qrels.queries if query not in first.queries]:
            raise SystemExit(f"the run {first.name!r} does not rank {unranked[0]!r}; rank all queries of the collection")
        self.pools: dict[tuple[int, bool], DevQueries] = {}
        self.texts: dict[str, TokenisedTexts] = {}

    def scores(self) -> None:
        """The tables of both settings and splits."""
        for setting, models in {"zero-shot": self.paired(), "in-domain": self.best_seeds()}.items():
            matrices = {name: self.matrix(name, model) for name, model in models.items()}
            for split in SPLITS:
                np.savez_compressed(self.out / f"{setting}.{split}.npz", **self.table(matrices, split))

    def seeds(self, names: Iterable[str] = ()) -> None:
        """The measures of every seed of some kinds, or of all, after the pairs and without them."""
        found = [
            self.reached(name, start, seed)
            for name in names or kinds()
            for start in STARTS
            for seed in SEEDS
            if (self.work / model_name(name, start, seed)).exists()
        ]
        (self.out / SEEDS_FILE).write_text(json.dumps(found, indent=1) + "\n", "utf-8")

    def reached(self, kind: str, start: str, seed: int) -> dict[str, Any]:
        """The measures of one seed."""
        matrix = self.matrix(kind, model_name(kind, start, seed))
        return {"kind": kind, "start": start, "seed": seed, **{split: self.measured(matrix, split) for split in SPLITS}}

    def paired(self) -> dict[str, str]:
        """The model of each kind that has learned from pairs alone."""
        return {name: kinds()[name].paired for name in SOURCES}

    def best_seeds(self) -> dict[str, str]:
        """The model of the best seed of each kind after the pairs."""
        path = self.out / SEEDS_FILE
        found = json.loads(path.read_text("utf-8")) if path.is_file() else []
        best: dict[str, dict[str, Any]] = {}
        for one in found:
            kind = one["kind"]
            if one["start"] == "pairs" and kind in SOURCES:
                best[kind] = max(best.get(kind, one), one, key=lambda seed: seed["dev"][CHOICE])
        if missing := [name for name in SOURCES if name not in best]:
            raise SystemExit(f"no seed of {missing[0]} was measured; run this step first: seeds")
        return {kind: model_name(kind, "pairs", best[kind]["seed"]) for kind in SOURCES}

    def costs(self) -> None:
        """Time and operations of a query by each model, with all vectors in the memory of the device."""
        found = {}
        for name, model in self.paired().items():
            kind = kinds()[name]
            learner = learner_of(kind.learner, self.work / model, kind.tuned)
            found[name] = query_cost(learner, self.pool(learner, crossed=name == CROSS))._asdict()
            say(f"{model}: {found[name]}")
        (self.out / "costs.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")

    def measured(self, matrix: F32, split: str) -> dict[str, float]:
        """What a model reaches on a split."""
        queries, docs = self.qrels.queries, self.collection.corpus.ids
        best = [best_of(row) for row in matrix]
        query = np.repeat(np.arange(len(queries), dtype=np.int32), [len(some) for some in best])
        doc = np.concatenate(best).astype(np.int32)
        run = Run.from_arrays("model", queries, docs, query, doc, matrix[query, doc])
        means = evaluate(self.collection.qrels[split], run, MEASURES).means
        return {str(measure): round(float(value), 4) for measure, value in means.items()}

    def table(self, matrices: Mapping[str, F32], split: str) -> dict[str, Any]:
        """The candidates of each question of a split (CSR), with what each model says of them."""
        docs, qrels = self.collection.corpus.ids, self.collection.qrels[split]
        rows = self.qrels.queries.ordinals(qrels.queries)
        chosen = []
        for row, query in zip(rows, qrels.queries, strict=True):
            others = docs.ordinals([hit.doc for hit in self.first.hits(query)[:DEPTH]] + [*qrels.judged(query)])
            chosen.append(np.unique(np.concatenate([others, *(best_of(matrix[row]) for matrix in matrices.values())])))
        places = np.repeat(rows, [len(some) for some in chosen]), np.concatenate(chosen).astype(np.int32)
        dev = self.qrels.queries.ordinals(self.collection.qrels["dev"].queries)
        found: dict[str, Any] = {"queries": np.array([*qrels.queries]), "docs": np.array([*docs]), "doc": places[1]}
        found["offsets"] = np.concatenate([[0], np.cumsum([len(some) for some in chosen])])
        for name, matrix in matrices.items():
            said = matrix[places]
            found[f"scores {name}"] = np.where(np.isfinite(said), said, np.float32(np.nan))
            if name != CROSS:
                found[f"levels {name}"] = ScoreLevels.of(matrix[dev].ravel()).scores
        return found

    def matrix(self, name: str, model: str) -> F32:
        """The score of every article for every question; -inf for what a cross-encoder was not asked for."""
        kind = kinds()[name]
        learner = learner_of(kind.learner, self.work / model, kind.tuned)
        pool = self.pool(learner, crossed=name == CROSS)
        say(f"{model}: {len(pool.questions):,} questions, {len(pool.docs):,} articles in {len(pool.passages):,} windows")
        if name not in self.texts:  # seeds of a kind read the same tokens
            self.texts[name] = learner.texts(pool.questions, pool.passages)
        found = scored(learner, self.texts[name], pool.candidates)
        by_article = np.maximum.reduceat(found, np.searchsorted(pool.owner, np.arange(len(pool.docs))), axis=1)
        matrix = np.full((len(self.qrels.queries), len(self.collection.corpus)), -np.inf, dtype=np.float32)
        rows, columns = self.qrels.queries.ordinals(pool.queries), self.collection.corpus.ids.ordinals(pool.docs)
        matrix[np.ix_(rows, columns)] = by_article
        return matrix

    def pool(self, learner: Learner, *, crossed: bool) -> DevQueries:
        """The questions and the windows of articles for a model; a cross-encoder reads the beginnings of articles."""
        if self.collection.queries is None:
            raise SystemExit("the collection has no queries; give the folder with its queries and splits")
        tokens, settings = learner.base.tokens, learner.training_settings
        length = min(settings.passage_length, tokens.window)
        if (length, crossed) not in self.pools:
            units = None if crossed else PassageWindow(tokens, length, len(tokens.before) + len(tokens.after))
            self.pools[length, crossed] = judged_pool(
                self.collection.corpus, self.collection.queries, self.qrels, units=units,
                candidates=self.first if crossed else None, depth=DEPTH,
            )  # fmt: skip
        return self.pools[length, crossed]


def best_of(row: F32) -> I64:
    """The places of the highest scores, without what was not asked for."""
    amount = min(DEPTH, len(row))
    top = np.argpartition(-row, amount - 1)[:amount]
    found: I64 = top[np.isfinite(row[top])]
    return found


def main() -> None:
    """Run a step."""
    parser = argparse.ArgumentParser(description="What FUSE's neural systems say on French law")
    parser.add_argument("step", choices=["seeds", "scores", "costs"])
    parser.add_argument("collection", type=Path)
    parser.add_argument("first", type=Path, help="what BM25 ranks for all queries, 1,000 each, as a TREC run")
    parser.add_argument("work", type=Path, help="folder of the models")
    parser.add_argument("scores", type=Path, help="folder to write what they say into")
    options = parser.parse_args()
    for given in (options.collection, options.first, options.work):
        if not given.exists():
            parser.error(f"there is no {str(given)!r}")
    scorer = Scorer(read_collection(options.collection), read_run(options.first), options.work, options.scores)
    options.scores.mkdir(parents=True, exist_ok=True)
    getattr(scorer, options.step)()


if __name__ == "__main__":
    main()
