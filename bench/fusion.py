"""Fusion compared with ranx: 2 and 4 runs of 1,000 queries x 1,000 documents, and what follows: measures, grids, the first call.

Both libraries start from their own ready objects (for LexFuse runs that share their ids, as all that it retrieves do) and fuse
everything: ranx knows no k. All is called once before timing, so that the just-in-time compiler of ranx has done its work;
calls of the two sides alternate, and the shortest counts. Fused scores must agree before anything is timed, but for Borda,
where conventions differ (docs/fusion.md). Borda takes ranx time that grows with the square of the depth: it gets a
query for each core, and its time is multiplied.

The grid is every point of four weights in steps of 0.05 for 200 queries, nDCG@10 of each. Both sides normalise once; ranx then
fuses and evaluates point by point, which is measured for a few points and multiplied. Its values at these points must agree.

"first call" is what a fresh process spends on importing and on its first fusion beyond what the second takes, with the
compiled loops in the cache of numba already.

    python bench/fusion.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing
from lexfuse.kernels.threads import cores
from lexfuse.optimisation.weight_surface import WeightSurface, simplex, surface_of
from runner.needs import Needs

NEEDS = Needs(packages=("ranx",))

QUERIES, DEPTH, CORPUS = 1_000, 1_000, 22_633  # a corpus as large as BSARD's
FEW = cores()  # queries that ranx gets for Borda: it works on one with each core
EVERYTHING = 1_000_000
GRID_QUERIES, FEW_POINTS = 200, 7
MEASURES = ["nDCG@10", "R@100", "AP@100", "RR@10"]
RANX_MEASURES = ["ndcg@10", "recall@100", "map@100", "mrr@10"]

Record = dict[str, Any]

FIRST_CALL = """if True:
    import sys, time
    import numpy as np
    arrays = np.load(sys.argv[1])
    begin = time.perf_counter()
    from lexfuse.data.ids import Ids
    from lexfuse.data.run import Run
    from lexfuse.fusion.reciprocal_rank import ReciprocalRank
    from lexfuse.fusion.convex import TM2C2
    imported = time.perf_counter()
    queries, docs = Ids(map(str, range(int(arrays["queries"])))), Ids(map(str, range(int(arrays["docs"]))))
    runs = [Run(name, queries, docs, arrays[name + ".offsets"], arrays[name + ".doc"], arrays[name + ".score"]) for name in "ab"]
    docs.order
    times = []
    for _ in range(4):
        start = time.perf_counter()
        for fusion in (ReciprocalRank(), TM2C2()):
            fusion.fuse(runs, 1000)
        times.append(time.perf_counter() - start)
    print(imported - begin + times[0] - min(times))
"""

RANX_FIRST_CALL = """if True:
    import random, time, warnings
    warnings.simplefilter("ignore")
    rankings = [{f"q{q}": {f"d{d}": float(d) for d in random.sample(range(500), 50)} for q in range(20)} for _ in range(2)]
    begin = time.perf_counter()
    import ranx
    imported = time.perf_counter()
    times = []
    for _ in range(3):
        start = time.perf_counter()
        runs = [ranx.Run(ranking) for ranking in rankings]
        ranx.fuse(runs, norm=None, method="rrf")
        ranx.fuse(runs, norm="min-max", method="wsum", params={"weights": (0.5, 0.5)})
        times.append(time.perf_counter() - start)
    print(imported - begin + times[0] - min(times))
