"""What the lexical engine finds: BM25, TF-IDF, n-grams and citation lookup on judged collections, compared with plain bm25s.

Reads the collections scifact, fr-labour, cjeu and irled2017 (BEIR folders) from the folder that the environment
variable LEXFUSE_DATA names. Development splits are the default; --test measures the test splits, which is for the end, not
for choosing. The peer's figures are those of bm25s on the same text, stemmed in the language of the collection (SciFact,
fr-labour) or cut at white space (cjeu, irled2017).

    python bench/quality_lexical.py [--test] [--only NAME] [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lexfuse.channels.citation import CitationLookup
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.ngram_tfidf import NGRAM_CHANNELS, NgramChoice, NgramTfIdf
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.channels.retriever import Retriever
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.annotation import with_languages
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations
from runner.needs import Needs

NEEDS = Needs(collections=("scifact", "fr-labour", "cjeu", "irled2017"))

PEERS = {
    "scifact test BM25 0.9/0.4": {"nDCG@100": 0.7017, "R@100": 0.9127},
    "fr-labour dev BM25 1.2/0.75": {"R@10": 0.236, "R@100": 0.555, "R@500": 0.717, "nDCG@10": 0.211, "RR@100": 0.310},
    "fr-labour test BM25 1.2/0.75": {"R@10": 0.227, "R@100": 0.4907, "R@500": 0.6567, "nDCG@10": 0.209, "RR@100": 0.2792},
    "cjeu test as printed BM25 1.2/0.75": {
        "R@1": 0.414, "R@5": 0.720, "R@10": 0.798, "R@20": 0.877, "nDCG@10": 0.651, "AP": 0.588, "RR": 0.650,
    },
    "cjeu test masked BM25 1.2/0.75": {
        "R@1": 0.563, "R@5": 0.813, "R@10": 0.869, "R@20": 0.903, "nDCG@10": 0.775, "AP": 0.721, "RR": 0.798,
    },
    "irled2017 all BM25 1.2/0.75": {"AP": 0.207, "P@10": 0.139, "R@50": 0.475, "R@100": 0.596, "RR": 0.477},
    "irled2017 all BM25 2.8/1.0": {"AP": 0.293, "P@10": 0.179, "R@50": 0.602, "R@100": 0.692, "RR": 0.621},
}  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """The figures of one run on one split."""

    what: str
    means: dict[str, float]

    def lines(self) -> Iterator[dict[str, object]]:
        """One object a measure, with the peer's figure where there is one."""
        for measure, ours in self.means.items():
            theirs = PEERS.get(self.what, {}).get(measure)
            yield {
                "metric": f"{self.what} {measure}",
                "ours": round(ours, 4),
                "peer": None if theirs is None else "bm25s",
                "theirs": theirs,
                "ratio": None if theirs is None else round(ours / theirs, 4),
            }

    def __str__(self) -> str:
        """One line to print."""
        peers = PEERS.get(self.what, {})
        shown = (f"{name} {mean:.4f}" + (f" ({peers[name]:.4f})" if name in peers else "") for name, mean in self.means.items())
        return f"{self.what:<44}" + "  ".join(shown)


@dataclass(frozen=True)
class Bench:
    """One collection with one of its splits, indexed in a folder."""

    name: str
    split: str
    collection: Collection
    queries: Queries
    folder: Path

    @classmethod
    def read(cls, data: Path, name: str, split: str, folder: Path) -> Bench:
        """A collection with the language of every document detected, as an import does."""
        collection = read_collection(data / name)
        queries = collection.queries
        assert queries is not None
        judged = queries.select([queries.ids.ordinal(id) for id in collection.qrels[split].queries])
        return cls(name, split, replace(collection, corpus=with_languages(collection.corpus)), judged, folder)

    def snapshot(self, settings: IndexSettings | None = None) -> Snapshot:
        """A new index of the whole corpus."""
        index = IndexFolder.create(self.folder / f"{self.name}-{len(list(self.folder.iterdir()))}", settings)
        index.add(self.collection.corpus)
        return index.snapshot()

    def measured(self, what: str, run: Run, measures: str) -> Measured:
        """The figures of a run."""
        means = evaluate(self.collection.qrels[self.split], run, measures).means
        return Measured(f"{self.name} {self.split} {what}", {str(measure): mean for measure, mean in means.items()})


