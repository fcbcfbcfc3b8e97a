"""A whole hybrid search, BM25 + dense + SPLADE with all missing scores computed: time beside its three channels one by one.

    python bench/hybrid.py [--quick] [--json] [--passages N] [--articles N] [--folder FOLDER] [--http]

Passages are articles of fr-labour, from the folder that LEXFUSE_DATA names. Where there are fewer articles than passages, they
are repeated with noise: a copy lacks a tenth of the words and of the learned terms, its weights are scaled by up to a fifth, and
its vector is turned by a random direction of a third of its length. Only `--articles` articles are encoded, by the two shipped
models in int8. With `--folder` the index is kept there and used again.

Questions are those of the dev split, each asked once, after 20 for the warm-up. Every search finds ten documents by the default
fusion and depth of a search; it includes reading and encoding the question, titles and snippets not. Each channel alone gets the
same questions in turn; the peer of the hybrid search is the sum of the three. Bytes and memory follow. `--http` then serves the
index and asks through HTTP, by 1, 8 and 32 clients, as `bench/serve.py --latency` does.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.channels.query_context import query_context
from lexfuse.channels.registry import plan_channel
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.arrays import F32
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.queries import Query
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.sparse_encoder import SparseEncoder, SparseVector
from lexfuse.index import Index
from lexfuse.search.results import find_documents
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.index_folder import IndexFolder
from runner.needs import Needs
from serve import IndexPlace, IndexRegistry, Questions, latency, served

NEEDS = Needs(collections=("fr-labour",))

CHANNELS = ("bm25", "dense", "splade")
MODELS = {"dense": "fr-legal-dense", "splade": "fr-legal-splade"}
WARM_UP, K = 20, 10
DROPPED, SCALED, TURNED = 0.1, 0.2, 1 / 3
SEPARATOR = "#"  # between the id of an article and the number of a copy

Record = dict[str, Any]


class Copies:
    """Articles, repeated with noise until there are enough; copy 0 of an article is the article."""

    def __init__(self, articles: Sequence[Document]) -> None:
        """Take the articles, and encode each once."""
        self.articles = articles
        self.places = {article.id: at for at, article in enumerate(articles)}
        texts = [whole_text(article, headings=True) for article in articles]
        self.vectors = DenseEncoder.load(MODELS["dense"], int8=True).encode(texts, Side.PASSAGE)
        encoder = SparseEncoder.load(MODELS["splade"], int8=True)
        self.terms, self.weights = encoder.terms, encoder.encode(texts, Side.PASSAGE)

    def documents(self, amount: int) -> Iterator[Document]:
        """So many documents."""
        for number in range(amount):
            copy, at = divmod(number, len(self.articles))
            article, rng = self.articles[at], np.random.default_rng([copy, at])
            words = article.text.split()
            kept = rng.random(len(words)) >= (DROPPED if copy else 0)
            text = " ".join(word for word, keep in zip(words, kept.tolist(), strict=True) if keep) if copy else article.text
            yield Document(f"{article.id}{SEPARATOR}{copy}", title=article.title, text=text, language="fr")

    def dense(self, documents: Sequence[Document]) -> EncodedBlock:
        """Their vectors."""
        rows = np.stack([self._vector(*self._copy(document)) for document in documents])
        return EncodedBlock(VectorPart.of(rows, storage=VectorStorage.FP16), len(rows))

    def sparse(self, documents: Sequence[Document]) -> EncodedBlock:
        """Their learned weights."""
        rows = [self._weights(*self._copy(document)) for document in documents]
        return EncodedBlock(SparsePart.of(rows, self.terms), len(rows))

    def _copy(self, document: Document) -> tuple[int, int]:
        id, copy = document.id.rsplit(SEPARATOR, 1)
        return self.places[id], int(copy)

    def _vector(self, at: int, copy: int) -> F32:
        vector = self.vectors[at]
        if copy:
            noise = np.random.default_rng([1, copy, at]).standard_normal(len(vector)).astype(np.float32)
            vector = vector + noise * np.float32(TURNED / np.linalg.norm(noise))
        turned: F32 = (vector / max(float(np.linalg.norm(vector)), 1e-9)).astype(np.float32)
        return turned

    def _weights(self, at: int, copy: int) -> SparseVector:
        terms, weights = self.weights[at]
        if not copy or not len(terms):
            return terms, weights
        rng = np.random.default_rng([2, copy, at])
        kept = rng.random(len(terms)) >= DROPPED
        scaled = weights * (1 + SCALED * rng.uniform(-1, 1, len(terms))).astype(np.float32)
        return terms[kept], scaled[kept]


def build(folder: Path, collection: Collection, articles: int, passages: int) -> float:
    """Make the index, and return the seconds it took without encoding."""
    copies = Copies(list(islice(collection.corpus, articles)))
    start = time.perf_counter()
    with IndexFolder.create(folder, documents=copies.documents(passages)) as index:
        for channel, encode in (("dense", copies.dense), ("splade", copies.sparse)):
            index.channels.make(channel, plan_channel(channel, ChannelPlan(MODELS[channel], int8=True)))
            index.channels.fill(channel, encode, block=1 << 16)
        index.merge()
    return time.perf_counter() - start


Times = dict[str, list[float]]


def latencies(index: Index, questions: Sequence[str]) -> tuple[Times, Times]:
    """Milliseconds of each question by each channel and by all, and milliseconds of processor time."""
    found: Times = {name: [] for name in (*CHANNELS, "hybrid")}
    computed: Times = {name: [] for name in found}
    version = index.version
    specs = {name: SearchSpec.of([name]) for name in CHANNELS} | {"hybrid": SearchSpec.of(CHANNELS)}
    searches = {name: spec.open(index.snapshot, name=name) for name, spec in specs.items()}  # no encoder is shared
    for number, text in enumerate(questions):
        for name, times in found.items():
            start, before = time.perf_counter(), time.process_time()
            with query_context():
                find_documents(searches[name], Query("q", text), K, citations=version.citations)
            if number >= WARM_UP:
                computed[name].append(1000 * (time.process_time() - before))
                times.append(1000 * (time.perf_counter() - start))
    return found, computed


def rows(times: Times, passages: int, unit: str = "ms") -> Iterator[Record]:
    """Quantiles beside the sum of the channels."""
    every = np.sum([times[name] for name in CHANNELS], axis=0)
    for name, ours in times.items():
        for percent in (50, 95):
            mine, theirs = float(np.percentile(ours, percent)), float(np.percentile(every, percent))
            yield {
                "metric": f"{unit} p{percent} {name}, {passages:,} passages",
                "ours": round(mine, 2),
                "peer": "three channels one by one",
                "theirs": round(theirs, 2),
                "ratio": round(theirs / mine, 2),
            }


def sizes(index: Index, folder: Path, passages: int) -> Iterator[Record]:
    """Bytes of each channel, and the memory of this process, in which mapped files count as far as they were read."""
    every = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    for name in CHANNELS:
        yield _size(f"bytes a passage {name}, {passages:,} passages", index.snapshot.channel_bytes(name), every, passages)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    yield _size(f"MiB resident, {passages:,} passages", resident, every, 1 << 20)


def _size(metric: str, ours: float, every: float, unit: float) -> Record:
    peer, ratio = "the whole index on disk", round(every / ours, 2)
    return {"metric": metric, "ours": round(ours / unit, 1), "peer": peer, "theirs": round(every / unit, 1), "ratio": ratio}


def main() -> None:
    """Build the index unless it is there, and print every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3,000 passages of 300 articles")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--passages", type=int, help="of the index [1,000,000; 3,000 with --quick]")
    parser.add_argument("--articles", type=int, help="that are encoded [10,000; 300 with --quick]")
    parser.add_argument("--folder", type=Path, help="keep the index here, and use it again")
    parser.add_argument("--http", action="store_true", help="ask through HTTP too")
    options = parser.parse_args()
    NEEDS.check()
    passages = options.passages or (3_000 if options.quick else 1_000_000)
    articles = min(options.articles or (300 if options.quick else 10_000), passages)
    collection = read_collection(Path(os.environ["LEXFUSE_DATA"], "fr-labour"))
    dev = collection.qrels["dev"]
    questions = [collection.queries.query(query).text for query in dev.queries]

    def show(record: Record) -> None:
        if options.json:
            print(json.dumps(record), flush=True)
        else:
            print(f"{record['metric']:52} {record['ours']:>10,.2f}  {record['peer']:28} {record['theirs']:>10,.2f}  "
                  f"x{record['ratio']:,.2f}", flush=True)  # fmt: skip

    with tempfile.TemporaryDirectory() as home:
        folder = (options.folder or Path(home)) / f"hybrid-{passages}-{articles}"
        if not folder.exists():
            seconds = build(folder, collection, articles, passages)
            print(
                f"# {articles:,} articles repeated with noise to {passages:,} passages; indexed in {seconds:,.0f} s", flush=True
            )
        with Index.open(folder) as index:
            for unit, times in zip(("ms", "ms of processor time"), latencies(index, questions), strict=True):
                for record in rows(times, passages, unit):
                    show(record)
            for record in sizes(index, folder, passages):
                show(record)
        if options.http:
            with served(folder, Path(home)) as service, IndexRegistry.open([IndexPlace.of(folder)]) as library:
                for record in latency(service, library, Questions(folder), 100 if options.quick else 300):
                    show(record)


if __name__ == "__main__":
    main()
