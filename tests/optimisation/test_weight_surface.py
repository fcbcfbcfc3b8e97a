"""The surface of weights equals fusing and evaluating every point."""

import numpy as np
import pytest

from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing
from lexfuse.optimisation.weight_surface import simplex, surface_of


def drawn(seed=0, sources=3, queries=6, docs=25):
    """Rankings with many ties, and graded judgements, some of documents that nobody ranks."""
    chance = np.random.default_rng(seed)
    runs = [
        Run.of(
            f"s{source}",
            {
                f"q{query}": {f"d{doc}": float(chance.integers(0, 6)) for doc in chance.choice(docs, 12, replace=False)}
                for query in range(queries)
            },
        )
        for source in range(sources)
    ]
    rows = [
        (f"q{q}", f"d{doc}", int(chance.integers(0, 3)))
        for q in range(queries)
        for doc in chance.choice(docs + 5, 6, replace=False)
    ]
    return runs, Qrels.of(rows)


@pytest.mark.parametrize("measure", ["nDCG@5", "R@3", "RR", "AP@10", "P@5", "Rprec"])
def test_every_point_is_what_evaluating_the_fused_run_gives(measure):
    runs, qrels = drawn()
    union = union_of(runs)
    points = simplex(3, 0.25)
    surface = surface_of(union, Convex(), qrels, measure, points)
    for weights, values in zip(points, surface.values, strict=True):
        fused = Convex(tuple(weights), missing=Missing.MIN).fuse(runs, 1000)
        assert values.tolist() == evaluate(qrels, fused, measure).values(measure).tolist()


def test_the_best_point_and_the_oracle():
    runs, qrels = drawn(1)
    union = union_of(runs)
    surface = surface_of(union, Convex(), qrels, "nDCG@5", simplex(3))
    assert surface.means[surface.best] == surface.means.max()
    assert surface.oracle >= surface.means.max()
    some = surface.on([0, 2])
    assert some.values.tolist() == surface.values[:, [0, 2]].tolist()
    assert len(surface.band()) == len(surface.weights)


def test_the_simplex_is_complete_and_sums_to_one():
    for sources, step, points in ((1, 0.05, 1), (2, 0.05, 21), (3, 0.1, 66), (4, 0.05, 1771)):
        found = simplex(sources, step)
        assert found.shape == (points, sources)
        assert np.allclose(found.sum(axis=1), 1)
        assert len(np.unique(found.round(6), axis=0)) == points
    for step in (0.3, 0.0, -1.0, 2.0):
        with pytest.raises(ConfigError, match="must divide 1"):
            simplex(2, step)


def test_what_cannot_be_tuned():
    runs, qrels = drawn()
    union = union_of(runs)
    with pytest.raises(ConfigError, match="no value per query"):
        surface_of(union, Convex(), qrels, "microF1@5", simplex(3, 0.5))
    with pytest.raises(DataError, match="none of the 1 judged queries has a relevant document"):
        surface_of(union, Convex(), Qrels.of([("q0", "d1", 0)]), "RR", simplex(3, 0.5))
