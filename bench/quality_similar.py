"""Whole judgments as queries on irled2017: 200 judgments of some 4,700 words, 2,000 prior cases, five relevant each.

    python bench/quality_similar.py [--data FOLDER] [--quick] [--json] [--index FOLDER] [--runs FOLDER]

Reads the collection irled2017 (a BEIR folder) from the folder that --data or the environment variable LEXFUSE_DATA names. Marks
where citations stood ("[?CITATION?]") are removed from the queries. Parameters of every system are tuned on the 100 judgments of
train (mean AP); between variants of a system (which share of terms, what a term counts) the 40 of dev choose; test and all are
only reported. The table ends with paired t-tests of AP against BM25 with the parameters of RPRS, corrected by Holm over all rows,
once on all judgments and once on test. Theirs are the figures of bm25s on words cut at white space.

Rows are functions from the `Bench` to a `Row` in `SYSTEMS`: those that rerank take the run of "BM25+KLI tuned" as their first
stage, from `Bench.rows`. With --index the index is kept there, and is used if it is there already (with its channels); --runs
writes every run as a TREC file.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from lexfuse.data.beir import Collection, read_collection
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.data.trec import write_run
from lexfuse.evaluate import compare, evaluate
from lexfuse.index.index import Index
from lexfuse.index.snapshot import Snapshot
from lexfuse.retrieve.bm25 import BM25
from lexfuse.retrieve.informative import InformativeBM25
from lexfuse.text.annotate import with_languages
from lexfuse.text.kli import TermChoice, TermWeight

DEPTH = 2000  # the whole collection: AP is over full rankings
BASELINE = "BM25 2.8/1.0"
MARK = "[?CITATION?]"
MEASURES = "AP P@10 R@50 R@100 RR"
SPLITS = ("train", "dev", "test", "all")
K1S = (1.2, 2.8, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0)
B_S = (0.75, 0.9, 1.0)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
PEERS = {
    "BM25 1.2/0.75": {"AP": 0.207, "P@10": 0.139, "R@50": 0.475, "R@100": 0.596, "RR": 0.477},
    "BM25 2.8/1.0": {"AP": 0.293, "P@10": 0.179, "R@50": 0.602, "R@100": 0.692, "RR": 0.621},
    "BM25+KLI 2.8/1.0": {"AP": 0.288, "P@10": 0.184, "R@50": 0.610, "R@100": 0.722, "RR": 0.570},
}


@dataclass(frozen=True)
class Row:
    """One system: what was chosen for it, and its rankings of all judgments."""

    name: str
    chosen: str
    run: Run


@dataclass
class Bench:
    """The collection, its index, and the rows made so far."""

    collection: Collection
    queries: Queries
    snapshot: Snapshot
    quick: bool = False
    rows: dict[str, Row] = field(default_factory=dict)

    def mean(self, split: str, run: Run, measures: str = "AP") -> dict[str, float]:
        """Means of measures over the judgments of a split."""
        return {str(name): mean for name, mean in evaluate(self.collection.qrels[split], run, measures).means.items()}

    def best(self, split: str, runs: Iterable[tuple[str, Run]]) -> tuple[str, Run]:
        """The run with the highest mean AP on a split, the first where several have it."""
        return max(runs, key=lambda named: self.mean(split, named[1])["AP"])

    def tuned(self, bm25: BM25) -> tuple[str, Run]:
        """BM25 on the terms that it reads, with the k1 and b that are best on train."""
        encoded = bm25.read(self.queries)

        def runs() -> Iterator[tuple[str, Run]]:
            for k1, b in product(K1S[1::3] if self.quick else K1S, B_S[-1:] if self.quick else B_S):
                yield f"k1={k1:g} b={b:g}", replace(bm25, k1=k1, b=b).rank(self.queries, encoded, DEPTH)

        return self.best("train", runs())


def plain(k1: float, b: float) -> Callable[[Bench], Row]:
    """BM25 on every word of the judgment."""

    def row(bench: Bench) -> Row:
        run = BM25(bench.snapshot, k1, b).retrieve(bench.queries, DEPTH)
        return Row(f"BM25 {k1:g}/{b:g}" if b != 1 else f"BM25 {k1:g}/1.0", "", run)

    return row


def plain_tuned(bench: Bench) -> Row:
    """BM25 on every word, k1 and b tuned."""
    return Row("BM25 tuned", *bench.tuned(BM25(bench.snapshot)))


def informative(bench: Bench) -> Row:
    """BM25+KLI as RPRS has it: the best tenth of the terms, once each."""
    run = InformativeBM25(bench.snapshot, 2.8, 1.0, choice=TermChoice(0.1)).retrieve(bench.queries, DEPTH)
    return Row("BM25+KLI 2.8/1.0", "10 % once", run)


def informative_tuned(bench: Bench) -> Row:
    """BM25+KLI: k1 and b of every variant tuned on train, the variant chosen on dev."""

    def variants() -> Iterator[tuple[str, Run]]:
        for share, weight in product(SHARES[1::2] if bench.quick else SHARES, list(TermWeight)[: 1 if bench.quick else 3]):
            chosen, run = bench.tuned(InformativeBM25(bench.snapshot, choice=TermChoice(share, weight)))
            yield f"{share:.0%} {weight.value} {chosen}", run

    return Row("BM25+KLI tuned", *bench.best("dev", variants()))


SYSTEMS: Sequence[Callable[[Bench], Row]] = (plain(1.2, 0.75), plain(2.8, 1.0), plain_tuned, informative, informative_tuned)


def measured(bench: Bench) -> Iterator[dict[str, Any]]:
    """One record a system: AP on every split, the other measures on all."""
    for system in SYSTEMS:
        row = system(bench)
        row = replace(row, run=replace(row.run, name=row.name))
        bench.rows[row.name] = row
        precision = {f"AP {split}": round(bench.mean(split, row.run)["AP"], 4) for split in SPLITS}
        others = {name: round(mean, 4) for name, mean in bench.mean("all", row.run, MEASURES).items() if name != "AP"}
        yield {"system": row.name, "chosen": row.chosen} | precision | others


def tests(bench: Bench) -> Iterator[dict[str, Any]]:
    """Paired t-tests of AP against the baseline, on all judgments and on test."""
    runs = [row.run for row in bench.rows.values()]
    for split in ("all", "test"):
        comparison = compare(bench.collection.qrels[split], runs, "AP", baseline=BASELINE)
        for name in bench.rows:
            paired = comparison.row(name, "AP").paired
            if paired is not None:
                difference = round(comparison.row(name, "AP").difference, 4)
                yield {
                    "system": name, "split": split, "difference": difference, "p": float(f"{paired.p:.2g}"),
                    "adjusted p": float(f"{paired.adjusted_p:.2g}"), "wins": paired.wins, "losses": paired.losses,
                }  # fmt: skip


def against_peers(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One record a measure on all judgments, with the peer's figure where there is one."""
    theirs = PEERS.get(record["system"], {})
    ours = {"AP": record["AP all"]} | {name: record[name] for name in MEASURES.split()[1:]}
    for name, value in ours.items():
        peer = theirs.get(name)
        yield {
            "metric": f"irled2017 all {record['system']} {name}", "ours": value, "peer": None if peer is None else "bm25s",
            "theirs": peer, "ratio": None if peer is None else round(value / peer, 4),
        }  # fmt: skip


