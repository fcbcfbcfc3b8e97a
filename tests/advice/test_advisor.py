"""Advice from Python, on an index and on runs: what goes in as values, and the report and the spec that come out."""

import json
from contextlib import contextmanager

import pytest

from lexfuse.advice.advisor import advise, advise_runs
from lexfuse.advice.findings import ScoreScope
from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.index import Index
from lexfuse.search.spec.spec import SearchSpec

WORDS = ["bail", "congé", "salaire", "préavis", "tribunal", "loyer", "contrat", "juge"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    documents = [
        Document(f"d{at}", text=f"{word} {WORDS[at // 2 % 8]} {WORDS[at // 3 % 8]} article", language="fr", code=f"code {at % 2}")
        for at, word in enumerate(WORDS * 3)
    ]
    with Index.build(tmp_path_factory.mktemp("advisor") / "law.index", documents) as made:
        yield made


QUERIES = Queries.of([Query(f"q{at}", f"{word} {WORDS[at // 2 % 8]}", "fr") for at, word in enumerate(WORDS * 2)])
DEV = Qrels.of([(f"q{at}", f"d{at}", 1) for at in range(8)])
TEST = Qrels.of([(f"q{at}", f"d{at}", 1) for at in range(8, 16)])
CHANNELS = ["bm25", "tfidf"]


def test_an_index_gives_an_advice_with_a_spec_and_a_report(index, tmp_path):
    steps = []

    @contextmanager
    def progress(name, total):
        done = []
        yield done.append
        steps.append((name, total, done[-1] if done else 0))

    advice = advise(index, QUERIES, DEV, TEST, channels=CHANNELS, measures="RR R@5", folds=2, k1=0.9, progress=progress)
    assert (advice.collection, advice.measures, advice.queries) == ("law.index", ("RR", "R@5"), 8)
    assert advice.confirmation.queries == 8
    assert advice.score_basis.scope is ScoreScope.CORPUS
    assert [name for name, _, _ in steps] == ["asking every source", "scoring all documents", "trying"]
    assert steps[-1][1] == steps[-1][2]
    assert str(advice).splitlines() == list(advice.words)
    advice.write_report(tmp_path / "new" / "report")
    written = tmp_path / "new" / "report"
    assert sorted(file.name for file in written.iterdir()) == ["advice.json", "profile.toml", "report.html"]
    assert SearchSpec.read(written / "profile.toml") == advice.spec
    assert "k1 = 0.9" in (written / "profile.toml").read_text("utf-8")
    assert json.loads((written / "advice.json").read_text("utf-8"))["verdict"] == advice.verdict.value
    assert (written / "report.html").read_text("utf-8").startswith("<!doctype html>")


def test_all_channels_are_tried_unless_some_are_named(index):
    advice = advise(index, QUERIES, DEV, measures="RR", folds=2, scores_of=ScoreScope.CANDIDATES)
    assert advice.sources == ("bm25", "tfidf", "citation")
    assert advice.score_basis.scope is ScoreScope.CANDIDATES
    assert advice.confirmation is None


def test_filters_limit_what_is_ranked(index):
    advice = advise(index, QUERIES, DEV, channels=CHANNELS, measures="R@100", folds=2, filters=["code=code 0"])
    assert max(advice.means["R@100"].values()) == 0.5  # the others are of the other code


def test_runs_give_an_advice_without_a_spec(tmp_path):
    rankings = {"a": {"x": 2.0, "y": 1.0}, "b": {"y": 0.3, "z": -0.1}}
    runs = [Run.of(name, {f"q{at}": ranking for at in range(8)}) for name, ranking in rankings.items()]
    dev = Qrels.of([(f"q{at}", "y", 1) for at in range(8)])
    advice = advise_runs(runs, dev, measures="RR", bounds={"b": -1.0}, folds=2)
    assert advice.spec is None
    assert advice.notes[1].startswith("tm2c2 counts as lexical: a, the first of the runs")
    assert advice.notes[2].startswith("the lowest possible score of 'a' is not stated")
    assert len(advice.notes) == 3  # the bound of b is stated
    advice.write_report(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["advice.json", "report.html"]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"test": DEV}, ConfigError, "8 queries are in both the dev and the test judgements, first 'q0'"),
        ({"dev": Qrels.of([("q99", "d1", 1)])}, NotFoundError, "1 judged queries are not among the queries, first 'q99'"),
        ({"channels": ["tfidf", "citation"], "k1": 0.9}, ConfigError, r"k1 applies to no selected channel \(tfidf, citation\)"),
        ({"rerankers": ["nowhere.toml"]}, NotFoundError, "no file or folder 'nowhere.toml'"),
        ({"measures": ""}, ConfigError, "name at least one measure"),
    ],
)
def test_what_cannot_be_advised_on_is_refused(index, changes, error, message):
    with pytest.raises(error, match=message):
        advise(index, **{"queries": QUERIES, "dev": DEV, "channels": CHANNELS, "folds": 2, **changes})
