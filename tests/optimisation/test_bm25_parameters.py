"""Tuning BM25: the grid is complete, the best point is the best, and it is kept with its evidence."""

import datetime
import json

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.optimisation.bm25_parameters import best_bm25_point, tune_bm25
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.index_folder import IndexFolder


@pytest.fixture
def snapshot(tmp_path):
    index = IndexFolder.create(tmp_path / "index")
    texts = {
        "short": "notice given",
        "long": "notice notice notice " + "employer salary contract hours leave " * 6,
        "other": "salary contract",
        "third": "notice of hours and leave of the employer",
    }
    years = {"short": 2001, "long": 2002, "other": 2003, "third": 2004}
    index.add([Document(id, text=text, language="en", date=datetime.date(years[id], 1, 1)) for id, text in texts.items()])
    return index.snapshot()


QUERIES = Queries.of(
    [
        Query("q1", "notice", "en", datetime.date(2004, 1, 1)),
        Query("q2", "contract leave", "en", datetime.date(2005, 1, 1)),
        Query("unjudged", "hours", "en", datetime.date(2005, 1, 1)),
    ]
)
QRELS = Qrels.of([("q1", "long", 1), ("q2", "third", 1)])


def test_the_surface_is_what_each_point_reaches(snapshot):
    done = []
    tuned = tune_bm25(snapshot, QUERIES, QRELS, "RR@10", k1s=[2.0, 0.5], b_s=[1.0, 0.0, 0.5], progress=done.append)
    assert (tuned.k1s, tuned.b_s, tuned.queries, tuned.measure) == ((0.5, 2.0), (0.0, 0.5, 1.0), 2, "RR@10")
    assert done == [1, 2, 3, 4, 5, 6]
    for row, k1 in enumerate(tuned.k1s):
        for column, b in enumerate(tuned.b_s):
            run = BM25(snapshot, k1, b).retrieve(QUERIES, 1000)
            assert tuned.surface[row, column] == pytest.approx(evaluate(QRELS, run, "RR@10").mean("RR@10"))
    assert len(set(tuned.surface.ravel().tolist())) > 1
    assert tuned.value == tuned.surface[tuned.k1s.index(tuned.k1), tuned.b_s.index(tuned.b)] == tuned.surface.max()


def test_the_retriever_found_reaches_the_value(snapshot):
    tuned = tune_bm25(snapshot, QUERIES, QRELS, "RR@10", idf=IdfForm.ROBERTSON)
    run = tuned.retriever(snapshot).retrieve(QUERIES, 1000)
    assert evaluate(QRELS, run, "RR@10").mean("RR@10") == pytest.approx(tuned.value)


def test_ties_are_broken_by_a_rule():
    flat = np.full((2, 4), 0.3)
    assert best_bm25_point([0.9, 1.2], [0.2, 0.65, 0.85, 1.0], flat) == (0.9, 0.65)
    nearly = flat + np.array([[0, 0, 0, 0], [0, 0, 1e-12, 0]])
    assert best_bm25_point([0.9, 1.2], [0.2, 0.65, 0.85, 1.0], nearly) == (0.9, 0.65)
    assert best_bm25_point([0.9, 1.2], [0.2, 0.65, 0.85, 1.0], flat + 1e-3 * np.eye(2, 4, 2)) == (0.9, 0.85)


def test_filters_and_the_date_of_the_query(snapshot):
    within = np.array([id != "short" for id in snapshot.ids])
    filtered = tune_bm25(snapshot, QUERIES, QRELS, "RR@10", k1s=[1.2], b_s=[1.0], within=within)
    run = BM25(snapshot, 1.2, 1.0).retrieve(QUERIES, 1000, within=within)
    assert filtered.value == pytest.approx(evaluate(QRELS, run, "RR@10").mean("RR@10"))
    dated = tune_bm25(snapshot, QUERIES, QRELS, "RR@10", k1s=[1.2], b_s=[1.0], before_query_date=True)
    run = retrieve_before(BM25(snapshot, 1.2, 1.0), QUERIES, 1000)
    assert dated.value == pytest.approx(evaluate(QRELS, run, "RR@10").mean("RR@10"))
    assert dated.value != tune_bm25(snapshot, QUERIES, QRELS, "RR@10", k1s=[1.2], b_s=[1.0]).value


def test_everything_is_saved(snapshot, tmp_path):
    tuned = tune_bm25(snapshot, QUERIES, QRELS, "nDCG@10", k1s=[0.9, 1.2], b_s=[0.4])
    tuned.save(tmp_path / "tuned.json")
    kept = json.loads((tmp_path / "tuned.json").read_text("utf-8"))
    assert kept == tuned.as_json()
    assert kept["surface"] == tuned.surface.tolist()
    tuned.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "tuned.json").read_bytes()


def test_a_best_point_at_the_edge_is_told(snapshot):
    tuned = tune_bm25(snapshot, QUERIES, QRELS, "RR@10", k1s=[0.9, 1.2], b_s=[0.4, 0.5])
    assert set(tuned.at_edge) == {"k1", "b"}
    assert tune_bm25(snapshot, QUERIES, QRELS, "RR@10", k1s=[0.9], b_s=[0.4]).at_edge == ()


def test_what_cannot_be_tuned(snapshot):
    with pytest.raises(ConfigError, match="no value of b"):
        tune_bm25(snapshot, QUERIES, QRELS, "RR@10", b_s=[])
    with pytest.raises(ConfigError, match="b must lie between 0 and 1"):
        tune_bm25(snapshot, QUERIES, QRELS, "RR@10", b_s=[1.5])
    with pytest.raises(DataError, match="no query has judgements"):
        tune_bm25(snapshot, QUERIES, Qrels.of([("x", "short", 1)]), "RR@10")
