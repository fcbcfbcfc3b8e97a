"""How many judged queries tuning takes, on SciFact (BRUCH, figure 12): alpha tuned on 5 % … 100 % of the train claims.

    python bench/sample_efficiency.py [--json] [--folder FOLDER] [--out FILE.json] [--svg FILE.svg]

BM25 (k1 0.9, b 0.4) and all-MiniLM-L6-v2 as in bench/quality_fusion.py, 1,000 documents each, theoretical min-max; nDCG@1000 on
the 300 test claims, which nothing is chosen by. Five trials for each share. The goal: alpha from 5 % of the train claims is
within 0.01 of alpha from all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from lexfuse.advice.report.charts.axes import AxisLabels
from lexfuse.advice.report.charts.line_chart import ReferenceLevel, Series, line_chart
from lexfuse.advice.report.charts.svg import ChartSize, standalone
from lexfuse.channels.registry import open_retriever
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.qrels import Qrels
from lexfuse.fusion.tm2c2 import TM2C2
from lexfuse.fusion.union import Union
from lexfuse.optimisation.weight_studies import TRIALS, SampleEfficiency, sample_efficiency
from lexfuse.search.candidates import retrieve_union
from quality_fusion import CHANNEL, opened

MEASURE = "nDCG@1000"
GOAL = 0.01


def measured(folder: Path) -> SampleEfficiency:
    """Tune on samples of train, measure on test."""
    collection = read_collection(Path(os.environ["LEXFUSE_DATA"], "scifact"))
    queries = collection.queries
    if queries is None:
        raise SystemExit("scifact has no queries")
    with opened(folder) as index, index.snapshot() as snapshot:
        members = [open_retriever(snapshot, "bm25", k1=0.9, b=0.4), open_retriever(snapshot, CHANNEL)]
        judged: dict[str, tuple[Union, Qrels]] = {}
        for split in ("train", "test"):
            qrels = collection.qrels[split]
            asked = queries.select([queries.ids.ordinal(query) for query in qrels.queries])
            judged[split] = retrieve_union(members, asked, 1000), qrels
    return sample_efficiency(judged["train"], judged["test"], TM2C2(), MEASURE)


def drawn(found: SampleEfficiency) -> str:
    """The curve with its band, beside equal weights and all train claims."""
    band = tuple((one.low, one.high) for one in found.band)
    curve = Series("tuned on a sample", tuple(100 * share for share in found.shares), tuple(found.means), band=band, dots=True)
    tuned = f"alpha tuned on shares of {found.queries[-1]} train claims, {TRIALS} trials"
    says = f"{MEASURE} on {found.test_queries} test claims, {tuned}"
    labels = AxisLabels("SciFact: how many judged claims alpha needs", "train claims, %", MEASURE, says)
    levels = (ReferenceLevel("all train claims", found.full), ReferenceLevel("equal weights", found.equal))
    return standalone(line_chart([curve], labels, levels=levels, size=ChartSize(720, 420)))


def main() -> None:
    """Print a line for every share, and whether the goal is met."""
    parser = argparse.ArgumentParser(description="sample efficiency of alpha on SciFact")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--folder", type=Path, help="where the index is kept; a temporary folder if not given")
    parser.add_argument("--out", type=Path, help="a JSON file for everything that was found")
    parser.add_argument("--svg", type=Path, help="a chart of it")
    options = parser.parse_args()
    if "LEXFUSE_DATA" not in os.environ:
        raise SystemExit("set LEXFUSE_DATA to the folder that holds scifact")
    with tempfile.TemporaryDirectory() as temporary:
        found = measured((options.folder or Path(temporary)) / "scifact.index")
    if options.out:
        options.out.write_text(json.dumps(found.as_json(), indent=2) + "\n")
    if options.svg:
        options.svg.write_text(drawn(found))
    if options.json:
        print(json.dumps(found.as_json()))
        return
    for at, share in enumerate(found.shares):
        alphas = found.weights[at][:, 1]
        print(
            f"{share:5.0%} {found.queries[at]:4d} claims  {MEASURE} {found.means[at]:.4f} "
            f"[{found.band[at].low:.4f}, {found.band[at].high:.4f}]  alpha {alphas.min():.3f} to {alphas.max():.3f}"
        )
    away = found.full - found.means[0]
    print(f"equal weights {found.equal:.4f}; all train claims {found.full:.4f}; from 5 % {away:+.4f} less (goal: below {GOAL})")


if __name__ == "__main__":
    main()