"""


def made_runs(count: int, seed: int = 0) -> list[Run]:
    """Rankings that share their ids and, as sources of one question do, about a third of their documents."""
    generator = np.random.default_rng(seed)
    docs = Ids([f"article-{number:05d}" for number in range(CORPUS)])
    queries = Ids([f"question-{number:04d}" for number in range(QUERIES)])
    row = np.repeat(np.arange(QUERIES, dtype=np.int32), DEPTH)
    relevance = generator.normal(size=(50, CORPUS)).astype(np.float32)
    runs = []
    for number in range(count):
        listed, scores = np.zeros((QUERIES, DEPTH), np.int32), np.zeros((QUERIES, DEPTH), np.float32)
        for query in range(QUERIES):
            while len(np.unique(scores[query])) < DEPTH:  # without ties, for which ranx has no rule
                opinion = relevance[query % 50] + 0.7 * generator.standard_normal(CORPUS, dtype=np.float32)
                listed[query] = np.argpartition(-opinion, DEPTH)[:DEPTH]
                scores[query] = 30 + 8 * opinion[listed[query]]
        runs.append(Run.from_arrays(f"source-{number}", queries, docs, row, listed.ravel(), scores.ravel()))
    return runs


def rankings_of(run: Run, queries: int = QUERIES) -> dict[str, dict[str, float]]:
    """The first queries of a run as ranx takes them."""
    names = [run.docs[doc] for doc in run.doc.tolist()]
    scores = run.score.tolist()
    bounds = run.offsets.tolist()
    return {
        run.queries[at]: dict(zip(names[bounds[at] : bounds[at + 1]], scores[bounds[at] : bounds[at + 1]], strict=True))
        for at in range(queries)
    }


def made_qrels(run: Run, seed: int = 1) -> tuple[Qrels, dict[str, dict[str, int]]]:
    """Graded judgements of documents that a run mostly ranks near the top."""
    generator = np.random.default_rng(seed)
    judged: dict[str, dict[str, int]] = {}
    for row, query in enumerate(run.queries):
        top = run.doc[run.offsets[row] : run.offsets[row + 1]]
        at = np.unique(np.minimum(generator.geometric(0.02, 10), len(top)) - 1)
        judged[query] = {run.docs[int(doc)]: int(generator.integers(1, 4)) for doc in top[at]}
    names, offsets = [doc for grades in judged.values() for doc in grades], [len(grades) for grades in judged.values()]
    row_of = np.repeat(np.arange(len(judged), dtype=np.int32), offsets)
    grade = np.array([grade for grades in judged.values() for grade in grades.values()], dtype=np.int32)
    return Qrels.from_arrays(run.queries, run.docs, row_of, run.docs.ordinals(names), grade), judged


def best_of(repeats: int, ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """The shortest time of each of the two; in turn, each is called for at least a second."""
    best = [math.inf, math.inf]
    for _ in range(repeats):
        for side, call in enumerate((ours, theirs)):
            until = time.perf_counter() + 1.0
            while (start := time.perf_counter()) < until:
                call()
                best[side] = min(best[side], time.perf_counter() - start)
    return best[0], best[1]


def record(metric: str, ours: float, theirs: float, peer: str = "ranx") -> Record:
    """One line of the report."""
    return {"metric": metric, "ours": ours, "peer": peer, "theirs": theirs, "ratio": theirs / ours}


def agree(name: str, fused: Run, theirs: Any) -> None:
    """Stop unless both fused the same documents to the same scores."""
    for row in range(0, QUERIES, 97):
        ours = {hit.doc: hit.score for hit in fused.hits(fused.queries[row])}
        other = dict(theirs.run[fused.queries[row]])
        same = ours.keys() == other.keys() and all(math.isclose(ours[doc], other[doc], abs_tol=1e-6) for doc in ours)
        if not same:
            raise SystemExit(f"ranx disagrees on {name}; nothing was timed")


def fusing(runs: Sequence[Run], peers: Sequence[Any], few: Sequence[Any], repeats: int) -> Iterator[Record]:
    """Both libraries fuse the same runs by reciprocal ranks, by min-max scores and by Borda's count."""
    import ranx

    count = len(runs)
    weights = tuple(1 / count for _ in runs)
    pairs: list[tuple[str, Fusion, dict[str, Any]]] = [
        ("rrf", ReciprocalRank(missing=Missing.ZERO), {"norm": None, "method": "rrf", "params": {"k": 60}}),
        ("min-max wsum", Convex(missing=Missing.ZERO), {"norm": "min-max", "method": "wsum", "params": {"weights": weights}}),
    ]
    for name, fusion, arguments in pairs:
        agree(name, fusion.fuse(runs, EVERYTHING), ranx.fuse(peers, **arguments))
        times = best_of(
            repeats,
            lambda fusion=fusion: fusion.fuse(runs, EVERYTHING),  # type: ignore[misc]
            lambda arguments=arguments: ranx.fuse(peers, **arguments),  # type: ignore[misc]
        )
        yield record(f"seconds, {count} runs, {name}", *times)
    Borda().fuse(runs, EVERYTHING)
    ranx.fuse(few, norm=None, method="bordafuse")
    ours, theirs = best_of(repeats, lambda: Borda().fuse(runs, EVERYTHING), lambda: ranx.fuse(few, norm=None, method="bordafuse"))
    yield record(f"seconds, {count} runs, borda", ours, theirs * QUERIES / FEW)


