"""The French models on citizens' questions: alone, fused, and reranked by the structure of the law.

    LEXFUSE_DATA=FOLDER python bench/citizen_quality.py [RANKINGS] [--indexes FOLDER] [--test] [--quick] [--json]

FOLDER of --indexes has fr-labour.index and fr-citizen.index, of what ``lexfuse import`` wrote, so that they know which article
cites which; without them, indexes of words are built. All of their channels are measured, by exact search:

    lexfuse import FOLDER/fr-labour imported && lexfuse index imported fr-labour.index
    lexfuse index fr-labour.index --channels dense,splade --int8

RANKINGS is what `recipes/citizen_rankings.py` wrote on a GPU: the first 1,000 articles of each question by each model, whole
articles in windows. A model that an index has too is that of the index. "words" and "hybrid" are the profiles of these names:
BM25, and BM25 with vectors by the default fusion, with the default weights of structure; "hybrid of dense" is that of an index
without SPLADE, for which these weights were chosen.

Scores are min-max normalised per question, a missing score counts as the lowest. The weights of a fusion are those with the
highest mean of R@100 and nDCG@10 over the dev questions of fr-labour, fr-public and fr-citizen, each collection counting the
same. The weights of structure, by which the first 1,000 articles are reranked, are chosen alike, by R@10 and RR@100 too, so that
they do not cost first results.

--test shows the tests, which have no part in any choice. With --quick there are fewer weights.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import lexfuse as lf
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.fusion.union import Missing
from lexfuse.optimisation.structure_weights import structure_evaluator, structure_grid
from lexfuse.rerank.structure import PARTS, Structure, StructureWeights
from lexfuse.search.spec.defaults import THREE
from lexfuse.text.annotation import annotate
from runner.needs import Needs

NEEDS = Needs(
    collections=("fr-labour", "fr-public", "fr-citizen"),
    optional={
        "LEXFUSE_BENCH_RANKINGS": "what recipes/citizen_rankings.py wrote",
        "LEXFUSE_BENCH_CITIZEN_INDEXES": "a folder with fr-labour.index and fr-citizen.index and their vectors",
    },
)

COLLECTIONS = {"fr-labour": "fr-labour", "fr-public": "fr-labour", "fr-citizen": "fr-citizen"}  # and whose articles
MEASURES = "R@10 R@100 R@500 nDCG@10 RR@100"
CHOICE = ("R@100", "nDCG@10")  # for the weights of a fusion
STRUCTURE_CHOICE = ("R@10", "R@100", "nDCG@10", "RR@100")  # for those of structure, which must not cost first results
DEPTH = 1000
FUSED = (
    ("bm25",), ("dense",), ("splade",), ("bm25", "dense"), ("bm25", "splade"), ("dense", "splade"), ("bm25", "dense", "splade"),
    ("bm25", "dense", "splade", "colbert"), ("words",), ("hybrid of dense",), ("hybrid",),
)  # fmt: skip
WORDS = "bm25"
DEFAULTS = {  # profiles of an index, with their channels and their fusion
    "words": (["bm25"], None), "hybrid of dense": (["bm25", "dense"], None), "hybrid": (["bm25", "dense", "splade"], THREE),
}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """A collection: its judgements of dev and of what is shown, the rankings of each source, the structure of its law."""

    name: str
    dev: lf.Qrels
    shown: lf.Qrels | None
    runs: Mapping[str, lf.Run]
    structure: Structure

    def fused(self, group: tuple[str, ...], weights: tuple[float, ...]) -> lf.Run:
        """The convex combination of min-max scores; one source alone as it is."""
        if len(group) == 1:
            return self.runs[group[0]]
        return lf.fuse([self.runs[name] for name in group], lf.Convex(weights, missing=Missing.MIN), DEPTH, name="+".join(group))

    def reranked(self, run: lf.Run, weights: StructureWeights) -> lf.Run:
        """A ranking reranked by structure."""
        return Structure(self.structure.snapshot, weights).rerank(self.queries, run, depth=DEPTH)

    @property
    def queries(self) -> lf.Queries:
        """The questions, whose texts play no part in reranking."""
        return lf.Queries.of(lf.Query(id, "") for id in next(iter(self.runs.values())).queries)


def main() -> None:
    """Choose on dev, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rankings", type=Path, nargs="?", default=_named("LEXFUSE_BENCH_RANKINGS"))
    parser.add_argument("--indexes", type=Path, default=_named("LEXFUSE_BENCH_CITIZEN_INDEXES"), help="folder of the indexes")
    parser.add_argument("--test", action="store_true", help="the test questions instead of dev, by the weights of dev")
    parser.add_argument("--quick", action="store_true", help="fewer weights")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    NEEDS.check()
    if given.rankings and not list(given.rankings.glob("*.npz")):
        parser.error(f"{str(given.rankings)!r} has no rankings; recipes/citizen_rankings.py makes them")
    data, split = Path(os.environ.get("LEXFUSE_DATA", "data")), "test" if given.test else "dev"
    with tempfile.TemporaryDirectory() as folder:
        indexes = {name: opened(data, name, given.indexes or Path(folder)) for name in dict.fromkeys(COLLECTIONS.values())}
        collections = [measured(name, indexes[of], data, split, given.rankings) for name, of in COLLECTIONS.items()]
        rows = list(chosen(collections, parts=4 if given.quick else 10))
        for one in collections:
            if one.shown is not None:
                report(one, split, rows, as_json=given.json)
        for index in indexes.values():
            index.close()


def _named(variable: str) -> Path | None:
    return Path(os.environ[variable]) if os.environ.get(variable) else None


