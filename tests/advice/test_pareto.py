"""The Pareto front agrees with its definition, and refuses what it cannot compare."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse.advice.choice import pareto_front
from lexfuse.errors import ConfigError


def test_equal_points_stand_together_and_beaten_ones_fall():
    points = [(0.5, 10.0, 3.0), (0.5, 10.0, 3.0), (0.5, 10.0, 4.0), (0.9, 99.0, 9.0)]
    assert pareto_front(points, [True, False, False]) == (True, True, False, True)


def test_direction_decides():
    points = [(1.0, 1.0), (2.0, 2.0)]
    assert pareto_front(points, [True, True]) == (False, True)
    assert pareto_front(points, [False, False]) == (True, False)


def test_no_points_give_no_front():
    assert pareto_front([], [True, False]) == ()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_a_point_off_the_front_is_beaten_by_one_on_it(points):
    front = pareto_front(points, [True, False])
    for own, on_front in zip(points, front, strict=True):
        beaten = any(other != own and other[0] >= own[0] and other[1] <= own[1] for other in points)
        assert on_front is not beaten
    assert any(front)


def test_points_of_another_size_and_nan_are_refused():
    with pytest.raises(ConfigError, match="must have 2 coordinates"):
        pareto_front([(1.0,)], [True, False])
    with pytest.raises(ConfigError, match="point 1 of the Pareto front"):
        pareto_front([(1.0, 2.0), (1.0, float("nan"))], [True, False])
