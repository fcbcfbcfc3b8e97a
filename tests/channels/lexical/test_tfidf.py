"""TF-IDF of BSARD eq. 2, by hand."""

from math import log

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_settings import IndexSettings


@pytest.fixture
def index(tmp_path):
    index = IndexFolder.create(tmp_path / "index", IndexSettings(fields={"text": 1.0, "title": 3.0}))
    index.add([Document("a", text="court law law", language="en"), Document("b", text="court order", language="en")])
    index.add([Document("c", text="court", title="law", language="en"), Document("d", text="court tax", language="en")])
    return index


def asked(text):
    return Queries.of([Query("q", text, "en")])


def test_scores_are_those_of_the_equation(index):
    retriever = TfIdf(index.snapshot())
    run = retriever.retrieve(asked("law, law and order in court"), 10)
    assert run.as_dict()["q"] == pytest.approx({"c": 2 * 3 * log(4 / 2), "a": 2 * 2 * log(4 / 2), "b": log(4 / 1)}, abs=1e-6)
    assert [hit.doc for hit in run.hits("q")] == ["c", "a", "b"]  # d shares only a term that all documents hold
    assert retriever.score(asked("law, law and order in court"), run).tobytes() == run.score.tobytes()


def test_frequencies_follow_deletions(index):
    index.delete(["c", "d"])
    run = TfIdf(index.snapshot()).retrieve(asked("law tax"), 10)
    assert run.as_dict()["q"] == pytest.approx({"a": 2 * log(2 / 1)}, abs=1e-6)
    assert np.isfinite(TfIdf(index.snapshot()).term_idf).all()


def test_retrievers_of_one_snapshot_do_not_disturb_each_other(index):
    snapshot = index.snapshot()
    before = TfIdf(snapshot).retrieve(asked("law order"), 10).as_dict()
    bm25 = BM25(snapshot).retrieve(asked("law order"), 10).as_dict()
    assert TfIdf(snapshot).retrieve(asked("law order"), 10).as_dict() == before
    assert BM25(snapshot).retrieve(asked("law order"), 10).as_dict() == bm25 != before


def test_explanations_and_filters(index):
    snapshot = index.snapshot()
    retriever = TfIdf(snapshot)
    parts = retriever.evidence(Query("q", "law of the court", "en"), ["c"])[0].terms
    assert [(part.term, part.in_document) for part in parts] == [("law", 3.0), ("court", 1.0)]
    within = np.array([id == "a" for id in snapshot.ids])
    assert [hit.doc for hit in retriever.retrieve(asked("law"), 10, within=within).hits("q")] == ["a"]
    assert retriever.bounds.low == 0.0