def measuring(runs: Sequence[Run], repeats: int) -> Iterator[Record]:
    """Four measures of one fused run."""
    import ranx

    fused = ReciprocalRank().fuse(runs, EVERYTHING)
    qrels, judged = made_qrels(fused)
    peer_run, peer_qrels = ranx.Run(rankings_of(fused)), ranx.Qrels(judged)
    values = evaluate(qrels, fused, " ".join(MEASURES)).means
    for (measure, value), theirs in zip(values.items(), RANX_MEASURES, strict=True):
        if not math.isclose(value, float(ranx.evaluate(peer_qrels, peer_run, theirs)), abs_tol=2e-3):  # ties go otherwise there
            raise SystemExit(f"ranx disagrees on {measure}; nothing was timed")
    ranx.evaluate(peer_qrels, peer_run, RANX_MEASURES)
    times = best_of(
        repeats,
        lambda: evaluate(qrels, fused, " ".join(MEASURES)),
        lambda: ranx.evaluate(peer_qrels, peer_run, RANX_MEASURES),
    )
    yield record("seconds, four measures of a fused run", *times)


def tuning(runs: Sequence[Run], repeats: int) -> Iterator[Record]:
    """A measure at every point of a grid of weights; ranx at a few of them, multiplied."""
    import ranx
    from ranx.normalization import norm_switch

    some = [_first_queries(run, GRID_QUERIES) for run in runs]
    qrels, judged = made_qrels(some[0])
    points = simplex(len(runs), 0.05)
    few = points[:: len(points) // FEW_POINTS][:FEW_POINTS]
    peer_qrels = ranx.Qrels(judged)
    peers = [norm_switch("min-max")(ranx.Run(rankings_of(run, GRID_QUERIES))) for run in some]

    def ours() -> WeightSurface:
        union = union_of(some)
        return surface_of(union, Convex(missing=Missing.ZERO), qrels, "nDCG@10", points)

    def theirs() -> list[float]:
        fused = (ranx.fuse(peers, norm=None, method="wsum", params={"weights": tuple(row)}) for row in few.tolist())
        return [float(ranx.evaluate(peer_qrels, run, "ndcg@10")) for run in fused]

    means = ours().means[:: len(points) // FEW_POINTS][:FEW_POINTS]
    if not np.allclose(means, theirs(), atol=2e-3):  # ties go otherwise there
        raise SystemExit("ranx disagrees on the grid; nothing was timed")
    mine, peer = best_of(repeats, ours, theirs)
    yield record(
        f"seconds, {len(points):,} points x {GRID_QUERIES} queries x depth {DEPTH:,}", mine, peer * len(points) / len(few)
    )


def _first_queries(run: Run, count: int) -> Run:
    end = int(run.offsets[count])
    return Run(run.name, Ids(run.queries[:count]), run.docs, run.offsets[: count + 1], run.doc[:end], run.score[:end])


def first_calls(runs: Sequence[Run], repeats: int) -> Iterator[Record]:
    """What a fresh process waits for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.npz"
        columns = {
            f"{name}.{column}": getattr(run, column)
            for name, run in zip("ab", runs, strict=False)
            for column in ("offsets", "doc", "score")
        }
        np.savez(path, queries=np.array(QUERIES), docs=np.array(CORPUS), **columns)
        ours = min(_told(FIRST_CALL, str(path)) for _ in range(5))
        theirs = min(_told(RANX_FIRST_CALL) for _ in range(repeats))
    yield record("seconds of pause, first call of a fresh process", ours, theirs)


def _told(code: str, *arguments: str) -> float:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def compare_all(repeats: int) -> Iterator[Record]:
    """All comparisons, one record each."""
    with warnings.catch_warnings():  # numba tells about its own casts when ranx compiles
        warnings.simplefilter("ignore")
        import ranx

        runs = made_runs(4)
        peers = [ranx.Run(rankings_of(run), name=run.name) for run in runs]
        few = [ranx.Run(rankings_of(run, FEW), name=run.name) for run in runs]
        for count in (2, 4):
            yield from fusing(runs[:count], peers[:count], few[:count], repeats)
        yield from measuring(runs[:2], repeats)
        yield from tuning(runs, repeats)
        yield from first_calls(runs, repeats)


def main() -> None:
    """Run the comparisons and print them as a table or as one JSON object a line."""
    parser = argparse.ArgumentParser(description="fusion compared with ranx")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    for found in compare_all(repeats=1 if options.quick else 5):
        if options.json:
            print(json.dumps(found), flush=True)
        else:
            times = f"{1000 * found['ours']:8.1f} ms   {1000 * found['theirs']:10.1f} ms"
            print(f"{found['metric']:<48} {times}  {found['ratio']:7.1f} x  {found['peer']}", flush=True)


if __name__ == "__main__":
    main()