def scifact(data: Path, folder: Path, *, test: bool, quick: bool) -> Iterator[Measured]:
    """Claims to abstracts, with the parameters of BRUCH."""
    bench = Bench.read(data, "scifact", "test" if test else "train", folder)
    run = BM25(bench.snapshot(), 0.9, 0.4).retrieve(bench.queries, 100)
    yield bench.measured("BM25 0.9/0.4", run, "nDCG@10 nDCG@100 R@100")


def labour(data: Path, folder: Path, *, test: bool, quick: bool) -> Iterator[Measured]:
    """Citizens' questions to articles, with citations as terms and without."""
    bench = Bench.read(data, "fr-labour", "test" if test else "dev", folder)
    measures = "R@10 R@100 R@500 RR@100 nDCG@10 AP@100"
    snapshot, plain = bench.snapshot(), bench.snapshot(IndexSettings(citations=False))
    yield bench.measured("BM25 1.2/0.75", BM25(snapshot).retrieve(bench.queries, 500), measures)
    yield bench.measured("BM25 1.2/0.75 no citations", BM25(plain).retrieve(bench.queries, 500), measures)
    yield bench.measured("TF-IDF", TfIdf(snapshot).retrieve(bench.queries, 500), measures)


def cjeu(data: Path, folder: Path, *, test: bool, quick: bool) -> Iterator[Measured]:
    """Paragraphs to the earlier paragraphs that they cite; the citation itself printed in the query, and masked."""
    bench = Bench.read(data, "cjeu", "test" if test else "dev", folder)
    measures = "R@1 R@5 R@10 R@20 nDCG@10 AP RR"
    snapshot = bench.snapshot(IndexSettings(stems=False, stop_words=False))  # quotations: words count as they are written
    retrievers: dict[str, Retriever] = {"BM25 1.2/0.75": BM25(snapshot)}
    if not quick:
        retrievers["BM25 1.2/0.75 stems"] = BM25(bench.snapshot())
        retrievers |= {f"TF-IDF-{n}gr": NgramTfIdf.fit(snapshot, NgramChoice(n=n)) for n in (1, 2)}
        retrievers["TF-IDF, pairs of words"] = NgramTfIdf.fit(snapshot, NGRAM_CHANNELS["tfidf-bigram"])
    masked = replace(bench.queries, text=tuple(mask_citations(text, DECISIONS) for text in bench.queries.text))
    for form, queries in (("as printed", bench.queries), ("masked", masked)):
        for name, retriever in retrievers.items():
            yield bench.measured(f"{form} {name}", retrieve_before(retriever, queries, 1000), measures)
    lookup = retrieve_before(CitationLookup(snapshot), bench.queries, 1000)
    yield bench.measured("as printed citation lookup", lookup, measures)


def irled(data: Path, folder: Path, *, test: bool, quick: bool) -> Iterator[Measured]:
    """Whole judgments to prior cases; the official set is all of it."""
    bench = Bench.read(data, "irled2017", "all" if test else "dev", folder)
    snapshot = bench.snapshot()
    for k1, b in ((1.2, 0.75), (2.8, 1.0)):
        run = BM25(snapshot, k1, b).retrieve(bench.queries, 2000)
        yield bench.measured(f"BM25 {k1}/{b}", run, "AP P@10 R@50 R@100 RR")


COLLECTIONS = {"scifact": scifact, "fr-labour": labour, "cjeu": cjeu, "irled2017": irled}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="test splits instead of development splits")
    parser.add_argument("--only", choices=COLLECTIONS, action="append", help="this collection (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="BM25 and citation lookup alone, without whole judgments")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    chosen = arguments.only or [name for name in COLLECTIONS if not (arguments.quick and name == "irled2017")]
    NEEDS.on(chosen).check()
    data = Path(os.environ["LEXFUSE_DATA"])
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            for measured in COLLECTIONS[name](data, Path(folder), test=arguments.test, quick=arguments.quick):
                for line in map(json.dumps, measured.lines()) if arguments.json else [str(measured)]:
                    print(line, flush=True)


if __name__ == "__main__":
    main()
