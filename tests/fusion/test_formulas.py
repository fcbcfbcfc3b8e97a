"""Every fusion against its formula, written here in plain Python over dictionaries."""

import math
import statistics
from itertools import pairwise

import numpy as np
import pytest

from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMax, CombMNZ
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import Identity, MinMax, TheoreticalMinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing

pytestmark = pytest.mark.filterwarnings("ignore::lexfuse.errors.BoundWarning")  # rankings without stated bounds

LOW = -4.0  # the least score that a stub can give


class Stub:
    """A source that knows the true score of most documents."""

    bounds = ScoreBounds(LOW)

    def __init__(self, truth):
        self.truth = truth

    def score(self, queries, pairs):
        query = np.repeat(np.arange(len(pairs.queries)), np.diff(pairs.offsets))
        found = [
            self.truth[pairs.queries[row]].get(pairs.docs[doc], math.nan)
            for row, doc in zip(query.tolist(), pairs.doc.tolist(), strict=True)
        ]
        return np.array(found, dtype=np.float32)


def collection(seed, *, sources=3, queries=4, docs=14, depth=6, levels=None):
    """True scores of every source (some unknown), and the lists of the best that it returns; `levels` make ties."""
    generator = np.random.default_rng(seed)
    truths, rankings = [], []
    for _ in range(sources):
        truth = {}
        for query in range(queries):
            values = generator.normal(size=docs) if levels is None else generator.integers(-levels, levels + 1, docs) / 2
            known = generator.random(docs) < 0.85
            truth[f"q{query}"] = {f"d{doc}": float(np.float32(values[doc])) for doc in np.flatnonzero(known)}
        truths.append(truth)
        best = {q: sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:depth] for q, scores in truth.items()}
        rankings.append({q: dict(hits) for q, hits in best.items()})
    runs = [Run.of(f"s{number}", ranking) for number, ranking in enumerate(rankings)]
    stubs = [Stub(truth) for truth in truths]
    return runs, rankings, truths, stubs, Queries.of([Query(f"q{query}", "…") for query in range(queries)])


class Plain:
    """What the sources say about the candidates of one query."""

    def __init__(self, listed, truths, missing, asked):
        self.listed = listed
        self.docs = sorted({doc for ranking in listed for doc in ranking})
        self.known = [
            {doc: truth[doc] for doc in self.docs if doc in ranking or (asked and doc in truth)}
            for ranking, truth in zip(listed, truths, strict=True)
        ]
        self.missing = missing
        self.low = [LOW if asked else None] * len(listed)

    def ranks(self, source):
        ordered = sorted(self.known[source].items(), key=lambda hit: (-hit[1], hit[0]))
        ranks = {doc: rank for rank, (doc, _) in enumerate(ordered, start=1)}
        for (before, high), (doc, score) in pairwise(ordered):  # what is not listed is not told apart by its name
            if score == high and not {before, doc} & self.listed[source].keys():
                ranks[doc] = ranks[before]
        return ranks

    def reciprocal(self, source, ranks, eta):
        def value(doc):
            if doc in ranks:
                return 1 / (eta + ranks[doc])
            return 0.0 if self.missing is Missing.ZERO else 1 / (eta + len(ranks) + 1)

        return {doc: value(doc) for doc in self.docs}

    def smooth(self, source, beta):
        def rank(score):
            return 0.5 + sum(1 / (1 + math.exp(-beta * (other - score))) for other in self.listed[source].values())

        return {doc: rank(score) for doc, score in self.known[source].items()}

    def imputed(self, values):
        least = 0.0 if self.missing is Missing.ZERO or not values else min(values.values())
        return {doc: values.get(doc, least) for doc in self.docs}

    def min_max(self, source, low=None):
        known = self.known[source]
        if not known:
            return {}
        low, high = min(known.values()) if low is None else low, max(known.values())
        return {doc: (score - low) / (high - low) if high > low else 0.5 for doc, score in known.items()}

    def z_score(self, source):
        known = self.known[source]
        if not known:
            return {}
        mean, spread = statistics.fmean(known.values()), statistics.pstdev(known.values())
        return {doc: (score - mean) / spread if spread else 0.0 for doc, score in known.items()}

    def total(self, values, weights):
        return {doc: sum(weight * row[doc] for weight, row in zip(weights, values, strict=True)) for doc in self.docs}


SOURCES = range(3)
WEIGHTS = (0.5, 0.2, 0.3)


def lows(plain, runs_low):
    return [low if low is not None else least for low, least in zip(plain.low, runs_low, strict=True)]


