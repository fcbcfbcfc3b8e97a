"""Searches of this checkout compared with those of another one: the same bits, and processor time.

    python bench/search_versions.py --other CHECKOUT [--index INDEX] [--quick] [--json]

CHECKOUT is a folder with another version of the sources (`git archive COMMIT src | tar -x -C CHECKOUT`). A process of each
version does the same work in turn, so that other load slows both alike; the script stops unless results are equal, bit by bit.
Times are the shortest of all rounds, a ratio is the median. Data are drawn (seed 0): 1,500 exact scores among 50,000 vectors in
16 bits; 2,000 missing scores in 20 posting lists of up to 300,000 of a million documents; single queries over 100,000 vectors of
`bench/dense.py` (20,000 with --quick) by 48 clusters, top 100. `--index` adds hybrid searches of an index of `bench/hybrid.py`,
encoding included.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from lexfuse.kernels.compilation import PATIENCE, compiled_is_due, read_only_views
from runner.needs import Needs

NEEDS = Needs(
    packages=("faiss",),
    inputs={"LEXFUSE_BENCH_CHECKOUT": "another version of the sources"},
    arguments=("--other", "{LEXFUSE_BENCH_CHECKOUT}"),
)

ROOT = Path(__file__).parent.parent
LONG = (300_000, 200_000, 150_000, 100_000, 80_000, 50_000, 40_000, 30_000, 30_000, 20_000)
LISTS = LONG + (10_000, 5_000, 3_000, 2_000, 1_000) * 2  # lengths of posting lists
TIMES = 20  # that short work is repeated
Work = Callable[[], Iterator[Any]]  # results, in order


def halves() -> Work:
    """Exact scores of vectors in 16 bits."""
    from lexfuse.channels.dense.exact_scores import exact_scores
    from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage

    random = np.random.default_rng(0)
    part = VectorPart.of(random.standard_normal((50_000, 384), dtype=np.float32), storage=VectorStorage.FP16)
    query, rows = random.standard_normal((1, 384), dtype=np.float32), random.integers(0, 50_000, 1500)
    return lambda: (exact_scores(part, query, np.zeros(1500, dtype=np.int64), rows) for _ in range(TIMES))


def missing() -> Work:
    """Scores of documents by posting lists."""
    from lexfuse.kernels.postings import pair_scores

    random = np.random.default_rng(0)
    docs = np.concatenate([np.sort(random.choice(1_000_000, size, replace=False)).astype(np.int32) for size in LISTS])
    ends = np.cumsum(LISTS)
    impacts, factors = random.random(len(docs), dtype=np.float32), random.random(len(LISTS), dtype=np.float32)
    wanted = random.choice(1_000_000, 2000, replace=False).astype(np.int32)
    given = (np.zeros(2000, dtype=np.int32), wanted, np.array([0, len(LISTS)]), ends - LISTS, ends, factors, docs, impacts)
    arrays = read_only_views(*given)
    return lambda: (pair_scores(*arrays) for _ in range(TIMES))


def clusters(rows: int) -> Work:
    """Single queries by clusters."""
    from dense import K, drawn
    from lexfuse.channels.dense.approximate_search import ApproximateSearch
    from lexfuse.channels.dense.clusters import Clusters
    from lexfuse.channels.dense.stored_part import VectorPart

    passages, queries = drawn(rows)
    part = VectorPart.of(passages)
    search = ApproximateSearch([part], np.arange(rows, dtype=np.int32), [Clusters.of(part)], 48)
    search.prepare()
    return lambda: (one for query in queries[:32] for one in search.best(query[None], K))


def hybrid(folder: Path) -> Work:
    """Searches by three channels."""
    from hybrid import CHANNELS, Index, K, Query, SearchSpec, find_documents, query_context, read_collection

    collection = read_collection(Path(os.environ["LEXFUSE_DATA"], "fr-labour"))
    texts = [collection.queries.query(query).text for query in collection.qrels["dev"].queries][:25]
    index = Index.open(folder)
    search = SearchSpec.of(CHANNELS).open(index.snapshot, name="hybrid")

    def work() -> Iterator[Any]:
        for text in texts:
            with query_context():
                found = find_documents(search, Query("q", text), K, citations=index.version.citations)
            yield np.frombuffer(repr([(one.hit.doc, one.hit.score) for one in found]).encode(), dtype=np.uint8)

    return work


def cases(index: str, quick: bool) -> dict[str, Callable[[], Work]]:
    """What is measured."""
    rows = 20_000 if quick else 100_000
    every: dict[str, Callable[[], Work]] = {
        f"ms, {TIMES} times 1,500 exact scores in 16 bits": halves,
        f"ms, {TIMES} times 2,000 missing scores": missing,
        f"ms, 32 queries by clusters, {rows:,} vectors": lambda: clusters(rows),
    }
    return every | ({"ms, 25 hybrid searches": lambda: hybrid(Path(index))} if index else {})


def answer_rounds(index: str, quick: bool) -> None:
    """In the process of one version: a digest, then the milliseconds of a round for every line that comes."""
    compiled_is_due(PATIENCE)
    for make in cases(index, quick).values():
        work, digest = make(), hashlib.sha256()
        for result in work():
            digest.update(np.ascontiguousarray(result).tobytes())
        print(digest.hexdigest(), flush=True)
        while sys.stdin.readline().strip():
            start = time.process_time()
            for _ in work():
                pass
            print(1000 * (time.process_time() - start), flush=True)


def compare(other: Path, index: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Both versions in turn."""
    processes = []
    for root in (ROOT, other.resolve()):
        path = os.pathsep.join((str(root / "src"), str(ROOT / "bench")))
        command = [sys.executable, __file__, "--other", str(other), "--worker", "--index", index, *(["--quick"] if quick else [])]
        pipe = subprocess.PIPE
        processes.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ | {"PYTHONPATH": path}))

    def say(at: int, line: str) -> str:
        stdin, stdout = processes[at].stdin, processes[at].stdout
        if stdin is None or stdout is None:
            raise SystemExit("a process of the comparison has no pipes")
        if line:
            stdin.write(line)
            stdin.flush()
        return stdout.readline().strip() if line != "\n" else ""

    for metric in cases(index, quick):
        if say(0, "") != say(1, ""):
            raise SystemExit(f"results differ: {metric}")
        times = [[float(say(at, "go\n")) for at in ((0, 1) if number % 2 else (1, 0))] for number in range(10 if quick else 20)]
        pairs = [pair if number % 2 else pair[::-1] for number, pair in enumerate(times)]
        ours, theirs = (min(pair[at] for pair in pairs) for at in (0, 1))
        yield {
            "metric": metric,
            "ours": ours,
            "peer": "the other version",
            "theirs": theirs,
            "ratio": median(b / a for a, b in pairs),
        }
        for at in (0, 1):
            say(at, "\n")


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, required=True, metavar="CHECKOUT", help="a folder with another version of src/")
    parser.add_argument("--index", default="", help="an index of bench/hybrid.py")
    parser.add_argument("--quick", action="store_true", help="fewer vectors and rounds")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        answer_rounds(options.index, options.quick)
        return
    from dense import show

    NEEDS.check()
    for record in compare(options.other, options.index, options.quick):
        show(record, options.json)


if __name__ == "__main__":
    main()
