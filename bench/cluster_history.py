"""Whether a cluster answers for every day as one index with history, and what its statistics of days cost.

    python bench/cluster_history.py INDEX [--quick] [--json] [--shards 1,2,5] [--days 20] [--questions 100] [--seed 0]

INDEX is an index with history, for example of the Code civil (see docs/law-in-time.md). It is divided among the shards of each
cluster. The days are drawn between the first and the last change of the law, and today. A question is the first words of a
version that is drawn too. For every day and search, the best 100 documents are compared: a question counts if the ids are equal,
in the same order, and scores are within 1e-6 (relative above 1); so is what the index says about the day. Then documents are
deleted and changed on both sides, and all is compared again.

One line a search: the questions that are equal over all clusters and days, and how many there are. Then the bytes of the
statistics of days, next to those of the posting lists of words, and the milliseconds that the first search of a day takes, on the
single index and on the largest cluster.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.index import Index
from lexfuse.search.index_reader import IndexReader
from lexfuse.storage.folder_names import SEGMENTS
from lexfuse.storage.folder_snapshot import open_snapshot
from runner.needs import Needs

NEEDS = Needs(
    inputs={"LEXFUSE_BENCH_HISTORY_INDEX": "an index with history; see docs/law-in-time.md"},
    arguments=("{LEXFUSE_BENCH_HISTORY_INDEX}",),
)

DEPTH, TOLERANCE, WORDS, CHANGED = 100, 1e-6, 12, 10
SEARCHES: Mapping[str, Mapping[str, Any]] = {
    "bm25": {"channels": ["bm25"]},
    "bm25f": {"channels": ["bm25"], "fields": ["title=2:0.5", "text"]},
    "rrf of bm25, tfidf and citation": {"channels": ["bm25", "tfidf", "citation"], "fusion": "rrf"},
}
SINGLE = "single index"


def drawn(folder: Path, options: argparse.Namespace) -> tuple[list[datetime.date], Queries]:
    """Days between the first and the last change of the law, and today; questions that are the first words of versions."""
    draw = random.Random(options.seed)  # noqa: S311 - not for secrets
    with open_snapshot(folder) as snapshot:
        if not snapshot.has_history:
            raise SystemExit(f"{folder} has no versions; build an index of a corpus with history")
        starts = snapshot.timeline().counts.starts
        days = np.unique(starts[(starts > np.iinfo(np.int64).min // 2) & (starts < np.iinfo(np.int64).max // 2)])
        first, last = int(days[0]), int(days[-1])
        numbers = sorted(draw.sample(range(first, last + 1), options.days - 1))
        rows = snapshot.every_version()
        chosen = rows.documents([rows.ids[at] for at in sorted(draw.sample(range(len(rows)), options.questions))])
    texts = (" ".join(document.text.split()[:WORDS]) for document in chosen)
    queries = Queries.of(Query(f"q{at}", text or "loi", "fr") for at, text in enumerate(texts))
    return [datetime.date(1970, 1, 1) + datetime.timedelta(one) for one in numbers] + [datetime.date.today()], queries


def equal(ours: Run, theirs: Run, query: str) -> bool:
    """Whether both list the same documents with the same scores."""
    one, other = ours.hits(query), theirs.hits(query)
    return [hit.doc for hit in one] == [hit.doc for hit in other] and all(
        abs(own.score - its.score) <= TOLERANCE * max(1.0, abs(its.score)) for own, its in zip(one, other, strict=True)
    )


def compared(
    clusters: Sequence[IndexReader], single: IndexReader, days: Sequence[datetime.date], queries: Queries, state: str
) -> Iterator[dict[str, Any]]:
    """One record a search."""
    for name, search in SEARCHES.items():
        same = total = 0
        for day in days:
            theirs = single.run(queries, depth=DEPTH, as_of=day, **search)
            for cluster in clusters:
                ours = cluster.run(queries, depth=DEPTH, as_of=day, **search)
                same += sum(equal(ours, theirs, query) for query in queries.ids)
                total += len(queries.ids)
        yield {"metric": f"{name}, {state}: equal", "ours": same, "peer": SINGLE, "theirs": total, "ratio": same / total}
    known = sum(cluster.coverage(day) == single.coverage(day) for cluster in clusters for day in days)
    total = len(clusters) * len(days)
    yield {"metric": f"what is known of a day, {state}", "ours": known, "peer": SINGLE, "theirs": total, "ratio": known / total}


def costs(
    store: ClusterStore, single: Path, days: Sequence[datetime.date], queries: Queries, home: Path
) -> Iterator[dict[str, Any]]:
    """Bytes of the statistics of days, and the time of the first search of a day."""
    files = store.manifest().statistics
    changes = sum(file.bytes for name, file in files.items() if "/changes/" in name)
    words = sum(path.stat().st_size for path in (single / SEGMENTS).glob("*/bm25/*"))
    yield {
        "metric": "bytes: statistics of days",
        "ours": changes,
        "peer": "posting lists",
        "theirs": words,
        "ratio": words / changes,
    }
    question, found = queries.text[0], []
    for index in (ClusterIndex.published(store, home / "cache"), Index(single)):
        with index:
            index.search(question, as_of=days[0])
            times = []
            for day in days[1:]:
                start = time.perf_counter()
                index.search(question, as_of=day)
                times.append(1e3 * (time.perf_counter() - start))
            found.append(float(np.median(times)))
    yield {
        "metric": "ms: first search of a day",
        "ours": found[0],
        "peer": SINGLE,
        "theirs": found[1],
        "ratio": found[1] / found[0],
    }


def measured(options: argparse.Namespace, home: Path) -> Iterator[dict[str, Any]]:
    """All figures."""
    shutil.copytree(options.index, single := home / "single.index")
    days, queries = drawn(single, options)
    builders = [ClusterBuilder(store=ClusterStore(str(home / f"{count}")), work=home / "work") for count in options.shards]
    for builder, count in zip(builders, options.shards, strict=True):
        builder.build(single, shards=count)
    for state in ("as built", "after changes"):
        if state != "as built":
            change(single, builders, home, options.seed)
        clusters = [ClusterIndex.published(builder.store, home / "cache") for builder in builders]
        with Index(single) as index:
            yield from compared(clusters, index, days, queries, state)
        for cluster in clusters:
            cluster.close()
    yield from costs(builders[-1].store, single, days, queries, home)


def change(single: Path, builders: Sequence[ClusterBuilder], home: Path, seed: int) -> None:
    """Delete documents, change others, and add some, on both sides."""
    with open_snapshot(single) as snapshot:
        ids = sorted({id for id in snapshot.ids.names})
        chosen = random.Random(seed).sample(ids, 3 * CHANGED)  # noqa: S311 - not for secrets
        whole = [snapshot.with_history(id) for id in chosen[CHANGED:]]
    updated = [replace(one, text=f"{one.text} Modifié.") for one in whole[:CHANGED]]
    updated += [
        replace(one, id=f"{one.id}-bis", history=tuple(replace(old, id=f"{one.id}-bis") for old in one.history))
        for one in whole[CHANGED:]
    ]
    write_corpus(Corpus.of(updated), home / "more.jsonl")
    for builder in builders:
        builder.update(home / "more.jsonl")
        builder.delete(chosen[:CHANGED])
    with Index(single) as index:
        index.update(updated)
        index.delete(chosen[:CHANGED])


def main() -> None:
    """Print every figure as it is measured."""
    parser = argparse.ArgumentParser(description="a cluster with history against one index")
    parser.add_argument("index", type=Path)
    parser.add_argument("--shards", type=lambda text: [int(one) for one in text.split(",")], default=[1, 2, 5], help="list")
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="5 days, 20 questions")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    if options.quick:
        options.days, options.questions = min(options.days, 5), min(options.questions, 20)
    with tempfile.TemporaryDirectory(prefix="lf-") as home:
        for found in measured(options, Path(home)):
            ours, theirs = (
                f"{found[side]:,.1f}" if isinstance(found[side], float) else f"{found[side]:,}" for side in ("ours", "theirs")
            )
            text = f"{found['metric']:<60} {ours:>12} {theirs:>12} {found['peer']}"
            print(json.dumps(found) if options.json else text, flush=True)


if __name__ == "__main__":
    main()
