"""One entry to tuning: runs and an index, weights, constants, k1 and b, classes; and the spec that follows."""

import json

import pytest

from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.index import Index
from lexfuse.optimisation.fusion_constants import eta_trials, tune_constants
from lexfuse.optimisation.fusion_weights import tune_weights
from lexfuse.optimisation.tuned_search import TuneGrid, tune
from lexfuse.search.spec.spec import SearchSpec

RANKINGS = {"a": {"x": 3.0, "y": 1.0, "z": 0.0}, "b": {"y": 4.0, "x": 2.0, "z": 0.0}}
RUNS = [Run.of(name, {f"q{at}": ranking for at in range(6)}) for name, ranking in RANKINGS.items()]
QRELS = Qrels.of([(f"q{at}", "y", 1) for at in range(6)])
RRF = ReciprocalRank()


def test_runs_give_the_weights_that_the_union_gives(tmp_path):
    tuned = tune(RUNS, None, QRELS, "RR", fusion=Convex(), folds=2)
    expected = tune_weights(union_of(RUNS), Convex(), QRELS, "RR", folds=2)
    assert tuned.fusion == expected.fusion
    assert tuned.as_json() == expected.as_json()
    assert str(tuned) == expected.words()
    assert (tuned.spec, tuned.constants) == (None, None)
    tuned.save(tmp_path / "tuned.json")
    assert json.loads((tmp_path / "tuned.json").read_text("utf-8")) == tuned.as_json()


def test_constants_are_tuned_at_equal_weights_unless_weights_are_asked_for():
    tuned = tune(RUNS, None, QRELS, "RR", fusion=RRF, grid=TuneGrid(etas=(4.0, 60.0), eta_each=True), folds=2)
    union = union_of(RUNS)
    trials, usual = eta_trials(union, RRF, [4.0, 60.0], each=True), next(eta_trials(union, RRF, []))
    expected = tune_constants(trials, QRELS, "RR", with_weights=False, usual=usual, folds=2)
    assert tuned.constants.as_json() == expected.as_json()
    assert tuned.weights is None
    both = tune(RUNS, None, QRELS, "RR", fusion=RRF, grid=TuneGrid(etas=(4.0, 60.0), with_weights=True), folds=2)
    assert both.weights is not None


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    words = ["bail", "loyer", "juge", "contrat"]
    documents = [Document(f"d{at}", text=" ".join([word] * (at % 3 + 1)), language="fr") for at, word in enumerate(words * 4)]
    with Index.build(tmp_path_factory.mktemp("tune") / "law.index", documents) as made:
        yield made


QUERIES = Queries.of([Query(f"q{at}", word, "fr") for at, word in enumerate(["bail", "loyer", "juge", "contrat"])])
JUDGED = Qrels.of([(f"q{at}", f"d{at + 4}", 1) for at in range(4)])
WORDS = ["bm25", "tfidf"]


def test_an_index_gives_a_spec_that_can_be_saved_and_searched(index, tmp_path):
    grid = TuneGrid(etas=(4.0, 60.0), depths=(2, 10))
    tuned = tune(index, QUERIES, JUDGED, "RR", fusion=RRF, grid=grid, channels=WORDS, folds=2, k1=0.9)
    assert [(one.name, one.options) for one in tuned.spec.channels] == [("bm25", {"k1": 0.9}), ("tfidf", {})]
    assert tuned.spec.fusion == tuned.fusion
    assert f"depth {tuned.spec.depth}, " in tuned.constants.trials[tuned.constants.best]
    tuned.spec.save(tmp_path / "tuned.toml")
    assert SearchSpec.read(tmp_path / "tuned.toml") == tuned.spec
    assert len(index.search("bail", profile=tuned.spec)) > 0


def test_k1_and_b_are_tuned_with_the_weights(index):
    tuned = tune(index, QUERIES, JUDGED, "RR", channels=WORDS, fusion=Convex(), grid=TuneGrid(bm25=True), folds=2, step=0.5)
    options = tuned.spec.channels[0].options
    assert tuned.constants.trials[tuned.constants.best] == f"k1 {options['k1']:g}, b {options['b']:g}"


def test_classes_are_told_where_they_are_asked_for(index):
    tuned = tune(index, QUERIES, JUDGED, "RR", channels=WORDS, fusion=Convex(), classes=True, folds=2)
    assert [one.words for one in tuned.classes] == [
        "keywords: all 4 queries are of this class, so the general weights are its own."
    ]
    assert str(tuned).endswith(tuned.classes[0].words)
    assert tuned.spec.classes == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grid": TuneGrid(etas=(5.0,))}, "eta and beta are for rrf and srrf; the fusion is tm2c2"),
        ({"grid": TuneGrid(eta_each=True), "fusion": RRF}, "eta_each needs values"),
        ({"grid": TuneGrid(with_weights=True), "fusion": RRF}, "with_weights goes with eta or beta"),
        ({"grid": TuneGrid(bm25=True)}, "bm25 is for an index"),
        ({"filters": ["code=x"]}, "filters is for an index"),
        ({"k1": 0.9}, "k1 is for an index"),
        ({"classes": True}, "classes are recognised by the texts of the queries"),
        ({"bounds": {"c": 0.0}}, "a bound names no run: 'c'"),
    ],
)
def test_what_runs_cannot_be_tuned_by_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        tune(RUNS, None, QRELS, "RR", **changes)


def test_an_option_that_no_channel_has_is_refused(index):
    with pytest.raises(ConfigError, match=r"k1 applies to no selected channel \(tfidf, citation\)"):
        tune(index, QUERIES, JUDGED, "RR", channels=["tfidf", "citation"], k1=0.9)
