import numpy as np
import pytest

from lexfuse.errors import ConfigError
from lexfuse.evaluation.bootstrap import ConfidenceInterval, difference_interval, intervals, mean_interval

VALUES = np.random.default_rng(0).random(50)


def test_same_seed_same_interval():
    assert mean_interval(VALUES, seed=3) == mean_interval(VALUES, seed=3) != mean_interval(VALUES, seed=4)


def test_the_mean_lies_inside_and_higher_confidence_is_wider():
    narrow, wide = mean_interval(VALUES, level=0.2), mean_interval(VALUES, level=0.01)
    assert wide.low < narrow.low < VALUES.mean() < narrow.high < wide.high


def test_a_column_alone_and_among_others():
    columns = [VALUES, VALUES**2, 1 - VALUES]
    assert intervals(columns) == [mean_interval(column) for column in columns]


def test_difference_interval_is_that_of_the_differences():
    other = VALUES * 0.8
    assert difference_interval(VALUES, other) == mean_interval(np.round(VALUES - other, 12))


def test_blocks_give_what_a_direct_loop_gives():
    values = np.random.default_rng(1).random(2500)  # 800 resamples a block
    drawn = np.random.default_rng(9)
    means = [values[drawn.integers(0, 2500, size=2500)].mean() for _ in range(1000)]
    low, high = np.quantile(means, [0.025, 0.975])
    ours = mean_interval(values, samples=1000, seed=9)
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=1e-9)


def test_coverage():
    """Intervals of 95 % hold the true mean about 95 times in 100 (somewhat less, with 60 skewed values each)."""
    generator = np.random.default_rng(0)
    inside = sum(0.25 in mean_interval(generator.random(60) ** 3, samples=500, seed=trial) for trial in range(300))
    assert 0.90 < inside / 300 < 0.985


def test_one_query_is_its_own_interval():
    assert mean_interval([0.4]) == ConfidenceInterval(0.4, 0.4)


@pytest.mark.parametrize(
    ("values", "options", "says"),
    [
        ([], {}, "at least 1 query"),
        ([0.1], {"level": 1.0}, "between 0 and 1"),
        ([0.1], {"samples": 0}, "at least 1 resample"),
    ],
)
def test_what_cannot_be(values, options, says):
    with pytest.raises(ConfigError, match=says):
        mean_interval(values, **options)