def opened(data: Path, folder: Path, *, quick: bool) -> Bench:
    """The collection with its index, built if it is not there."""
    collection = read_collection(data / "irled2017")
    queries = collection.queries
    assert queries is not None
    queries = replace(queries, text=tuple(text.replace(MARK, " ") for text in queries.text))
    index = Index(folder) if folder.exists() else Index.create(folder, documents=with_languages(collection.corpus))
    return Bench(collection, queries, index.snapshot(), quick)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("LEXFUSE_DATA"), help="folder of the collections")
    parser.add_argument("--index", type=Path, help="where the index is kept; a temporary folder if not given")
    parser.add_argument("--runs", type=Path, help="a folder to write the runs to")
    parser.add_argument("--quick", action="store_true", help="a coarse grid")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the folder of the collections with --data or LEXFUSE_DATA")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.index or Path(temporary, "irled2017.index")
        bench = opened(Path(arguments.data), folder, quick=arguments.quick)
        for record in measured(bench):
            if arguments.json:
                print("\n".join(map(json.dumps, against_peers(record))), flush=True)
            else:
                _print(record)
        for record in tests(bench):
            print(json.dumps(record)) if arguments.json else _print(record)
        for row in bench.rows.values() if arguments.runs else ():
            write_run(row.run, arguments.runs / f"{row.name.replace(' ', '-').replace('/', '-')}.trec.gz")


def _print(record: dict[str, Any]) -> None:
    name, *values = record.items()
    print(f"{name[1]:<20}" + "  ".join(f"{key} {value}" for key, value in values), flush=True)


if __name__ == "__main__":
    main()
