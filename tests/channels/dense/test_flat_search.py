"""Exact dense search at sizes where blocks, threads and rows of bytes count, and questions that cannot be asked."""

import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

from lexfuse.channels.dense import byte_scan, candidate_screen
from lexfuse.channels.dense.candidate_screen import CandidateRows
from lexfuse.channels.dense.exact_scores import exact_scores
from lexfuse.channels.dense.flat_search import EVERYTHING, FlatSearch, PassagePooling
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.channels.query_context import query_context
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.kernels import compilation, threads
from lexfuse.kernels.compilation import read_only_views
from lexfuse.kernels.dot_product_numba import take_halves
from lexfuse.kernels.threads import run_on_cores

every_storage = pytest.mark.parametrize("storage", VectorStorage, ids=lambda storage: storage.value)
every_pool = pytest.mark.parametrize(
    "pool", [PassagePooling.BEST, PassagePooling.MEAN, PassagePooling(2)], ids=["best", "mean", "top-2"]
)


@pytest.fixture
def compiled(monkeypatch):
    monkeypatch.setattr(compilation._Waiting, "steps", compilation.PATIENCE)


def clustered(rows, dimension, seed=0):
    """Rows around a few centres, of which some are equal."""
    random = np.random.default_rng(seed)
    table = random.standard_normal((20, dimension))[random.integers(0, 20, rows)] + 0.3 * random.standard_normal(
        (rows, dimension)
    )
    table[random.integers(0, rows, rows // 20)] = table[0]
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


def search_of(rows, *, storage=VectorStorage.FP32, starts=None, order=None):
    part = VectorPart.of(rows, starts=starts, storage=storage)
    return FlatSearch([part], np.arange(len(part), dtype=np.int32) if order is None else order)


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def expected_best(search, queries, k, pool=PassagePooling.BEST, mask=EVERYTHING):
    """The ranking by the scores of all pairs."""
    found = []
    for query in range(len(queries)):
        docs = np.flatnonzero(mask) if len(mask) else np.arange(len(search))
        scores = search.pair_scores(queries, np.full(len(docs), query), docs, pool)
        ranked = np.lexsort((search.order[docs], -scores))[:k]
        found.append((docs[ranked], scores[ranked]))
    offsets = np.cumsum([0, *(len(docs) for docs, _ in found)])
    return offsets, np.concatenate([docs for docs, _ in found]), np.concatenate([scores for _, scores in found])


@every_storage
@every_pool
@pytest.mark.parametrize("share", [None, 0.03, 0.8])
@pytest.mark.parametrize("queries", [1, 9])
def test_many_blocks_and_rows_of_bytes(compiled, monkeypatch, storage, pool, share, queries):
    monkeypatch.setattr(candidate_screen, "SCANNED_FROM", 0)
    random = np.random.default_rng(3)
    rows = clustered(9000, 40)
    starts = np.unique(np.concatenate(([0], random.integers(0, 9000, 3000), [9000])))
    search = search_of(rows, storage=storage, starts=starts, order=random.permutation(len(starts) - 1).astype(np.int32))
    search.prepare()
    asked = rows[random.integers(0, 9000, queries)] + 0.1 * random.standard_normal((queries, 40)).astype(np.float32)
    mask = EVERYTHING if share is None else random.random(len(search)) < share
    for k in (1, 50, 800):
        same(search.best(asked, k, pool, mask), expected_best(search, asked, k, pool, mask))


@every_storage
@every_pool
@pytest.mark.parametrize("share", [None, 0.3])
def test_rows_kept_as_floats_give_the_same_bits(compiled, storage, pool, share):
    random = np.random.default_rng(4)
    rows = clustered(3000, 40)
    starts = np.unique(np.concatenate(([0], random.integers(0, 3000, 900), [3000])))
    fresh, kept = (search_of(rows, storage=storage, starts=starts) for _ in range(2))
    kept.prepare()
    asked = clustered(2, 40, seed=5)
    mask = EVERYTHING if share is None else random.random(len(fresh)) < share
    docs, pairs = np.arange(len(fresh)), np.zeros(len(fresh), dtype=np.int64)
    held = np.flatnonzero(np.diff(starts)).tolist()
    for some in (asked, asked[:1]):
        with query_context():  # in which the scores of all rows are known
            same(kept.best(some, 300, pool, mask), fresh.best(some, 300, pool, mask))
            same([kept.pair_scores(some, pairs, docs, pool)], [fresh.pair_scores(some, pairs, docs, pool)])
            assert kept.best_passages(some[0], held) == fresh.best_passages(some[0], held)


@pytest.mark.parametrize("way", ["products", "bytes"])
def test_scores_that_rise_from_row_to_row(compiled, monkeypatch, way):
    """The floor is always behind, so nearly every row becomes a candidate for a while."""
    monkeypatch.setattr(candidate_screen, "SCANNED_FROM", 0 if way == "bytes" else 10**9)
    rows = np.linspace(-1, 1, 20_000, dtype=np.float32)[:, None] * np.ones((1, 8), dtype=np.float32)
    search = search_of(rows)
    search.prepare() if way == "bytes" else None
    offsets, docs, _ = search.best(np.ones((2, 8), dtype=np.float32), 10)
    same((offsets, docs), ([0, 10, 20], [*range(19_999, 19_989, -1)] * 2))


def test_bytes_alone_would_rank_otherwise(compiled, monkeypatch):
    """Scores nearer to each other than bytes can tell: only exact scores of all within the error put them in order."""
    monkeypatch.setattr(candidate_screen, "SCANNED_FROM", 0)
    random = np.random.default_rng(0)
    rows = (clustered(1, 64) + 2e-4 * random.standard_normal((3000, 64))).astype(np.float32)
    search = search_of(rows)
    search.prepare()
    codes = search._screen._bytes[0]
    rough = codes.scales * (codes.codes @ rows[0].astype(np.float64))
    found = search.best(rows[:1], 20)
    same(found, expected_best(search, rows[:1], 20))
    assert set(found[1].tolist()) != set(np.argsort(-rough)[:20].tolist())


@pytest.mark.parametrize("dimension", [1, 31, 32, 33, 384])
@every_storage
def test_dot_products_by_their_definition(compiled, monkeypatch, storage, dimension):
    random = np.random.default_rng(dimension)
    part = VectorPart.of(random.standard_normal((6, dimension)).astype(np.float32), storage=storage)
    queries = random.standard_normal((3, dimension)).astype(np.float32)
    query, row = (axis.ravel() for axis in np.indices((3, 6)))
    expected = []
    for one, other in zip(query, row, strict=True):
        sums = [0.0] * 32
        for at in range(dimension):
            sums[at % 32] += float(queries[one, at]) * float(part.matrix[other, at])
        for half in (16, 8, 4, 2, 1):
            sums = [sums[at] + sums[half + at] for at in range(half)]
        expected.append(sums[0] * (float(part.scales[other]) if storage is VectorStorage.INT8 else 1.0))
    same([exact_scores(part, queries, query, row)], [expected])
    monkeypatch.setattr(compilation._Waiting, "steps", -(10**15))
    same([exact_scores(part, queries, query, row)], [expected])


def test_halves_become_floats_exactly():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)].reshape(-1, 31)
    taken = np.empty(finite.shape, dtype=np.float32)
    take_halves(*read_only_views(finite.view(np.uint16), np.arange(len(finite))), taken)
    np.testing.assert_array_equal(taken.view(np.uint32), finite.astype(np.float32).view(np.uint32))


