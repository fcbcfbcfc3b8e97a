"""The measures of a model in training, against plain computations and the library's own evaluation."""

import numpy as np
import pytest

from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import DataError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.train.examples.dev_evaluation import MEASURES, DevQueries


@pytest.fixture
def judged():
    """Three documents of two passages each; q asks for a and c, r for b."""
    qrels = Qrels.of([("q", "a", 1), ("q", "c", 2), ("r", "b", 1)])
    owner = np.array([0, 0, 1, 1, 2, 2], np.int32)
    return DevQueries(Ids("qr"), ("qui ?", "quoi ?"), Ids("abc"), tuple("uvwxyz"), owner, qrels)


def test_a_document_is_as_good_as_its_best_passage(judged):
    scores = np.array([[0.1, 0.9, 0.5, 0.2, 0.3, 0.0], [-2.0, -9.0, -9.0, -1.0, -3.0, -4.0]], np.float32)
    found = judged.run(scores).as_dict()
    assert found["q"] == pytest.approx({"a": 0.9, "b": 0.5, "c": 0.3})
    assert found["r"] == pytest.approx({"b": -1.0, "a": -2.0, "c": -3.0})


def test_what_was_not_scored_is_not_found(judged):
    nothing = -np.inf
    scores = np.array([[nothing] * 4 + [1.0, nothing], [nothing] * 6], np.float32)
    assert judged.run(scores).as_dict().get("q") == {"c": 1.0}
    assert judged.measured(scores)["R@10"] == pytest.approx((0.5 + 0.0) / 2)


def test_measures_are_those_of_the_library():
    generator = np.random.default_rng(3)
    queries, docs = [f"q{at}" for at in range(5)], [f"d{at}" for at in range(150)]
    qrels = Qrels.of([(query, doc, 1) for query in queries for doc in generator.choice(docs, 4, replace=False)])
    scores = generator.standard_normal((5, 150)).astype(np.float32)
    judged = DevQueries(Ids(queries), tuple(queries), Ids(docs), tuple(docs), np.arange(150, dtype=np.int32), qrels)
    run = Run.of(
        "same", {query: dict(zip(docs, map(float, row), strict=True)) for query, row in zip(queries, scores, strict=True)}
    )
    expected = {str(measure): value for measure, value in evaluate(qrels, run, MEASURES).means.items()}
    assert judged.measured(scores) == pytest.approx(expected)
    assert list(expected) == MEASURES.split()


@pytest.mark.parametrize(("questions", "passages"), [((), ("p",)), (("q",), ())])
def test_nothing_to_evaluate_on_is_refused(questions, passages):
    with pytest.raises(DataError, match="nothing to evaluate on"):
        DevQueries(Ids("q"), questions, Ids("a"), passages, np.zeros(len(passages), np.int32), Qrels.of([("q", "a", 1)]))
