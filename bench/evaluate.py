"""Evaluation compared with ranx and ir_measures: 1,000 queries x 1,000 documents, four measures, all libraries in one process.

"ready objects" starts from what each library evaluates (for LexFuse a run and qrels that share their ids, for ranx its Run and
Qrels, for ir_measures a prepared evaluator and a dictionary). "from dictionaries" starts from plain dictionaries and counts
the mapping of ids. Everything is called once before timing, so the just-in-time compiler of ranx has done its work; calls of
the two sides alternate, and the shortest call counts. All libraries must agree on the values before anything is timed.

    python bench/evaluate.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from runner.needs import Needs

NEEDS = Needs(packages=("ranx", "ir_measures"))

QUERIES, DEPTH, CORPUS, JUDGED = 1_000, 1_000, 22_633, 10  # a corpus as large as BSARD's
MEASURES = ["nDCG@10", "R@100", "AP@100", "RR@10"]
RANX_MEASURES = ["ndcg@10", "recall@100", "map@100", "mrr@10"]

Rankings = dict[str, dict[str, float]]
Judgements = dict[str, dict[str, int]]


def made_data(seed: int = 0) -> tuple[Judgements, Rankings]:
    """Random rankings in rank order without ties, and graded judgements of documents that are mostly ranked near the top."""
    generator = np.random.default_rng(seed)
    names = [f"article-{number:05d}" for number in range(CORPUS)]
    judgements: Judgements = {}
    rankings: Rankings = {}
    for row in range(QUERIES):
        query = f"question-{row:04d}"
        docs = generator.choice(CORPUS, DEPTH, replace=False)
        scores = np.sort(generator.permutation(1 << 20)[:DEPTH])[::-1] / 4096
        rankings[query] = {names[doc]: float(score) for doc, score in zip(docs, scores, strict=True)}
        near_top = np.unique(np.minimum(generator.geometric(0.02, JUDGED), DEPTH) - 1)
        judgements[query] = {names[docs[at]]: int(generator.integers(1, 4)) for at in near_top}
        judgements[query][names[int(generator.integers(CORPUS))]] = 1
    return judgements, rankings


def shared(judgements: Judgements, rankings: Rankings) -> tuple[Qrels, Run]:
    """Qrels and a run that share their ids, as every run that LexFuse retrieves does."""
    run = Run.of("bench", rankings)
    docs = Ids(sorted({*run.docs, *(doc for judged in judgements.values() for doc in judged)}))
    row = np.repeat(np.arange(len(run.queries), dtype=np.int32), np.diff(run.offsets))
    run = Run.from_arrays("bench", run.queries, docs, row, docs.ordinals(run.docs)[run.doc], run.score)
    apart = Qrels.of(triples(judgements))
    row = np.repeat(run.queries.ordinals(apart.queries), np.diff(apart.offsets))
    return Qrels.from_arrays(run.queries, docs, row, docs.ordinals(apart.docs)[apart.doc], apart.grade), run


def triples(judgements: Judgements) -> list[tuple[str, str, int]]:
    """Judgements as LexFuse takes them."""
    return [(query, doc, grade) for query, judged in judgements.items() for doc, grade in judged.items()]


def best_of(repeats: int, ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """The shortest time of each of the two; in turn, each is called for at least a tenth of a second."""
    best = [math.inf, math.inf]
    for _ in range(repeats):
        for side, call in enumerate((ours, theirs)):
            until = time.perf_counter() + 0.1
            while (start := time.perf_counter()) < until:
                call()
                best[side] = min(best[side], time.perf_counter() - start)
    return best[0], best[1]


def agree(name: str, ours: dict[str, float], theirs: dict[str, float]) -> None:
    """Stop unless both sides computed the same."""
    for measure, value in ours.items():
        if not math.isclose(value, theirs[measure], abs_tol=1e-9):
            raise SystemExit(f"{name} disagrees on {measure}: {theirs[measure]} compared with {value}; nothing was timed")


def compare_all(repeats: int) -> list[dict[str, Any]]:
    """All comparisons, one record each."""
    import ir_measures

    with warnings.catch_warnings():  # numba tells about its own casts when ranx compiles
        warnings.simplefilter("ignore")
        import ranx

        judgements, rankings = made_data()
        ranx_qrels, ranx_run = ranx.Qrels(judgements), ranx.Run(rankings)
        ranx_values = ranx.evaluate(ranx_qrels, ranx_run, RANX_MEASURES)
        ranx.evaluate(judgements, rankings, RANX_MEASURES)
    qrels, run = shared(judgements, rankings)
    parsed = [ir_measures.parse_measure(measure) for measure in MEASURES]
    evaluator = ir_measures.evaluator(parsed, judgements)
    names = " ".join(MEASURES)

    def ready() -> Any:
        return evaluate(qrels, run, names)

    def from_dictionaries() -> Any:
        return evaluate(Qrels.of(triples(judgements)), Run.of("bench", rankings), names)

    values = {str(measure): mean for measure, mean in ready().means.items()}
    agree("ranx", values, {measure: float(ranx_values[theirs]) for measure, theirs in zip(MEASURES, RANX_MEASURES, strict=True)})
    agree("ir_measures", values, {str(m): value for m, value in evaluator.calc_aggregate(rankings).items()})
    agree("from dictionaries", values, {str(measure): mean for measure, mean in from_dictionaries().means.items()})

    sides: list[tuple[str, Callable[[], Any], str, Callable[[], Any]]] = [
        ("seconds, ready objects", ready, "ranx", lambda: ranx.evaluate(ranx_qrels, ranx_run, RANX_MEASURES)),
        ("seconds, ready objects", ready, "ir_measures", lambda: evaluator.calc_aggregate(rankings)),
        (
            "seconds, from dictionaries",
            from_dictionaries,
            "ranx",
            lambda: ranx.evaluate(ranx.Qrels(judgements), ranx.Run(rankings), RANX_MEASURES),
        ),
        (
            "seconds, from dictionaries",
            from_dictionaries,
            "ranx without Run and Qrels",
            lambda: ranx.evaluate(judgements, rankings, RANX_MEASURES),
        ),
        (
            "seconds, from dictionaries",
            from_dictionaries,
            "ir_measures",
            lambda: ir_measures.calc_aggregate(parsed, judgements, rankings),
        ),
    ]
    records = []
    for metric, ours, peer, theirs in sides:
        our_time, their_time = best_of(repeats, ours, theirs)
        records.append({"metric": metric, "ours": our_time, "peer": peer, "theirs": their_time, "ratio": their_time / our_time})
    return records


def main() -> None:
    """Run the comparisons and print them as a table or as one JSON object a line."""
    parser = argparse.ArgumentParser(description="evaluation compared with ranx and ir_measures")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    records = compare_all(repeats=5 if options.quick else 20)
    for record in records:
        if options.json:
            print(json.dumps(record))
        else:
            times = f"{1000 * record['ours']:8.1f} ms   {1000 * record['theirs']:8.1f} ms"
            print(f"{record['metric']:<28} {times}  {record['ratio']:6.1f} x  {record['peer']}")


if __name__ == "__main__":
    main()
