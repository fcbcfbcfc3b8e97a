"""The verdict says what to do, what it gains and what it does not."""

import numpy as np
import pytest
from scipy.stats import nct, t

from lexfuse.advice import verdict
from lexfuse.advice.choice import power_of
from lexfuse.advice.findings import Configuration, ConfigurationResult, Confirmation, Difference, Power, Verdict, verdict_of
from lexfuse.advice.grid import GridTrial
from lexfuse.evaluation.bootstrap import ConfidenceInterval


def difference(mean, p):
    return Difference(mean, ConfidenceInterval(mean - 0.02, mean + 0.02), 0.2, p, p, 149)


FUSED = ConfigurationResult(Configuration(("bm25", "dense"), "tm2c2"), (0.2, 0.8), 0.66, "dense", difference(0.05, 0.001))
SINGLE = ConfigurationResult(Configuration(("dense",)), (1.0,), 0.61)


def test_a_fusion_that_test_confirms():
    means = {"R@100": {"dense": 0.6, "bm25 + dense, tm2c2": 0.64}}
    words = verdict.choice_words(FUSED, FUSED, "R@100", Confirmation(149, means, {"dense alone": difference(0.04, 0.0004)}))
    assert words[0].startswith("Fuse bm25 and dense by TM2C2 with weights .20/.80: +0.050 R@100 over dense alone")
    assert "On 149 test queries, used once, it reaches R@100 0.640." in words
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
    assert "bm25 + dense, tm2c2 (0.660 against 0.610)" in words[1]


def test_weights_are_not_told_where_ranks_are_fused():
    assert (
        verdict.use(ConfigurationResult(Configuration(("a", "b"), "rrf"), (1.0, 1.0), 0.4)) == "fuse a and b by reciprocal ranks"
    )


def test_every_source_left_out_is_spoken_of():
    values = np.random.default_rng(0).uniform(size=100)
    trials = [
        GridTrial(Configuration((name,)), None, (1.0,), values * scale) for name, scale in (("a", 1.0), ("b", 0.9), ("c", 0.8))
    ]
    trials += [
        GridTrial(Configuration(("a", "b"), "rrf"), None, (), values + 0.1),
        GridTrial(Configuration(("a", "c"), "rrf"), None, (), values - 0.1),
    ]
    said = verdict.additions(trials, trials[0], "R@100")
    assert said[0].startswith("Adding b helps: +0.100 R@100")
    assert said[1].startswith("Adding c hurts: -0.100 R@100")


def test_counts_tell_better_worse_and_neither():
    worse = ConfigurationResult(FUSED.configuration, (), 0.5, "dense", difference(-0.05, 0.001))
    neither = ConfigurationResult(FUSED.configuration, (), 0.6, "dense", difference(0.01, 0.5))
    said = verdict.counts([SINGLE, FUSED, worse, neither])
    assert said.startswith("Of 3 fusions 2 (67 %) have a higher dev mean")
    assert "1 are better, 1 worse, and 1 not distinguishable" in said


ENOUGH, FEW = Power(149, 0.05, 0.04, 96), Power(20, 0.05, 0.11, 97)


@pytest.mark.parametrize(
    ("mean", "p", "power", "expected"),
    [
        (0.05, 0.01, FEW, Verdict.FUSE), (-0.05, 0.01, FEW, Verdict.HARM), (0.05, 0.2, ENOUGH, Verdict.UNPROVEN),
        (0.05, 0.2, FEW, Verdict.TOO_FEW), (-0.01, 0.9, FEW, Verdict.TOO_FEW), (None, None, ENOUGH, Verdict.ALONE),
        (None, None, FEW, Verdict.TOO_FEW),
    ],
)  # fmt: skip
def test_the_first_sentence_begins_with_the_verdict(mean, p, power, expected):
    fused = (
        ConfigurationResult(FUSED.configuration, (0.2, 0.8), 0.66, "dense", difference(mean, p)) if mean is not None else SINGLE
    )
    assert verdict_of(fused, power) is expected
    words = verdict.choice_words(fused, fused, "R@100", None, power)
    assert words[0].startswith(expected.value)
    if expected is not Verdict.FUSE:
        assert not any(word.startswith("Fuse ") for word in words)


def test_too_few_questions_says_how_many_it_takes():
    words = verdict.choice_words(SINGLE, FUSED, "R@100", None, FEW)
    assert words[0] == "Too few questions to tell: 20 are judged, and it takes about 97 to show a difference of 0.05 R@100."
    assert words[1] == "For now, use dense alone (R@100 0.610 on dev)."
    assert verdict.power_words(FEW, "R@100").endswith("four times out of five; 0.05 takes about 97 queries.")


@pytest.mark.parametrize(("spread", "queries"), [(0.1, 200), (0.2, 40), (0.3, 1000)])
def test_so_many_queries_have_the_power_that_is_promised(spread, queries):
    values = spread * np.random.default_rng(3).standard_normal(queries)
    found = power_of(values, 0.05)
    deviation = values.std(ddof=1)
    factor = (t.ppf(0.975, queries - 1) + t.ppf(0.8, queries - 1)) * deviation
    assert found.detectable == pytest.approx(factor / np.sqrt(queries))
    needed = int(np.ceil((factor / 0.05) ** 2))
    assert found.needed == max(59, needed)
    freedom, shift = needed - 1, 0.05 * np.sqrt(needed) / deviation
    power = 1 - nct.cdf(t.ppf(0.975, freedom), freedom, shift)  # of the t-test itself, by the noncentral distribution
    assert 0.77 < power < 0.85
    assert found.enough == (queries >= found.needed) == (found.detectable <= 0.05)


@pytest.mark.parametrize(("smallest", "needed"), [(0.05, 59), (0.1, 29), (0.01, 299), (1.0, 2), (5.0, 2)])
def test_differences_that_never_vary_still_need_enough_queries_to_meet_a_rare_one(smallest, needed):
    found = power_of(np.zeros(6), smallest)
    assert (found.needed, found.enough) == (needed, needed <= 6)
    if smallest < 1:
        assert (1 - smallest) ** needed <= 0.05 < (1 - smallest) ** (needed - 1)  # the chance to meet none
        assert verdict_of(SINGLE, found) is Verdict.TOO_FEW
        assert f"takes about {needed} queries" in verdict.power_words(found, "RR")
