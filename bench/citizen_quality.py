"""The French models on citizens' questions: alone, and fused with weights that are chosen on three collections together.

    LEXFUSE_DATA=FOLDER python bench/citizen_quality.py RANKINGS [--indexes FOLDER] [--test] [--quick] [--json]

RANKINGS is what `recipes/citizen_rankings.py` wrote: the first 1,000 articles of each question by each model, whole articles in
windows. BM25 ranks with its usual settings, from indexes that are built here, or kept in --indexes. Scores are min-max normalised
per question, a missing score counts as the lowest, and the weights of a fusion are those with the highest mean of R@100 and
nDCG@10 over the dev questions of fr-labour, fr-public and fr-citizen, each collection counting the same. --test shows the tests,
which have no part in that choice. With --quick the weights are multiples of a quarter.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
from pathlib import Path

import numpy as np

import lexfuse as lf
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.fusion.union import Missing
from runner.needs import Needs

NEEDS = Needs(
    collections=("fr-labour", "fr-public", "fr-citizen"),
    inputs={"LEXFUSE_BENCH_RANKINGS": "what recipes/citizen_rankings.py wrote"},
    arguments=("{LEXFUSE_BENCH_RANKINGS}",),
)

COLLECTIONS = {"fr-labour": "fr-labour", "fr-public": "fr-labour", "fr-citizen": "fr-citizen"}  # and whose articles
MEASURES = "R@10 R@100 R@500 nDCG@10 RR@100"
CHOICE = ("R@100", "nDCG@10")
DEPTH = 1000
FUSED = (
    ("bm25", "dense"), ("bm25", "splade"), ("dense", "splade"), ("bm25", "dense", "splade"),
    ("bm25", "dense", "splade", "colbert"),
)  # fmt: skip
Runs = dict[str, lf.Run]


def main() -> None:
    """Choose on dev, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rankings", type=Path)
    parser.add_argument("--indexes", type=Path, help="folder in which indexes of words are kept")
    parser.add_argument("--test", action="store_true", help="the test questions instead of dev, by the weights of dev")
    parser.add_argument("--quick", action="store_true", help="fewer weights")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    NEEDS.check()
    if not list(given.rankings.glob("*.npz")):
        parser.error(f"{str(given.rankings)!r} has no rankings; recipes/citizen_rankings.py makes them")
    data = Path(os.environ.get("LEXFUSE_DATA", "data"))
    with tempfile.TemporaryDirectory() as folder:
        runs = {name: read_runs(name, data, given.rankings, given.indexes or Path(folder)) for name in COLLECTIONS}
    dev = {name: read_qrels(data / name / "qrels" / "dev.tsv") for name in COLLECTIONS}
    split = "test" if given.test else "dev"
    shown = {name: read_qrels(path) for name in COLLECTIONS if (path := data / name / "qrels" / f"{split}.tsv").is_file()}
    parts = 4 if given.quick else 10
    models = list(next(iter(runs.values())))
    chosen = {group: choose(runs, dev, group, parts) for group in FUSED if set(group) <= set(models)}
    for name, qrels in shown.items():
        report(name, split, qrels, runs[name], chosen, as_json=given.json)


def read_runs(name: str, data: Path, rankings: Path, indexes: Path) -> Runs:
    """The rankings of all questions of a collection, by BM25 and by every model that has them."""
    queries = read_queries(data / name / "queries.jsonl.gz")
    judged = {id for path in (data / name / "qrels").glob("*.tsv") if path.stem != "train" for id in read_qrels(path).queries}
    queries = queries.select([at for at, id in enumerate(queries.ids) if id in judged])
    folder = indexes / f"{COLLECTIONS[name]}.index"
    opened = lf.Index(folder) if folder.exists() else lf.Index.build(folder, lf.read_corpus(data / COLLECTIONS[name]))
    with opened as index:
        runs = {"bm25": index.run(queries, channels=["bm25"], depth=DEPTH, name="bm25")}
    for path in sorted(rankings.glob(f"{name}.*.npz")):
        with np.load(path, allow_pickle=False) as stored:
            docs, model = stored["docs"], path.name.split(".")[1]
            table = {
                str(query): dict(zip(docs[places].tolist(), scores.tolist(), strict=True))
                for query, places, scores in zip(stored["queries"], stored["doc"], stored["score"], strict=True)
                if str(query) in judged
            }
        runs[model] = lf.Run.of(model, table)
    return runs


def choose(runs: dict[str, Runs], dev: dict[str, lf.Qrels], group: tuple[str, ...], parts: int) -> tuple[float, ...]:
    """The weights with the highest mean over the collections."""
    best, found = -1.0, tuple(1 / len(group) for _ in group)
    for shares in itertools.product(range(1, parts), repeat=len(group)):
        if sum(shares) != parts:
            continue
        weights = tuple(share / parts for share in shares)
        value = 0.0
        for name, qrels in dev.items():
            means = lf.evaluate(qrels, fused(runs[name], group, weights), " ".join(CHOICE)).means
            value += sum(float(mean) for mean in means.values()) / len(dev)
        if value > best + 1e-9:
            best, found = value, weights
    return found


def fused(runs: Runs, group: tuple[str, ...], weights: tuple[float, ...]) -> lf.Run:
    """The convex combination of min-max scores."""
    fusion = lf.Convex(weights, missing=Missing.MIN)
    return lf.fuse([runs[name] for name in group], fusion, DEPTH, name="+".join(group))


def report(
    name: str, split: str, qrels: lf.Qrels, runs: Runs, chosen: dict[tuple[str, ...], tuple[float, ...]], *, as_json: bool
) -> None:
    """Print the table of a collection."""
    rows: dict[str, lf.Run] = dict(runs)
    for group, weights in chosen.items():
        rows["+".join(group) + " " + "/".join(f"{weight:g}" for weight in weights)] = fused(runs, group, weights)
    if not as_json:
        print(f"\n{name}, {split}, {len(qrels.queries)} questions\n{'':46}" + "".join(f"{one:>9}" for one in MEASURES.split()))
    words = {str(measure): round(float(value), 4) for measure, value in lf.evaluate(qrels, runs["bm25"], MEASURES).means.items()}
    for row, run in rows.items():
        means = {str(measure): round(float(value), 4) for measure, value in lf.evaluate(qrels, run, MEASURES).means.items()}
        if as_json:
            for measure, value in means.items():
                theirs = float(words[measure])
                record = {"metric": f"{name} {split} {row} {measure}", "ours": value, "peer": "BM25", "theirs": theirs}
                print(json.dumps({**record, "ratio": round(value / theirs, 3)}))
        else:
            print(f"{row:46}" + "".join(f"{means[one]:9.3f}" for one in MEASURES.split()))


if __name__ == "__main__":
    main()
