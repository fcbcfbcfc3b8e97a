"""What must hold of exact dense search, whatever the vectors: it is brute force, and how one asks changes nothing."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.channels.dense import byte_scan, candidate_screen, flat_search
from lexfuse.channels.dense.flat_search import FlatSearch, PassagePooling
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.channels.query_context import query_context
from lexfuse.kernels import compilation

POOLS = [PassagePooling.BEST, PassagePooling.MEAN, PassagePooling(2), PassagePooling(3)]
WAYS = ["plain", "compiled", "bytes", "all rows"]
BRIEF = settings(max_examples=24, deadline=None)


@contextmanager
def using(way):
    """Products in numpy, with compiled loops, rows of bytes or all rows for all queries; blocks small enough to have several."""
    patch = pytest.MonkeyPatch()
    patch.setattr(compilation._Waiting, "steps", -(10**15) if way == "plain" else compilation.PATIENCE)
    patch.setattr(candidate_screen, "FIRST_BLOCK", 3)
    patch.setattr(candidate_screen, "BLOCK", 7)
    patch.setattr(byte_scan, "GROUP", 2)
    patch.setattr(byte_scan, "CHUNK", 3)
    if way == "bytes":
        patch.setattr(candidate_screen, "SCANNED_FROM", 0)
    if way in ("bytes", "all rows"):
        patch.setattr(candidate_screen, "WORTH", 0)
        patch.setattr(candidate_screen, "FEW", 10**6)
    try:
        yield
    finally:
        patch.undo()


class Case:
    """Random documents in several parts, with many equal rows and documents without any."""

    def __init__(self, seed, storage, *, single):
        self.random = np.random.default_rng(seed)
        self.storage = storage
        self.dimension = int(self.random.integers(1, 80))
        self.values = self.random.choice([1e-30, 1e-3, 1.0, 30.0])
        pool = self.values * self.random.standard_normal((8, self.dimension))
        self.documents = []
        for _ in range(self.random.integers(1, 40)):
            rows = 1 if single else self.random.integers(0, 5)
            fresh = self.values * self.random.standard_normal((rows, self.dimension))
            known = self.random.integers(0, 8, rows)
            self.documents.append(np.where(self.random.random((rows, 1)) < 0.5, pool[known], fresh).astype(np.float32))
        count = len(self.documents)
        self.order = self.random.permutation(count).astype(np.int32)
        self.queries = self.random.standard_normal((int(self.random.integers(1, 5)), self.dimension)).astype(np.float32)
        self.queries[self.random.random(len(self.queries)) < 0.1] = 0
        self.mask = self.random.random(count) < self.random.choice([0.0, 0.2, 0.9, 1.0])

    def parts(self, documents=None, cuts=2):
        documents = self.documents if documents is None else documents
        places = sorted(self.random.integers(0, len(documents) + 1, cuts).tolist())
        return [
            part_of(documents[first:last], self.dimension, self.storage) for first, last in pairwise([0, *places, len(documents)])
        ]

    def search(self):
        return FlatSearch(self.parts(), self.order)


def part_of(documents, dimension, storage):
    rows = np.concatenate([np.empty((0, dimension), np.float32), *documents])
    return VectorPart.of(rows, np.cumsum([0, *map(len, documents)]), storage=storage)


def stored(part):
    """The rows as the storage defines them, in 64 bits."""
    rows = part.matrix.astype(np.float64)
    return rows * part.scales[:, None].astype(np.float64) if part.storage is VectorStorage.INT8 else rows


def brute_force(case, parts, pool):
    """The score of every query and document, in 64 bits; nan without vectors."""
    rows = np.concatenate([stored(part) for part in parts])
    scores = case.queries.astype(np.float64) @ rows.T
    ends = np.cumsum([len(document) for document in case.documents])
    table = np.full((len(case.queries), len(ends)), np.nan)
    for doc, (end, document) in enumerate(zip(ends, case.documents, strict=True)):
        if len(document):
            best = -np.sort(-scores[:, end - len(document) : end], axis=1)
            table[:, doc] = best[:, : pool.passages].mean(axis=1)
    return table


def equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


seeds = st.integers(0, 2**32 - 1)
every_way = pytest.mark.parametrize("way", WAYS)
every_storage = pytest.mark.parametrize("storage", VectorStorage, ids=lambda storage: storage.value)
pools = st.sampled_from(POOLS)


@every_way
@every_storage
@given(seeds, pools, st.integers(1, 50), st.booleans(), st.booleans())
@BRIEF
def test_the_best_are_those_of_brute_force(way, storage, seed, pool, k, single, masked):
    case = Case(seed, storage, single=single)
    parts = case.parts()
    search = FlatSearch(parts, case.order)
    mask = case.mask if masked else flat_search.EVERYTHING
    with using(way), query_context():
        if way == "all rows":
            search.prepare()
        offsets, docs, scores = search.best(case.queries, k, pool, mask)
        every_query, every_doc = (axis.ravel() for axis in np.indices((len(case.queries), len(case.order))))
        table = search.pair_scores(case.queries, every_query, every_doc, pool).reshape(len(case.queries), -1)
    exact = brute_force(case, parts, pool)
    lengths = max((float(part.norms.max(initial=0)) for part in parts), default=0) * np.linalg.norm(case.queries, axis=1)[:, None]
    assert (np.isnan(exact) == np.isnan(table)).all()
    assert (np.nan_to_num(np.abs(table - exact)) <= 2.0**-24 * np.abs(np.nan_to_num(exact)) + 1e-12 * lengths + 1e-44).all()
    allowed = ~np.isnan(exact[0]) & (case.mask if masked else True)
    for query, (first, last) in enumerate(pairwise(offsets.tolist())):
        ranked = [doc for doc in np.lexsort((case.order, -table[query])) if allowed[doc]][:k]
        equal((docs[first:last], scores[first:last]), (ranked, table[query, ranked]))


@every_way
@every_storage
@given(seeds, pools)
@BRIEF
def test_scores_do_not_depend_on_batch_k_or_parts(way, storage, seed, pool):
    case = Case(seed, storage, single=False)
    with using(way):
        search = case.search()
        whole = search.best(case.queries, len(case.order), pool)
        for k in (1, 3, 10):
            offsets, docs, scores = search.best(case.queries, k, pool)
            for query, (first, last) in enumerate(pairwise(offsets.tolist())):
                start, end = whole[0][query], whole[0][query + 1]
                equal((docs[first:last], scores[first:last]), (whole[1][start:end][:k], whole[2][start:end][:k]))
        one_by_one = [
            search.best(case.queries[number : number + 1], len(case.order), pool) for number in range(len(case.queries))
        ]
        equal(whole[1:], [np.concatenate([each[at] for each in one_by_one]) for at in (1, 2)])
        equal(FlatSearch(case.parts(cuts=0), case.order).best(case.queries, len(case.order), pool), whole)


@every_storage
@given(seeds, pools)
@BRIEF
def test_all_ways_give_the_same_bits(storage, seed, pool):
    case = Case(seed, storage, single=False)
    search, found = case.search(), []
    for way in WAYS:
        with using(way):
            fresh = FlatSearch(search.parts, case.order)
            if way == "all rows":
                fresh.prepare()
            found.append(fresh.best(case.queries, 5, pool, case.mask))
    for other in found[1:]:
        equal(found[0], other)


@every_storage
@given(seeds, pools, st.integers(1, 50))
@BRIEF
def test_permuting_documents_changes_their_numbers_only(storage, seed, pool, k):
    case = Case(seed, storage, single=False)
    moved = case.random.permutation(len(case.order))
    offsets, docs, scores = case.search().best(case.queries, k, pool, case.mask)
    other = FlatSearch(case.parts([case.documents[at] for at in moved]), case.order[moved])
    equal((offsets, docs, scores), (lambda o, d, s: (o, moved[d], s))(*other.best(case.queries, k, pool, case.mask[moved])))


@every_storage
@given(seeds)
@BRIEF
def test_merged_parts_are_the_part_of_the_kept_documents(storage, seed):
    case = Case(seed, storage, single=False)
    parts = case.parts()
    bounds = np.cumsum([0, *map(len, parts)])
    merged = VectorPart.merged(parts, [case.mask[first:last] for first, last in pairwise(bounds)])
    kept = [document for document, keep in zip(case.documents, case.mask, strict=True) if keep]
    expected = part_of(kept, case.dimension, storage)
    for name in ("starts", "spans", "matrix", "scales", "norms"):
        equal([getattr(merged, name)], [getattr(expected, name)])
