"""Questions without accents, in capitals and with a typing error: what the shipped models lose by them.

    LEXFUSE_DATA=FOLDER python bench/robustness.py INDEX [--collection fr-labour] [--split dev] [--quick] [--json]

INDEX is an index of the collection with the channels dense and splade, whose models are those that ship (8 bits). Each retriever,
and their convex fusion by the weights of the card, ranks the questions of the split as they are and in other wordings. The
typing error is one letter left out, doubled, exchanged with the next or replaced by its neighbour on the keyboard, in one word of
five letters or more (`recipes/wordings.py`, which also made wordings for the training); the figure is the mean of three draws
(--quick: one). BM25 searches without the correction of misspelt words, as `lexfuse run` does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import unicodedata
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import lexfuse as lf
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.fusion.union import Missing
from runner.needs import Needs

NEEDS = Needs(
    collections=("fr-labour",),
    inputs={"LEXFUSE_BENCH_LABOUR_INDEX": "an index of fr-labour with the channels dense and splade"},
    arguments=("{LEXFUSE_BENCH_LABOUR_INDEX}",),
)

CHANNELS = ("bm25", "dense", "splade")
WEIGHTS = {"dense+splade": (0.0, 0.6, 0.4), "bm25+dense+splade": (0.2, 0.5, 0.3)}  # of fr-legal-dense, chosen on dev
DEPTH, MEASURES = 500, "R@10 R@100 R@500 RR@100"
DRAWS = 3


def without_accents(text: str) -> str:
    """Letters without their marks."""
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def wordings(quick: bool) -> dict[str, list[Callable[[str], str]]]:
    """Ways to write a question; the figures of one name are averaged."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "recipes"))
    misspelt = import_module("wordings").misspelt
    draws = [random.Random(seed) for seed in range(1 if quick else DRAWS)]  # noqa: S311
    return {
        "as written": [str],
        "without accents": [without_accents],
        "in capitals": [str.upper],
        "one typing error": [lambda text, draw=draw: misspelt(text, draw) for draw in draws],  # type: ignore[misc]
    }


def rankings(index: lf.Index, queries: lf.Queries) -> dict[str, lf.Run]:
    """What each retriever ranks, and their fusions."""
    runs = {name: index.run(queries, channels=[name], depth=DEPTH, name=name) for name in CHANNELS}
    for name, weights in WEIGHTS.items():
        used = {channel: weight for channel, weight in zip(CHANNELS, weights, strict=True) if weight}
        fusion = lf.Convex(tuple(used.values()), missing=Missing.MIN)
        runs[name] = lf.fuse([runs[channel] for channel in used], fusion, DEPTH, name=name)
    return runs


def measured(
    index: lf.Index, queries: lf.Queries, qrels: lf.Qrels, *, quick: bool
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Wording, ranking, and means of the measures."""
    for wording, ways in wordings(quick).items():
        found: dict[str, list[dict[str, float]]] = {}
        for way in ways:
            changed = lf.Queries.of(lf.Query(one.id, way(one.text), one.language) for one in queries)
            for name, run in rankings(index, changed).items():
                means = {str(measure): float(value) for measure, value in lf.evaluate(qrels, run, MEASURES).means.items()}
                found.setdefault(name, []).append(means)
        for name, some in found.items():
            yield wording, name, {measure: sum(one[measure] for one in some) / len(some) for measure in some[0]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--collection", default="fr-labour")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--quick", action="store_true", help="one draw of typing errors")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args()
    NEEDS.check()
    folder = Path(os.environ["LEXFUSE_DATA"]) / given.collection
    qrels = read_qrels(folder / "qrels" / f"{given.split}.tsv")
    queries = read_queries(folder / "queries.jsonl.gz")
    queries = queries.select([at for at, id in enumerate(queries.ids) if id in qrels.queries])
    first: dict[str, dict[str, float]] = {}
    with lf.Index(given.index) as index:
        if missing := [name for name in CHANNELS[1:] if name not in index.snapshot.channels]:
            sys.exit(f"the index has no channel {missing[0]}: lexfuse index {given.index} --channels {missing[0]}")
        for wording, name, means in measured(index, queries, qrels, quick=given.quick):
            plain = first.setdefault(name, means)
            if given.json:
                for measure, value in means.items():
                    record = {"metric": f"{given.collection} {given.split} {name} {wording} {measure}", "ours": round(value, 4)}
                    theirs = round(plain[measure], 4)
                    print(json.dumps({**record, "peer": "as written", "theirs": theirs, "ratio": round(value / theirs, 3)}))
            else:
                shown = "  ".join(f"{measure} {value:.3f} ({value - plain[measure]:+.3f})" for measure, value in means.items())
                print(f"{wording:18}{name:20}{shown}", flush=True)


if __name__ == "__main__":
    main()
