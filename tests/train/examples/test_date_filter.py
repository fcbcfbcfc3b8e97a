"""Documents that are not earlier than the query: not ranked for it, no hard negatives of it; queries without a date are named."""

import datetime

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.encode.passage_plan import WordUnits
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.dev_evaluation import DevQueries, QueryDates, days_of, earlier_hits
from lexfuse.train.examples.examples import NOTHING
from lexfuse.train.examples.labelled_examples import judged_pool
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.material import TrainingMaterial, dev_examples, dev_pool, stage_examples
from lexfuse.train.plan import TrainingPlan


def day(year):
    return datetime.date(year, 1, 1)


CORPUS = Corpus.of(
    [
        Document("2018", text="le bail", date=day(2018)),
        Document("2019", text="le préavis", date=day(2019)),
        Document("2020", text="le congé", date=day(2020)),
        Document("2021", text="la loi", date=day(2021)),
        Document("never", text="sans date"),
    ]
)
QUERIES = Queries.of([Query("q", "qui ?", date=day(2020)), Query("r", "quoi ?", date=day(2021)), Query("undated", "où ?")])
TRAIN, DEV = Qrels.of([("q", "2018", 1)]), Qrels.of([("r", "2019", 1), ("r", "2021", 1)])
RANKING = Run.of("file", {name: {doc: 9.0 - at for at, doc in enumerate(reversed(CORPUS.ids))} for name in ("q", "r", "who")})
PLAN = TrainingPlan.usual(ModelKind.DENSE, {"before_query_date": True, "mining": {"margin": 0.0}})


def test_the_mask_is_that_of_each_pair():
    generator = np.random.default_rng(4)
    queries = generator.integers(0, 40, 7).astype("datetime64[D]")
    docs = generator.integers(0, 40, 90).astype("datetime64[D]")
    docs[::9] = np.datetime64("NaT")
    dates = QueryDates(queries, docs)
    expected = [[not np.isnat(doc) and bool(doc < query) for doc in docs] for query in queries]
    assert dates.earlier.tolist() == expected
    assert dates.most == max(map(sum, expected))


def test_dates_that_leave_nothing_are_refused():
    with pytest.raises(DataError, match="no document is dated before any of the queries"):
        judged_pool(CORPUS, Queries.of([Query("q", "?", date=day(2000))]), TRAIN, before_query_date=True)


def test_later_documents_are_not_ranked():
    owner = np.array([0, 0, 1, 2], np.int32)
    dates = QueryDates(np.array(["2020", "2021"], "datetime64[Y]").astype("datetime64[D]"), CORPUS.date[[1, 2, 4]])
    judged = DevQueries(Ids("qr"), ("qui ?", "quoi ?"), Ids("abc"), tuple("wxyz"), owner, Qrels.of([("q", "a", 1)]), dates=dates)
    found = judged.run(np.array([[0.1, 0.2, 0.9, 0.8], [0.1, 0.2, 0.9, 0.8]], np.float32)).as_dict()
    assert found["q"] == pytest.approx({"a": 0.2})
    assert found["r"] == pytest.approx({"b": 0.9, "a": 0.2})
    assert judged.most == 2


def test_queries_without_a_date_are_named():
    queries = Queries.of([QUERIES.query("q"), *(Query(name, "?") for name in "abcd")])
    with pytest.raises(DataError, match=r"4 of 5 judged queries have no date.*'a', 'b', 'c' …"):
        days_of(queries, queries.ids)
    with pytest.raises(DataError, match=r"1 of 2 judged queries have no date.*: 'undated';"):
        judged_pool(CORPUS, QUERIES, Qrels.of([("q", "2018", 1), ("undated", "2018", 1)]), before_query_date=True)
    assert len(judged_pool(CORPUS, QUERIES, Qrels.of([("undated", "2018", 1)])).docs) == 5  # nobody asked for dates


