"""The loops of fusion, compiled and in numpy, against slow transcriptions, bit for bit."""

import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.ids import Ids
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.comb import CombMNZ
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.kernels import compilation
from lexfuse.kernels import fusion as kernel
from lexfuse.kernels.fusion import align, best, rank, smooth_ranks

pytestmark = pytest.mark.filterwarnings("ignore::lexfuse.errors.BoundWarning")  # rankings without stated bounds

WAYS = {"plain": -(10**15), "compiled": compilation.PATIENCE}  # steps made so far
both_ways = pytest.mark.parametrize("way", WAYS)


@contextmanager
def using(way):
    before, compilation._Waiting.steps = compilation._Waiting.steps, WAYS[way]
    try:
        yield
    finally:
        compilation._Waiting.steps = before


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def random_lists(generator, *, sources, queries, documents, longest):
    starts, docs, scores = [], [], []
    for _ in range(sources):
        rows = [generator.permutation(documents)[: generator.integers(0, longest + 1)] for _ in range(queries)]
        starts.append(np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64))
        docs.append(np.concatenate([*rows, []]).astype(np.int32))
        scores.append(generator.normal(size=len(docs[-1])).astype(np.float32))
    return starts, docs, scores


def slow_aligned(starts, docs, scores, queries):
    offsets, union, columns = [0], [], []
    for query in range(queries):
        found = {}
        for source, (start, doc, score) in enumerate(zip(starts, docs, scores, strict=True)):
            for at in range(start[query], start[query + 1]):
                cells = found.setdefault(int(doc[at]), [(np.nan, 0)] * len(starts))
                cells[source] = (float(score[at]), at - start[query] + 1)
        union += found
        columns += found.values()
        offsets.append(len(union))
    table = np.array(columns, dtype=np.float64).reshape(len(union), len(starts), 2)
    return offsets, union, table[:, :, 0].T, table[:, :, 1].T


SHAPES = (st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 6), st.integers(1, 30))


@both_ways
@given(*SHAPES)
@settings(max_examples=80)
def test_aligned_holds_every_document_once(way, seed, sources, queries, documents):
    lists = random_lists(np.random.default_rng(seed), sources=sources, queries=queries, documents=documents, longest=12)
    with using(way):
        found = align(*lists, documents)
    same(found, slow_aligned(*lists, queries))
    assert [array.dtype for array in found] == [np.int64, np.int32, np.float64, np.int32]


def random_candidates(generator, queries, longest, levels):
    offsets = np.concatenate(([0], np.cumsum(generator.integers(0, longest + 1, queries)))).astype(np.int64)
    size = int(offsets[-1])
    scores = generator.normal(size=size) if levels is None else generator.integers(-levels, levels + 1, size).astype(np.float64)
    scores[generator.random(size) < 0.1] *= -0.0  # zeros of both signs tie
    return offsets, scores, generator.permutation(size).astype(np.int32)


def slow_best(offsets, scores, order, k):
    rows = [sorted(range(a, b), key=lambda at: (-scores[at], order[at]))[:k] for a, b in pairwise(offsets.tolist())]
    return np.concatenate(([0], np.cumsum([len(row) for row in rows]))), [at for row in rows for at in row]


@both_ways
@given(st.integers(0, 2**32), st.integers(0, 5), st.integers(0, 90), st.sampled_from([None, 0, 1, 9]), st.integers(1, 100))
@settings(max_examples=150)
def test_best_is_a_sort_by_score_and_order(way, seed, queries, longest, levels, k):
    offsets, scores, order = random_candidates(np.random.default_rng(seed), queries, longest, levels)
    single = scores.astype(np.float32)
    with using(way):
        same(best(offsets, single, order, k), slow_best(offsets, single, order, k))


@both_ways
@given(
    st.integers(0, 2**32), st.integers(0, 5), st.integers(0, 90), st.sampled_from([None, 0, 1, 9]), st.sampled_from([0, 0.5, 1])
)
@settings(max_examples=100)
def test_ranks_count_those_that_are_known(way, seed, queries, longest, levels, share):
    generator = np.random.default_rng(seed)
    offsets, scores, order = random_candidates(generator, queries, longest, levels)
    known, listed = generator.random(len(scores)) < share, generator.random(len(scores)) < 0.5
    expected = np.zeros(len(scores), dtype=np.int32)
    for begin, end in pairwise(offsets.tolist()):
        by_score = sorted((at for at in range(begin, end) if known[at]), key=lambda at: (-np.float32(scores[at]), order[at]))
        expected[by_score] = np.arange(1, len(by_score) + 1)
        for before, at in pairwise(by_score):
            if not (listed[before] or listed[at]) and np.float32(scores[before]) == np.float32(scores[at]):
                expected[at] = expected[before]
    with using(way):
        same([rank(offsets, np.where(known, scores, np.nan), known, listed, order)], [expected])


