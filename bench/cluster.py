"""Shards searched as one index, beside the single index of the same documents: same answers, time, throughput, opening.

    python bench/cluster.py [--quick] [--json] [--collection fr-labour] [--documents N] [--shards 1,2,4] [--channels dense,splade]
                            [--samples FILE]

Reads a collection (fr-labour, or scifact) from the folder that LEXFUSE_DATA names, builds one index and, from the same documents,
the shards of clusters; the cluster of one shard has the folder of the single index. --quick takes 3,000 documents, --documents as
many as are named. By default there are words alone; --channels adds others with the models that come with LexFuse
(`colbert=MODEL` names one), which are encoded once for the index and once for each cluster.

1. Same answers: the best 100 documents of every test question by every channel, every fusion of them, filters and as-of dates
   that the documents have. A question counts if the ids are equal, in the same order, and scores are within 1e-6 (relative
   above 1). Nothing is timed unless all are.
2. A question: `search`, 10 results with snippets, one at a time; the sides take turns. Median milliseconds of wall clock, and
   milliseconds of processor time of all threads, which other work on the machine changes less.
3. Questions a second of 4 threads.
4. Opening with the first answer, in a process that has opened an index before: processor seconds, median.

All shards are threads of this process and share its processors: two cores bound the throughput, and more shards can only add
work. This measures what a router adds to a question, not what is gained if shards on other machines share the work. A ratio
above 1 means that the cluster is faster. --samples writes the processor time of every question at every shard of the largest
cluster, for `bench/simulate_cluster.py --samples`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import builtin_channels, plan_channel, stored_kind
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.partition import partition
from lexfuse.cluster.shard import Shard, ShardRequest
from lexfuse.cluster.shard_client import LocalShards
from lexfuse.cluster.statistics import gather_statistics
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.encode.shared_encoders import SharedEncoders
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import Percentile
from lexfuse.fusion.registry import default_fusions
from lexfuse.index import Index
from lexfuse.search.index_reader import IndexReader
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.annotation import with_languages

DEPTH, TOLERANCE, K, THREADS = 100, 1e-6, 10, 4
QUICK = 3_000  # documents
FILTERED = ("code", "court", "kind", "language", "status")
SINGLE = "single index"
SIDES = ("ours", "theirs")

Record = dict[str, Any]
Search = dict[str, Any]
Plans = Mapping[str, ChannelPlan]


def documents_of(collection: str, most: int | None) -> tuple[list[Document], Queries]:
    """The first documents of a collection by their ids, with their languages, and the test questions."""
    found = read_collection(Path(os.environ["LEXFUSE_DATA"], collection))
    if found.queries is None:
        raise SystemExit(f"{collection} has no queries")
    documents = sorted(with_languages(found.corpus), key=lambda document: document.id)[:most]
    judged = found.qrels["test"].queries
    return documents, found.queries.select([found.queries.ids.ordinal(query) for query in judged])


def built(folder: Path, documents: Sequence[Document], plans: Plans, everything: Sequence[Document]) -> Path:
    """An index of some documents; what its channels learn from texts, they learn from those of all shards."""
    Index.build(folder, documents).close()
    language = Counter(document.language for document in everything).most_common(1)[0][0]
    with IndexFolder(folder) as files:
        for name, plan in plans.items():
            settings = plan_channel(name, plan, language=language)
            part = stored_kind(name).shared_part(settings, len(everything), lambda at: [everything[place] for place in at])
            files.channels.make(name, settings)
            if part is not None:
                files.channels.begin(name, part)
    if plans:
        with Index(folder) as index:
            index.add_channels(plans)
    return folder


# Same answers


def searches(snapshot: Snapshot) -> dict[str, Search]:
    """Every channel, every fusion of all, and filters and days by words and by a fusion."""
    alone = [*builtin_channels(), *snapshot.channels]
    found: dict[str, Search] = {name: {"channels": [name]} for name in alone}
    fused = {"channels": ["bm25", "tfidf", *snapshot.channels]}
    for fusion in [*default_fusions(), Convex(None, Percentile())]:
        name = f"{fusion.name} by percentiles" if fusion == Convex(None, Percentile()) else fusion.name
        found[f"{name} of {len(fused['channels'])} channels"] = fused | {"fusion": fusion}
    limited: dict[str, Search] = {"bm25": {"channels": ["bm25"]}, "rrf": fused | {"fusion": "rrf"}}
    for limit, options in limits(snapshot).items():
        found |= {f"{name}, {limit}": search | options for name, search in limited.items()}
    return found


def limits(snapshot: Snapshot) -> dict[str, Search]:
    """A filter on each field by which documents differ, and the middle of the days on which they come into force."""
    found: dict[str, Search] = {}
    for field in FILTERED:
        counts = Counter(value for value in snapshot.column(field) if value)
        if len(counts) > 1:
            value = counts.most_common(1)[0][0].replace(",", "\\,")
            found[f"filter on {field}"] = {"filters": [f"{field}={value}"]}
    for field, limit in (("date", "filter on date"), ("valid_from", "as of a day")):
        if days := sorted(str(day) for day in snapshot.column(field) if day):
            day = days[len(days) // 2]
            found[limit] = {"as_of": day} if field == "valid_from" else {"filters": [f"date>={day}"]}
    return found


def equal_questions(ours: Run, theirs: Run) -> list[str]:
    """The questions with the same documents in the same order, and with the same scores."""
    found = []
    for query in theirs.queries:
        one, other = ours.hits(query), theirs.hits(query)
        if [hit.doc for hit in one] == [hit.doc for hit in other]:
            scores = np.array([[hit.score for hit in one], [hit.score for hit in other]])
            if np.allclose(scores[0], scores[1], rtol=TOLERANCE, atol=TOLERANCE):
                found.append(query)
    return found


def agreement(single: Index, clusters: Mapping[int, ClusterIndex], queries: Queries) -> Iterator[Record]:
    """One record a search, over all clusters; stop at the first that differs."""
    names = "/".join(map(str, clusters))
    for name, search in searches(single.snapshot).items():
        theirs, equal = single.run(queries, depth=DEPTH, **search), 0
        for shards, cluster in clusters.items():
            same = equal_questions(cluster.run(queries, depth=DEPTH, **search), theirs)
            if len(same) < len(queries):
                other = next(query for query in theirs.queries if query not in same)
                raise SystemExit(
                    f"{name}: {len(same)} of {len(queries)} questions have the answers of the single index with {shards} shards, "
                    f"{other!r} has others; nothing was timed"
                )
            equal += len(same)
        yield record(
            f"equal questions of {names} shards, {name}",
            equal,
            len(queries) * len(clusters),
            equal / (len(queries) * len(clusters)),
        )


# Time


@dataclass(frozen=True)
class Cost:
    """What a question takes, in milliseconds."""

    wall: float  # median
    processor: float  # mean over all threads


def costs(sides: Mapping[str, IndexReader], texts: Sequence[str], repeats: int, **options: Any) -> dict[str, Cost]:
    """What a question takes on each side, in turn."""
    walls: dict[str, list[float]] = {side: [] for side in sides}
    processor = dict.fromkeys(sides, 0.0)
    for _ in range(repeats):
        for text in texts:
            for side, index in sides.items():
                start, used = time.perf_counter(), time.process_time()
                index.search(text, K, **options)
                walls[side].append(time.perf_counter() - start)
                processor[side] += time.process_time() - used
    asked = repeats * len(texts)
    return {side: Cost(1e3 * statistics.median(walls[side]), 1e3 * processor[side] / asked) for side in sides}


def throughput(index: IndexReader, texts: Sequence[str], **options: Any) -> float:
    """Questions a second of several threads."""
    with ThreadPoolExecutor(THREADS) as threads:
        start = time.perf_counter()
        for _ in threads.map(lambda text: index.search(text, K, **options), texts):
            pass
        return len(texts) / (time.perf_counter() - start)


def processor_seconds(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The median processor time of each call, in turn."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(some) for name, some in times.items()}


def first_answer(opened: Callable[[], Index | ClusterIndex], text: str) -> None:
    """Open, answer, close."""
    with opened() as index:
        index.search(text, K)


def timed(sides: Mapping[str, IndexReader], texts: Sequence[str], repeats: int, channels: Sequence[str]) -> Iterator[Record]:
    """Time and throughput of every cluster beside the single index, by words and by a fusion with every other channel."""
    ways: dict[str, Search] = {"words": {"channels": ["bm25"]}}
    ways |= {f"words and {channel}": {"channels": ["bm25", channel], "fusion": "rrf"} for channel in channels}
    for name, options in ways.items():
        costs(sides, texts[:50], 1, **options)  # so that nothing is compiled or mapped while it is timed
        found = costs(sides, texts, repeats, **options)
        rates = {side: [throughput(index, texts, **options) for _ in range(repeats)] for side, index in sides.items()}
        rate = {side: statistics.median(some) for side, some in rates.items()}
        for side in sides:
            if side != SINGLE:
                ours, theirs = found[side], found[SINGLE]
                yield record(f"ms/question {name}, {side}", ours.wall, theirs.wall, theirs.wall / ours.wall)
                yield record(
                    f"processor ms/question {name}, {side}", ours.processor, theirs.processor, theirs.processor / ours.processor
                )
                yield record(
                    f"questions/s {name}, {THREADS} threads, {side}", rate[side], rate[SINGLE], rate[side] / rate[SINGLE]
                )


# Samples for the simulation


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """A request that adds the processor time of its answer to a list."""

    request: ShardRequest
    times: list[float]

    def answer(self, shard: Shard) -> Any:
        """The answer to the request."""
        start = time.thread_time()
        try:
            return self.request.answer(shard)
        finally:
            self.times.append(1e3 * (time.thread_time() - start))


class TimedShards:
    """Shards with the milliseconds that each has spent."""

    def __init__(self, client: LocalShards) -> None:
        """Time the requests to other shards."""
        self.client = client
        self.times: list[list[float]] = [[] for _ in range(client.shards)]

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self.client.shards

    def ask(self, requests: Mapping[int, ShardRequest]) -> dict[int, Any]:
        """The answers of shards, by their numbers."""
        return self.client.ask({at: TimedRequest(one, self.times[at]) for at, one in requests.items()})

    def close(self) -> None:
        """Let go of the shards."""
        self.client.close()


def service_times(folders: Sequence[Path], texts: Sequence[str]) -> list[float]:
    """Milliseconds that each shard spends on each question: all of its requests together."""
    snapshots = [open_snapshot(folder) for folder in folders]
    known = gather_statistics(snapshots)
    for snapshot in snapshots:
        snapshot.close()
    shards, found = TimedShards(LocalShards(folders, known)), []
    with ClusterIndex(shards, known) as cluster:
        for number, text in enumerate([*texts[:50], *texts]):
            for times in shards.times:
                times.clear()
            cluster.search(text, K)
            if number >= len(texts[:50]):
                found += [sum(times) for times in shards.times]
    return found


# The report


def record(metric: str, ours: float, theirs: float, ratio: float) -> Record:
    """One line of the report."""
    return {"metric": metric, "ours": ours, "peer": SINGLE, "theirs": theirs, "ratio": ratio}


def named(shards: int) -> str:
    """A cluster by its number of shards."""
    return "1 shard" if shards == 1 else f"{shards} shards"


def show(found: Record, as_json: bool) -> None:
    """One line a comparison."""
    if as_json:
        print(json.dumps(found), flush=True)
    else:
        values = "  ".join(f"{found[side]:10,.3f}" if isinstance(found[side], float) else f"{found[side]:10,}" for side in SIDES)
        print(f"{found['metric']:<70} {values}  {found['ratio']:6.2f} x  {found['peer']}", flush=True)


def compare(options: argparse.Namespace, home: Path) -> Iterator[Record]:
    """All comparisons."""
    documents, queries = documents_of(options.collection, options.documents or (QUICK if options.quick else None))
    plans, encoders, repeats = plans_of(options.channels), SharedEncoders(), 1 if options.quick else 5
    whole = built(home / "single.index", documents, plans, documents)
    with Index(whole) as index:
        index.estimate_distributions()
    folders = {
        shards: [whole] if shards == 1 else [
            built(home / f"{shards}-{at}.index", some, plans, documents) for at, some in enumerate(partition(documents, shards))
        ]
        for shards in options.shards
    }  # fmt: skip
    texts = [query.text for query in queries]
    with Index(whole, encoders=encoders) as single:
        kept = single.snapshot.distributions
        clusters = {shards: ClusterIndex.of(some, distributions=kept, encoders=encoders) for shards, some in folders.items()}
        yield from agreement(single, clusters, queries)
        sides: dict[str, IndexReader] = {SINGLE: single}
        sides |= {named(shards): cluster for shards, cluster in clusters.items()}
        yield from timed(sides, texts, repeats, list(plans))
        for cluster in clusters.values():
            cluster.close()
    opening: dict[str, Callable[[], Index | ClusterIndex]] = {SINGLE: partial(Index, whole, encoders=encoders)}
    opening |= {named(shards): partial(ClusterIndex.of, some, encoders=encoders) for shards, some in folders.items()}
    calls = {side: partial(first_answer, opened, texts[0]) for side, opened in opening.items()}
    times = processor_seconds(calls, 2 * repeats + 1)
    for side, ours in times.items():
        if side != SINGLE:
            yield record(f"processor seconds open and first answer, {side}", ours, times[SINGLE], times[SINGLE] / ours)
    if options.samples:
        lines = [f"{one:.4f}\n" for one in service_times(folders[max(folders)], texts)]
        options.samples.write_text("".join(lines), "utf-8")


def plans_of(channels: str) -> dict[str, ChannelPlan]:
    """Channels by their names, each with its model if one is named, with the usual options."""
    plans = {name: ChannelPlan(model) for name, _, model in (one.partition("=") for one in channels.split(",") if one)}
    for plan in plans.values():
        if plan.model:
            fetch_model(plan.model)
    return plans


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description="shards searched as one index, beside the single index")
    parser.add_argument("--collection", default="fr-labour", help="a folder in LEXFUSE_DATA with test questions")
    parser.add_argument("--documents", type=int, help="how many, the first by their ids; all if not given")
    parser.add_argument("--shards", type=lambda text: [int(one) for one in text.split(",")], default=[1, 2, 4], help="list")
    parser.add_argument("--channels", default="", help="channels in addition to words, with their models: dense,colbert=MODEL")
    parser.add_argument("--samples", type=Path, metavar="FILE", help="write the service times of shards for the simulation")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} documents, fewer repeats")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    if "LEXFUSE_DATA" not in os.environ:
        raise SystemExit("set LEXFUSE_DATA to the folder that holds fr-labour")
    if not options.json:
        print("shards are threads of one process; the cores of this machine bound them all")
    with tempfile.TemporaryDirectory() as home:
        for found in compare(options, Path(home)):
            show(found, options.json)


if __name__ == "__main__":
    main()
