"""The loops of the inverted file, compiled and in numpy, against slow transcriptions, bit for bit."""

import subprocess
import sys
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.kernels import compilation, postings, top_k_numba
from lexfuse.kernels.postings import best, distinct, invert, pair_scores

NONE = np.empty(0, dtype=np.bool_)
WAYS = {"plain": -(10**15), "compiled": compilation.PATIENCE}  # steps made so far
both_ways = pytest.mark.parametrize("way", WAYS)


@contextmanager
def using(way):
    before, compilation._Waiting.steps = compilation._Waiting.steps, WAYS[way]
    try:
        yield
    finally:
        compilation._Waiting.steps = before


def random_postings(generator, *, documents, terms, share, levels=None):
    """Posting lists with impacts; few `levels` of impact make many ties."""
    held = generator.random((terms, documents)) < share
    offsets = np.concatenate(([0], np.cumsum(held.sum(axis=1)))).astype(np.int64)
    docs = np.nonzero(held)[1].astype(np.int32)
    impacts = generator.random(len(docs)) if levels is None else generator.integers(1, levels + 1, len(docs))
    return offsets, docs, impacts.astype(np.float32)


def random_queries(generator, *, queries, terms, longest):
    rows = [generator.permutation(terms)[: generator.integers(0, longest + 1)] for _ in range(queries)]
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    flat = np.concatenate([*rows, []]).astype(np.int32)
    return starts, flat, generator.integers(1, 4, len(flat)).astype(np.float32)


def slow_best(starts, ranges, ends, factors, docs, impacts, order, within, k):
    rows = []
    for first, last in pairwise(starts):
        scores = np.zeros(len(order), dtype=np.float32)
        for part in range(first, last):
            span = slice(ranges[part], ends[part])
            scores[docs[span]] += factors[part] * impacts[span]
        if len(within):
            scores[~within] = 0
        ranked = np.lexsort((order, -scores))[:k]
        ranked = ranked[scores[ranked] > 0]
        rows.append((ranked, scores[ranked]))
    offsets = np.concatenate(([0], np.cumsum([len(ranked) for ranked, _ in rows])))
    return offsets, np.concatenate([ranked for ranked, _ in rows]), np.concatenate([scores for _, scores in rows])


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def check_best(way, seed, *, documents, k, share=0.3, levels=None, masked=False, terms=12, longest=8):
    generator = np.random.default_rng(seed)
    offsets, docs, impacts = random_postings(generator, documents=documents, terms=terms, share=share, levels=levels)
    starts, flat, factors = random_queries(generator, queries=6, terms=terms, longest=longest)
    order = generator.permutation(documents).astype(np.int32)
    within = generator.random(documents) < 0.1 if masked else NONE
    arguments = (starts, offsets[flat], offsets[flat + 1], factors, docs, impacts, order, within, k)
    with using(way):
        found = best(*arguments)
        same(found, slow_best(*arguments))
        row = np.repeat(np.arange(6, dtype=np.int32), np.diff(found[0]))
        same([pair_scores(row, found[1], *arguments[:6])], [found[2]])
    return found


