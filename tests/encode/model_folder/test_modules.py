import numpy as np
import pytest

from lexfuse.encode.model_folder.modules import ActivationFunction, DenseHead, Pooling

STATES = np.array([[1.0, 8.0], [3.0, 2.0], [5.0, -4.0]], dtype=np.float32)


@pytest.mark.parametrize(
    ("pooling", "expected", "without_first"),
    [
        (Pooling.CLS, [1, 8], [3, 2]),
        (Pooling.LAST, [5, -4], [5, -4]),
        (Pooling.MAX, [5, 8], [5, 2]),
        (Pooling.MEAN, [3, 2], [4, -1]),
        (Pooling.MEAN_SQRT, [9 / 3**0.5, 6 / 3**0.5], [8 / 2**0.5, -2 / 2**0.5]),
        (Pooling.WEIGHTED_MEAN, [22 / 6, 0], [21 / 5, -8 / 5]),
    ],
)
def test_poolings_by_hand(pooling, expected, without_first):
    np.testing.assert_allclose(pooling.of(STATES), expected, rtol=1e-6)
    np.testing.assert_allclose(pooling.of(STATES, skipped=1), without_first, rtol=1e-6)


@pytest.mark.parametrize(
    ("activation", "expected"),
    [
        (ActivationFunction.IDENTITY, -1),
        (ActivationFunction.RELU, 0),
        (ActivationFunction.TANH, np.tanh(-1)),
        (ActivationFunction.SIGMOID, 1 / (1 + np.e)),
    ],
)
def test_activations(activation, expected):
    assert activation.of(np.array([-1], dtype=np.float32))[0] == pytest.approx(expected)


def test_a_residual_is_added_after_the_activation():
    head = DenseHead(-np.eye(2, dtype=np.float32), np.ones(2, dtype=np.float32), ActivationFunction.RELU, residual=True)
    assert head.of(np.array([3.0, 0.5], dtype=np.float32)).tolist() == [3.0, 1.0]
