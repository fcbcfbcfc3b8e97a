"""Levels of few bits: where bits go, packing, the error against the theory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse.kernels.levels import LevelLayout, allotted, centred, fitted_steps, levels_of


@given(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=60), st.integers(0, 10**6))
def test_levels_are_found_again(widths, seed):
    widths = np.array(sorted(widths, reverse=True), np.uint8)
    levels = np.random.default_rng(seed).integers(0, 1 << widths.astype(np.int64), (3, len(widths))).astype(np.uint8)
    layout = LevelLayout.of(widths)
    packed = layout.packed(levels)
    assert packed.shape == (3, layout.bytes)
    assert layout.bytes == sum(-(-int((widths == width).sum()) * width // 8) for width in (1, 2, 4, 8))
    assert layout.slots % 4 == 0
    assert np.array_equal(layout.unpacked(packed), levels)


@pytest.mark.parametrize(("width", "error"), [(1, 0.3634), (2, 0.1188), (4, 0.01154), (8, 0.0001)])
def test_the_error_is_that_of_the_best_equally_spaced_levels(width, error):
    generator = np.random.default_rng(0)
    widths = np.full(8, width, np.uint8)
    steps = fitted_steps(generator.normal(size=(4000, 8)).astype(np.float32), widths, np.ones(8))
    fresh = generator.normal(size=(20_000, 8)).astype(np.float32)
    stored = centred(levels_of(fresh / steps, widths), widths) * steps
    assert np.square(stored - fresh).mean() == pytest.approx(error, rel=0.05)


def test_bits_go_where_the_error_is():
    variances = np.array([1.0, 4.0, 16.0, 1e-9])
    assert allotted(variances, 10).tolist() == [2, 4, 4, 0]
    assert allotted(variances, 32).tolist() == [8, 8, 8, 8]
    assert allotted(np.ones(5), 10).tolist() == [2] * 5
    assert allotted(np.ones(1), 3).tolist() == [2]  # four bits are too many
    assert allotted(np.ones(3), 0).tolist() == [0, 0, 0]


@given(st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=40), st.integers(1, 8))
def test_no_more_bits_than_there_are(variances, bits):
    widths = allotted(np.array(variances), bits * len(variances))
    assert widths.sum(dtype=np.int64) <= bits * len(variances)
    assert np.isin(widths, [0, 1, 2, 4, 8]).all()


def test_a_number_that_a_small_sample_does_not_show_keeps_a_step():
    steps = fitted_steps(np.zeros((3, 2), np.float32), np.array([2, 2], np.uint8), np.array([0.5, 2.0]))
    assert (steps > 0).all()
