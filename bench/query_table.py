"""SPLADE with query weights by table compared with the model for queries: recall and nDCG@10 on fr-labour and fr-public.

    LEXFUSE_DATA=FOLDER python bench/query_table.py INDEX TABLE [--test] [--json]

The questions are those of the dev splits; --test takes the test split of fr-labour instead. Also the milliseconds of processor
time to encode a question, and to encode it and find the best 100, one question at a time, the shortest of three rounds. INDEX is
an index of fr-labour with a channel `splade` by fr-legal-splade, TABLE a folder by `lexfuse train query-table` or the folder
`queries` of `lexfuse train splade --query-table`. "ours" is the table, the peer the model; both search the same vectors of
documents, by dot product. A ratio above 1 means that the table is better.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.encode.encoder import Side
from lexfuse.encode.query_table import QueryTable
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.storage.folder_snapshot import open_snapshot
from runner.needs import Needs

NEEDS = Needs(
    collections=("fr-labour", "fr-public"),
    inputs={"LEXFUSE_BENCH_SPLADE": "an index of fr-labour with a channel splade", "LEXFUSE_BENCH_TABLE": "a query table"},
    arguments=("{LEXFUSE_BENCH_SPLADE}", "{LEXFUSE_BENCH_TABLE}"),
    quick=False,
)
MODEL, MEASURES = "fr-legal-splade", "R@10 R@100 R@500 nDCG@10"
DEV, TEST = (("fr-labour", "dev"), ("fr-public", "dev")), (("fr-labour", "test"),)
ROUNDS = 3


def judged(collection: str, split: str) -> tuple[Queries, Qrels]:
    """The questions of a split with their judgements."""
    folder = Path(os.environ["LEXFUSE_DATA"], collection)
    report = ReadReport()
    every = read_queries(folder / "queries.jsonl.gz", report)
    qrels = read_qrels(folder / "qrels" / f"{split}.tsv", report, queries=every.ids)
    return Queries.of(every.query(id) for id in qrels.queries), qrels


def encode(encoder: QueryTable | SparseEncoder, question: Query) -> None:
    """Encode one question."""
    encoder.encode([question.text], Side.QUERY)


def search(retriever: SparseRetriever, question: Query) -> None:
    """Encode one question and find the best 100."""
    retriever.retrieve(Queries.of([question]), 100)


def milliseconds(work: Callable[[Query], object], queries: Queries) -> float:
    """Processor time of a question, the shortest of some rounds."""
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for id in queries.ids:
            work(queries.query(id))
        taken.append(time.process_time() - start)
    return 1000 * min(taken) / len(queries.ids)


def main() -> None:
    """Print measures and times."""
    parser = argparse.ArgumentParser(description="SPLADE queries by table compared with the model")
    parser.add_argument("index", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--test", action="store_true", help="the test questions of fr-labour instead of dev")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()

    def show(metric: str, ours: float, theirs: float, ratio: float) -> None:
        record = {"metric": metric, "ours": ours, "peer": MODEL, "theirs": theirs, "ratio": ratio}
        print(json.dumps(record) if options.json else f"{metric}: table {ours:.4f}, model {theirs:.4f}", flush=True)

    encoders = (QueryTable.load(options.table), SparseEncoder.load(MODEL, threads=1))
    with open_snapshot(options.index) as snapshot:
        retrievers = [SparseRetriever(snapshot, encoder=encoder) for encoder in encoders]
        for collection, split in TEST if options.test else DEV:
            queries, qrels = judged(collection, split)
            found = [evaluate(qrels, retriever.retrieve(queries, 500), MEASURES).means for retriever in retrievers]
            for measure in found[0]:
                ours, theirs = (float(means[measure]) for means in found)
                show(f"{measure} {collection} {split} ({len(queries.ids)} questions)", ours, theirs, ours / theirs)
        encoded = [milliseconds(partial(encode, encoder), queries) for encoder in encoders]
        show("ms of processor time to encode a question", encoded[0], encoded[1], encoded[1] / encoded[0])
        whole = [milliseconds(partial(search, retriever), queries) for retriever in retrievers]
        show("ms of processor time to encode and search", whole[0], whole[1], whole[1] / whole[0])


if __name__ == "__main__":
    main()
