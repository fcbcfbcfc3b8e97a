"""The codec of token vectors: how far stored vectors are from the true ones, packing, training that repeats itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse.errors import ConfigError, DataError
from lexfuse.index import kernels
from lexfuse.index.codec import BITS, Codec, centroid_count, sample_size
from lexfuse.index.mapping import save_array
from lexfuse.index.maxsim import nearest


def clustered(seed=0, rows=2000, dimension=40):
    generator = np.random.default_rng(seed)
    middles = generator.normal(size=(30, dimension))
    vectors = middles[generator.integers(0, 30, rows)] + 0.5 * generator.normal(size=(rows, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


VECTORS = clustered()
CODECS = {bits: Codec.trained(VECTORS, bits) for bits in BITS}
# Mean squared error of the best quantiser of a normal variable (Max 1960); stored vectors are rescaled, hence some slack.
ERRORS = {1: 0.3634, 2: 0.1175, 4: 0.0095, 8: 0.0002}


@pytest.mark.parametrize("bits", BITS)
def test_the_error_is_that_of_the_best_levels(bits):
    codec = CODECS[bits]
    stored = codec.decoded(codec.encoded(VECTORS))
    left = VECTORS - codec.centroids[nearest(VECTORS, codec.centroids)]
    error = np.square(stored - VECTORS).sum() / np.square(left).sum()
    assert error < 1.25 * ERRORS[bits] + 1e-4
    np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-5)


def test_eight_bits_lose_almost_nothing():
    codec, fresh = Codec.trained(VECTORS[:1500], 8), VECTORS[1500:]
    stored = codec.decoded(codec.encoded(fresh))
    assert (stored * fresh).sum(axis=1).min() > 0.995
    assert np.abs(stored - fresh).mean() < 0.002


@given(st.sampled_from(BITS), st.integers(1, 70), st.integers(0, 10**6))
def test_levels_are_found_again_whatever_the_dimension(bits, dimension, seed):
    generator = np.random.default_rng(seed)
    levels = np.sort(generator.normal(size=1 << bits)).astype(np.float32)
    codec = Codec(np.zeros((1, dimension), np.float32), np.ones(dimension, np.float32), levels)
    vectors = levels[generator.integers(0, len(levels), (5, dimension))]
    encoded = codec.encoded(vectors)
    assert encoded.residuals.shape == (5, -(-dimension * bits // 8))
    unscaled = codec.unpacked[encoded.residuals].reshape(5, -1)[:, :dimension]
    assert np.array_equal(unscaled, vectors)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 50))
def test_the_nearest_centroid_is_the_nearest(seed, rows, centroids):
    generator = np.random.default_rng(seed)
    vectors = generator.integers(-3, 4, (rows, 5)).astype(np.float32)  # whole numbers: no rounding, many ties
    middles = generator.integers(-3, 4, (centroids, 5)).astype(np.float32)
    distances = np.square(vectors[:, None] - middles[None]).sum(axis=2)
    assert nearest(vectors, middles).tolist() == distances.argmin(axis=1).tolist()


def test_the_same_sample_gives_the_same_codec_by_either_way(monkeypatch):
    trained = []
    for patience in (10**15, 0):
        monkeypatch.setattr(kernels._Waiting, "steps", 0)
        monkeypatch.setattr(kernels, "PATIENCE", patience)
        trained.append(Codec.trained(VECTORS[:300], 2))
    assert trained[0].same(trained[1])
    assert trained[0].same(Codec.trained(VECTORS[:300], 2))
    assert not trained[0].same(Codec.trained(VECTORS[:300], 2, seed=1))
    assert not trained[0].same(Codec.trained(VECTORS[:300], 4))


def test_the_number_of_centroids_follows_the_number_of_tokens():
    assert [centroid_count(tokens) for tokens in (0, 1, 5, 100, 10_000, 4_000_000, 10**12)] == [1, 1, 4, 32, 512, 8192, 65536]
    assert len(Codec.trained(VECTORS, 2, tokens=10_000).centroids) == 512
    assert len(CODECS[2].centroids) == centroid_count(2000) == 128
    assert sample_size(10**6) == 32 * 4096


def test_few_and_equal_vectors():
    one = np.ones((1, 3), np.float32)
    for vectors in (one, np.repeat(one, 50, axis=0), np.zeros((4, 3), np.float32)):
        codec = Codec.trained(vectors, 2)
        np.testing.assert_allclose(codec.decoded(codec.encoded(vectors)), vectors, atol=1e-6)


def test_what_cannot_be_is_refused():
    with pytest.raises(ConfigError, match="1, 2, 4 or 8 bits a dimension, got 3"):
        Codec.trained(VECTORS, 3)
    with pytest.raises(ConfigError, match="at least one vector"):
        Codec.trained(VECTORS[:0], 2)
    with pytest.raises(ConfigError, match="40 dimensions"):
        CODECS[2].encoded(np.ones((1, 41), np.float32))
    with pytest.raises(DataError, match="token vector 1 holds nan"):
        CODECS[2].encoded(np.array([[0.0] * 40, [np.inf] * 40], np.float32))


def test_round_trip(tmp_path):
    list(CODECS[2].save(tmp_path))
    assert Codec.load(tmp_path).same(CODECS[2])


@pytest.mark.parametrize(
    ("name", "size"), [("levels", 3), ("levels", 0), ("spreads", 39), ("spreads", 0), ("centroids", 41), ("centroids", 0)]
)
def test_files_that_do_not_belong_together_are_refused(tmp_path, name, size):
    list(CODECS[2].save(tmp_path))
    save_array(tmp_path / f"{name}.npy", np.ones(size, np.float32))
    with pytest.raises(DataError, match=str(tmp_path)):
        Codec.load(tmp_path)