def test_pools_by_hand():
    rows = np.array([[4], [0], [2], [3], [-1]], dtype=np.float32)
    search = search_of(rows, starts=[0, 3, 3, 4, 5])
    one = np.ones((1, 1), dtype=np.float32)
    assert [array.tolist() for array in search.best(one, 9)[1:]] == [[0, 2, 3], [4, 3, -1]]
    assert [array.tolist() for array in search.best(one, 9, PassagePooling.MEAN)[1:]] == [[2, 0, 3], [3, 2, -1]]
    assert [array.tolist() for array in search.best(one, 9, PassagePooling(2))[1:]] == [[0, 2, 3], [3, 3, -1]]
    assert search.best_passages(one[0], [0]) == [0]
    assert search.best_passages(-one[0], [0]) == [1]
    scores = search.pair_scores(one, np.zeros(4, np.int32), np.arange(4, dtype=np.int32))
    np.testing.assert_array_equal(scores, [4, np.nan, 3, -1])


def test_the_first_of_equal_passages_is_the_best():
    assert search_of(np.ones((3, 2), np.float32), starts=[0, 3]).best_passages(np.ones(2, np.float32), [0]) == [0]


def test_a_query_of_zeros_gives_the_first_documents_in_the_order():
    rows = clustered(3000, 8)
    order = np.arange(3000, dtype=np.int32)[::-1].copy()
    queries = np.zeros((3, 8), dtype=np.float32)
    queries[1] = rows[5]
    search = search_of(rows, order=order)
    mask = np.ones(3000, dtype=bool)
    mask[2999] = False
    offsets, docs, scores = search.best(queries, 2, mask=mask)
    assert offsets.tolist() == [0, 2, 4, 6]
    assert docs[[0, 1, 4, 5]].tolist() == [2998, 2997] * 2
    assert scores[[0, 1, 4, 5]].tolist() == [0] * 4
    same((docs[2:4], scores[2:4]), search.best(queries[1:2], 2, mask=mask)[1:])


