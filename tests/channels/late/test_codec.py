"""The codec of token vectors: how far stored vectors are from the true ones, packing, training that repeats itself."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexfuse.channels.late.codec import BITS, TokenCodec, centroid_count, sample_size
from lexfuse.errors import ConfigError, DataError
from lexfuse.kernels import compilation
from lexfuse.kernels.maxsim import nearest
from lexfuse.storage.array_file import save_array


def clustered(seed=0, rows=2000, dimension=40):
    generator = np.random.default_rng(seed)
    middles = generator.normal(size=(30, dimension))
    vectors = middles[generator.integers(0, 30, rows)] + 0.5 * generator.normal(size=(rows, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


VECTORS = clustered()
# Mean squared error of the best equally spaced levels for a normal variable (Max 1960).
ERRORS = {1: 0.3634, 2: 0.1188, 4: 0.01154, 8: 0.0001}


@cache
def codec_of(bits):
    """Trained by the first test that asks: every worker imports this file, few run it."""
    return TokenCodec.trained(VECTORS, bits)


@pytest.mark.parametrize("bits", BITS)
def test_the_error_is_close_to_that_of_the_best_levels(bits):
    codec = codec_of(bits)
    assert bits - 0.1 < codec.bits <= bits
    stored = codec.decoded(codec.encoded(VECTORS))
    left = VECTORS - codec.centroids[nearest(VECTORS, codec.centroids)]
    error = np.square(stored - VECTORS).sum() / np.square(left).sum()
    assert error < 1.15 * np.mean([ERRORS[width] for width in codec.widths.tolist()])
    np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-5)


def test_axes_along_which_residuals_vary_get_the_bits():
    generator = np.random.default_rng(0)
    turned = np.linalg.qr(generator.normal(size=(16, 16)))[0]
    spreads = 2.0 ** -np.arange(16)
    vectors = (generator.normal(size=(3000, 16)) * spreads @ turned).astype(np.float32)
    codec = TokenCodec.trained(vectors, 2, tokens=16)
    assert codec.widths.tolist() == sorted(codec.widths, reverse=True)
    assert len(codec.widths) < 16  # the others get none
    direction = np.abs(codec.axes @ turned.T).argmax(axis=1)
    assert sorted(direction[codec.widths == 8].tolist()) == [0, 1]
    left = vectors - codec.centroids[nearest(vectors, codec.centroids)]
    error = np.square(codec.decoded(codec.encoded(vectors)) - vectors).sum() / np.square(left).sum()
    assert error < 0.04  # 2 bits for each dimension by itself: 0.0625 at the very least


def test_eight_bits_lose_almost_nothing():
    codec, fresh = TokenCodec.trained(VECTORS[:1500], 8), VECTORS[1500:]
    stored = codec.decoded(codec.encoded(fresh))
    assert (stored * fresh).sum(axis=1).min() > 0.995
    assert np.abs(stored - fresh).mean() < 0.002


@pytest.mark.parametrize("dimension", [1, 2, 8, 31, 128])
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_any_dimension(bits, dimension):
    vectors = np.random.default_rng(dimension).normal(size=(60, dimension)).astype(np.float32)
    codec = TokenCodec.trained(vectors, bits)
    encoded = codec.encoded(vectors)
    assert encoded.residuals.shape == (60, codec.layout.bytes)
    assert codec.layout.bytes <= -(-dimension * bits // 8) + 3  # whole bytes for each width
    assert codec.dimension == dimension
    cosines = (codec.decoded(encoded) * vectors).sum(axis=1) / np.square(vectors).sum(axis=1)
    assert np.median(cosines) > (0.75 if bits == 1 else 0.9)


def test_vectors_get_the_same_bytes_alone_and_together():
    codec = codec_of(2)
    together = codec.encoded(VECTORS[:50])
    for at in (0, 17, 49):
        for one, every in zip(codec.encoded(VECTORS[at : at + 1]), together, strict=True):
            assert np.array_equal(one[0], every[at])


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
        monkeypatch.setattr(compilation._Waiting, "steps", 0)
        monkeypatch.setattr(compilation, "PATIENCE", patience)
        trained.append(TokenCodec.trained(VECTORS[:300], 2))
    assert trained[0].same(trained[1])
    assert trained[0].same(TokenCodec.trained(VECTORS[:300], 2))
    assert not trained[0].same(TokenCodec.trained(VECTORS[:300], 2, seed=1))
    assert not trained[0].same(TokenCodec.trained(VECTORS[:300], 4))


def test_the_number_of_centroids_follows_the_number_of_tokens():
    assert [centroid_count(tokens) for tokens in (0, 1, 5, 100, 10_000, 4_000_000, 10**12)] == [1, 1, 4, 32, 512, 8192, 65536]
    assert len(TokenCodec.trained(VECTORS, 2, tokens=10_000).centroids) == 512
    assert len(codec_of(2).centroids) == centroid_count(2000) == 128
    assert sample_size(10**6) == 32 * 4096


def test_few_and_equal_vectors():
    one = np.ones((1, 3), np.float32)
    for vectors in (one, np.repeat(one, 50, axis=0), np.zeros((4, 3), np.float32)):
        codec = TokenCodec.trained(vectors, 2)
        np.testing.assert_allclose(codec.decoded(codec.encoded(vectors)), vectors, atol=1e-6)


def test_what_cannot_be_is_refused():
    with pytest.raises(ConfigError, match="1 to 8 bits a dimension, got 9"):
        TokenCodec.trained(VECTORS, 9)
    with pytest.raises(ConfigError, match="at least one vector"):
        TokenCodec.trained(VECTORS[:0], 2)
    with pytest.raises(ConfigError, match="40 dimensions"):
        codec_of(2).encoded(np.ones((1, 41), np.float32))
    with pytest.raises(DataError, match="token vector 1 holds nan"):
        codec_of(2).encoded(np.array([[0.0] * 40, [np.inf] * 40], np.float32))


def test_round_trip(tmp_path):
    list(codec_of(2).save(tmp_path))
    assert TokenCodec.load(tmp_path).same(codec_of(2))


@pytest.mark.parametrize(
    ("name", "size", "kind"),
    [
        ("widths", 39, np.uint8),
        ("widths", 0, np.uint8),
        ("axes", 41, np.float32),
        ("axes", 0, np.float32),
        ("centroids", 41, np.float32),
        ("centroids", 0, np.float32),
    ],
)
def test_files_that_do_not_belong_together_are_refused(tmp_path, name, size, kind):
    list(codec_of(2).save(tmp_path))
    save_array(tmp_path / f"{name}.npy", np.ones(size, kind))
    with pytest.raises(DataError, match=str(tmp_path)):
        TokenCodec.load(tmp_path)


@pytest.mark.parametrize("widths", [[3] * 40, [0] * 40, [9] * 40, [2] * 20 + [4] * 20])
def test_widths_that_cannot_be_are_refused(tmp_path, widths):
    codec = TokenCodec.trained(VECTORS, 8)
    list(codec.save(tmp_path))
    assert len(codec.widths) == 40
    save_array(tmp_path / "widths.npy", np.array(widths, np.uint8))
    with pytest.raises(DataError, match="do not belong together"):
        TokenCodec.load(tmp_path)


@pytest.mark.parametrize("name", ["spreads", "owned"])
def test_an_older_layout_is_told(tmp_path, name):
    list(codec_of(2).save(tmp_path))
    save_array(tmp_path / f"{name}.npy", np.ones(40, np.uint8))
    with pytest.raises(DataError, match="older version; drop the channel and make it again"):
        TokenCodec.load(tmp_path)


def test_a_rounded_query_is_close_to_the_query():
    codec, query = codec_of(4), np.concatenate([VECTORS[:9], np.zeros((1, 40), np.float32)])
    rounded = codec.rounded(query)
    truth = query.astype(np.float64) @ codec.axes.T.astype(np.float64)
    assert np.abs(rounded.numbers).max() == 127 * 256
    assert (np.abs(rounded.numbers * rounded.steps[:, None].astype(np.float64) - truth) <= 0.51 * rounded.steps[:, None]).all()
    middles = rounded.numbers * rounded.steps[:, None].astype(np.float64) @ ((2.0**codec.widths - 1) / 2)
    np.testing.assert_allclose(rounded.middles, middles, rtol=1e-6)
    assert not rounded.numbers[-1].any()
