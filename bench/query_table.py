"""SPLADE with query weights by table beside the model for queries: R@100 and nDCG@10 on fr-labour dev.

    LEXFUSE_DATA=FOLDER python bench/query_table.py INDEX TABLE [--json]

INDEX is an index of fr-labour with a channel `splade` by fr-legal-splade, TABLE a folder by `lexfuse train query-table` or the
folder `queries` of `lexfuse train splade --query-table`. "ours" is the table, the peer the model; both search the same vectors of
documents, by dot product. A ratio above 1 means that the table is better.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.queries import Queries
from lexfuse.encode.query_table import QueryTable
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.storage.folder_snapshot import open_snapshot
from runner.needs import Needs

NEEDS = Needs(
    collections=("fr-labour",),
    inputs={"LEXFUSE_BENCH_SPLADE": "an index of fr-labour with a channel splade", "LEXFUSE_BENCH_TABLE": "a query table"},
    arguments=("{LEXFUSE_BENCH_SPLADE}", "{LEXFUSE_BENCH_TABLE}"),
    quick=False,
)
MODEL, MEASURES = "fr-legal-splade", "R@100 nDCG@10"


def main() -> None:
    """Print both measures."""
    parser = argparse.ArgumentParser(description="SPLADE queries by table beside the model")
    parser.add_argument("index", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    collection = read_collection(Path(os.environ["LEXFUSE_DATA"], "fr-labour"))
    if collection.queries is None:
        raise SystemExit("nothing was measured: fr-labour has no queries")
    qrels = collection.qrels["dev"]
    asked = Queries.of(collection.queries.query(id) for id in qrels.queries)
    with open_snapshot(options.index) as snapshot:
        found = [
            evaluate(qrels, SparseRetriever(snapshot, encoder=encoder).retrieve(asked, 100), MEASURES).means
            for encoder in (QueryTable.load(options.table), SparseEncoder.load(MODEL))
        ]
    for measure in found[0]:
        ours, theirs = (float(means[measure]) for means in found)
        record = {"metric": f"{measure} fr-labour dev", "ours": ours, "peer": MODEL, "theirs": theirs, "ratio": ours / theirs}
        print(json.dumps(record) if options.json else f"{measure}: table {ours:.4f}, model {theirs:.4f}", flush=True)


if __name__ == "__main__":
    main()
