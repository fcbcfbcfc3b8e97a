import numpy as np
import pytest

from lexfuse.encode.embedding_cache import CachedEncoder, EmbeddingCache
from lexfuse.encode.encoder import Side
from lexfuse.errors import DataError, StorageError


class Counting:
    """An encoder that counts what it is asked, and may break."""

    fingerprint, dimension = "counting", 2

    def __init__(self, breaks_at=None):
        self.asked, self.breaks_at = [], breaks_at

    def encode(self, texts, side, *, progress=lambda _: None):
        if self.breaks_at in texts:
            raise KeyboardInterrupt
        self.asked += texts
        progress(len(texts))
        return np.array([[len(text), side is Side.QUERY] for text in texts], dtype=np.float32).reshape(-1, 2)


def test_keys_are_model_side_and_text(tmp_path):
    with EmbeddingCache(tmp_path / "deep" / "c.db") as cache:
        cache.put("m", Side.QUERY, [("a", b"1"), ("b", b"2")])
        cache.put("m", Side.QUERY, [("a", b"3")])
        assert cache.get("m", Side.QUERY, ["b", "x", "a"]) == [b"2", None, b"3"]
        assert cache.get("m", Side.PASSAGE, ["a"]) == [None]
        assert cache.get("n", Side.QUERY, ["a"]) == [None]
        assert len(cache) == 2


def test_many_keys_and_odd_texts(tmp_path):
    texts = [f"text {number}" for number in range(1700)] + ["", "\ud800", "é"]
    with EmbeddingCache(tmp_path / "c.db") as cache:
        cache.put("m", Side.QUERY, ((text, text.encode("utf-8", "replace")) for text in texts))
    with EmbeddingCache(tmp_path / "c.db") as cache:
        assert cache.get("m", Side.QUERY, texts) == [text.encode("utf-8", "replace") for text in texts]


def test_nothing_is_encoded_twice(tmp_path):
    encoder = Counting()
    with EmbeddingCache(tmp_path / "c.db") as cache:
        cached = CachedEncoder(encoder, cache)
        first = cached.encode(["a", "bb"], Side.QUERY)
        done = []
        second = cached.encode(["bb", "ccc", "a"], Side.QUERY, progress=done.append)
        assert encoder.asked == ["a", "bb", "ccc"]
        assert second.tolist() == [first[1].tolist(), [3, 1], first[0].tolist()]
        assert done == [2, 3]
        assert cached.encode(["a"], Side.PASSAGE).tolist() == [[1, 0]]
        assert cached.encode([], Side.QUERY).shape == (0, 2)
        assert (cached.fingerprint, cached.dimension) == ("counting", 2)


def test_an_interrupted_encoding_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("lexfuse.encode.embedding_cache.BLOCK", 2)
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]
    with EmbeddingCache(tmp_path / "c.db") as cache, pytest.raises(KeyboardInterrupt):
        CachedEncoder(Counting(breaks_at="eeeee"), cache).encode(texts, Side.PASSAGE)
    encoder = Counting()
    with EmbeddingCache(tmp_path / "c.db") as cache:
        vectors = CachedEncoder(encoder, cache).encode(texts, Side.PASSAGE)
    assert encoder.asked == ["eeeee"]
    assert vectors[:, 0].tolist() == [1, 2, 3, 4, 5]


def test_a_file_that_is_no_cache_and_a_place_that_cannot_be(tmp_path):
    (tmp_path / "c.db").write_bytes(b"something else entirely" * 100)
    with pytest.raises(DataError, match="not a cache of embeddings"):
        EmbeddingCache(tmp_path / "c.db")
    with pytest.raises(StorageError, match="cannot open the cache"):
        EmbeddingCache(tmp_path / "c.db" / "inside")
