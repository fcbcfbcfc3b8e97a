"""Calibrate the confidence of the profiles that ``lexfuse demo`` ships again, after its models have changed.

    python scripts/calibrate-demo.py [--index fr-labour.index] [--profile words] [--profile hybrid] [--out FOLDER]

Reads fr-labour and fr-public from LEXFUSE_DATA. An index that is missing or has no vectors yet is made first, as the demo makes
it; a call that was interrupted resumes. The profile words is calibrated on fr-labour's train questions; hybrid on the dev
questions, since its model has learned the others, with those of fr-public as further judgements. Test splits are not read. Prints
how good each calibration is, cross-validated, and the error of exact probabilities on as many questions.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.queries import Queries
from lexfuse.index import Index
from lexfuse.optimisation.confidence import TunedConfidence, tune_confidence
from lexfuse.search.spec.reranker_specs import StructureSpec
from lexfuse.search.spec.spec import SearchSpec

ROOT = Path(__file__).parent.parent
PROFILES = ROOT / "src" / "lexfuse" / "cli" / "demo_profiles" / "french-labour-law"
OFF_TOPIC = ROOT / "tests" / "collections" / "off-topic" / "fr.calibration.jsonl"
MODEL = "fr-legal-passages"  # of documents
SPLITS = {"words": "train", "hybrid": "dev"}
CHANNELS = {"words": "bm25", "hybrid": "bm25,dense"}


def build(data: Path, index: Path, profiles: list[str]) -> None:
    """Make the index, and its vectors if a profile needs them; the import records which article cites which."""
    command, channels = str(Path(sys.executable).parent / "lexfuse"), ["--channels", "dense", "--model", MODEL, "--int8"]
    if not index.exists():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([command, "import", str(data / "fr-labour"), f"{folder}/fr-labour"], check=True)
            subprocess.run([command, "index", f"{folder}/fr-labour", str(index)], check=True)
    if "hybrid" in profiles:
        subprocess.run([command, "index", str(index), *channels], check=True)


def calibrate(index: Index, data: Path, profile: str) -> TunedConfidence:
    """The calibration of a profile, without an earlier one."""
    split = SPLITS[profile]
    own, others = (read_queries(data / name) for name in ("fr-labour", "fr-public"))
    asked, off_topic = Queries.of([*own, *others]), read_queries(OFF_TOPIC)
    judged = read_qrels(data / "fr-labour" / "qrels" / f"{split}.tsv", queries=own.ids)
    spec = SearchSpec.of(CHANNELS[profile], rerank=[StructureSpec()])
    if profile == "words":
        return tune_confidence(index.version, spec, (asked, judged), off_topic)
    further = read_qrels(data / "fr-public" / "qrels" / f"{split}.tsv", queries=others.ids)
    return tune_confidence(index.version, spec, (asked, judged), off_topic, further=further)


def main() -> None:
    """Calibrate, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=Path("fr-labour.index"))
    parser.add_argument("--profile", action="append", choices=tuple(SPLITS), help="Which profile [default: both].")
    parser.add_argument("--out", type=Path, default=PROFILES)
    given = parser.parse_args()
    profiles, data = given.profile or list(SPLITS), Path(os.environ.get("LEXFUSE_DATA", "data"))
    build(data, given.index, profiles)
    given.out.mkdir(parents=True, exist_ok=True)
    with Index.open(given.index) as index:
        for profile in profiles:
            tuned = calibrate(index, data, profile)
            tuned.spec.save(given.out / f"{profile}.toml")
            print(json.dumps({"profile": profile, "cross_validated": asdict(tuned.cross_validated)}), flush=True)


if __name__ == "__main__":
    main()
