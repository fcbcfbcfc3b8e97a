"""The verdict says what to do, what it gains and what it does not."""

import numpy as np

from lexfuse.advise import verdict
from lexfuse.advise.advice import Configuration, Confirmation, Difference, Tried
from lexfuse.advise.trying import Trial
from lexfuse.evaluate.bootstrap import Interval


def difference(mean, p):
    return Difference(mean, Interval(mean - 0.02, mean + 0.02), 0.2, p, p, 149)


FUSED = Tried(Configuration(("bm25", "dense"), "tm2c2"), (0.2, 0.8), 0.66, "dense", difference(0.05, 0.001))
SINGLE = Tried(Configuration(("dense",)), (1.0,), 0.61)


def test_a_fusion_that_test_confirms():
    means = {"R@100": {"dense": 0.6, "bm25 + dense, tm2c2": 0.64}}
    words = verdict.choice_words(FUSED, FUSED, "R@100", Confirmation(149, means, {"dense alone": difference(0.04, 0.0004)}))
    assert words[0].startswith("Fuse bm25 and dense by TM2C2 with weights .20/.80: +0.050 R@100 over dense alone")
    assert "On 149 test queries, looked at once, it reaches R@100 0.640." in words
    assert words[-1].startswith("Confirmed: +0.040 R@100 over dense alone")
    assert "p < 0.001" in words[-1]


def test_a_fusion_that_test_does_not_confirm_or_refutes():
    means = {"R@100": {"bm25 + dense, tm2c2": 0.6}}
    for mean, p, said in ((0.01, 0.4, "Not distinguishable on test"), (-0.03, 0.01, "Refuted")):
        found = Confirmation(149, means, {"dense alone": difference(mean, p)})
        assert verdict.choice_words(FUSED, FUSED, "R@100", found)[-1].startswith(said)


def test_without_test_queries_nothing_is_confirmed():
    assert "nothing here is confirmed" in verdict.choice_words(FUSED, FUSED, "R@100", None)[-1]


def test_a_single_source_says_what_was_not_worth_it():
    words = verdict.choice_words(SINGLE, FUSED, "R@100", None)
    assert words[0] == "Do not fuse: use dense alone (R@100 0.610 on dev)."
    assert "bm25 + dense, tm2c2 (0.660)" in words[1]


def test_weights_are_not_told_where_ranks_are_fused():
    assert verdict.use(Tried(Configuration(("a", "b"), "rrf"), (1.0, 1.0), 0.4)) == "fuse a and b by reciprocal ranks"


def test_every_source_left_out_is_spoken_of():
    values = np.random.default_rng(0).uniform(size=100)
    trials = [Trial(Configuration((name,)), None, (1.0,), values * scale) for name, scale in (("a", 1.0), ("b", 0.9), ("c", 0.8))]
    trials += [
        Trial(Configuration(("a", "b"), "rrf"), None, (), values + 0.1),
        Trial(Configuration(("a", "c"), "rrf"), None, (), values - 0.1),
    ]
    said = verdict.additions(trials, trials[0], "R@100")
    assert said[0].startswith("Adding b helps: +0.100 R@100")
    assert said[1].startswith("Adding c hurts: -0.100 R@100")


def test_counts_tell_better_worse_and_neither():
    worse = Tried(FUSED.configuration, (), 0.5, "dense", difference(-0.05, 0.001))
    neither = Tried(FUSED.configuration, (), 0.6, "dense", difference(0.01, 0.5))
    said = verdict.counts([SINGLE, FUSED, worse, neither])
    assert said.startswith("Of 3 fusions 2 (67 %) have a higher dev mean")
    assert "1 are better, 1 worse, and 1 not distinguishable" in said