def test_a_source_that_says_nothing_of_a_query_does_not_rank_by_name():
    """Citation lookup scores 0 for everything that a query does not name."""

    class Silent:
        bounds = ScoreBounds(0.0, 1.0)

        def score(self, queries, pairs):
            return np.zeros(len(pairs), dtype=np.float32)

    listed = Run.of("bm25", {"q": {"z": 3.0, "m": 2.0, "a": 1.0}})
    queries = Queries.of([Query("q", "préavis")])
    union = union_of([listed, Run.of("citation", {"q": {}})], [Silent(), Silent()], queries)
    assert [hit.doc for hit in ReciprocalRank().fused(union, 10).hits("q")] == ["z", "m", "a"]
    assert set(union.ranks[1].tolist()) == {1}


@both_ways
def test_scores_far_apart_are_sorted(way):
    scores = np.concatenate([np.geomspace(1e-38, 1e38, 300), -np.geomspace(1e-38, 1e38, 300), [0.0]]).astype(np.float32)
    mixed = np.random.default_rng(0).permutation(scores)
    with using(way):
        _, chosen = best(np.array([0, len(mixed)]), mixed, np.arange(len(mixed), dtype=np.int32), len(mixed))
    same([mixed[chosen]], [np.sort(scores)[::-1]])


@given(st.integers(0, 2**32), st.sampled_from([0.5, 40.0, 1e4, 1e9]))
@settings(max_examples=50)
def test_smooth_ranks_are_sums_of_sigmoids(seed, beta):
    generator = np.random.default_rng(seed)
    offsets, scores, _ = random_candidates(generator, 3, 20, None)
    known = generator.random(len(scores)) < 0.8
    listed = known & (generator.random(len(scores)) < 0.7)
    expected = np.zeros(len(scores))
    for begin, end in pairwise(offsets.tolist()):
        for at in np.flatnonzero(known[begin:end]) + begin:
            away = beta * (scores[begin:end][listed[begin:end]] - scores[at])
            expected[at] = 0.5 + (1 / (1 + np.exp(-np.clip(away, -700, 700)))).sum()
    np.testing.assert_allclose(smooth_ranks(offsets, scores, known, listed, beta), expected, rtol=1e-12)


def sample_runs(seed, sources=3, queries=23, documents=60, depth=25, levels=None):
    generator = np.random.default_rng(seed)
    names = Ids([f"d{number}" for number in generator.permutation(documents)])
    starts, docs, scores = random_lists(generator, sources=sources, queries=queries, documents=documents, longest=depth)
    ids = Ids([f"q{number}" for number in range(queries)])
    return [
        Run.from_arrays(
            f"s{number}", ids, names, np.repeat(np.arange(queries, dtype=np.int32), np.diff(start)), doc,
            score if levels is None else np.round(score * levels),
        )
        for number, (start, doc, score) in enumerate(zip(starts, docs, scores, strict=True))
    ]  # fmt: skip


FUSIONS = [ReciprocalRank(), Borda(), Convex(), Convex(None, ZScore()), TM2C2(), CombMNZ(), SmoothReciprocalRank()]


def same_runs(one, other):
    same((one.offsets, one.doc, one.score), (other.offsets, other.doc, other.score))
    assert one.parts.keys() == other.parts.keys()
    same(one.parts.values(), other.parts.values())


@pytest.mark.parametrize("fusion", FUSIONS, ids=repr)
@pytest.mark.parametrize("levels", [None, 2], ids=["distinct", "tied"])
@pytest.mark.parametrize("k", [3, 1000])
def test_both_ways_give_the_same_bits(fusion, levels, k):
    runs = sample_runs(4, levels=levels)
    with using("plain"):
        plain = fusion.fuse(runs, k)
    with using("compiled"):
        same_runs(fusion.fuse(runs, k), plain)
    assert len(plain) > 50


@pytest.mark.parametrize("fusion", FUSIONS, ids=repr)
@both_ways
def test_blocks_of_queries_give_the_same_bits(fusion, way, monkeypatch):
    runs = sample_runs(5)
    with using(way):
        whole = fusion.fuse(runs, 10)
        for block in (1, 200, 500):
            monkeypatch.setattr(kernel, "BLOCK", block)
            assert kernel.queries_at_once(23, 900) < 23
            same_runs(fusion.fuse(runs, 10), whole)


def test_a_few_questions_are_fused_without_numba():
    code = """if True:
        import sys
        from lexfuse.data.run import Run
        from lexfuse.fusion.reciprocal_rank import ReciprocalRank
        from lexfuse.fusion.convex import TM2C2
        runs = [Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 9.0}})]
        ReciprocalRank().fuse(runs, 10), TM2C2().fuse(runs, 10)
        print("numba" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
