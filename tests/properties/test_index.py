"""What must hold for every sequence of changes of an index: it is the index of the surviving documents, and nothing else."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.filters import Condition, Operator, within
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings

WORDS = ["contract", "notice", "court", "damages", "lease", "tenant", "appeal"]
IDS = [f"d{number}" for number in range(9)] + ["D1", "é", "d10"]
COURTS = ["", "Supreme", "District"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
DOCUMENT = st.builds(
    lambda id, title, text, court: Document(id, title=title, text=text, court=court, language="en"),
    st.sampled_from(IDS),
    TEXT,
    TEXT,
    st.sampled_from(COURTS),
)
BATCH = st.lists(DOCUMENT, max_size=6, unique_by=lambda document: document.id)
CHANGE = st.one_of(
    st.tuples(st.just("add"), BATCH),
    st.tuples(st.just("delete"), st.lists(st.sampled_from(IDS), max_size=6)),
    st.just(("merge", None)),
)
QUERIES = Queries.of([Query("q1", "contract notice", "en"), Query("q2", "court damages damages", "en"), Query("q3", "x", "en")])
BRIEF = settings(max_examples=30, deadline=None)
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 -- thousands of forced writes: not to a disk


@contextmanager
def index_of(documents=(), **how):
    with (
        tempfile.TemporaryDirectory(dir=MEMORY) as folder,
        IndexFolder.create(Path(folder, "i"), documents=documents, **how) as index,
    ):
        yield index


def change(index, kind, what):
    if kind == "add":
        index.add(what, update=True)
    elif kind == "delete":
        index.delete(what)
    else:
        index.merge()


def survivors(changes):
    state = {}
    for kind, what in changes:
        if kind == "add":
            state.update({document.id: document for document in what})
        elif kind == "delete":
            for id in what:
                state.pop(id, None)
    return list(state.values())


def rankings(index, k=20, mask=None, **parameters):
    """Ids and scores by query; `mask` makes a filter of a snapshot."""
    with index.snapshot() as snapshot:
        run = BM25(snapshot, **parameters).retrieve(QUERIES, k, within=mask(snapshot) if mask else None)
        return {query: [(hit.doc, hit.score) for hit in run.hits(query)] for query in QUERIES.ids}


def assert_same(found, expected, tolerance=1e-6):
    for query in expected:
        assert [doc for doc, _ in found[query]] == [doc for doc, _ in expected[query]]
        np.testing.assert_allclose([s for _, s in found[query]], [s for _, s in expected[query]], rtol=tolerance, atol=tolerance)


def files_of(index):
    """Bytes of every file of the segments, which must be one at most, by their names inside it."""
    segments = list((index.folder / "segments").iterdir())
    assert len(segments) <= 1
    return {str(path.relative_to(segment)): path.read_bytes() for segment in segments for path in segment.rglob("*.*")}


@given(st.lists(CHANGE, max_size=14), st.sampled_from(IdfForm))
@example(
    [("add", [Document(f"d{at}", text="contract", language="en")]) for at in range(9)], IdfForm.LUCENE
)  # merged by themselves
@BRIEF
def test_changes_leave_the_index_of_the_survivors(changes, idf):
    with index_of() as changed, index_of(survivors(changes)) as fresh:
        for kind, what in changes:
            change(changed, kind, what)
        assert_same(rankings(changed, idf=idf), rankings(fresh, idf=idf))
        assert changed.verify() == []
        with changed.snapshot() as one, fresh.snapshot() as other:
            assert sorted(one.ids) == sorted(other.ids)
            assert [one.document(id) for id in other.ids] == [other.document(id) for id in other.ids]
            assert one.postings("bm25").mean_length == other.postings("bm25").mean_length
        changed.merge()
        assert files_of(changed) == files_of(fresh)
        assert rankings(changed, idf=idf) == rankings(fresh, idf=idf)


@given(BATCH, BATCH)
@BRIEF
def test_added_and_deleted_is_never_added(kept, passing):
    passing = [document for document in passing if document.id not in {one.id for one in kept}]
    with index_of(kept) as index:
        before = rankings(index)
        index.add(passing)
        index.delete([document.id for document in passing])
        assert_same(rankings(index), before)


@given(BATCH.flatmap(lambda batch: st.tuples(st.just(batch), st.permutations(batch))))
@BRIEF
def test_the_order_of_documents_changes_no_byte(orders):
    with index_of(orders[0]) as one, index_of(orders[1]) as other:
        assert files_of(one) == files_of(other)


@given(st.lists(BATCH, max_size=4), st.floats(0.1, 3), st.floats(0.1, 3))
@BRIEF
def test_merging_keeps_fractional_weights_to_the_bit(batches, title, text):
    weights = IndexSettings(fields={"title": title, "text": text})
    with index_of(settings=weights) as changed, index_of(survivors([("add", b) for b in batches]), settings=weights) as fresh:
        for batch in batches:
            changed.add(batch, update=True)
        changed.merge()
        assert files_of(changed) == files_of(fresh)


CONDITION = st.one_of(
    st.builds(
        Condition, st.just("court"), st.sampled_from([Operator.IS, Operator.NOT]), st.sampled_from(COURTS).map(lambda c: (c,))
    ),
    st.builds(Condition, st.just("id"), st.sampled_from(Operator), st.sampled_from(IDS).map(lambda id: (id,))),
)


@given(st.lists(CHANGE, max_size=8), st.lists(CONDITION, min_size=1, max_size=2), st.integers(1, 12), st.sampled_from(IdfForm))
@BRIEF
def test_a_filter_drops_and_changes_nothing_else(changes, conditions, k, idf):
    with index_of() as index:
        for kind, what in changes:
            change(index, kind, what)
        with index.snapshot() as snapshot:
            allowed = {id for id, fits in zip(snapshot.ids, within(snapshot, conditions), strict=True) if fits}
        everything = rankings(index, idf=idf)
        kept = {query: [(doc, score) for doc, score in hits if doc in allowed][:k] for query, hits in everything.items()}
        assert rankings(index, k, lambda snapshot: within(snapshot, conditions), idf=idf) == kept


@given(st.lists(BATCH, max_size=4), st.integers(1, 12))
@BRIEF
def test_fewer_results_are_the_first_of_more(batches, k):
    with index_of() as index:
        for batch in batches:
            index.add(batch, update=True)
        assert rankings(index, k) == {query: hits[:k] for query, hits in rankings(index).items()}


@given(st.permutations(IDS), st.integers(1, 4))
@BRIEF
def test_ties_go_by_id_across_segments(ids, size):
    with index_of() as index:
        for start in range(0, len(ids), size):
            index.add([Document(id, text="contract", language="en") for id in ids[start : start + size]])
        found = rankings(index)["q1"]
    assert [doc for doc, _ in found] == sorted(IDS)
    assert len({score for _, score in found}) == 1
