"""Every point of the grid has the value that the reranked run has."""

from dataclasses import replace

import numpy as np
import pytest

from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.optimisation.birch_weights import tune_birch
from lexfuse.rerank.birch import Birch, DocumentScore


class Table:
    """Sentence scores from a table; some documents have none."""

    members = ()

    def __init__(self, table):
        self.table = table

    def scores(self, query, docs):
        return [self.table[query.id, doc] for doc in docs]


@pytest.fixture(scope="module")
def problem():
    chance = np.random.default_rng(0)
    docs = [f"d{number:02}" for number in range(30)]
    rankings = {f"q{number}": {doc: float(chance.normal(20, 8)) for doc in docs} for number in range(8)}
    table = {
        (query, doc): chance.uniform(0, 1, size=chance.integers(0, 6)).astype(np.float32) for query in rankings for doc in docs
    }
    judged = [(query, doc, 1) for query in rankings for doc in chance.choice(docs, size=4, replace=False).tolist()]
    return Queries.of(Query(id, "…") for id in rankings), Run.of("first", rankings), Qrels.of(judged), Table(table)


@pytest.mark.parametrize("document", DocumentScore)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_points_have_the_values_of_reranked_runs(problem, count, document):
    queries, run, qrels, table = problem
    birch = Birch(table, depth=12, weights=(1.0,) * count, document=document)
    tuned = tune_birch(birch, queries, run, qrels, "AP", a_s=(0.0, 0.03, 0.5, 1.0), weights=(0.0, 0.4, 1.0))
    assert len(tuned.points) == 4 * 3 ** (count - 1)
    for (a, *weights), mean in zip(tuned.points.tolist(), tuned.means, strict=True):
        reranked = replace(birch, a=a, weights=tuple(weights)).rerank(queries, run, depth=12)
        assert evaluate(qrels, reranked, "AP").mean("AP") == pytest.approx(mean, abs=1e-12)
    best = tuned.birch.rerank(queries, run, depth=12)
    assert evaluate(qrels, best, "AP").mean("AP") == pytest.approx(tuned.value) == tuned.means.max()
    assert (tuned.measure, tuned.queries, tuned.birch.depth) == ("AP", 8, 12)
    assert np.ptp(tuned.means) > 0


def test_the_whole_grid_is_that_of_birch(problem):
    queries, run, qrels, table = problem
    tuned = tune_birch(Birch(table, depth=12), queries, run, qrels, "nDCG@10")
    assert len(tuned.points) == 11**3
    assert set(tuned.points[:, 1]) == {1.0}


def test_an_empty_grid_and_impossible_points_are_refused(problem):
    queries, run, qrels, table = problem
    with pytest.raises(ConfigError, match="nothing to choose from"):
        tune_birch(Birch(table), queries, run, qrels, "AP", a_s=())
    with pytest.raises(ConfigError, match="must lie between 0 and 1, got 2"):
        tune_birch(Birch(table), queries, run, qrels, "AP", a_s=(2.0,))
    with pytest.raises(ConfigError, match="microF1@5 has no value per query"):
        tune_birch(Birch(table), queries, run, qrels, "microF1@5")
