"""What RPRS w/freq loses where only the beginnings of judgments are read, on irled2017 (RPRS 7.3, figure 4).

    python bench/truncation.py --index FOLDER [--data FOLDER] [--quick] [--json] [--embedding-cache FILE]

Of queries and documents the sentences within the first 256, 512, … words are kept; one that goes beyond the cut is dropped, so
that nothing has to be encoded anew. The paper counts tokens of its model, of which a word has one or more. The first stage reads
whole texts: BM25+KLI as bench/quality_similar.py chooses it. At every length n, k1, b and the depth are tuned on the 100
judgments of train (mean AP) and reported on the 40 of dev; test is not read. Then whole texts are compared with every length by
paired t-tests of AP on dev, corrected by Holm.

Needs an index with a channel `sentences` (see bench/quality_similar.py) and says so without. Sentences of the queries are kept in
--embedding-cache. With --quick the grid is coarse.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgments.irled2017 import COARSE, SENTENCES, Judgments, Record, against, options, read_options, show
from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.data.arrays import F64, I32, I64, offsets_of
from lexfuse.data.queries import Query
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, tuned_rprs
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sentence_vectors import CandidateSentences, QuerySentences, SentenceVectorReader
from lexfuse.text.passages import word_offsets

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
WHOLE = sys.maxsize
GRID = RprsGrid(n=tuple(range(1, 11)), k1=(0.0, 0.4, 1.0, 2.0, 3.0), b=(0.0, 0.25, 0.5, 0.75, 1.0), depth=(50, 100, 200))


def ends(text: str, lengths: Sequence[int]) -> list[int]:
    """Where the first so many words of a text end; beyond the text where it has no more."""
    words = word_offsets(text)
    return [words[length - 1][1] if length <= len(words) else WHOLE for length in lengths]


class Beginnings(SentenceVectorReader):
    """Sentences of which only those within the first so many words are known."""

    def __init__(self, dense: PassageRetriever, words: int, limits: I64) -> None:
        """Take the channel, the number of words, and where so many words of every document end."""
        super().__init__(dense)
        self.words, self.limits = words, limits

    def query(self, query: Query) -> QuerySentences:
        """The first sentences of a query."""
        whole = super().query(query)
        (limit,) = ends(query.text, [self.words])
        kept = sum(span.end <= limit for span in whole.spans)
        return QuerySentences(whole.spans[:kept], whole.vectors[:kept])

    def candidates(self, docs: I32 | I64) -> CandidateSentences:
        """The first sentences of documents."""
        whole = super().candidates(docs)
        kept = whole.spans[:, 1] <= self.limits[docs][whole.owner]
        starts = offsets_of(np.bincount(whole.owner[kept], minlength=len(whole)))
        return CandidateSentences(starts, whole.vectors[kept], whole.spans[kept], whole.order)

    @cached_property
    def average_length(self) -> float:
        """Sentences that are known of a document, on average."""
        found = [self.dense.passages_of(doc).spans[:, 1] for doc in range(len(self.dense.snapshot))]
        known = [np.count_nonzero(ends <= limit) for ends, limit in zip(found, self.limits.tolist(), strict=True) if len(ends)]
        return float(np.mean(known))


@dataclass(frozen=True)
class TruncatedRprs(Rprs):
    """RPRS over the beginnings of texts."""

    read_by: SentenceVectorReader | None = None

    @cached_property
    def reader(self) -> SentenceVectorReader:
        """What gives it the sentences."""
        assert self.read_by is not None
        return self.read_by


def measured(bench: Judgments) -> Iterator[tuple[Record, F64]]:
    """One record a length, whole texts first, with the AP of every judgment of dev."""
    limits = np.array([ends(text, LENGTHS) for text in bench.snapshot.column("text")], dtype=np.int64)
    first = {split: bench.chosen_first(bench.of(split)) for split in ("train", "dev")}
    every = [(WHOLE, np.full(len(limits), WHOLE)), *zip(LENGTHS[::-1], limits.T[::-1], strict=True)]
    for words, ended in every:
        rprs = TruncatedRprs(bench.sentences, read_by=Beginnings(bench.sentences, words, ended))
        train, dev = (
            rprs_surface(rprs, bench.queries, run, bench.collection.qrels[split], "AP", COARSE if bench.quick else GRID)
            for split, run in first.items()
        )
        tuned = tuned_rprs(train, dev)
        point = tuned.point
        yield {
            "length": "whole texts" if words == WHOLE else f"first {words:,} words",
            "chosen": f"n={point.n} k1={point.k1:g} b={point.b:g} depth={point.depth}",
            "AP train": round(tuned.train, 4), "AP dev": round(tuned.dev, 4),
            "sentences a document": round(rprs.reader.average_length, 1),
        }, dev.of_queries(point)  # fmt: skip


def main() -> None:
    """Measure and print."""
    with read_options(options(__doc__)) as asked:
        bench = Judgments.opened(asked.data, asked.index, asked.embedding_cache, quick=asked.quick)
        if SENTENCES not in bench.snapshot.channels:
            print("nothing measured: the index has no channel of sentences; name one that has with --index", file=sys.stderr)
            return
        values = {}
        for record, of_queries in measured(bench):
            values[record["length"]] = of_queries
            if not asked.json:
                show(record, as_json=False)
        (_, whole), *others = values.items()
        for record in against("irled2017 dev AP, RPRS w/freq on whole texts", whole, dict(others)):
            show(record, as_json=asked.json)


if __name__ == "__main__":
    main()
