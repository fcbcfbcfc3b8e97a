"""Whether a cluster gives the answers of one index: every channel, fusion, reranker, filter, day, similar documents, and changes.

    python bench/cluster_answers.py [--quick] [--json] [--collection fr-labour] [--index INDEX] [--documents N] [--shards 1,2,5]
                                    [--questions N] [--channels dense,splade] [--cross-encoder MODEL]

Reads the test questions of a collection (fr-labour, or scifact) in the folder that LEXFUSE_DATA names. The single index is built
from its documents, with words and the channels that are named; or it is a copy of --index, an index of the same documents that
was made before. It is divided among the shards of each cluster with what its channels store, so nothing is encoded twice. --quick
takes 3,000 documents, --documents as many as are named.

The best 100 documents of every question are compared, 10 for similar documents and rerankers. A question counts if the ids are
equal, in the same order, and scores are within 1e-6 (relative above 1). It stops at the first search in which one differs. Then
documents are deleted, changed and added on both sides, and all is compared again. One line a search: the questions that are equal
over all clusters, and how many there are. What it does at the moment goes to standard error, with the seconds since the start.

An index whose vectors are not complete is refused: its clusters would encode what it lacks, each on its own. Vectors of changed
documents are encoded once, for all sides.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.model_folder.locator import fetch_model
from lexfuse.encode.shared_encoders import SharedEncoders
from lexfuse.index import Index
from lexfuse.search.index_reader import IndexReader
from lexfuse.text.annotation import with_languages
from runner.index_searches import SHORT, Search, rerankers, searches
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour",))

DEPTH, TOLERANCE = 100, 1e-6
QUICK = 3_000  # documents
CHANGED = 25  # documents that are deleted, and as many that are changed and added
SINGLE = "single index"
SIDES = ("ours", "theirs")
VECTORS = "vectors.db"  # of changed documents
STARTED = time.perf_counter()

Record = dict[str, Any]


def show_step(text: str) -> None:
    """What is done at the moment."""
    print(f"[{time.perf_counter() - STARTED:6.0f} s] {text}", file=sys.stderr, flush=True)


# What is compared


def questions_of(collection: str, most: int | None = None) -> Queries:
    """The first test questions of a collection; all if no number is given."""
    found = read_collection(_folder(collection))
    if found.queries is None:
        raise SystemExit(f"{collection} has no queries")
    return found.queries.select([found.queries.ids.ordinal(query) for query in found.qrels["test"].queries[:most]])


def documents_of(collection: str, most: int | None) -> list[Document]:
    """The first documents of a collection by their ids, with their languages."""
    return sorted(with_languages(read_collection(_folder(collection)).corpus), key=lambda document: document.id)[:most]


def _folder(collection: str) -> Path:
    if "LEXFUSE_DATA" not in os.environ:
        raise SystemExit(f"set LEXFUSE_DATA to the folder that holds {collection}")
    return Path(os.environ["LEXFUSE_DATA"], collection)


def single_index(options: argparse.Namespace, home: Path) -> Path:
    """The single index with score distributions, in a folder that may be changed."""
    folder = home / "single.index"
    if options.index is not None:
        if options.channels or options.documents:
            raise SystemExit("--index has documents and channels; leave out --channels and --documents")
        show_step(f"copying {options.index.name}")
        shutil.copytree(options.index, folder)
        refuse_incomplete(folder)
    else:
        show_step(f"indexing {options.collection}")
        documents = documents_of(options.collection, options.documents or (QUICK if options.quick else None))
        Index.build(folder, documents, channels=plans_of(options.channels)).close()
    with Index(folder) as index:
        show_step(f"estimating score distributions of {len(index.snapshot):,} documents")
        index.estimate_distributions()
    return folder


def refuse_incomplete(folder: Path) -> None:
    """End if a channel lacks documents, and say how many."""
    with Index(folder) as index:
        for name in index.channels:
            if lacking := int((index.snapshot.channel_numbering(name).raw < 0).sum()):
                raise SystemExit(f"{name} lacks {lacking:,} documents; complete it: lexfuse index INDEX --channels {name}")


def plans_of(channels: str) -> dict[str, ChannelPlan]:
    """Channels by their names, each with its model if one is named, with the usual options."""
    plans = {name: ChannelPlan(model) for name, _, model in (one.partition("=") for one in channels.split(",") if one)}
    for plan in plans.values():
        if plan.model:
            fetch_model(plan.model)
    return plans


def divided(index: Path, shards: Sequence[int], home: Path) -> dict[int, ClusterBuilder]:
    """Clusters of the documents and channels of an index, by their number of shards."""
    builders = {}
    for count in shards:
        show_step(f"dividing among {count} shards")
        store = ClusterStore(str(home / f"{count}.cluster"))
        builders[count] = ClusterBuilder(store=store, work=home / "work", cache=home / VECTORS)
        builders[count].build(index, shards=count)
    return builders


# Comparisons


def comparisons(single: Index, queries: Queries, cross_encoder: str = "") -> dict[str, Callable[[IndexReader], Run]]:
    """What is asked of every side, by name; each gives a run over questions."""

    def run(search: Search, depth: int, index: IndexReader) -> Run:
        return index.run(queries, depth=depth, **search)

    def similar(index: IndexReader) -> Run:
        found = {query.id: index.similar(document=doc, k=SHORT) for query, doc in zip(queries, sampled, strict=True)}
        return Run.of("similar", {query: {hit.id: hit.score for hit in hits} for query, hits in found.items()})

    ordered = sorted(single.snapshot.ids)
    sampled = [ordered[at * len(ordered) // len(queries)] for at in range(len(queries))]
    wanted = {name: partial(run, search, DEPTH) for name, search in searches(single.snapshot).items()}
    wanted |= {name: partial(run, search, SHORT) for name, search in rerankers(single.snapshot, cross_encoder).items()}
    return wanted | {f"similar to {len(sampled)} documents": similar}


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


def agreement(
    single: Index, clusters: Mapping[int, ClusterIndex], queries: Queries, cross_encoder: str = "", when: str = ""
) -> Iterator[Record]:
    """One record a search, over all clusters; stop at the first that differs."""
    names = "/".join(map(str, clusters))
    for name, ask in comparisons(single, queries, cross_encoder).items():
        show_step(f"{name}{when}: single index")
        theirs, equal = ask(single), 0
        for shards, cluster in clusters.items():
            show_step(f"{name}{when}: {shards} shards")
            same = equal_questions(ask(cluster), theirs)
            if len(same) < len(queries):
                other = next(query for query in theirs.queries if query not in same)
                raise SystemExit(
                    f"{name}{when}: {len(same)} of {len(queries)} questions have the answers of the single index with {shards} "
                    f"shards, {other!r} has others"
                )
            equal += len(same)
        total = len(queries) * len(clusters)
        yield record(f"equal questions of {names} shards, {name}{when}", equal, total, equal / total)


# Changes


def change(folder: Path, builders: Mapping[int, ClusterBuilder], home: Path) -> None:
    """Delete some documents, change some and add some, in the single index and in every cluster."""
    with Index(folder) as index:
        ids = sorted(index.snapshot.ids)
        drawn = [ids[at * len(ids) // (3 * CHANGED)] for at in range(3 * CHANGED)]
        gone, old, copied = drawn[::3], index.snapshot.documents(drawn[1::3]), index.snapshot.documents(drawn[2::3])
        written = [replace(one, text=f"{one.text[: len(one.text) // 2]} Modifié.") for one in old]
        written += [replace(one, id=f"{one.id}-bis", number="") for one in copied]
        show_step("changing documents: single index")
        index.update(written)
        index.delete(gone)
        with EmbeddingCache(home / VECTORS) as cache:
            index.add_channels(cache=cache)
    write_corpus(Corpus.of(written), home / "changes.jsonl")
    for shards, builder in builders.items():
        show_step(f"changing documents: {shards} shards")
        builder.update(home / "changes.jsonl")
        builder.delete(gone)


def compare(options: argparse.Namespace, home: Path) -> Iterator[Record]:
    """All comparisons, before and after changes."""
    queries, encoders = questions_of(options.collection, options.questions), SharedEncoders()
    folder = single_index(options, home)
    builders = divided(folder, options.shards, home)
    for when in ("", ", after changes"):
        if when:
            change(folder, builders, home)
        with Index(folder, encoders=encoders) as single:
            clusters = {
                count: ClusterIndex.published(builder.store, home / "cache", encoders=encoders)
                for count, builder in builders.items()
            }
            yield from agreement(single, clusters, queries, options.cross_encoder, when)
            for cluster in clusters.values():
                cluster.close()


# The report


def record(metric: str, ours: float, theirs: float, ratio: float, peer: str = SINGLE) -> Record:
    """One line of the report."""
    return {"metric": metric, "ours": ours, "peer": peer, "theirs": theirs, "ratio": ratio}


def show(found: Record, as_json: bool) -> None:
    """One line a comparison."""
    if as_json:
        print(json.dumps(found), flush=True)
    else:
        values = "  ".join(f"{found[side]:10,.3f}" if isinstance(found[side], float) else f"{found[side]:10,}" for side in SIDES)
        print(f"{found['metric']:<70} {values}  {found['ratio']:6.2f} x  {found['peer']}", flush=True)


def add_options(parser: argparse.ArgumentParser, shards: Sequence[int]) -> None:
    """Options that say what is indexed and divided."""
    parser.add_argument("--collection", default="fr-labour", help="a folder in LEXFUSE_DATA with test questions")
    parser.add_argument("--index", type=Path, help="an index of the collection, made before; it is copied")
    parser.add_argument("--documents", type=int, help="how many, the first by their ids; all if not given")
    parser.add_argument("--shards", type=lambda text: [int(one) for one in text.split(",")], default=list(shards), help="list")
    parser.add_argument("--channels", default="", help="channels in addition to words, with their models: dense,colbert=MODEL")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} documents, fewer repeats")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def main() -> None:
    """Print every comparison as it is made."""
    parser = argparse.ArgumentParser(description="whether clusters give the answers of the single index")
    add_options(parser, (1, 2, 5))
    parser.add_argument("--questions", type=int, help="how many, the first test questions; all if not given")
    parser.add_argument("--cross-encoder", default="", help="a model that reranks")
    options = parser.parse_args()
    NEEDS.on([options.collection]).check()
    with tempfile.TemporaryDirectory() as home:
        for found in compare(options, Path(home)):
            show(found, options.json)


if __name__ == "__main__":
    main()
