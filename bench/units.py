"""Sentences against units of a fixed number of words as what RPRS compares, on irled2017 (RPRS 6.3, RQ2, figure 2).

    python bench/units.py [--index FOLDER] [--data FOLDER] [--quick] [--json] [--embedding-cache FILE]

To keep it small only the 40 judgments of dev ask, and only the documents among their first 50 are divided and encoded: 1,046 of
2,000. The first stage is BM25+KLI as bench/quality_similar.py chooses it, over the whole collection (--index; only its words are
used), cut after 50, so that AP is that of the first 50. Sentences (cut after 25 words) and units of 25, 50, 100 and 200 words,
wherever sentences end, are each a channel of one more index in a temporary folder, in bytes. The paper has 16 to 512 tokens.

Every kind of unit is measured twice: with n, k1, b and the depth chosen in cross-validation over five folds of the judgments, and
with the paper's n=4, k1=2.8, b=1. Then sentences are compared with each by paired t-tests, corrected by Holm. Neither train nor
test is read.

Vectors come from --embedding-cache; those that it lacks are encoded and put there, which for all takes hours on two cores:
670,000 units of 36 million words, and the sentences. With --quick ten judgments with their first 20 documents, units of 100 and
200 words, and a coarse grid.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgments.irled2017 import COARSE, SENTENCES, Judgments, Record, against, cached_channel, options, read_options, show
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.stored_part import VectorStorage
from lexfuse.channels.registry import default_model, fill_channel, plan_channel
from lexfuse.data.arrays import F64
from lexfuse.data.run import Run
from lexfuse.encode.passage_plan import PassageScheme
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsPoint, RprsSurface, cross_validated_rprs
from lexfuse.rerank.rprs import Rprs
from lexfuse.storage.index_folder import IndexFolder

DEPTH, SIZES = 50, (25, 50, 100, 200)
QUICK_DEPTH, QUICK_SIZES, QUICK_QUERIES = 20, (100, 200), 10
GRID = RprsGrid(n=tuple(range(1, 11)), k1=(0.0, 0.4, 1.0, 2.0, 2.8), b=(0.0, 0.25, 0.5, 0.75, 1.0), depth=(15, 20, 30, 40, 50))
PAPER = {"n": 4, "k1": 2.8, "b": 1.0}


def plans(*, quick: bool) -> dict[str, dict[str, Any]]:
    """How documents and judgments are divided, by what the units are called."""
    sizes = QUICK_SIZES if quick else SIZES
    units = {f"{size} words": {"passages": PassageScheme.WORDS, "size": size} for size in sizes}
    return {SENTENCES: {"passages": PassageScheme.SENTENCES}} | units


def candidates(bench: Judgments) -> Run:
    """The first documents of the judgments of dev."""
    queries = bench.of("dev")
    few = queries.select(range(QUICK_QUERIES)) if bench.quick else queries
    return bench.chosen_first(few, depth_of(bench))


def depth_of(bench: Judgments) -> int:
    """How many documents there are for every judgment."""
    return QUICK_DEPTH if bench.quick else DEPTH


def surface(bench: Judgments, index: IndexFolder, unit: dict[str, Any], channel: str, run: Run) -> RprsSurface:
    """AP over the parameters of RPRS with one kind of unit, which is encoded into a channel for it."""
    model = default_model(SENTENCES, "en")
    index.channels.make(channel, plan_channel(channel, ChannelPlan(model, storage=VectorStorage.INT8, **unit)))
    fill_channel(
        index, channel, cache=bench.cache, progress=lambda done: print(f"{channel}: {done:,} documents", file=sys.stderr)
    )
    grid = replace(COARSE, n=(1, 4, 10), k1=(0.0, 1.0, 2.8), depth=(QUICK_DEPTH,)) if bench.quick else GRID
    qrels = bench.collection.qrels["dev"]
    with index.snapshot() as snapshot:
        rprs = Rprs(cached_channel(snapshot, channel, bench.cache))
        return rprs_surface(rprs, bench.queries, run, qrels, "AP", grid).on(run.queries)


def measured(bench: Judgments, folder: Path) -> Iterator[tuple[Record, F64, F64]]:
    """One record a kind of unit, sentences first, with AP of every judgment: cross-validated, and with the paper's parameters."""
    run = candidates(bench)
    docs = sorted({run.docs[doc] for doc in run.doc.tolist()})
    with IndexFolder.create(folder, documents=[bench.snapshot.document(doc) for doc in docs]) as index:
        for at, (name, plan) in enumerate(plans(quick=bench.quick).items()):
            found = surface(bench, index, plan, f"{SENTENCES}-{at}", run)
            validated = cross_validated_rprs(found)
            paper, best = RprsPoint(**PAPER, depth=depth_of(bench)), found.best
            yield {
                "units": name, "AP cross-validated": round(validated.mean, 4), "AP paper's": round(found.mean(paper), 4),
                "best": f"n={best.n} k1={best.k1:g} b={best.b:g} depth={best.depth}", "AP best": round(found.mean(best), 4),
                "documents": len(docs),
            }, validated.values, found.of_queries(paper)  # fmt: skip


def main() -> None:
    """Measure and print."""
    with read_options(options(__doc__)) as asked, tempfile.TemporaryDirectory() as temporary:
        if asked.embedding_cache is None:
            print("nothing measured: it takes hours without a cache of vectors; name one with --embedding-cache", file=sys.stderr)
            return
        bench = Judgments.opened(asked.data, asked.index, asked.embedding_cache, quick=asked.quick)
        validated, papers = {}, {}
        for record, own, fixed in measured(bench, Path(temporary, "units.index")):
            validated[record["units"]], papers[record["units"]] = own, fixed
            if not asked.json:
                show(record, as_json=False)
        for parameters, values in (("cross-validated", validated), ("with the paper's parameters", papers)):
            metric = f"irled2017 dev AP in the first {depth_of(bench)}, RPRS on sentences, {parameters}"
            for record in against(metric, values.pop(SENTENCES), values):
                show(record, as_json=asked.json)


if __name__ == "__main__":
    main()