FORMULAS = {
    "rrf": (
        lambda missing: ReciprocalRank(missing=missing),
        lambda plain, _: plain.total([plain.reciprocal(s, plain.ranks(s), 60) for s in SOURCES], (1, 1, 1)),
    ),
    "rrf with a constant and a weight each": (
        lambda missing: ReciprocalRank((5, 60, 1.5), WEIGHTS, missing),
        lambda plain, _: plain.total(
            [plain.reciprocal(s, plain.ranks(s), eta) for s, eta in zip(SOURCES, (5, 60, 1.5), strict=True)], WEIGHTS
        ),
    ),
    "srrf": (
        lambda missing: SmoothReciprocalRank(5, 3.0, missing=missing),
        lambda plain, _: plain.total(
            [
                {
                    doc: value if doc in plain.known[s] else plain.reciprocal(s, plain.ranks(s), 5)[doc]
                    for doc, value in plain.reciprocal(s, plain.smooth(s, 3.0), 5).items()
                }
                for s in SOURCES
            ],
            (1, 1, 1),
        ),
    ),
    "borda": (
        lambda missing: Borda(missing),
        lambda plain, _: plain.total(
            [
                {doc: len(plain.known[s]) - rank + 1 if (rank := plain.ranks(s).get(doc)) else 0 for doc in plain.docs}
                for s in SOURCES
            ],
            (1, 1, 1),
        ),
    ),
    "min-max": (
        lambda missing: Convex(WEIGHTS, MinMax(), missing),
        lambda plain, _: plain.total([plain.imputed(plain.min_max(s)) for s in SOURCES], WEIGHTS),
    ),
    "theoretical min-max": (
        lambda missing: Convex(WEIGHTS, TheoreticalMinMax(), missing),
        lambda plain, low: plain.total([plain.imputed(plain.min_max(s, lows(plain, low)[s])) for s in SOURCES], WEIGHTS),
    ),
    "tm2c2": (
        lambda missing: TM2C2(0.7, missing=missing),
        lambda plain, low: plain.total(
            [plain.imputed(plain.min_max(s, lows(plain, low)[s])) for s in SOURCES], (0.3, 0.35, 0.35)
        ),
    ),
    "z-score": (
        lambda missing: Convex(WEIGHTS, ZScore(), missing),
        lambda plain, _: plain.total([plain.imputed(plain.z_score(s)) for s in SOURCES], WEIGHTS),
    ),
    "a normaliser each": (
        lambda missing: Convex(WEIGHTS, (MinMax(), Identity(), ZScore()), missing),
        lambda plain, _: plain.total(
            [plain.imputed(plain.min_max(0)), plain.imputed(plain.known[1]), plain.imputed(plain.z_score(2))], WEIGHTS
        ),
    ),
    "combmnz": (
        lambda missing: CombMNZ(MinMax(), missing),
        lambda plain, _: {
            doc: total * sum(doc in ranking for ranking in plain.listed)
            for doc, total in plain.total([plain.imputed(plain.min_max(s)) for s in SOURCES], (1, 1, 1)).items()
        },
    ),
    "combmax": (
        lambda missing: CombMax(ZScore(), missing),
        lambda plain, _: {doc: max(plain.imputed(plain.z_score(s))[doc] for s in SOURCES) for doc in plain.docs},
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("missing", Missing)
@pytest.mark.parametrize("asked", [True, False], ids=["sources", "files"])
@pytest.mark.parametrize(("seed", "levels"), [(1, None), (2, None), (3, 2), (4, 1)])
def test_the_fused_scores_are_those_of_the_formula(name, missing, asked, seed, levels):
    runs, rankings, truths, stubs, queries = collection(seed, levels=levels)
    make, formula = FORMULAS[name]
    found = make(missing).fuse(runs, 100, sources=stubs if asked else None, queries=queries if asked else None)
    rescored = asked and missing is Missing.RESCORE
    run_lows = [min(0.0, *(score for hits in ranking.values() for score in hits.values())) for ranking in rankings]
    for query in found.queries:
        plain = Plain([ranking[query] for ranking in rankings], [truth[query] for truth in truths], missing, rescored)
        expected = formula(plain, run_lows)
        hits = found.hits(query)
        assert {hit.doc: hit.score for hit in hits} == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert [hit.doc for hit in hits] == [hit.doc for hit in sorted(hits, key=lambda hit: (-hit.score, hit.doc))]
        assert [hit.rank for hit in hits] == list(range(1, len(plain.docs) + 1))


@pytest.mark.parametrize("asked", [True, False])
def test_every_hit_carries_the_raw_scores_of_all_sources_that_know_one(asked):
    runs, rankings, truths, stubs, queries = collection(6)
    found = TM2C2().fuse(runs, 100, sources=stubs if asked else None, queries=queries)
    unknown = 0
    for query in found.queries:
        for hit in found.hits(query):
            for number, (ranking, truth) in enumerate(zip(rankings, truths, strict=True)):
                expected = truth[query].get(hit.doc) if asked else ranking[query].get(hit.doc)
                assert hit.parts.get(f"s{number}") == expected
                unknown += expected is None
    assert unknown


def test_a_union_tells_whether_its_sources_were_asked():
    runs, _, _, stubs, queries = collection(7)
    assert union_of(runs).asked == (False, False, False)
    union = union_of(runs, stubs, queries)
    assert union.asked == (True, True, True)
    assert union.low.tolist() == [[LOW] * len(union.queries)] * 3


def test_sources_are_asked_for_nothing_else_than_what_they_did_not_list():
    runs, rankings, truths, stubs, queries = collection(8)
    asked = []

    class Counting(Stub):
        def score(self, queries, pairs):
            asked.append([(query, hit.doc) for query in pairs.queries for hit in pairs.hits(query)])
            return super().score(queries, pairs)

    union_of(runs, [Counting(truth) for truth in truths], queries)
    for ranking, pairs in zip(rankings, asked, strict=True):
        union = {(query, doc) for other in rankings for query, hits in other.items() for doc in hits}
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == union - {(query, doc) for query, hits in ranking.items() for doc in hits}
    assert stubs


@pytest.mark.parametrize("fusion", [TM2C2(missing=Missing.MIN), Borda(Missing.ZERO)], ids=["min", "zero"])
def test_only_rescoring_asks(fusion):
    runs, _, _, _, queries = collection(9)

    class Silent:
        bounds = ScoreBounds(0.0)

        def score(self, queries, pairs):
            raise AssertionError("asked")

    assert len(fusion.fuse(runs, 5, sources=[Silent()] * 3, queries=queries)) == 20
