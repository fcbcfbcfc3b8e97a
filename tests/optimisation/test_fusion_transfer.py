"""Fusions chosen on one collection and measured on others, against reciprocal ranks computed by hand."""

from itertools import product

import numpy as np
import pytest

from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation.fusion_transfer import SplitCollection, transfer_fusion, tuned_etas, tuned_weights

ETAS = (1, 5, 60)
DOCS = [f"d{at}" for at in range(30)]


def scores_of(noises, seed, queries=24):
    """For each of the two sources: query -> document -> score, and the relevant document of each query."""
    chance = np.random.default_rng(seed)
    relevant = {f"q{at}": DOCS[int(chance.integers(len(DOCS)))] for at in range(queries)}
    sources = [
        {query: {doc: float((doc == good) + noise * chance.random()) for doc in DOCS} for query, good in relevant.items()}
        for noise in noises
    ]
    return sources, relevant


def split(scored):
    sources, relevant = scored
    runs = [Run.of(name, scores).bounded(0.0) for name, scores in zip(("LEX", "SEM"), sources, strict=True)]
    return union_of(runs), Qrels.of([(query, doc, 1) for query, doc in relevant.items()])


MADE = {  # the first source is better on one collection, the second on the other
    "first": (scores_of((1.4, 4.0), 0), scores_of((1.4, 4.0), 1)),
    "second": (scores_of((4.0, 1.4), 2), scores_of((4.0, 1.4), 3)),
}
COLLECTIONS = {name: SplitCollection(split(tuning), split(test), "RR") for name, (tuning, test) in MADE.items()}


def mean_by_hand(scored, etas):
    """The mean reciprocal rank of the relevant documents, by the definition of RRF and nothing of the library."""
    sources, relevant = scored
    found = []
    for query, good in relevant.items():
        places = [{doc: at for at, doc in enumerate(sorted(DOCS, key=lambda doc: -scores[query][doc]), 1)} for scores in sources]
        fused = {doc: sum(1 / (eta + ranks[doc]) for eta, ranks in zip(etas, places, strict=True)) for doc in DOCS}
        found.append(1 / (1 + sum(value > fused[good] for value in fused.values())))
    return sum(found) / len(found)


def test_constants_are_chosen_on_one_collection_and_measured_on_all():
    found = transfer_fusion(COLLECTIONS, tuned_etas(ETAS))
    for row, (name, (tuning, _)) in enumerate(MADE.items()):
        etas = found.fusions[row].eta
        by_hand = {pair: mean_by_hand(tuning, pair) for pair in product(ETAS, repeat=2)}
        assert by_hand[tuple(etas)] == pytest.approx(max(by_hand.values()), abs=0.01), name  # ties are broken by document
        for column, (_, test) in enumerate(MADE.values()):
            assert found.means[row, column] == pytest.approx(mean_by_hand(test, etas), abs=0.02)
    assert found.fusions[0].eta[0] < found.fusions[0].eta[1], "the better source has the smaller constant"
    assert found.fusions[1].eta[0] > found.fusions[1].eta[1]
    assert found.losses[1, 0] == pytest.approx(found.means[0, 0] - found.means[1, 0])
    assert found.losses.diagonal().tolist() == [0.0, 0.0]
    assert found.losses[1, 0] > 0.05
    assert found.as_json()["means"]["second"]["first"] == found.means[1, 0]


def test_nothing_is_chosen_on_a_test_split():
    other = {"first": SplitCollection(COLLECTIONS["first"].tuning, COLLECTIONS["second"].test, "RR")}
    alone = transfer_fusion({"first": COLLECTIONS["first"]}, tuned_etas(ETAS))
    assert transfer_fusion(other, tuned_etas(ETAS)).fusions == alone.fusions


def test_weights_are_chosen_likewise():
    found = transfer_fusion(COLLECTIONS, tuned_weights(TM2C2()))
    alphas = [fusion.source_weights(2)[1] for fusion in found.fusions]
    assert alphas[0] < 0.5 < alphas[1]
    assert found.values["first"].shape == (2, 24)
    assert found.means[0, 0] > found.means[1, 0]


def test_smoothness_and_weights_of_the_given_fusion_are_kept():
    found = transfer_fusion({"first": COLLECTIONS["first"]}, tuned_etas([5], ReciprocalRank(weights=(0.2, 0.8))))
    assert found.fusions[0].source_weights(2).tolist() == [0.2, 0.8]


def test_what_cannot_be_transferred():
    with pytest.raises(ConfigError, match="no collection to choose a fusion on"):
        transfer_fusion({}, tuned_etas(ETAS))
    union, qrels = COLLECTIONS["second"].test
    turned = SplitCollection(COLLECTIONS["second"].tuning, (union.only([1, 0]), qrels), "RR")
    with pytest.raises(ConfigError, match="same sources in the same order, got LEX, SEM and SEM, LEX"):
        transfer_fusion({"first": COLLECTIONS["first"], "second": turned}, tuned_etas(ETAS))
