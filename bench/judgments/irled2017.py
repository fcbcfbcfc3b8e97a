"""The collection irled2017 as the scripts on whole judgments use it: 200 judgments of some 4,700 words, 2,000 prior cases.

Marks where citations stood ("[?CITATION?]") are removed from the queries. Train, dev and test have 100, 40 and 60 judgments.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.lexical.bm25_kli import BM25Kli
from lexfuse.channels.registry import open_retriever
from lexfuse.data.arrays import F64
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.embedding_cache import CachedEncoder, EmbeddingCache
from lexfuse.evaluation.significance import adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.optimisation.rprs_surface import RprsGrid
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.annotation import with_languages
from lexfuse.text.kli import TermChoice

DEPTH = 2000  # the whole collection: AP is over full rankings
MARK = "[?CITATION?]"
COARSE = RprsGrid(n=(1, 3, 5, 10), k1=(0.0, 1.0, 3.0), b=(0.0, 0.5, 1.0), depth=(50, 100))
SENTENCES = "sentences"

Record = dict[str, Any]


@dataclass
class Judgments:
    """The collection and its index."""

    collection: Collection
    queries: Queries
    snapshot: Snapshot
    quick: bool = False
    cache: EmbeddingCache | None = None

    @classmethod
    def opened(cls, data: Path, folder: Path, cache: Path | None, *, quick: bool) -> Self:
        """The collection with its index, built if it is not there."""
        collection = read_collection(data / "irled2017")
        queries = collection.queries
        assert queries is not None
        queries = replace(queries, text=tuple(text.replace(MARK, " ") for text in queries.text))
        index = (
            IndexFolder(folder) if folder.exists() else IndexFolder.create(folder, documents=with_languages(collection.corpus))
        )
        return cls(collection, queries, index.snapshot(), quick, EmbeddingCache(cache) if cache else None)

    @cached_property
    def sentences(self) -> DenseRetriever:
        """The channel of sentences."""
        return cached_channel(self.snapshot, SENTENCES, self.cache)

    def of(self, split: str) -> Queries:
        """The judgments of a split."""
        return self.queries.select([self.queries.ids.ordinal(id) for id in self.collection.qrels[split].queries])

    def chosen_first(self, queries: Queries, depth: int = DEPTH) -> Run:
        """BM25+KLI as bench/quality_similar.py chooses it on train and dev: the first stage of what has none of its own."""
        return BM25Kli(self.snapshot, 20.0, 1.0, choice=TermChoice(0.2)).retrieve(queries, depth)


def cached_channel(snapshot: Snapshot, channel: str, cache: EmbeddingCache | None) -> DenseRetriever:
    """A dense channel that takes sentences of queries from a cache."""
    dense = open_retriever(snapshot, channel)
    assert isinstance(dense, DenseRetriever)
    return replace(dense, encoder=CachedEncoder(dense.encoder, cache)) if cache else dense


def options(description: str | None) -> argparse.ArgumentParser:
    """The options that all scripts on this collection take."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("LEXFUSE_DATA"), help="folder of the collections")
    parser.add_argument("--index", type=Path, help="where the index is kept; a temporary folder if not given")
    parser.add_argument("--embedding-cache", type=Path, help="where vectors of sentences are kept")
    parser.add_argument("--quick", action="store_true", help="a coarse grid")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


@contextmanager
def read_options(parser: argparse.ArgumentParser) -> Iterator[argparse.Namespace]:
    """What was asked for, with a folder for the index while it is needed."""
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("name the folder of the collections with --data or LEXFUSE_DATA")
    with tempfile.TemporaryDirectory() as temporary:
        asked.data, asked.index = Path(asked.data), asked.index or Path(temporary, "irled2017.index")
        yield asked


def against(metric: str, ours: F64, peers: Mapping[str, F64]) -> Iterator[Record]:
    """Comparisons of values per query: paired t-tests, corrected by Holm over all of them."""
    p_values = [paired_test(PairedTest.T, ours, theirs).p for theirs in peers.values()]
    corrected = adjust_p_values(p_values, Correction.HOLM).tolist()
    for (peer, theirs), p, own in zip(peers.items(), p_values, corrected, strict=True):
        mean, other = float(ours.mean()), float(theirs.mean())
        yield {
            "metric": metric, "ours": round(mean, 4), "peer": peer, "theirs": round(other, 4),
            "ratio": round(mean / other, 4) if other else None, "p": float(f"{p:.2g}"), "adjusted p": float(f"{own:.2g}"),
        }  # fmt: skip


def show(record: Record, *, as_json: bool) -> None:
    """A record as a line: JSON, or its first value and then the others with their names."""
    name, *values = record.items()
    shown = json.dumps(record) if as_json else f"{name[1]:<20} " + "  ".join(f"{key} {value}" for key, value in values)
    print(shown, flush=True)
