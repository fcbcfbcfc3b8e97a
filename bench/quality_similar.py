"""Whole judgments as queries on irled2017: 200 judgments of some 4,700 words, 2,000 prior cases, five relevant each.

    python bench/quality_similar.py [--test] [--data FOLDER] [--quick] [--json] [--index FOLDER] [--runs FOLDER]
                                    [--embedding-cache FILE]

Reads the collection irled2017 (a BEIR folder) from the folder that --data or the environment variable LEXFUSE_DATA names. Marks
where citations stood ("[?CITATION?]") are removed from the queries. Parameters of every system are tuned on the 100 judgments of
train (mean AP); between variants of a system (which share of terms, what a term counts) the 40 of dev choose; test and all are
only reported. The table ends with paired t-tests of AP against BM25 with the parameters of RPRS, corrected by Holm over all rows,
once on all judgments and once on test. Theirs are the figures of bm25s on words cut at white space.

Rows are functions from the `Bench` to a `Row` in `SYSTEMS`: those that rerank take the run of "BM25+KLI tuned" as their first
stage, from `Bench.rows`. They need a channel `sentences` in the index that --index names (lexfuse index INDEX --channels
sentences --storage int8: 860,000 sentences by all-MiniLM-L6-v2, some hours on two cores), and are left out without. Sentences of
the queries are kept in --embedding-cache. Without --test only train and dev are shown. --runs writes every run as a TREC file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from judgments.irled2017 import COARSE, DEPTH, SENTENCES, Judgments, options, read_options, show
from lexfuse.advice.evidence.length_bias import length_bias
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.bm25_kli import BM25Kli
from lexfuse.data.arrays import I64
from lexfuse.data.formats.trec_run import write_run
from lexfuse.data.run import Run
from lexfuse.evaluation.comparison import compare
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import MinMax, ZScore
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation.birch_weights import tune_birch
from lexfuse.optimisation.fusion_weights import tune_weights
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsSurface, tuned_rprs
from lexfuse.rerank.birch import Birch
from lexfuse.rerank.reranker import first_documents
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sdr import Sdr
from lexfuse.rerank.sentence_scores import DenseSentences, SentenceMatch
from lexfuse.text.kli import TermChoice, TermWeight

BASELINE = "BM25 2.8/1.0"
MEASURES = "AP P@10 R@50 R@100 RR"
SPLITS = ("train", "dev", "test", "all")
K1S = (1.2, 2.8, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0)
B_S = (0.75, 0.9, 1.0)
GRID = RprsGrid(depth=(50, 100, 200, 400))
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
class Bench(Judgments):
    """The collection, its index, and the rows made so far."""

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

    @cached_property
    def lengths(self) -> I64:
        """Words of every document."""
        return np.array([len(text.split()) for text in self.snapshot.column("text")], dtype=np.int64)

    @property
    def first(self) -> Run:
        """The rankings that are reranked."""
        return self.rows["BM25+KLI tuned"].run

    def surface(self, split: str) -> RprsSurface:
        """The mean AP of RPRS on a split, over its parameters."""
        qrels = self.collection.qrels[split]
        return rprs_surface(Rprs(self.sentences), self.queries, self.first, qrels, "AP", COARSE if self.quick else GRID)

    @cached_property
    def surfaces(self) -> tuple[RprsSurface, RprsSurface]:
        """Those of train and dev."""
        return self.surface("train"), self.surface("dev")


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
    run = BM25Kli(bench.snapshot, 2.8, 1.0, choice=TermChoice(0.1)).retrieve(bench.queries, DEPTH)
    return Row("BM25+KLI 2.8/1.0", "10 % once", run)


def informative_tuned(bench: Bench) -> Row:
    """BM25+KLI: k1 and b of every variant tuned on train, the variant chosen on dev."""

    def variants() -> Iterator[tuple[str, Run]]:
        for share, weight in product(SHARES[1::2] if bench.quick else SHARES, list(TermWeight)[: 1 if bench.quick else 3]):
            chosen, run = bench.tuned(BM25Kli(bench.snapshot, choice=TermChoice(share, weight)))
            yield f"{share:.0%} {weight.value} {chosen}", run

    return Row("BM25+KLI tuned", *bench.best("dev", variants()))


def rprs(frequency: bool) -> Callable[[Bench], Row]:
    """RPRS over the sentences; n, depth and with frequencies k1 and b tuned on train."""

    def row(bench: Bench) -> Row:
        point = tuned_rprs(*bench.surfaces, frequency=frequency).point
        run = point.reranker(bench.sentences).rerank(bench.queries, bench.first, depth=point.depth)
        chosen = f"n={point.n} depth={point.depth}" + (f" k1={point.k1:g} b={point.b:g}" if frequency else "")
        return Row("RPRS w/freq" if frequency else "RPRS", chosen, run)

    return row


def sdr(bench: Bench) -> Row:
    """SDR; the depth chosen on train."""

    def runs() -> Iterator[tuple[str, Run]]:
        for depth in COARSE.depth if bench.quick else GRID.depth[:3]:
            yield f"depth={depth}", Sdr(bench.sentences, depth).rerank(bench.queries, bench.first, depth=depth)

    return Row("SDR", *bench.best("train", runs()))


def birch(bench: Bench) -> Row:
    """Birch with sentences by the bi-encoder: a and weights tuned on train, how sentences meet the query chosen on dev."""

    def variants() -> Iterator[tuple[str, Run]]:
        for match in SentenceMatch:
            start = Birch(DenseSentences(bench.sentences, match), 100)
            tuned = tune_birch(start, bench.queries, bench.first, bench.collection.qrels["train"], "AP").birch
            chosen = f"{match.value} a={tuned.a:g} weights={'/'.join(f'{weight:g}' for weight in tuned.weights)}"
            yield chosen, tuned.rerank(bench.queries, bench.first, depth=100)

    return Row("Birch", *bench.best("dev", variants()))


def fused(bench: Bench) -> Row:
    """The best of RPRS and the lexical runs, fused: weights tuned on train, sources and normaliser chosen on dev."""
    depth = tuned_rprs(*bench.surfaces).point.depth
    sources = {name: bench.rows[name].run for name in ("BM25 tuned", "BM25+KLI tuned")}
    sources |= {name: first_documents(bench.rows[name].run, depth) for name in ("RPRS", "RPRS w/freq", "SDR")}
    train = bench.collection.qrels["train"]

    def variants() -> Iterator[tuple[str, Run]]:
        for size in (2, 3, 4):
            for names in combinations(sources, size):
                union = union_of([sources[name] for name in names])
                for normaliser in (MinMax(), ZScore()):
                    tuned = tune_weights(union, Convex(None, normaliser), train, "AP")
                    weights = "/".join(f"{weight:.2f}" for weight in tuned.weights)
                    yield f"{' + '.join(names)}, {normaliser.name} {weights}", tuned.fusion.fused(union, DEPTH)

    return Row("fusion", *bench.best("dev", variants()))


LEXICAL: Sequence[Callable[[Bench], Row]] = (plain(1.2, 0.75), plain(2.8, 1.0), plain_tuned, informative, informative_tuned)
RERANKED: Sequence[Callable[[Bench], Row]] = (rprs(False), rprs(True), sdr, birch, fused)


def measured(bench: Bench, splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One record a system: AP on every split, the other measures and the length bias (RPRS, table 8) on the last."""
    for system in [*LEXICAL, *(RERANKED if SENTENCES in bench.snapshot.channels else ())]:
        row = system(bench)
        row = replace(row, run=replace(row.run, name=row.name))
        bench.rows[row.name] = row
        precision = {f"AP {split}": round(bench.mean(split, row.run)["AP"], 4) for split in splits}
        others = {name: round(mean, 4) for name, mean in bench.mean(splits[-1], row.run, MEASURES).items() if name != "AP"}
        bias = length_bias(row.name, row.run, bench.lengths, bench.collection.qrels[splits[-1]], cutoff=50)
        yield {"system": row.name, "chosen": row.chosen} | precision | others | {"length": round(bias.pearson, 3)}


