"""What training buys and whether fusing still helps then: models before and after it, alone and with BM25 (FUSE, tables 4 and 6).

    python bench/fine_tuning.py COLLECTION INDEX CHANNEL [CHANNEL ...] [--test] [--before-query-date] [--masked]
                                [--where CONDITION] [--measures MEASURES] [--choose MEASURES] [--json]

COLLECTION is a folder with queries and splits, INDEX an index of its documents with the channels that are named, the one before
training first. BM25 (k1 1.2, b 0.75) is fused with each of them by TM2C2. Alpha is chosen on dev, in steps of 0.05, by the sum of
the measures of --choose; of equal sums the smallest change from 0.8 counts. With --test the test split is measured at the alpha
of dev, else dev itself.

--before-query-date ranks only documents that are earlier than the query. --masked takes the judgments that a query cites out of
its text. --where code="Code du travail" ranks only such documents, and asks only queries that have a judged one among them.
Marks: paired differences on the same queries by a randomisation test, all comparisons of a measure corrected together (max-T):
b from BM25, u from the same without BM25, z from the first channel (fused from fused); p < 0.05.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.distribution import levels_of
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import Retriever
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.significance import adjust_max_t
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Union
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.filters import Condition
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations
from runner.needs import Needs

NEEDS = Needs(
    inputs={
        "LEXFUSE_BENCH_COLLECTION": "a BEIR folder with dev judgements",
        "LEXFUSE_BENCH_TUNED_INDEX": "an index of it with channels dense-zero and dense",
    },
    arguments=("{LEXFUSE_BENCH_COLLECTION}", "{LEXFUSE_BENCH_TUNED_INDEX}", "dense-zero", "dense"),
    quick=False,
)

DEPTH = 1000
ALPHAS = np.linspace(0, 1, 21).round(2).tolist()
USUAL = 0.8
LEXICAL = "bm25"
LIMIT = 0.05


class Bench:
    """The systems over one index, asked the questions of two splits."""

    def __init__(self, options: argparse.Namespace, retrievers: dict[str, Retriever], snapshot: Snapshot) -> None:
        """Ask every retriever once; unions of them are made of that."""
        collection = read_collection(options.collection)
        if collection.queries is None:
            raise SystemExit("the collection has no queries")
        self.retrievers, self.options = retrievers, options
        splits = ("dev", "test") if options.test else ("dev",)
        if missing := [split for split in splits if split not in collection.qrels]:
            raise SystemExit(
                f"{options.collection} has no judgements of {missing[0]}; it has {', '.join(collection.qrels) or 'none'}"
            )
        self.within = Condition.parse(options.where).mask(snapshot) if options.where else None
        self.qrels = {split: self._ranked(collection.qrels[split], snapshot) for split in splits}
        if empty := [split for split, qrels in self.qrels.items() if not len(qrels)]:
            raise SystemExit(f"no judgement of {empty[0]} is of a document with {options.where}")
        self.queries = {split: self._asked(collection.queries, qrels) for split, qrels in self.qrels.items()}
        self.runs = {
            split: {name: self._run(one, asked) for name, one in retrievers.items()} for split, asked in self.queries.items()
        }

    def measured(self) -> list[dict[str, Any]]:
        """One record a system."""
        split = "test" if self.options.test else "dev"
        systems: dict[str, Run] = {LEXICAL: self.runs[split][LEXICAL]}
        alphas: dict[str, float] = {}
        for channel in self.options.channels:
            systems[channel] = self.runs[split][channel]
            name = f"{channel} + {LEXICAL}"
            alphas[name] = self._chosen(channel)
            systems[name] = _fused(self._union(split, channel), alphas[name])
        return self._records(split, systems, alphas)

    def _ranked(self, qrels: Qrels, snapshot: Snapshot) -> Qrels:
        """The judgements of documents that are ranked."""
        if self.within is None:
            return qrels
        ranked = {id for id, fits in zip(snapshot.ids, self.within.tolist(), strict=True) if fits}
        return Qrels.of(
            (query, doc, grade) for query, judged in qrels.as_dict().items() for doc, grade in judged.items() if doc in ranked
        )

    def _asked(self, queries: Queries, qrels: Qrels) -> Queries:
        asked = queries.select([queries.ids.ordinal(query) for query in qrels.queries])
        if not self.options.masked:
            return asked
        return Queries.of(replace(query, text=mask_citations(query.text, DECISIONS)) for query in asked)

    def _run(self, retriever: Retriever, asked: Queries) -> Run:
        if self.options.before_query_date:
            return retrieve_before(retriever, asked, DEPTH, within=self.within)
        return retriever.retrieve(asked, DEPTH, within=self.within)

    def _union(self, split: str, channel: str) -> Union:
        members = [self.retrievers[name] for name in (LEXICAL, channel)]
        union = union_of([self.runs[split][name] for name in (LEXICAL, channel)], members, self.queries[split])
        return replace(union, levels=tuple(levels_of(one) for one in members))

    def _chosen(self, channel: str) -> float:
        """The best alpha on dev."""
        union = self._union("dev", channel)
        worth = {}
        for alpha in ALPHAS:
            means = evaluate(self.qrels["dev"], _fused(union, alpha), self.options.choose).means
            worth[alpha] = (round(sum(map(float, means.values())), 6), -abs(alpha - USUAL))
        return max(worth, key=lambda alpha: worth[alpha])

    def _records(self, split: str, systems: dict[str, Run], alphas: dict[str, float]) -> list[dict[str, Any]]:
        found = {name: evaluate(self.qrels[split], run, self.options.measures) for name, run in systems.items()}
        first = self.options.channels[0]
        pairs = []
        for name in systems:
            alone = name.removesuffix(f" + {LEXICAL}")
            others = {"b": LEXICAL, "u": alone, "z": first if alone == name else f"{first} + {LEXICAL}"}
            pairs += [(name, mark, other) for mark, other in others.items() if other in systems and other != name != LEXICAL]
        marks: dict[tuple[str, str], str] = {}
        for measure in self.options.measures.split():
            values = {name: one.values(measure) for name, one in found.items()}
            adjusted = adjust_max_t([values[name] - values[other] for name, _, other in pairs])
            for (name, mark, _), p in zip(pairs, adjusted.tolist(), strict=True):
                if p < LIMIT:
                    marks[name, measure] = marks.get((name, measure), "") + mark
        return [
            {"split": split, "queries": len(self.queries[split]), "system": name, "alpha": alphas.get(name)}
            | {str(measure): round(float(value), 4) for measure, value in one.means.items()}
            | {"marks": [f"{measure} {marks[name, str(measure)]}" for measure in one.means if (name, str(measure)) in marks]}
            for name, one in found.items()
        ]


def _fused(union: Union, alpha: float) -> Run:
    return union.ranked_by("fused", TM2C2(alpha).scores(union), DEPTH)


def main() -> None:
    """Print one line a system."""
    parser = argparse.ArgumentParser(description="Models before and after training, alone and fused with BM25")
    parser.add_argument("collection", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("channels", nargs="+")
    parser.add_argument("--test", action="store_true", help="measure the test split, at what was chosen on dev")
    parser.add_argument("--before-query-date", action="store_true", help="rank only documents that are earlier than the query")
    parser.add_argument("--masked", action="store_true", help="without the judgments that a query cites")
    parser.add_argument("--where", help="rank only documents that fulfil a condition, such as code=...")
    parser.add_argument("--measures", default="R@10 R@100 R@500 nDCG@10 RR@100")
    parser.add_argument("--choose", default="R@10 R@100", help="measures whose sum chooses alpha on dev")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    with IndexFolder(options.index) as index, index.snapshot() as snapshot:
        retrievers = {LEXICAL: open_retriever(snapshot, LEXICAL, k1=1.2, b=0.75)}
        retrievers |= {name: open_retriever(snapshot, name) for name in options.channels}
        for record in Bench(options, retrievers, snapshot).measured():
            marks = dict(mark.rsplit(" ", 1) for mark in record["marks"])
            shown = "  ".join(
                f"{name} {value:.4f}{marks.get(name, '')}" if isinstance(value, float) else f"{name} {value}"
                for name, value in record.items()
                if value is not None and name != "marks"
            )
            print(json.dumps(record, ensure_ascii=False) if options.json else shown, flush=True)


if __name__ == "__main__":
    main()