@pytest.mark.parametrize(
    ("train", "dev"), [(Qrels.of([("undated", "2018", 1)]), DEV), (TRAIN, Qrels.of([("undated", "2018", 1)]))]
)
def test_a_plan_with_dates_is_refused_before_the_work(train, dev):
    with pytest.raises(DataError, match="'undated'"):
        TrainingMaterial("mine", CORPUS, QUERIES, train, dev).check(PLAN)
    TrainingMaterial("mine", CORPUS, QUERIES, train, dev).check(TrainingPlan.usual(ModelKind.DENSE))


def test_dates_without_queries_are_refused():
    plan = TrainingPlan.usual(ModelKind.DENSE, {"before_query_date": True, "examples": ["cloze"]})
    with pytest.raises(ConfigError, match="leave out before_query_date"):
        TrainingMaterial("mine", CORPUS).check(plan)


def test_hits_of_a_ranking():
    kept = earlier_hits(RANKING, QUERIES, CORPUS)
    assert kept.as_dict() == {"q": {"2019": 6.0, "2018": 5.0}, "r": {"2020": 7.0, "2019": 6.0, "2018": 5.0}, "who": {}}
    assert kept.name == "file"


def test_documents_and_queries_that_are_not_there_keep_none():
    run = Run.of("file", {"q": {"gone": 2.0, "2018": 1.0}, "who": {"2018": 1.0}})
    assert earlier_hits(run, QUERIES, CORPUS).as_dict() == {"q": {"2018": 1.0}, "who": {}}


def test_hard_negatives_of_a_run_are_earlier():
    """Also those of the dev loss; the first ranks of the run are later documents."""
    material = TrainingMaterial("mine", CORPUS, QUERIES, TRAIN, DEV, RANKING)
    allowed = material.allowed(PLAN)
    assert [row[2] for row in stage_examples(allowed, PLAN.stages[0], PLAN.mining, ReadReport()).rows()] == [["le préavis"]]
    assert [row[2] for row in dev_examples(allowed, PLAN.mining).rows()] == [["le congé", "le bail"]] * 2
    assert material.allowed(TrainingPlan.usual(ModelKind.DENSE)) is material


def test_the_pool_of_a_plan():
    report = ReadReport()
    pool = dev_pool(TrainingMaterial("mine", CORPUS, QUERIES, TRAIN, DEV), PLAN, WordUnits(), report)
    measured = pool.measured(np.array([[0.1, 0.2, 0.3, 0.9, 0.8]], np.float32))
    assert (measured["RR@100"], measured["R@100"]) == (0.5, 0.5)  # 2020 before 2019; 2021 cannot be found
    assert any("1 of 2 relevant documents are not dated before their query" in line for line in report.lines())


def test_candidates_are_the_first_of_the_earlier_ones():
    pool = judged_pool(CORPUS, QUERIES, TRAIN, candidates=RANKING, depth=1, before_query_date=True)
    assert [pool.docs[at] for at in pool.candidates[0] if at != NOTHING] == ["2019"]
    later = Run.of("file", {"q": {"2021": 1.0}})
    with pytest.raises(DataError, match="has no earlier document of the corpus"):
        judged_pool(CORPUS, QUERIES, TRAIN, candidates=later, before_query_date=True)


def test_other_dates_are_other_data():
    moved = Corpus.of(
        [*(document for document in CORPUS if document.id != "2021"), Document("2021", text="la loi", date=day(2022))]
    )
    kept = Corpus.of([*(document for document in CORPUS if document.id != "2021"), CORPUS.document("2021")])
    one, two = (TrainingMaterial("mine", corpus, QUERIES, TRAIN, DEV).digest() for corpus in (moved, kept))
    assert one != two


def test_what_the_setting_takes():
    with pytest.raises(ConfigError, match="before_query_date must be true or false, got 1"):
        TrainingPlan.usual(ModelKind.DENSE, {"before_query_date": 1})
    assert TrainingPlan.usual(ModelKind.DENSE, PLAN.plain()) == PLAN