def tests(bench: Bench, splits: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Paired t-tests of AP against the baseline."""
    runs = [row.run for row in bench.rows.values()]
    for split in splits:
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
    split = "all" if "AP all" in record else "dev"
    ours = {"AP": record[f"AP {split}"]} | {name: record[name] for name in MEASURES.split()[1:]}
    for name, value in ours.items():
        peer = theirs.get(name) if split == "all" else None
        yield {
            "metric": f"irled2017 {split} {record['system']} {name}", "ours": value, "peer": None if peer is None else "bm25s",
            "theirs": peer, "ratio": None if peer is None else round(value / peer, 4),
        }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--runs", type=Path, help="a folder to write the runs to")
    parser.add_argument("--test", action="store_true", help="show test and all besides train and dev: look once")
    with read_options(parser) as asked:
        bench = Bench.opened(asked.data, asked.index, asked.embedding_cache, quick=asked.quick)
        for record in measured(bench, SPLITS if asked.test else SPLITS[:2]):
            for one in against_peers(record) if asked.json else (record,):
                show(one, as_json=asked.json)
        for record in tests(bench, ("all", "test") if asked.test else ("dev",)):
            show(record, as_json=asked.json)
        for row in bench.rows.values() if asked.runs else ():
            name = row.name.replace(" ", "-").replace("/", "-")
            write_run(row.run, asked.runs / f"{name}.trec.gz", tag=name)


if __name__ == "__main__":
    main()
