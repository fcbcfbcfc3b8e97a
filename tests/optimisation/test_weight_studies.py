"""Sample efficiency, transfer and classes of queries."""

import numpy as np
import pytest

from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation.fusion_weights import tune_weights
from lexfuse.optimisation.query_class_weights import tune_classes
from lexfuse.optimisation.weight_studies import sample_efficiency, transfer
from lexfuse.text.query_class import QueryClass


def collection(noises, seed=0, docs=40):
    """One query for every pair of noises: how badly each of the two sources knows the truth."""
    chance = np.random.default_rng(seed)
    runs, rows = [{}, {}], []
    for query, pair in enumerate(noises):
        good = int(chance.integers(docs))
        rows.append((f"q{query}", f"d{good}", 1))
        for run, noise in zip(runs, pair, strict=True):
            run[f"q{query}"] = {f"d{doc}": float((doc == good) + noise * chance.random()) for doc in range(docs)}
    return union_of([Run.of("a", runs[0]), Run.of("b", runs[1])]), Qrels.of(rows)


def test_samples_grow_to_all_queries():
    train, test = collection([(1.5, 4.0)] * 40), collection([(1.5, 4.0)] * 30, seed=1)
    found = sample_efficiency(train, test, Convex(), "RR", share=0.25, trials=3)
    assert found.shares == (0.25, 0.5, 0.75, 1.0)
    assert found.queries == (10, 20, 30, 40)
    assert found.test_queries == 30
    assert found.values.shape == (4, 3)
    assert np.ptp(found.values[-1]) == 0  # all trials have all queries
    full = tune_weights(*train[:1], Convex(), train[1], "RR")
    assert found.weights[-1][0].tolist() == pytest.approx(full.weights)
    assert found.band[-1].low == found.band[-1].high == pytest.approx(found.full)
    again = sample_efficiency(train, test, Convex(), "RR", share=0.25, trials=3)
    assert again.as_json() == found.as_json()
    assert len(found.as_json()["band"]) == 4


def test_what_cannot_be_sampled():
    one = collection([(1.5, 4.0)] * 10)
    for share in (0.0, 1.5):
        with pytest.raises(ConfigError, match="share must lie above 0"):
            sample_efficiency(one, one, Convex(), "RR", share=share)
    with pytest.raises(ConfigError, match="at least 1 trial"):
        sample_efficiency(one, one, Convex(), "RR", trials=0)
    with pytest.raises(ConfigError, match="train has the sources a, b, test has b, a"):
        sample_efficiency(one, (one[0].only([1, 0]), one[1]), Convex(), "RR")


def test_weights_tuned_elsewhere_are_worse_where_sources_differ():
    first, second = collection([(1.2, 8.0)] * 40), collection([(8.0, 1.2)] * 40, seed=1)
    found = transfer({"first": first, "second": second}, Convex(), "RR")
    assert found.weights[0, 0] > 0.5 > found.weights[1, 0]
    assert found.means[0, 0] > found.means[1, 0]
    assert found.means[1, 1] > found.means[0, 1]
    assert (found.held_out <= np.diag(found.means) + 1e-9).all()
    assert [name for name, _ in found.rows()] == ["first", "second", "own weights, held out", "equal weights"]
    assert found.as_json()["means"]["first"]["second"] == found.means[0, 1]
    with pytest.raises(ConfigError, match="two collections or more, got 1"):
        transfer({"first": first}, Convex(), "RR")
    with pytest.raises(ConfigError, match="same sources in the same order, got a, b and b, a"):
        transfer({"first": first, "second": (second[0].only([1, 0]), second[1])}, Convex(), "RR")


def test_classes_that_differ_get_weights_of_their_own():
    union, qrels = collection([(1.1, 30.0)] * 60 + [(30.0, 1.1)] * 60 + [(1.1, 1.1)] * 5)
    kinds = [QueryClass.KEYWORDS] * 60 + [QueryClass.QUESTION] * 60 + [QueryClass.CITATION] * 5
    found = tune_classes(union, Convex(), qrels, "RR", {f"q{at}": kind for at, kind in enumerate(kinds)})
    assert [(one.name.value, one.queries, one.supported) for one in found] == [
        ("keywords", 60, True), ("question", 60, True), ("citation", 5, False),
    ]  # fmt: skip
    assert found[0].weights[0] > 0.5 > found[1].weights[0]
    assert found[0].own > found[0].general
    assert "better than the general ones" in found[0].words
    assert "only 5 queries" in found[2].words
    assert found[2].as_json()["weights"] is None


def test_classes_that_are_alike_share_their_weights():
    union, qrels = collection([(1.5, 3.0)] * 60)
    kinds = {f"q{at}": QueryClass.KEYWORDS if at % 2 else QueryClass.QUESTION for at in range(60)}
    found = tune_classes(union, Convex(), qrels, "RR", kinds)
    assert [one.supported for one in found] == [False, False]
    assert all("the general weights are as good" in one.words for one in found)
    assert all(one.adjusted_p >= one.versus_general.p for one in found)
    with pytest.raises(ConfigError, match=r"query 'q1' has no class \(59 of 60 have none\)"):
        tune_classes(union, Convex(), qrels, "RR", {"q0": QueryClass.KEYWORDS})
