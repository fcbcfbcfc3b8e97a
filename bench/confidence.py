"""Ways to calibrate a confidence with the judgements of two publishers, compared by repeated cross-validation.

    python bench/confidence.py --index INDEX [--profile bm25] [--split dev] [--quick] [--json]

INDEX holds fr-labour. The questions are the dev splits (or, for bm25, which learns nothing from them, the train splits) of
fr-labour and fr-public in LEXFUSE_DATA; every figure is that of fr-labour's questions and of the off-topic ones, each tenth
judged by the calibration of the others, the mean over 20 orders of the questions (`--quick`: 2).

    pooled      the questions of both publishers count alike
    own         those of fr-labour alone
    level       both teach the weights, those of fr-labour the level: `lexfuse tune confidence --further`
    own 10 …    the same with a stronger ridge penalty than 3
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.queries import Queries
from lexfuse.index import Index
from lexfuse.optimisation.confidence import cross_validated, fit_confidence
from lexfuse.optimisation.confidence_examples import ConfidenceExamples, read_examples
from lexfuse.search.spec.confidence_spec import ConfidenceSpec
from runner.needs import Needs

NEEDS = Needs(
    collections=("fr-labour", "fr-public"),
    inputs={"LEXFUSE_BENCH_LABOUR_INDEX": "an index of French labour law"},
    arguments=("--index", "{LEXFUSE_BENCH_LABOUR_INDEX}"),
)

OFF_TOPIC = Path(__file__).parent.parent / "tests" / "collections" / "off-topic" / "fr.calibration.jsonl"
OWN, OTHERS = "fr-labour", "fr-public"
WAYS: dict[str, Callable[[ConfidenceExamples], ConfidenceSpec]] = {
    "pooled": lambda examples: fit_confidence(replace(examples, further=None)),
    "own": lambda examples: fit_confidence(examples.some(examples.own)),
    "level": fit_confidence,
    "own 10": lambda examples: fit_confidence(examples.some(examples.own), 10.0),
    "own 30": lambda examples: fit_confidence(examples.some(examples.own), 30.0),
    "level 10": lambda examples: fit_confidence(examples, 10.0),
    "level 30": lambda examples: fit_confidence(examples, 30.0),
}
FIGURES = ("calibration_error", "chance_error", "chance_limit", "log_loss")


def split_examples(index: Index, profile: str, split: str) -> ConfidenceExamples:
    """The questions of both publishers in a split and the off-topic ones, by a profile of the index."""
    data = Path(os.environ.get("LEXFUSE_DATA", "data"))
    asked = {name: read_queries(data / name) for name in (OWN, OTHERS)}
    judged = {name: read_qrels(data / name / "qrels" / f"{split}.tsv", queries=asked[name].ids) for name in asked}
    queries = Queries.of(query for one in asked.values() for query in one)
    version = index.version
    off_topic = read_queries(OFF_TOPIC)
    return read_examples(version, version.specs[profile], queries, judged[OWN], off_topic, judged[OTHERS])


def compare(examples: ConfidenceExamples, repeats: int) -> dict[str, dict[str, float]]:
    """The mean figures of every way, over some orders of the questions."""
    draw = np.random.default_rng(0)
    orders = [draw.permutation(len(examples.features)) for _ in range(repeats)]
    found = {way: [cross_validated(examples.some(order), fit) for order in orders] for way, fit in WAYS.items()}
    return {way: {name: float(np.mean([getattr(one, name) for one in all])) for name in FIGURES} for way, all in found.items()}


def main() -> None:
    """Read the questions, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True, type=Path)
    parser.add_argument("--profile", default="bm25")
    parser.add_argument("--split", default="dev", choices=("dev", "train"))  # never test: nothing is chosen by it
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    NEEDS.check()
    with Index(given.index) as index:
        examples = split_examples(index, given.profile, given.split)
    for way, values in compare(examples, 2 if given.quick else 20).items():
        shown = {name: round(value, 4) for name, value in values.items()}
        print(json.dumps({"way": way, **shown}) if given.json else f"{way}: {shown}", flush=True)


if __name__ == "__main__":
    main()