@both_ways
@given(
    st.integers(0, 2**32), st.integers(0, 300), st.integers(1, 400), st.sampled_from([None, 1, 3]), st.booleans(),
    st.sampled_from([0.0, 0.01, 0.5, 1.0]),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_best_is_the_plain_sum_and_sort(way, seed, documents, k, levels, masked, share):
    check_best(way, seed, documents=documents, k=k, levels=levels, masked=masked, share=share)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("levels", [None, 2])
@pytest.mark.parametrize("k", [1, 100, 3000])
@pytest.mark.parametrize("share", [0.01, 0.4], ids=["sparse", "dense"])
def test_best_over_several_blocks(share, k, levels, masked):
    documents = 2 * top_k_numba.BLOCK + 77
    offsets, _, _ = check_best(
        "compiled", 5, documents=documents, k=k, share=share, levels=levels, masked=masked, terms=6, longest=6
    )
    assert offsets[-1] > min(k, 500)


def test_blocks_without_postings_are_passed_over():
    docs = np.array([5, 3 * top_k_numba.BLOCK, 3 * top_k_numba.BLOCK + 1], dtype=np.int32)
    order = np.arange(4 * top_k_numba.BLOCK, dtype=np.int32)
    impacts = np.array([1, 3, 2], dtype=np.float32)
    with using("compiled"):
        found = best(np.array([0, 1]), np.array([0]), np.array([3]), np.ones(1, np.float32), docs, impacts, order, NONE, 9)
    same(found, ([0, 3], docs[[1, 2, 0]], [3, 2, 1]))


@both_ways
def test_ties_go_by_order_also_at_the_cut(way):
    documents = 1000
    docs = np.arange(documents, dtype=np.int32)
    order = docs[::-1].copy()
    one = np.ones(1, dtype=np.float32)
    arguments = (np.array([0, 1]), np.array([0]), np.array([documents]), one, docs, np.ones(documents, np.float32), order, NONE)
    with using(way):
        same(best(*arguments, 3), ([0, 3], [999, 998, 997], [1, 1, 1]))


def test_scores_far_apart_are_sorted():
    impacts = np.geomspace(1e-38, 1e38, 500).astype(np.float32)
    docs = np.arange(500, dtype=np.int32)
    one = np.ones(1, dtype=np.float32)
    with using("compiled"):
        found = best(np.array([0, 1]), np.array([0]), np.array([500]), one, docs, impacts, docs, NONE, 500)
    same(found, ([0, 500], docs[::-1], impacts[::-1]))


def test_a_prefix_of_the_ranking_does_not_depend_on_k():
    generator = np.random.default_rng(1)
    offsets, docs, impacts = random_postings(generator, documents=5000, terms=9, share=0.3, levels=4)
    order = generator.permutation(5000).astype(np.int32)
    arguments = (np.array([0, 9]), offsets[:-1], offsets[1:], np.ones(9, np.float32), docs, impacts, order, NONE)
    with using("compiled"):
        whole = best(*arguments, 5000)
        for k in (1, 10, 1000):
            same([array[:k] for array in best(*arguments, k)[1:]], [array[:k] for array in whole[1:]])


@both_ways
def test_no_queries_and_no_documents(way):
    nothing, floats = np.empty(0, np.int32), np.empty(0, np.float32)
    ranges = np.empty(0, np.int64)
    some = np.arange(3, dtype=np.int32)
    with using(way):
        same(best(np.array([0]), ranges, ranges, floats, nothing, floats, some, NONE, 5), ([0], [], []))
        same(best(np.array([0, 0]), ranges, ranges, floats, nothing, floats, nothing, NONE, 5), ([0, 0], [], []))


@both_ways
def test_pairs_that_share_no_term_score_zero(way):
    generator = np.random.default_rng(2)
    offsets, docs, impacts = random_postings(generator, documents=50, terms=5, share=0.2)
    starts, flat, factors = random_queries(generator, queries=4, terms=5, longest=3)
    row, doc = (axis.ravel().astype(np.int32) for axis in np.indices((4, 50)))
    with using(way):
        scores = pair_scores(row, doc, starts, offsets[flat], offsets[flat + 1], factors, docs, impacts)
    expected = np.zeros((4, 50), dtype=np.float32)
    for query in range(4):
        for part in range(starts[query], starts[query + 1]):
            span = slice(offsets[flat[part]], offsets[flat[part] + 1])
            expected[query, docs[span]] += factors[part] * impacts[span]
    assert (expected == 0).any()
    same([scores.reshape(4, 50)], [expected])


@both_ways
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.5, 1.0, 2.0])), max_size=12), max_size=8),
    st.permutations(range(10)),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_invert_gathers_what_documents_hold(way, rows, numbers, weighted):
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    terms = np.array([term for row in rows for term, _ in row], dtype=np.int32)
    weights = np.array([weight for row in rows for _, weight in row], dtype=np.float32)
    table = np.zeros((10, len(rows)), dtype=np.float32)
    for doc, row in enumerate(rows):
        for term, weight in row:
            table[numbers[term], doc] += weight if weighted else 1.0
    given_weights = weights if weighted else weights[:0]
    with using(way):
        offsets, docs, sums, lengths = invert(starts, terms, given_weights, np.array(numbers, dtype=np.int32))
    term, doc = np.nonzero(table)
    same((offsets, docs, sums), (np.searchsorted(term, np.arange(11)), doc, table[term, doc]))
    same([lengths], [table.sum(axis=0)])


