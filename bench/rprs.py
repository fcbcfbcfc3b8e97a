"""RPRS over a channel of sentences: 50 candidates of 250 sentences for a query of 200, and the whole grid of its parameters.

The peer is a transcription of the equations of the paper: the cosines by numpy, each query sentence's list by sorting them all,
and sets of sentences counted one by one. Both start from the query's vectors and the vectors of the index (384 numbers, 16-bit
floats, in the files of a channel), and end with the scores of the candidates; encoding a query is not part of it. Scores
must agree before anything is timed. Calls of the two sides alternate, and the shortest of each counts.

The grid is n = 1…10, k1 = 0…3, b = 0…1: 1,760 points at one depth, for a set of queries, from the vectors to the rank of every
relevant document at every point. It is compared with three single points (the goal is to cost no more than these), and with
the transcription, which is measured at one point and multiplied. The last line adds the depths 15…100: 31,680 points.

    python bench/rprs.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.data.arrays import F32, I64, offsets_of
from lexfuse.data.document import Document
from lexfuse.encode.encoder import Side
from lexfuse.optimisation.rprs_parameters import ranks_of_hits
from lexfuse.optimisation.rprs_surface import RprsGrid
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sdr import sdr_scores
from lexfuse.rerank.sentence_vectors import QuerySentences, unit_length
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings
from lexfuse.text.passages import Passage
from runner.needs import Needs

NEEDS = Needs()

CANDIDATES, SENTENCES, ASKED, DIMENSION = 50, 250, 200, 384
DEEPEST, TOPICS, RELEVANT = 100, 400, 5
PARAGRAPH = 5  # sentences
GRID = RprsGrid(depth=(CANDIDATES,))

Record = dict[str, Any]


class GivenVectors:
    """Replaces an encoder where vectors are there already."""

    fingerprint, dimension, normalises = "00", DIMENSION, True

    def encode(self, texts: Sequence[str], side: Side, **options: Any) -> F32:
        """Nothing is encoded here."""
        raise NotImplementedError


def made_sentences(chance: np.random.Generator, topics: F32, count: int) -> F32:
    """Vectors of sentences that resemble each other as sentences of one field do."""
    near = topics[chance.integers(0, len(topics), count)]
    return unit_length(near + 0.12 * chance.standard_normal((count, DIMENSION), dtype=np.float32))


@contextmanager
def made_channel(chance: np.random.Generator, topics: F32) -> Iterator[DenseRetriever]:
    """An index of judgments whose sentences have such vectors."""
    documents = [Document(f"case-{number:03d}", text="-", language="en") for number in range(DEEPEST)]
    lengths = np.maximum(chance.normal(SENTENCES, SENTENCES / 4, DEEPEST).astype(np.int64), 20)
    lengths[:CANDIDATES] += SENTENCES - int(lengths[:CANDIDATES].mean())

    def encode(some: Sequence[Document]) -> EncodedBlock:
        vectors = made_sentences(chance, topics, int(lengths.sum()))
        return EncodedBlock(VectorPart.of(vectors, offsets_of(lengths), storage=VectorStorage.FP16), len(vectors))

    with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
        index.channels.make("sentences", ChannelSettings("dense", "given", "00"))
        index.channels.fill("sentences", encode)
        with index.snapshot() as snapshot:
            yield DenseRetriever(snapshot, GivenVectors(), "sentences")


def transcribed(rprs: Rprs, queries: F32, documents: Sequence[F32]) -> list[float]:
    """Equations 1 and 4 to 7, one sentence after the other."""
    owner = [(doc, place) for doc, rows in enumerate(documents) for place in range(len(rows))]
    every = np.concatenate(documents)
    lists = [{owner[row] for row in np.argsort(-(every @ query), kind="stable")[: rprs.n]} for query in queries]
    scores = []
    for doc, rows in enumerate(documents):
        own = {(doc, place) for place in range(len(rows))}
        penalty = rprs.k1 * ((1 - rprs.b) + rprs.b * len(own) / rprs.reader.average_length)
        in_query = [len(own & r_n) for r_n in lists]
        in_document = [sum(len({sentence} & r_n) for r_n in lists) for sentence in sorted(own)]
        qp, dp = (sum(c / (c + penalty) for c in counts if c) for counts in (in_query, in_document))
        scores.append(qp / len(queries) * dp / len(own))
    return scores


def best_of(repeats: int, *calls: Callable[[], Any]) -> list[float]:
    """The shortest time of each, called in turn."""
    best = [math.inf] * len(calls)
    for _ in range(repeats):
        for side, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[side] = min(best[side], time.perf_counter() - start)
    return best


def record(metric: str, ours: float, peer: str, theirs: float) -> Record:
    """One line of the report; times in milliseconds."""
    return {"metric": metric, "ours": 1000 * ours, "peer": peer, "theirs": 1000 * theirs, "ratio": theirs / ours}


def compare_all(queries: int, repeats: int) -> Iterator[Record]:
    """All comparisons, one record each."""
    chance = np.random.default_rng(0)
    topics = unit_length(chance.standard_normal((TOPICS, DIMENSION), dtype=np.float32))
    spans = tuple(Passage(0, 1) for _ in range(ASKED))
    asked = [QuerySentences(spans, made_sentences(chance, topics, ASKED)) for _ in range(queries)]
    with made_channel(chance, topics) as channel:
        rprs, docs = Rprs(channel), np.arange(CANDIDATES)
        candidates = rprs.reader.candidates(docs)
        documents = np.split(candidates.vectors, candidates.starts[1:-1])
        expected = transcribed(rprs, asked[0].vectors, documents)
        if not np.allclose(rprs.scores(asked[0], candidates), expected, rtol=1e-5):
            raise SystemExit("the transcription of the equations disagrees; nothing was timed")

        def point() -> None:
            for one in asked:
                rprs.scores(one, rprs.reader.candidates(docs))

        def slow() -> None:
            transcribed(rprs, asked[0].vectors, np.split(candidates.vectors, candidates.starts[1:-1]))

        ours, theirs = best_of(repeats, point, slow)
        shape = f"{CANDIDATES} candidates x {SENTENCES} sentences, query of {ASKED}"
        yield record(f"ms per query, RPRS w/freq, {shape}", ours / queries, "transcription", theirs)
        yield from grids(rprs, asked, repeats, theirs)
        yield similar(rprs, asked[0], docs, repeats)


def grids(rprs: Rprs, asked: Sequence[QuerySentences], repeats: int, slow: float) -> Iterator[Record]:
    """The grid at one depth, and at all."""
    places = np.random.default_rng(1).permutation(CANDIDATES)[:RELEVANT].astype(np.int64)

    def search(grid: RprsGrid) -> None:
        for one in asked:
            candidates = rprs.reader.candidates(np.arange(grid.depth[-1]))
            ranks_of_hits(one, candidates, places, rprs.reader.average_length, grid)

    single = RprsGrid((rprs.n,), (rprs.k1,), (rprs.b,), (CANDIDATES,))
    search(single)
    search(GRID)
    one, grid = best_of(repeats, lambda: search(single), lambda: search(GRID))
    grid_size = f"{GRID.points:,} points, {len(asked)} queries"
    yield record(f"ms, grid of {grid_size}", grid, "3 single points", 3 * one)
    yield record(f"ms, grid of {grid_size}", grid, "transcription, multiplied", slow * GRID.points * len(asked))
    (deep,) = best_of(1, lambda: search(RprsGrid()))
    yield record(
        f"ms, grid of {RprsGrid().points:,} points, depths to 100, {len(asked)} queries", deep, "3 single points", 3 * one
    )


def similar(rprs: Rprs, query: QuerySentences, docs: I64, repeats: int) -> Record:
    """SDR on the same sentences, compared with RPRS."""
    own = np.arange(len(query)) // PARAGRAPH

    def sdr() -> None:
        candidates = rprs.reader.candidates(docs)
        within = np.arange(len(candidates.vectors)) - np.repeat(candidates.starts[:-1], candidates.lengths)
        sdr_scores(query.vectors, own, candidates, within // PARAGRAPH)

    ours, theirs = best_of(repeats, lambda: rprs.scores(query, rprs.reader.candidates(docs)), sdr)
    return record("ms per query, RPRS w/freq", ours, "SDR inference of LexFuse", theirs)


def main() -> None:
    """Run the comparisons and print them as a table or as one JSON object a line."""
    parser = argparse.ArgumentParser(description="RPRS: one point, the grid, a transcription of the equations")
    parser.add_argument("--quick", action="store_true", help="fewer queries and repeats")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    NEEDS.check()
    for found in compare_all(*((3, 2) if options.quick else (10, 5))):
        if options.json:
            print(json.dumps(found), flush=True)
        else:
            times = f"{found['ours']:9.1f}   {found['theirs']:12.1f}"
            print(f"{found['metric']:<82} {times}  {found['ratio']:9.1f} x  {found['peer']}", flush=True)


if __name__ == "__main__":
    main()