def test_tiny_and_large_vectors_are_searched_exactly(compiled, monkeypatch):
    monkeypatch.setattr(candidate_screen, "SCANNED_FROM", 0)
    random = np.random.default_rng(1)
    rows = clustered(2000, 16) * (10.0 ** random.integers(-40, 15, (2000, 1))).astype(np.float32)
    search = search_of(rows)
    for size in (1e-42, 1e-20, 1.0, 1e12):
        queries = (size * random.standard_normal((5, 16))).astype(np.float32)
        expected = expected_best(search, queries, 30)
        same(search.best(queries, 30), expected)
        search.prepare()
        same(search.best(queries[:1], 30), [expected[0][:2], expected[1][:30], expected[2][:30]])


def test_wide_vectors_do_not_overflow(compiled, monkeypatch):
    monkeypatch.setattr(candidate_screen, "SCANNED_FROM", 0)
    rows = np.ones((50, 5000), dtype=np.float32)
    rows[7] = 1.01
    search = search_of(rows)
    search.prepare()
    offsets, docs, scores = search.best(rows[:1], 2)
    assert (offsets.tolist(), docs.tolist(), scores[1]) == ([0, 2], [7, 0], 5000)


def test_nothing_to_find():
    nothing = FlatSearch([], np.empty(0, np.int32))
    empty = FlatSearch([VectorPart.of(np.empty((0, 4), np.float32), starts=[0, 0, 0])], np.arange(2, dtype=np.int32))
    some = search_of(clustered(30, 4))
    two = np.ones((2, 4), dtype=np.float32)
    for pool in (PassagePooling.BEST, PassagePooling.MEAN, PassagePooling(2)):
        for search, mask in ((nothing, EVERYTHING), (empty, EVERYTHING), (some, np.zeros(30, bool))):
            assert [array.tolist() for array in search.best(two, 5, pool, mask)] == [[0, 0, 0], [], []]
    assert [array.tolist() for array in some.best(two[:0], 5)] == [[0], [], []]
    assert np.isnan(empty.pair_scores(two, np.array([1]), np.array([1]))).all()
    with pytest.raises(NotFoundError, match="document 1 has no passages"):
        empty.best_passages(two[0], [1])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda search: search.best(np.ones((1, 3), np.float32), 1), ConfigError, r"a query has 3 numbers, .* index 4;.*model"),
        (lambda search: search.best(np.ones(4, np.float32), 1), ConfigError, r"shape \(4,\)"),
        (lambda search: search.best(np.full((1, 4), np.nan, np.float32), 1), DataError, r"query 0 holds nan"),
        (lambda search: search.best(np.full((1, 4), np.inf, np.float32), 1), DataError, r"query 0 holds nan, infinity"),
        (lambda search: search.best(np.full((1, 4), 1e30, np.float32), 1), DataError, r"too large"),
        (lambda search: search.best(np.ones((1, 4), np.float32), 0), ConfigError, r"k must be at least 1, got 0"),
        (lambda search: search.best(np.ones((1, 4), np.float32), 1, mask=np.ones(2, bool)), ConfigError, r"30 .* got 2"),
        (
            lambda search: search.pair_scores(np.ones((1, 4), np.float32), np.array([0]), np.array([30])),
            NotFoundError,
            r"0 to 29",
        ),
        (lambda search: search.pair_scores(np.ones((1, 4), np.float32), np.array([1]), np.array([0])), NotFoundError, r"quer"),
        (lambda search: search.best_passages(np.ones(4, np.float32), [-1]), NotFoundError, r"numbered"),
    ],
)
def test_questions_that_cannot_be_asked(call, error, message):
    with pytest.raises(error, match=message):
        call(search_of(clustered(30, 4)))


def test_the_order_must_fit():
    with pytest.raises(ConfigError, match=r"30 documents need as many places in the order, got 3"):
        search_of(clustered(30, 4), order=np.arange(3, dtype=np.int32))