def opened(data: Path, name: str, folder: Path) -> lf.Index:
    """An index of a collection, built of its words and citations if it is not there."""
    if (folder / f"{name}.index").exists():
        return lf.Index(folder / f"{name}.index")
    return lf.Index.build(folder / f"{name}.index", annotate(lf.read_corpus(data / name))[0])


def measured(name: str, index: lf.Index, data: Path, split: str, rankings: Path | None) -> Measured:
    """The rankings of the dev and test questions of a collection, by every channel of the index and every other model."""
    judged = {path.stem: read_qrels(path) for path in (data / name / "qrels").glob("*.tsv") if path.stem in ("dev", split)}
    queries = read_queries(data / name / "queries.jsonl.gz")
    asked = {id for qrels in judged.values() for id in qrels.queries}
    queries = queries.select([at for at, id in enumerate(queries.ids) if id in asked])
    stored = [channel for channel in index.snapshot.channels if any(channel in group for group in FUSED)]
    runs = {channel: index.run(queries, channels=[channel], depth=DEPTH, name=channel) for channel in (WORDS, *stored)}
    for profile, (channels, fusion) in DEFAULTS.items():
        if set(channels) <= set(runs):
            runs[profile] = index.run(queries, channels=channels, fusion=fusion, depth=DEPTH)
    for path in sorted(rankings.glob(f"{name}.*.npz")) if rankings else ():
        model = path.name.split(".")[1]
        runs.setdefault(model, stored_run(path, model, asked))
    return Measured(name, judged["dev"], judged.get(split), runs, Structure(index.snapshot))


def stored_run(path: Path, model: str, asked: set[str]) -> lf.Run:
    """The rankings of a model in a file."""
    with np.load(path, allow_pickle=False) as stored:
        docs = stored["docs"]
        rows = zip(stored["queries"], stored["doc"], stored["score"], strict=True)
        table = {
            str(query): dict(zip(docs[places].tolist(), scores.tolist(), strict=True))
            for query, places, scores in rows
            if str(query) in asked
        }
    return lf.Run.of(model, table)


Row = tuple[tuple[str, ...], tuple[float, ...], StructureWeights | None]  # sources, their weights, those of structure


def chosen(collections: list[Measured], parts: int) -> Iterator[Row]:
    """Every fusion whose sources are there, with the best weights on dev, then reranked with the best weights on dev."""
    present = set.intersection(*(set(one.runs) for one in collections))
    for group in FUSED:
        if set(group) <= present:
            weights = fusion_weights(collections, group, parts)
            yield group, weights, None
            grid = 0.25 if parts < 10 else 0.05
            default = group[0] in DEFAULTS
            yield group, weights, StructureWeights() if default else structure_weights(collections, group, weights, grid)


def fusion_weights(collections: list[Measured], group: tuple[str, ...], parts: int) -> tuple[float, ...]:
    """The weights with the highest mean over the collections."""
    best, found = -1.0, (1.0,) * len(group)
    points = [shares for shares in itertools.product(range(1, parts), repeat=len(group)) if sum(shares) == parts]
    for shares in points if len(group) > 1 else ():
        weights = tuple(share / parts for share in shares)
        value = sum(
            float(mean)
            for one in collections
            for mean in lf.evaluate(one.dev, one.fused(group, weights), " ".join(CHOICE)).means.values()
        )
        if value > best + 1e-9:
            best, found = value, weights
    return found


def structure_weights(
    collections: list[Measured], group: tuple[str, ...], weights: tuple[float, ...], step: float
) -> StructureWeights | None:
    """The weights of sections and citations with the highest mean over the collections; None where an index lacks them."""
    if any(one.structure.parts != PARTS for one in collections):
        return None
    grid = structure_grid(PARTS, step)
    value = np.zeros(len(grid))
    for one in collections:
        for measure in STRUCTURE_CHOICE:
            value += structure_evaluator(one.structure, one.fused(group, weights), one.dev, measure).at(grid).mean(axis=1)
    return StructureWeights(**dict(zip(PARTS[1:], grid[int(value.argmax())][1:].tolist(), strict=True)))


def report(one: Measured, split: str, rows: list[Row], *, as_json: bool) -> None:
    """Print the table of a collection."""
    assert one.shown is not None
    if not as_json:
        print(f"\n{one.name}, {split}, {len(one.shown.queries)} questions\n{'':64}", *(f"{name:>8}" for name in MEASURES.split()))
    words = means_of(one.shown, one.runs[WORDS])
    for group, weights, structure in rows:
        run, label = one.fused(group, weights), "+".join(group) + _shown(weights)
        if structure:
            run = one.reranked(run, structure)
            label += " structure " + "/".join(f"{getattr(structure, part):g}" for part in PARTS[1:])
        means = means_of(one.shown, run)
        if as_json:
            for measure, value in means.items():
                record = {
                    "metric": f"{one.name} {split} {label} {measure}",
                    "ours": value,
                    "peer": "BM25",
                    "theirs": words[measure],
                }
                print(json.dumps({**record, "ratio": round(value / words[measure], 3)}))
        else:
            print(f"{label:64}", *(f"{value:8.3f}" for value in means.values()))


def _shown(weights: tuple[float, ...]) -> str:
    return " " + "/".join(f"{weight:g}" for weight in weights) if len(weights) > 1 else ""


def means_of(qrels: lf.Qrels, run: lf.Run) -> dict[str, float]:
    """The measures of a ranking."""
    return {str(measure): round(float(value), 4) for measure, value in lf.evaluate(qrels, run, MEASURES).means.items()}


if __name__ == "__main__":
    main()
