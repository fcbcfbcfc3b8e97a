"""BM25F compared with BM25 on judged collections: parameters chosen on dev, then measured on test.

    LEXFUSE_DATA=FOLDER python bench/bm25f.py [--test] [--quick] [--json]

Reads fr-labour and fr-citizen (articles with titles and headings) and cjeu (paragraphs without either, masked queries, earlier
paragraphs as candidates). BM25 counts the words of all fields alike, as an index does by default: with k1 = 1.2 and b = 0.75, and
with both chosen on dev. BM25F has a weight and a b for each field. Its parameters are chosen on dev, one after the other, twice
around (--quick: once), by nDCG@10. --test measures the choices on the test split too, which is for the end, not for choosing.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.bm25f import BM25F, FieldWeight
from lexfuse.channels.retriever import Retriever
from lexfuse.data.run import Run
from lexfuse.evaluation.comparison import compare
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations
from quality_lexical import Bench
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour", "fr-citizen", "cjeu"))

CHOSEN_BY, ALSO = "nDCG@10", "R@10 R@100"
K1, WEIGHTS, BS = (0.6, 0.9, 1.2, 1.6, 2.0, 3.0), (0.125, 0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 0.2, 0.4, 0.6, 0.75, 0.9, 1.0)
SETTINGS = {
    "fr-labour": IndexSettings(),
    "fr-citizen": IndexSettings(),
    "cjeu": IndexSettings(stems=False, stop_words=False),
}
Score = Callable[[Retriever], float]


class Split:
    """A split of a collection, and how its queries are ranked."""

    def __init__(self, data: Path, name: str, split: str, folder: Path) -> None:
        self._bench = Bench.read(data, name, split, folder)
        self._temporal = name == "cjeu"
        queries = self._bench.queries
        if self._temporal:
            queries = replace(queries, text=tuple(mask_citations(text, DECISIONS) for text in queries.text))
        self._queries, self.qrels = queries, self._bench.collection.qrels[split]
        self.name, self.split = name, split

    def run(self, retriever: Retriever) -> Run:
        """The best 100 documents of every query."""
        retrieve: Any = retrieve_before if self._temporal else type(retriever).retrieve
        found: Run = retrieve(retriever, self._queries, 100)
        return found

    def snapshot(self) -> Snapshot:
        """A new index of the collection."""
        return self._bench.snapshot(SETTINGS[self.name])

    def score(self, retriever: Retriever) -> float:
        """What parameters are chosen by."""
        return float(next(iter(evaluate(self.qrels, self.run(retriever), CHOSEN_BY).means.values())))


def tuned_bm25(snapshot: Snapshot, score: Score) -> tuple[float, float]:
    """k1 and b that are best on dev."""
    return max(((k1, b) for k1 in K1 for b in BS), key=lambda point: score(BM25(snapshot, *point)))


def tuned_bm25f(snapshot: Snapshot, score: Score, k1: float, b: float, rounds: int) -> tuple[float, tuple[FieldWeight, ...]]:
    """k1 and the fields that are best on dev, one parameter after the other, from BM25's k1 and b."""
    fields = {name: FieldWeight(name, 1.0, b) for name in snapshot.settings.fields}
    best = score(BM25F(snapshot, k1, fields=tuple(fields.values())))
    for _ in range(rounds):
        for name in fields:
            for key, values in (("weight", WEIGHTS), ("b", BS)):
                for value in values if (name, key) != ("text", "weight") else ():
                    other = fields | {name: fields[name]._replace(**{key: value})}
                    found = score(BM25F(snapshot, k1, fields=tuple(other.values())))
                    if found > best:
                        best, fields = found, other
        for value in K1:
            found = score(BM25F(snapshot, value, fields=tuple(fields.values())))
            if found > best:
                best, k1 = found, value
    return k1, tuple(fields.values())


def measured(data: Path, name: str, folder: Path, *, test: bool, quick: bool) -> Iterator[dict[str, Any]]:
    """The figures of a collection."""
    dev = Split(data, name, "dev", folder)
    with dev.snapshot() as snapshot:
        k1, b = tuned_bm25(snapshot, dev.score)
        own_k1, fields = tuned_bm25f(snapshot, dev.score, k1, b, 1 if quick else 2)
        retrievers = {
            "BM25 1.2/0.75": BM25(snapshot, name="BM25"),
            f"BM25 {k1:g}/{b:g}": BM25(snapshot, k1, b, name="tuned"),
            f"BM25F {own_k1:g} {','.join(map(str, fields))}": BM25F(snapshot, own_k1, fields=fields, name="BM25F"),
        }
        for split in (dev, Split(data, name, "test", folder)) if test else (dev,):
            runs = {what: split.run(one) for what, one in retrievers.items()}
            for what, run in runs.items():
                means = evaluate(split.qrels, run, f"{CHOSEN_BY} {ALSO}").means
                yield {"what": f"{name} {split.split} {what}"} | {
                    str(one): round(float(value), 4) for one, value in means.items()
                }
            _, base, ours = runs.values()
            found = compare(split.qrels, [base, ours], CHOSEN_BY, baseline="tuned").row("BM25F", CHOSEN_BY)
            yield {
                "what": f"{name} {split.split} BM25F against tuned BM25",
                "difference": round(found.difference, 4),
                "p": round(found.paired.p, 4) if found.paired else None,
            }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", action="store_true", help="measure the choices on the test splits too")
    parser.add_argument("--quick", action="store_true", help="go around the parameters once")
    parser.add_argument("--only", choices=SETTINGS, action="append", help="this collection (may be repeated)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    NEEDS.on(arguments.only).check()
    for name in arguments.only or SETTINGS:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(os.environ["LEXFUSE_DATA"])
            for record in measured(data, name, Path(folder), test=arguments.test, quick=arguments.quick):
                shown = "  ".join(f"{key} {value}" for key, value in record.items() if key != "what")
                print(json.dumps(record) if arguments.json else f"{record['what']}\n    {shown}", flush=True)


if __name__ == "__main__":
    main()