@both_ways
@given(st.lists(st.lists(st.integers(0, 5), max_size=10), max_size=6))
@settings(max_examples=100, deadline=None)
def test_distinct_counts_terms_in_order_of_first_occurrence(way, rows):
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    flat = np.array([term for row in rows for term in row], dtype=np.int32)
    with using(way):
        new_starts, terms, counts = distinct(starts, flat, 6)
    expected = [(term, row.count(term)) for row in rows for term in dict.fromkeys(row)]
    assert list(zip(terms.tolist(), counts.tolist(), strict=True)) == expected
    assert np.diff(new_starts).tolist() == [len(set(row)) for row in rows]


def test_mapped_and_writable_arrays_share_one_compilation(tmp_path):
    arrays = (np.array([0, 1]), np.array([0]), np.array([1]), np.ones(1, np.float32), np.zeros(1, np.int32),
              np.ones(1, np.float32), np.zeros(1, np.int32), NONE)  # fmt: skip
    mapped = []
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"{number}.npy", array)
        mapped.append(np.load(tmp_path / f"{number}.npy", mmap_mode="r" if array.size else None))
    strided = [np.repeat(array, 2)[::2] for array in arrays]
    with using("compiled"):
        expected = best(*arrays, 1)
        same(best(*mapped, 1), expected)
        same(best(*strided, 1), expected)
    assert len(top_k_numba.best_of.signatures) == 1


def test_compiled_loops_are_loaded_when_the_work_is_worth_it():
    with using("compiled"):
        compilation._Waiting.steps = 0
        assert not compilation.compiled_is_due(compilation.PATIENCE // 2)
        assert compilation.compiled_is_due(compilation.PATIENCE // 2)
        assert compilation.compiled_is_due(1)


def test_a_few_questions_do_without_numba():
    code = """if True:
        import sys
        import numpy as np
        from lexfuse.kernels.postings import best, distinct
        one, zero = np.ones(1, np.float32), np.zeros(1, np.int32)
        best(*distinct(np.array([0, 1]), zero, 1)[:1], np.array([0]), np.array([1]), one, zero, one, zero, np.empty(0, bool), 1)
        print("numba" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("compiled", [False, True])
def test_scores_by_rows_have_the_bits_of_scores_by_lists(compiled, monkeypatch):
    chance = np.random.default_rng(7)
    rows = [np.sort(chance.permutation(50)[: chance.integers(0, 30)]).astype(np.int32) for _ in range(200)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    terms, impacts = np.concatenate(rows), chance.random(int(starts[-1])).astype(np.float32)
    offsets, docs, sums, _ = postings.invert(starts, terms, impacts, np.arange(50, dtype=np.int32))
    asked, factors = chance.permutation(50)[:20].astype(np.int32), chance.random(20).astype(np.float32)
    wanted = chance.integers(0, 200, 64).astype(np.int32)
    expected = postings.pair_scores(
        np.zeros(64, np.int32), wanted, np.array([0, 20]), offsets[asked], offsets[asked + 1], factors, docs, sums
    )
    monkeypatch.setattr(postings, "compiled_is_due", lambda steps: compiled)
    found = postings.row_scores(wanted, starts, terms, impacts, asked, factors, 50)
    assert found.tobytes() == expected.tobytes()
    assert len(postings.row_scores(wanted[:0], starts, terms, impacts, asked, factors, 50)) == 0
