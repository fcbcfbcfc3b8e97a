"""The choice prefers what is simple, and says how sure a difference is."""

import numpy as np
import pytest

from lexfuse.advice.choice import best, best_members, choose_configuration, compare_configurations, held_out_choice
from lexfuse.advice.findings import Configuration, Outcome
from lexfuse.advice.grid import GridTrial


def trial(name, values, *, tuned=False):
    members, _, method = name.partition(", ")
    return GridTrial(Configuration(tuple(members.split(" + ")), method), None, (), np.asarray(values, dtype=float), tuned)


def noisy(mean, seed, n=200, spread=0.2):
    return mean + spread * np.random.default_rng(seed).standard_normal(n)


def test_a_clear_gain_of_a_fusion_is_taken():
    base = noisy(0.4, 0)
    fused = trial("a + b, rrf", base + 0.1 + noisy(0.0, 1, spread=0.05))
    assert choose_configuration([trial("a", base), trial("b", noisy(0.3, 2)), fused]) is fused


def test_a_gain_within_the_noise_is_not_worth_a_source():
    base = noisy(0.4, 0)
    fused = trial("a + b, rrf", base + 0.001 + noisy(0.0, 1, spread=0.2))
    alone = trial("a", base)
    assert best([alone, fused]).mean >= alone.mean
    assert choose_configuration([alone, fused]) is alone


def test_of_two_fusions_that_are_near_the_one_without_tuning_is_taken():
    base = noisy(0.4, 0)
    plain, tuned = trial("a + b, tm2c2", base + 0.1), trial("a + b, tm2c2, tuned", base + 0.1 + noisy(0.002, 3), tuned=True)
    assert choose_configuration([trial("a", base), plain, tuned]) is plain


def test_of_equal_ones_the_first_and_smallest_counts():
    same = [0.5, 0.6]
    trials = [trial("a + b, rrf", same), trial("b", same), trial("a", same)]
    assert best(trials).configuration.name == "b"


def test_the_best_member_is_the_one_with_the_highest_mean():
    trials = [trial("a", [0.1, 0.2]), trial("b", [0.9, 0.8]), trial("c", [0.5, 0.5]), trial("a + c, rrf", [1, 1])]
    assert best_members(trials)["a + c, rrf"].configuration.name == "c"


def test_tests_are_corrected_as_one_family():
    one, many = (noisy(0.45, 1), noisy(0.4, 0)), [(noisy(0.4, seed), noisy(0.4, seed + 50)) for seed in range(2, 30)]
    alone, among = compare_configurations([one])[0], compare_configurations([one, *many])[0]
    assert among.p == alone.p == alone.adjusted_p
    assert alone.p < among.adjusted_p <= 29 * alone.p


def test_tests_over_different_queries_are_corrected_too():
    few, more = (noisy(0.9, 1, 20), noisy(0.4, 0, 20)), (noisy(0.45, 3, 30), noisy(0.4, 2, 30))
    found = compare_configurations([few, more])
    assert [each.queries for each in found] == [20, 30]
    assert found[0].adjusted_p == pytest.approx(2 * found[0].p)


def test_a_difference_is_worse_when_it_is_negative():
    low, high = noisy(0.3, 0), noisy(0.6, 1)
    assert compare_configurations([(low, high)])[0].outcome is Outcome.WORSE
    assert compare_configurations([(low, low)])[0].outcome is Outcome.EQUAL


def test_the_choice_is_measured_on_queries_it_did_not_see():
    """A configuration that is perfect on one query only must not win on that query."""
    names = [f"q{n}" for n in range(40)]
    base = np.full(40, 0.5)
    lucky = [trial(f"a + x{n}, rrf", np.where(np.arange(40) == n, 40.0, 0.4)) for n in range(40)]
    held = held_out_choice([trial("a", base), *lucky], names, folds=5)
    assert held.mean() <= 0.5


def test_the_choice_does_not_depend_on_the_order_of_queries():
    names = [f"q{n}" for n in range(30)]
    trials = [trial("a", noisy(0.4, 0, 30)), trial("a + b, rrf", noisy(0.45, 1, 30))]
    order = np.random.default_rng(5).permutation(30)
    shuffled = [GridTrial(t.configuration, None, (), t.values[order]) for t in trials]
    again = held_out_choice(shuffled, [names[at] for at in order], folds=5)
    assert again[np.argsort(order)] == pytest.approx(held_out_choice(trials, names, folds=5))


def equal_cases(count):
    """Configurations that differ on one query: their mean difference is its standard error, exactly, whatever rounding says."""
    chance = np.random.default_rng(0)
    for _ in range(count):
        values = chance.random(int(chance.integers(2, 300)))
        more = values.copy()
        more[chance.integers(len(values))] += chance.random()
        yield values, more


def test_a_difference_of_just_one_standard_error_is_always_within_it():
    fell = [
        choose_configuration([trial("a", less), trial("a + b, rrf", more)]).configuration.name for less, more in equal_cases(1000)
    ]
    assert fell == ["a"] * 1000


def test_a_difference_above_one_standard_error_is_never_within_it():
    for less, more in equal_cases(200):
        rest = np.flatnonzero(more == less)
        if len(rest) < 2:
            continue
        more[rest] += 1e-6  # all other queries gain too, however little
        fused = trial("a + b, rrf", more)
        assert choose_configuration([trial("a", less), fused]) is fused


def test_means_that_only_rounding_tells_apart_are_equal():
    chance = np.random.default_rng(1)
    for _ in range(300):
        values = chance.integers(0, 7, int(chance.integers(2, 60))) / 6
        order = chance.permutation(len(values))
        first, second = trial("a", values), trial("b", values[order])
        fused = trial("a + b, rrf", values[::-1])
        assert best([fused, second, first]) is second
        assert best([fused, first, second]) is first
        assert best_members([second, first, fused])["a + b, rrf"] is first  # the first of its members
        assert choose_configuration([first, trial("c", values), second]) is first
