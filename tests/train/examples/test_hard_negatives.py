"""Hard negatives: what is relevant never is one, what is too close is neither, and the ranking's order stays."""

import datetime

import pytest

from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.train.examples.hard_negatives import hard_negatives, mining_run

RUN = Run.of(
    "bm25",
    {
        "q": {"a": 10.0, "close": 9.6, "b": 9.4, "yes": 9.0, "c": 5.0, "also": 4.0, "d": 3.0},
        "r": {"a": 3.0, "b": 2.0},
    },
)


def documents(run, query):
    return [hit.doc for hit in run.hits(query)]


def test_negatives_are_hardest_first_and_never_relevant():
    found = hard_negatives(RUN, Qrels.of([("q", "yes", 1), ("q", "also", 2)]), margin=None)
    assert documents(found.negatives, "q") == ["a", "close", "b", "c", "d"]
    assert len(found.too_close) == 0


def test_the_margin_is_taken_of_the_best_relevant_document():
    found = hard_negatives(RUN, Qrels.of([("q", "yes", 1), ("q", "also", 1)]), margin=0.95)  # 9.0 * 0.95 = 8.55
    assert documents(found.negatives, "q") == ["c", "d"]
    assert documents(found.too_close, "q") == ["a", "close", "b"]


def test_the_margin_holds_for_negative_scores():
    run = Run.of("log", {"q": {"near": -10.4, "yes": -10.0, "far": -11.0}})
    found = hard_negatives(run, Qrels.of([("q", "yes", 1)]), margin=0.95)  # -10 - 0.5
    assert documents(found.too_close, "q") == ["near"]
    assert documents(found.negatives, "q") == ["far"]


def test_what_was_judged_not_relevant_is_a_negative_however_close():
    found = hard_negatives(RUN, Qrels.of([("q", "yes", 1), ("q", "a", 0)]), margin=0.95)
    assert documents(found.negatives, "q") == ["a", "c", "also", "d"]
    assert documents(found.too_close, "q") == ["close", "b"]


def test_without_a_ranked_positive_there_is_no_guard_and_it_is_counted():
    found = hard_negatives(RUN, Qrels.of([("q", "yes", 1), ("r", "elsewhere", 1)]))
    assert documents(found.negatives, "r") == ["a", "b"]
    assert (found.unguarded, found.unranked) == (1, 0)


def test_amount_and_skip():
    found = hard_negatives(RUN, Qrels.of([("q", "yes", 1)]), amount=2, skip=1, margin=None)
    assert documents(found.negatives, "q") == ["close", "b"]


def test_queries_that_were_not_ranked_are_counted():
    found = hard_negatives(RUN, Qrels.of([("q", "yes", 1), ("other", "a", 1)]))
    assert found.unranked == 1


def test_a_ranking_of_other_queries_is_refused():
    with pytest.raises(DataError, match="none of the 1 judged queries"):
        hard_negatives(RUN, Qrels.of([("other", "a", 1)]))


@pytest.mark.parametrize("wrong", [{"amount": 0}, {"skip": -1}, {"margin": 0.0}, {"margin": 1.5}])
def test_numbers_that_cannot_be(wrong):
    with pytest.raises(ConfigError):
        hard_negatives(RUN, Qrels.of([("q", "yes", 1)]), **wrong)


def test_grades_of_one_query_do_not_reach_the_next():
    found = hard_negatives(RUN, Qrels.of([("q", "a", 1), ("r", "b", 1)]), margin=None)
    assert documents(found.negatives, "r") == ["a"]
    assert "a" not in documents(found.negatives, "q")


@pytest.fixture
def index(tmp_path):
    documents = [
        Document(name, text=text, language="fr", date=day)
        for name, text, day in [("a", "la loi du bail", None), ("b", "le bail", None), ("c", "la mer", None)]
    ]
    IndexFolder.create(tmp_path / "i", documents=documents).close()
    return tmp_path / "i"


def test_a_channel_of_an_index_ranks_the_queries(index):
    run = mining_run(index, Queries.of([Query("q", "quelle loi du bail ?", "fr")]), depth=1)
    assert run.name == "bm25"
    assert documents(run, "q") == ["a"]


def test_a_channel_that_is_not_there(index):
    with pytest.raises(NotFoundError, match="no channel 'dense'"):
        mining_run(index, Queries.of([Query("q", "loi", "fr")]), channel="dense")


def test_before_the_date_of_the_query(tmp_path):
    dated = [Document(str(year), text="consent", date=datetime.date(year, 1, 1)) for year in (2019, 2021)]
    IndexFolder.create(tmp_path / "i", documents=dated).close()
    asked = Queries.of([Query("q", "consent", date=datetime.date(2020, 1, 1))])
    assert documents(mining_run(tmp_path / "i", asked, before_query_date=True), "q") == ["2019"]
    assert len(mining_run(tmp_path / "i", asked)) == 2
