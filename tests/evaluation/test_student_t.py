"""Student's t against scipy, which is not needed at run time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from lexfuse.evaluation.student_t import t_quantile, t_tail

FREEDOM = st.one_of(st.integers(1, 30_000), st.floats(1.0, 500.0))


@given(FREEDOM, st.floats(-40.0, 40.0))
def test_the_tail_is_that_of_scipy(freedom, t):
    assert t_tail(freedom, t) == pytest.approx(stdtr(freedom, -abs(t)), rel=1e-8, abs=1e-300)


@given(FREEDOM, st.floats(0.5, 0.9999))
def test_a_quantile_is_that_of_scipy(freedom, share):
    assert t_quantile(freedom, share) == pytest.approx(stdtrit(freedom, share), rel=1e-8, abs=1e-8)
