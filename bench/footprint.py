"""What a passage costs: bytes on disk, in a shard's memory and in a router's, for each channel; and what that makes for millions.

    python bench/footprint.py [--quick] [--json] [--cut N] [--sample 100] [--channels splade,colbert=MODEL] [--no-channels]
                              [--total 100000000] [--memory 64] [--price 300]

Words and router: an index of fr-labour (29,104 articles) from the folder that LEXFUSE_DATA names, or with --cut of N passages of
60 words cut from all collections, as in bench/lexical.py. Dense: 100,000 drawn vectors of 384 numbers, stored in each of three
ways; what is stored does not depend on the model. SPLADE and ColBERT: articles drawn evenly by their length, encoded twice, all
of them and every second one; the difference says what an article takes without what is there once (centroids). "words" is the
mean length of the articles that make the difference, "corpus_words" that of all: compare them, since bytes and time grow with
the length. ColBERT has the token vectors of the dense model that comes with LexFuse, of 384 numbers, and its default of 4 bits.

"disk" are the bytes of files; "hot" are those of them that questions read everywhere, which must fit into the page cache;
"private" is the memory that a process allocates to answer 100 questions one by one (tracemalloc: Python objects and arrays, not
models). "processor" is processor time of all threads: milliseconds a question (the best 100, without the time of the encoder
where a model reads the question) and "encoding", milliseconds an article. Bytes do not depend on the load of the machine,
processor time does a little.

What a router holds: ids and places of all documents; after searches also the columns that filters, facets and citations need;
the terms with their frequencies. All of it is private memory of every router.

Then the totals: hot and private bytes of --total passages, machines of --memory GiB of which four fifths hold them, and what they
cost at --price a month each. The price is an assumption: set yours.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import pickle
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from cluster_answers import documents_of, plans_of, questions_of
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.channel_retriever import ChannelRetriever
from lexfuse.channels.dense.flat_search import FlatSearch
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.channels.registry import open_retriever, plan_channel, stored_kind
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.cluster_snapshot import ClusterSnapshot
from lexfuse.cluster.shard import ShardRequest
from lexfuse.cluster.shard_client import LocalShards
from lexfuse.cluster.statistics import gather_statistics, load_statistics, save_statistics
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries
from lexfuse.encode.passage_plan import whole_text
from lexfuse.index import Index
from lexfuse.kernels.compilation import PATIENCE, compiled_is_due
from lexfuse.storage.folder_names import CHANNELS
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour",))

DEPTH, ASKED, ROWS, DIMENSION = 100, 100, 100_000, 384
GIB, USABLE = 1 << 30, 0.8
COLD = ("fp16.npy", "fp32.npy")  # rows of which the scan of bytes leaves a few to be read
ONCE = ("centroids.npy", "axes.npy", "owned.npy", "values.npy")  # the codec of token vectors
MORE = ("processor", "encoding", "terms", "postings", "words", "corpus_words")
DEFAULT = "splade,colbert=fr-legal-dense"

Record = dict[str, Any]
Made = TypeVar("Made")


def traced(make: Callable[[], Made]) -> tuple[Made, int]:
    """What a call makes, and the memory that is allocated after it."""
    gc.collect()
    tracemalloc.start()
    made = make()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return made, held


def size(files: Iterator[Path]) -> int:
    """Bytes of files."""
    return sum(file.stat().st_size for file in files if file.is_file())


def asked(folder: Path, channel: str, queries: Queries) -> tuple[int, float]:
    """The private memory of a retriever that has answered, and the processor milliseconds of a question."""
    some = [queries.select([at]) for at in range(min(ASKED, len(queries)))]
    with open_snapshot(folder) as snapshot, open_snapshot(folder) as fresh:
        first = open_retriever(snapshot, channel)
        encoded = [first.read(query) for query in some]
        for query, read in zip(some, encoded, strict=True):  # what is compiled for the first answers is not counted
            first.rank(query, read, DEPTH)
        compiled_is_due(PATIENCE)

        def answered() -> ChannelRetriever:
            retriever: ChannelRetriever = replace(cast(Any, first), snapshot=fresh)  # with the same encoder
            for query, read in zip(some, encoded, strict=True):
                retriever.rank(query, read, DEPTH)
            return retriever

        retriever, held = traced(answered)
        start = time.process_time()
        for query, read in zip(some, encoded, strict=True):
            retriever.rank(query, read, DEPTH)
        return held, 1e3 * (time.process_time() - start) / len(some)


def words(folder: Path, queries: Queries) -> Iterator[Record]:
    """The catalog with all texts, the ids, and the posting lists of words."""
    with Index(folder) as index:
        count = len(index)
        lists = [file for file in (folder / "segments").rglob("*") if file.parent.name not in ("segments", "bm25")]
        yield record("texts and metadata", count, size(iter([folder / "catalog.sqlite"])))
        yield record("ids and others", count, size(iter(lists)))
        bytes_ = size((folder / "segments").glob("*/bm25/*"))
        held, processor = asked(folder, "bm25", queries)
        postings = index.snapshot.postings("bm25")
        more = {"terms": len(postings.vocabulary), "postings": len(postings) / count}
        yield record("words", count, bytes_, bytes_, held, processor) | more


def dense(home: Path) -> Iterator[Record]:
    """Rows of a large dense channel, in every way in which they are stored."""
    rows = np.random.default_rng(0).standard_normal((ROWS, DIMENSION), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for storage in VectorStorage:
        part = VectorPart.of(rows, storage=storage)
        folder = home / f"dense-{storage.value}"
        folder.mkdir()
        files = list(part.save(folder))
        hot = sum(file.stat().st_size for file in files if file.name not in COLD)
        search = FlatSearch([part], np.arange(ROWS, dtype=np.int32))
        yield record(f"dense {storage.value}", ROWS, size(iter(files)), hot, traced(search.prepare)[1])


def words_of(document: Document) -> int:
    """How many words of a document are encoded."""
    return len(whole_text(document).split())


def strata(count: int, sample: int) -> NDArray[np.int64]:
    """The middles of as many equal stretches of `count` places."""
    return ((np.arange(sample) + 0.5) * count / sample).astype(np.int64)


def built(folder: Path, documents: Sequence[Document], plans: Mapping[str, ChannelPlan], everything: Sequence[Document]) -> Path:
    """An index of some documents; what its channels learn from texts, they learn from those of all."""
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


def channels(home: Path, documents: Sequence[Document], plans: Mapping[str, ChannelPlan], queries: Queries) -> Iterator[Record]:
    """What every second document adds to a channel."""
    some = documents[::2]
    for name, plan in plans.items():
        found = []
        for number, these in enumerate((documents, some)):
            folder, start = home / f"{name}-{number}.index", time.process_time()
            built(folder, these, {name: plan}, documents)
            encoding = 1e3 * (time.process_time() - start)
            bytes_ = size(file for file in (folder / CHANNELS / name).rglob("*") if file.name not in ONCE)
            found.append((bytes_, *asked(folder, name, queries), encoding))
        (disk, held, processor, encoding), (less, held_less, _, encoding_less) = found
        count = len(documents) - len(some)
        yield record(name, count, disk - less, disk - less, held - held_less, processor) | {
            "encoding": (encoding - encoding_less) / count,
            "words": float(np.mean([words_of(document) for document in documents[1::2]])),
        }


class CopyingShards:
    """Shards whose answers are copied, as those from another machine are."""

    def __init__(self, client: LocalShards) -> None:
        """Copy the answers of other shards."""
        self.client = client

    @property
    def shards(self) -> int:
        """How many shards there are."""
        return self.client.shards

    def ask(self, requests: Mapping[int, ShardRequest]) -> dict[int, Any]:
        """The answers of shards, by their numbers."""
        return {at: pickle.loads(pickle.dumps(one)) for at, one in self.client.ask(requests).items()}  # noqa: S301  # of this process

    def close(self) -> None:
        """Let go of the shards."""
        self.client.close()


def router(folder: Path, queries: Queries) -> Iterator[Record]:
    """What a router holds: at first, after searches, and of terms."""
    with open_snapshot(folder) as snapshot:
        known = gather_statistics([snapshot])
    shards = CopyingShards(LocalShards([folder], known))
    texts = [query.text for query in queries][:ASKED]

    def opened() -> ClusterIndex:
        cluster = ClusterIndex(shards, known)
        snapshot = cast(ClusterSnapshot, cluster.snapshot)
        for made_once in ("ids", "places", "numbering"):
            getattr(snapshot, made_once)
        snapshot.ids.ordinal(snapshot.ids.names[int(snapshot.ids.order[0])])
        return cluster

    def searched(cluster: ClusterIndex) -> None:
        for text in texts:
            cluster.search(text, 10, facets=True, as_of="2020-01-01", channels=["bm25"])

    searched(opened())  # what the shard itself holds is not counted
    cluster, first = traced(opened)
    _, later = traced(lambda: searched(cluster))
    count = len(cluster)
    yield record("router: ids and places", count, 0, 0, first)
    yield record("router: columns and citations", count, 0, 0, later)
    saved = folder.with_name("statistics")
    save_statistics(saved, known)

    def looked_up() -> Any:
        loaded = load_statistics(saved)
        loaded["bm25"].terms.find("droit")
        return loaded

    loaded, held = traced(looked_up)
    terms = len(loaded["bm25"].terms)
    yield record("router: terms", terms, size(saved.rglob("*")), size(saved.rglob("*")), held)
    cluster.close()


def record(part: str, count: int, disk: int, hot: int = 0, private: int = 0, processor: float | None = None) -> Record:
    """One line: bytes for each passage, document or term."""
    found: Record = {"part": part, "count": count, "disk": disk / count, "hot": hot / count, "private": private / count}
    return found | ({} if processor is None else {"processor": processor})


def total(found: Record, passages: int, memory: float, price: float) -> Record:
    """What this number of passages takes."""
    resident = passages * (found["hot"] + found["private"]) / GIB
    machines = max(1, math.ceil(resident / (USABLE * memory)))
    return {
        "total": found["part"],
        "disk_gib": passages * found["disk"] / GIB,
        "memory_gib": resident,
        "machines": machines,
        "price": machines * price,
        **({"encoding_core_days": passages * found["encoding"] / 86.4e6} if "encoding" in found else {}),
    }


def show(found: Record, as_json: bool) -> None:
    """One line a part, then one line a total."""
    if as_json:
        print(json.dumps(found), flush=True)
    elif "part" in found:
        more = "".join(f"  {name} {found[name]:,.2f}" for name in MORE if name in found)
        columns = "".join(f"  {name} {found[name]:9,.1f}" for name in ("disk", "hot", "private"))
        print(f"{found['part']:<32} {found['count']:>10,}{columns}{more}", flush=True)
    else:
        days = f"  encoding {found['encoding_core_days']:,.0f} core days" if "encoding_core_days" in found else ""
        sizes = f"disk {found['disk_gib']:9,.1f} GiB  memory {found['memory_gib']:9,.1f} GiB"
        print(f"{found['total']:<32} {sizes}  {found['machines']:4} machines {found['price']:8,.0f} a month{days}", flush=True)


def measured(options: argparse.Namespace, home: Path) -> Iterator[Record]:
    """All parts."""
    documents, queries = documents_of("fr-labour", None), questions_of("fr-labour")
    lengths = np.array([words_of(document) for document in documents])
    drawn = [documents[at] for at in np.argsort(lengths, kind="stable")[strata(len(documents), options.sample)].tolist()]
    if options.cut:
        from lexical import passages

        documents = passages(options.cut)
    elif options.quick:
        documents = documents[:3000]
    Index.build(home / "words.index", documents).close()
    yield from words(home / "words.index", queries)
    yield from router(home / "words.index", queries)
    yield from dense(home)
    if not options.no_channels:
        for one in channels(home, drawn, plans_of(options.channels), queries):
            yield one | {"corpus_words": float(lengths.mean())}


def main() -> None:
    """Print what was measured, then the totals."""
    parser = argparse.ArgumentParser(description="bytes of a passage in each channel, and of millions of them")
    parser.add_argument("--cut", type=int, help="words of this number of passages cut from all collections, instead of fr-labour")
    parser.add_argument("--sample", type=int, default=100, help="articles that are encoded")
    parser.add_argument("--channels", default=DEFAULT, help="channels with their models")
    parser.add_argument("--no-channels", action="store_true", help="words, dense vectors and the router alone")
    parser.add_argument("--total", type=int, default=100_000_000, help="passages")
    parser.add_argument("--memory", type=float, default=64.0, help="GiB of a machine")
    parser.add_argument("--price", type=float, default=300.0, help="of a machine a month: an assumption")
    parser.add_argument("--quick", action="store_true", help="3,000 articles")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    with tempfile.TemporaryDirectory() as home:
        found = []
        for one in measured(options, Path(home)):
            show(one, options.json)
            found.append(one)
    for one in found:
        if one["part"] != "router: terms":
            show(total(one, options.total, options.memory, options.price), options.json)


if __name__ == "__main__":
    main()