def test_rows_of_bytes_are_made_after_a_few_single_queries(compiled, monkeypatch):
    monkeypatch.setattr(candidate_screen, "SCANNED_FROM", 0)
    search = search_of(clustered(100, 4))
    for _ in range(candidate_screen.WORTH):
        search.best(np.ones((1, 4), np.float32), 3)
    assert not search._screen._bytes
    search.best(np.ones((1, 4), np.float32), 3)
    assert search._screen._bytes


def test_groups_of_rows_hold_whole_documents():
    counts = np.random.default_rng(0).integers(0, 40, 300)
    starts = np.cumsum([0, *counts])
    part = VectorPart.of(np.ones((starts[-1], 2), np.float32), starts=starts)
    bounds = byte_scan.ByteRows.of(part).bounds
    assert (bounds[0], bounds[-1]) == (0, starts[-1])
    assert set(bounds.tolist()) <= set(starts.tolist())
    assert 2 < len(bounds) <= starts[-1] / byte_scan.GROUP + 2


def test_a_few_questions_do_without_numba():
    code = """if True:
        import sys
        import numpy as np
        from lexfuse.channels.dense.flat_search import FlatSearch
        from lexfuse.channels.dense.stored_part import VectorPart
        search = FlatSearch([VectorPart.of(np.eye(50, dtype=np.float32))], np.arange(50, dtype=np.int32))
        search.best(np.ones((2, 50), np.float32), 5)
        print("numba" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_mapped_and_other_arrays_share_one_compilation(compiled, tmp_path):
    from lexfuse.kernels import dot_product_numba

    part = VectorPart.of(clustered(50, 8))
    list(part.save(tmp_path))
    for each in (part, VectorPart.load(tmp_path)):
        search = FlatSearch([each], np.arange(50, dtype=np.int32))
        search.prepare()
        search.best(np.ones((1, 8), np.float32), 3)
    float_rows = [signature for signature in dot_product_numba.add_dots.signatures if "float32" in str(signature[0])]
    assert len(float_rows) == 1


def test_threads_share_all_work_and_pass_errors_on():
    seen, lock = [], threading.Lock()

    def work(first, last):
        with lock:
            seen.append((first, last))

    run_on_cores(work, 1000, 7)
    assert sorted(seen) == [*pairwise(range(0, 1000, 7)), (994, 1000)]
    with pytest.raises(ZeroDivisionError):
        run_on_cores(lambda first, last: first // 0, 10, 1)


def test_blas_has_its_threads_back_afterwards():
    library = threads._openblas()
    if library is None:
        pytest.skip("numpy has another BLAS here")
    before = library.get()
    with threads.one_core_each() as outer, threads.one_core_each() as inner:
        assert (outer, inner, library.get()) == (True, True, 1)
    assert library.get() == before


def test_without_openblas_products_are_the_same(monkeypatch):
    rows = clustered(6000, 8)
    expected = search_of(rows).best(rows[:9], 20)
    monkeypatch.setattr(threads, "_openblas", lambda: None)
    same(search_of(rows).best(rows[:9], 20), expected)


def test_a_row_within_the_error_of_the_floor_stays():
    kept = CandidateRows(1, 1, np.empty(0, np.int32))
    kept.add(np.zeros(3, np.int64), np.arange(3), np.array([1, 0.85, 0.75], np.float32), np.full(3, 0.1))
    assert kept.rows()[1].tolist() == [0, 1]


def test_the_floor_counts_documents_not_rows():
    kept = CandidateRows(1, 2, np.array([0, 0, 0, 1], np.int32))
    kept.add(np.zeros(4, np.int64), np.arange(4), np.array([5, 4, 3, 1], np.float32), np.zeros(4))
    assert kept.rows()[1].tolist() == [0, 1, 2, 3]
    assert kept.floor.tolist() == [1]


def test_errors_of_products_cover_what_blas_is_off_by():
    random = np.random.default_rng(0)
    rows, queries = (random.standard_normal((count, 384)).astype(np.float32) for count in (500, 20))
    exact = queries.astype(np.float64) @ rows.astype(np.float64).T
    norms = np.linalg.norm(queries.astype(np.float64), axis=1)
    error = candidate_screen.error_of(norms, float(np.linalg.norm(rows, axis=1).max()), 384)
    assert (np.abs(queries @ rows.T - exact) <= error[:, None]).all()
    assert error.max() < 0.02
