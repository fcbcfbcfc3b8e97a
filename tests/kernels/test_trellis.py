"""Trellis-coded numbers: the best path of all, strings of bits, the error against the theory, the same bits by either way."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse.kernels import compilation
from lexfuse.kernels.trellis import allotted, fitted, packed, paths, places, states_of

PLAIN, COMPILED = 10**15, 0


def by_way(monkeypatch, patience):
    monkeypatch.setattr(compilation._Waiting, "steps", 0)
    monkeypatch.setattr(compilation, "PATIENCE", patience)


def drawn(seed, rows, bits):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(rows, len(bits))).astype(np.float32)
    gains = generator.uniform(0.5, 2, len(bits)).astype(np.float32)
    return values, np.array(bits, np.uint8), gains, generator.normal(size=256).astype(np.float32)


@pytest.mark.parametrize("patience", [PLAIN, COMPILED])
@pytest.mark.parametrize("bits", [(1, 2), (2, 1, 1), (3, 1), (8,), (4,)])
def test_no_path_is_better(monkeypatch, bits, patience):
    by_way(monkeypatch, patience)
    values, owned, gains, table = drawn(sum(bits), 5, bits)
    states = paths(values, owned, gains, table)
    reached = np.square(values - gains * table[states[:, 1:]]).sum(axis=1)
    least = np.full(5, np.inf)
    for start, *steps in product(range(256), *(range(1 << own) for own in bits)):
        state, error = start, np.zeros(5)
        for at, (own, step) in enumerate(zip(bits, steps, strict=True)):
            state = (state << own | step) & 255
            error += np.square(values[:, at] - gains[at] * table[state])
        least = np.minimum(least, error)
    np.testing.assert_allclose(reached, least, rtol=1e-5, atol=1e-9)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=40), st.integers(0, 10**6))
def test_states_are_found_again(bits, seed):
    values, owned, gains, table = drawn(seed, 3, bits)
    states = paths(values, owned, gains, table)
    strings = packed(states, owned)
    assert strings.shape == (3, -(-(8 + sum(bits)) // 8))
    assert np.array_equal(states_of(strings, places(owned)), states[:, 1:])


def test_both_ways_give_the_same_states(monkeypatch):
    given_ = drawn(1, 45, [1, 5, 2, 8, 3, 2, 7, 1, 4, 6, 2])
    found = []
    for patience in (PLAIN, COMPILED):
        by_way(monkeypatch, patience)
        found.append(paths(*given_))
    assert np.array_equal(*found)
    assert paths(given_[0][:0], *given_[1:]).shape == (0, 12)


@pytest.mark.parametrize(("bits", "levels"), [(1, 0.3634), (2, 0.1175), (3, 0.03454), (4, 0.009497)])
def test_the_error_is_below_that_of_the_best_fixed_levels(bits, levels):
    generator = np.random.default_rng(0)
    numbers = np.full(32, bits, np.uint8)
    gains, table = fitted(generator.normal(size=(1000, 32)).astype(np.float32), numbers, np.ones(32), generator)
    fresh = generator.normal(size=(300, 32)).astype(np.float32)
    stored = gains * table[paths(fresh, numbers, gains, table)[:, 1:]]
    error = np.square(stored - fresh).mean()
    least = 0.25 ** (bits + 8 / 32)  # of any code with as many bits, those to start with among them
    assert least < error < 0.85 * levels  # the best fixed levels are of Max 1960


def test_bits_go_where_the_error_is():
    variances = np.array([1.0, 4.0, 16.0, 1e-9])
    assert allotted(variances, 9).tolist() == [2, 3, 4, 0]
    assert allotted(variances, 32).tolist() == [8, 8, 8, 8]
    assert allotted(np.ones(5), 10).tolist() == [2] * 5


def test_a_number_that_a_small_sample_does_not_show_keeps_a_gain():
    values = np.zeros((3, 2), np.float32)
    gains, table = fitted(values, np.array([2, 2], np.uint8), np.array([0.5, 2.0]), np.random.default_rng(0))
    assert (gains > 0).all()
    assert np.isfinite(table).all()
