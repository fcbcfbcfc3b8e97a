"""What a cluster on Ray costs and gives: the answers of one index, the overhead of a router, throughput, encoding.

    python bench/cluster.py [--quick] [--json] [--collection fr-labour] [--index INDEX] [--documents N] [--shards 1,2,4]
                            [--channels dense,splade] [--samples FILE]

Reads a collection (fr-labour, or scifact) from the folder that LEXFUSE_DATA names, builds one index, or copies --index, and
divides it among the shards of clusters. --quick takes 3,000 documents, --documents as many as are named. By default there are
words alone. It runs in a separate network namespace, in which Ray starts on this machine.

1. Same answers, as in `bench/cluster_answers.py` without changes. Nothing is timed unless all are equal.
2. Shards as threads of this process: milliseconds of processor time of a question with 10 results and snippets, which other work
   on the machine changes little; and opening with the first answer, in processor seconds. The sides take turns.
3. Shards as replicas of Ray Serve, a process each, asked through their handles by a router in this process: median milliseconds
   of a question (1 shard: the overhead of the router and Ray), and questions a second of 4 threads.
4. Documents a second that 1 and 2 Ray workers of one thread encode into dense vectors, with all that building a cluster of 2
   shards takes.

All processes share the cores of one machine: two cores bound the throughput, and more shards can only add work. This measures
what a router adds to a question, not what is gained if shards on other machines share the work. A ratio above 1 means that the
cluster is faster. --samples writes the processor time of every question at every shard of the largest cluster, for
`bench/simulate_cluster.py --samples`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cluster_answers import (
    SINGLE,
    Record,
    Search,
    add_options,
    agreement,
    divided,
    documents_of,
    questions_of,
    record,
    show,
    single_index,
)
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.build.task_runner import RayTasks, ray_cluster
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.shard import Shard, ShardRequest
from lexfuse.cluster.shard_client import ShardClient
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.encode.shared_encoders import SharedEncoders
from lexfuse.index import Index
from lexfuse.search.index_reader import IndexReader
from network.enclosure import enclose
from network.served_shards import served
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour",), packages=("ray",), namespaces=True)

K, THREADS, WARM_UP = 10, 4, 50  # results, clients, questions
PROCESSORS = 16  # that Ray may reserve: the replicas of all shards run at the same time
ENCODED, QUICKLY_ENCODED = 1_000, 100  # documents
ENCODER = "fr-legal-dense"


# Time


@dataclass(frozen=True)
class Cost:
    """What a question takes, in milliseconds."""

    wall: float  # median
    processor: float  # mean over all threads of this process


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


def ways_to_search(channels: Sequence[str]) -> dict[str, Search]:
    """By words, and by a fusion of words with every other channel."""
    ways: dict[str, Search] = {"words": {"channels": ["bm25"]}}
    return ways | {f"words and {channel}": {"channels": ["bm25", channel], "fusion": "rrf"} for channel in channels}


def in_process(sides: Mapping[str, IndexReader], texts: Sequence[str], repeats: int) -> Iterator[Record]:
    """The processor time of a question of every cluster of threads compared with the single index."""
    for name, options in ways_to_search(sides[SINGLE].channels).items():
        costs(sides, texts[:WARM_UP], 1, **options)  # so that nothing is compiled or mapped while it is timed
        found = costs(sides, texts, repeats, **options)
        for side, ours in found.items():
            if side != SINGLE:
                theirs = found[SINGLE].processor
                yield record(
                    f"processor ms/question {name}, {side} in a process", ours.processor, theirs, theirs / ours.processor
                )


def first_answer(opened: Callable[[], Index | ClusterIndex], text: str) -> float:
    """Processor seconds to open, answer and close."""
    start = time.process_time()
    with opened() as index:
        index.search(text, K)
    return time.process_time() - start


def opening(calls: Mapping[str, Callable[[], Index | ClusterIndex]], text: str, repeats: int) -> Iterator[Record]:
    """The median processor time of opening and the first answer; the sides take turns."""
    times: dict[str, list[float]] = {side: [] for side in calls}
    for _ in range(repeats):
        for side, opened in calls.items():
            times[side].append(first_answer(opened, text))
    found = {side: statistics.median(some) for side, some in times.items()}
    for side, ours in found.items():
        if side != SINGLE:
            yield record(f"processor seconds open and first answer, {side}", ours, found[SINGLE], found[SINGLE] / ours)


# On Ray


def on_ray(
    single: Index, stores: Mapping[int, ClusterStore], texts: Sequence[str], repeats: int, encoders: SharedEncoders
) -> Iterator[Record]:
    """Time and throughput of every cluster of processes compared with the single index, which takes turns with each."""
    for shards, store in stores.items():
        with served(store) as replicas:
            sides: dict[str, IndexReader] = {SINGLE: single, named(shards): replicas.router(encoders)}
            for name, options in ways_to_search(single.channels).items():
                costs(sides, texts[:WARM_UP], 1, **options)
                found = costs(sides, texts, repeats, **options)
                rate = {
                    side: statistics.median(throughput(index, texts, **options) for _ in range(repeats))
                    for side, index in sides.items()
                }
                ours, theirs = (found[side].wall for side in (named(shards), SINGLE))
                yield record(f"ms/question {name}, {named(shards)} on Ray", ours, theirs, theirs / ours)
                ours, theirs = (rate[side] for side in (named(shards), SINGLE))
                yield record(f"questions/s {name}, {THREADS} threads, {named(shards)} on Ray", ours, theirs, ours / theirs)


def encoding(corpus: Path, documents: int, home: Path) -> Iterator[Record]:
    """Documents a second that Ray workers encode; the first build starts the workers and is not counted."""
    rates = {}
    for name, workers in (("warm-up", 2), ("1 worker", 1), ("2 workers", 2)):
        store, work = ClusterStore(str(home / f"{name}.cluster")), home / f"{name} work"
        builder = ClusterBuilder(store=store, tasks=RayTasks(workers), work=work, threads=1)
        start = time.perf_counter()
        builder.build(corpus, shards=2, channels={"dense": ChannelPlan(ENCODER)})
        rates[name] = documents / (time.perf_counter() - start)
    ours, theirs = rates["2 workers"], rates["1 worker"]
    yield record("documents/s encoded, 2 workers", ours, theirs, ours / theirs, "1 worker")


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

    def __init__(self, client: ShardClient) -> None:
        """Time the requests to other shards."""
        self.client = client
        self.times: list[list[float]] = [[] for _ in range(client.shards)]

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self.client.shards

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        """The answers of shards, by their numbers."""
        return self.client.ask({at: TimedRequest(one, self.times[at]) for at, one in requests.items()})

    def close(self) -> None:
        """Let go of the shards."""
        self.client.close()


def service_times(cluster: ClusterIndex, texts: Sequence[str]) -> list[float]:
    """Milliseconds that each shard of a cluster in this process spends on each question: all of its requests together."""
    snapshot: Any = cluster.snapshot
    shards, found = TimedShards(snapshot.client), []
    snapshot.client = shards
    for number, text in enumerate([*texts[:WARM_UP], *texts]):
        for times in shards.times:
            times.clear()
        cluster.search(text, K)
        if number >= len(texts[:WARM_UP]):
            found += [sum(times) for times in shards.times]
    return found


# The report


def named(shards: int) -> str:
    """A cluster by its number of shards."""
    return "1 shard" if shards == 1 else f"{shards} shards"


def compare(options: argparse.Namespace, home: Path) -> Iterator[Record]:
    """All comparisons."""
    queries, encoders, repeats = questions_of(options.collection), SharedEncoders(), 1 if options.quick else 5
    whole, texts = single_index(options, home), [query.text for query in queries]
    stores = {shards: builder.store for shards, builder in divided(whole, options.shards, home).items()}
    opened = {
        shards: partial(ClusterIndex.published, store, home / "cache", encoders=encoders) for shards, store in stores.items()
    }
    with Index(whole, encoders=encoders) as single:
        clusters = {shards: call() for shards, call in opened.items()}
        yield from agreement(single, clusters, queries)
        sides: dict[str, IndexReader] = {SINGLE: single} | {named(shards): one for shards, one in clusters.items()}
        yield from in_process(sides, texts, repeats)
        if options.samples:
            lines = [f"{one:.4f}\n" for one in service_times(clusters[max(clusters)], texts)]
            options.samples.write_text("".join(lines), "utf-8")
        for cluster in clusters.values():
            cluster.close()
        calls: dict[str, Callable[[], Index | ClusterIndex]] = {SINGLE: partial(Index, whole, encoders=encoders)}
        yield from opening(calls | {named(shards): call for shards, call in opened.items()}, texts[0], 2 * repeats + 1)
        with ray_cluster(processors=PROCESSORS):
            yield from on_ray(single, stores, texts, repeats, encoders)
            count = QUICKLY_ENCODED if options.quick else ENCODED
            write_corpus(Corpus.of(documents_of(options.collection, count)), home / "encoded.jsonl")
            yield from encoding(home / "encoded.jsonl", count, home)


def main() -> None:
    """Print every comparison as it is measured."""
    parser = argparse.ArgumentParser(description="a cluster on Ray compared with the single index")
    add_options(parser, (1, 2, 4))
    parser.add_argument("--samples", type=Path, metavar="FILE", help="write the service times of shards for the simulation")
    options = parser.parse_args()
    NEEDS.on([options.collection]).check()
    enclose()
    if not options.json:
        print("all processes share the cores of this machine, which bound them all")
    with tempfile.TemporaryDirectory(prefix="lf-") as home:
        for found in compare(options, Path(home)):
            show(found, options.json)


if __name__ == "__main__":
    main()
