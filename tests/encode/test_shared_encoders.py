"""One encoder for many threads: the same vectors, batches of what waits, errors to whom they belong, and a bound."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest

from lexfuse.encode import shared_encoders as module
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.shared_encoders import FEW, SharedEncoders, shared_or_loaded, sharing, unshared

PATIENCE = 600.0  # seconds after which a thread will not come any more


class Counting:
    """An encoder that gives a text its length, tells what it was asked, and can be held up."""

    dimension = 2

    def __init__(self):
        self.batches = []
        self.entered, self.go = Event(), Event()
        self.go.set()
        self.fails = ()

    def encode(self, texts, side, *, progress=lambda _: None):
        self.batches.append((list(texts), side))
        self.entered.set()
        assert self.go.wait(PATIENCE)
        if any(text in self.fails for text in texts):
            raise ValueError(f"cannot encode {texts}")
        progress(len(texts))
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)


@pytest.fixture
def encoder():
    return Counting()


@pytest.fixture
def shared(encoder):
    return SharedEncoders().shared("model", lambda: encoder)


def until(holds):
    """Wait until something holds that no thread tells: it is looked at again and again."""
    due = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < due


def test_the_same_vectors_bit_for_bit_alone_together_and_again():
    real = DenseEncoder.load("fr-legal-dense")
    texts = [f"Quelle est la durée du préavis {'de démission ' * (at % 7)}?" for at in range(24)]
    alone = [real.encode([text], Side.QUERY)[0] for text in texts]
    shared = SharedEncoders().shared("dense", lambda: real)
    barrier = Barrier(8)

    def ask(part):
        barrier.wait(PATIENCE)
        return [shared.encode([texts[at]], Side.QUERY)[0] for at in part]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ask, [range(first, 24, 8) for first in range(8)]))
    for first, rows in enumerate(together):
        for row, at in zip(rows, range(first, 24, 8), strict=True):
            assert row.tobytes() == alone[at].tobytes()
    assert shared.encode(texts, Side.QUERY).tobytes() == np.stack(alone).tobytes()


def test_what_waits_is_encoded_in_one_batch_and_each_text_once(shared, encoder):
    encoder.go.clear()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(shared.encode, ["a"], Side.QUERY)
        assert encoder.entered.wait(PATIENCE)
        others = [pool.submit(shared.encode, texts, Side.QUERY) for texts in (["bb"], ["ccc", "bb"], ["a", "dddd"])]
        until(lambda: len(shared._waiting) == 3)
        encoder.go.set()
        assert first.result(PATIENCE).tolist() == [[1, 97]]
        found = [[row[0] for row in other.result(PATIENCE).tolist()] for other in others]
    assert found == [[2], [3, 2], [1, 4]]
    assert encoder.batches[0] == (["a"], Side.QUERY)
    assert sorted(encoder.batches[1][0]) == ["bb", "ccc", "dddd"]
    assert len(encoder.batches) == 2
    shared.encode(["dddd", "a"], Side.QUERY)
    assert len(encoder.batches) == 2


def test_an_error_reaches_all_who_asked_for_the_text_and_nobody_else_and_is_forgotten(shared, encoder):
    encoder.go.clear()
    encoder.fails = ("bad",)
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(shared.encode, ["a"], Side.QUERY)
        assert encoder.entered.wait(PATIENCE)
        bad = [pool.submit(shared.encode, texts, Side.QUERY) for texts in (["bad"], ["good", "bad"])]
        good = pool.submit(shared.encode, ["good"], Side.QUERY)
        until(lambda: len(shared._waiting) == 2)
        encoder.go.set()
        for one in bad:
            with pytest.raises(ValueError, match="bad"):
                one.result(PATIENCE)
        assert first.result(PATIENCE).tolist() == [[1, 97]]
        assert good.result(PATIENCE).tolist() == [[4, 103]]
    encoder.fails = ()
    assert shared.encode(["bad"], Side.QUERY).tolist() == [[3, 98]]


def test_an_interruption_reaches_who_waits_and_the_encoder_goes_on(shared, encoder):
    def interrupted(texts, side):
        raise KeyboardInterrupt

    encoder.encode, kept = interrupted, encoder.encode
    with pytest.raises(KeyboardInterrupt):
        shared.encode(["a"], Side.QUERY)
    encoder.encode = kept
    assert shared.encode(["a"], Side.QUERY).tolist() == [[1, 97]]


def test_the_vectors_used_last_are_kept_up_to_a_bound(shared, encoder, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 3)
    for text in ("a", "b", "c", "a", "d"):  # b was not used for longest
        shared.encode([text], Side.QUERY)
    assert list(shared._kept) == ["c", "a", "d"]
    before = len(encoder.batches)
    shared.encode(["a", "c", "d"], Side.QUERY)
    assert len(encoder.batches) == before
    shared.encode(["b"], Side.QUERY)
    assert len(encoder.batches) == before + 1


def test_a_text_that_is_forgotten_while_it_waits_still_comes(shared, encoder, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 1)
    encoder.go.clear()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(shared.encode, ["a"], Side.QUERY)
        assert encoder.entered.wait(PATIENCE)
        forgotten = pool.submit(shared.encode, ["bb"], Side.QUERY)
        until(lambda: len(shared._waiting) == 1)
        pushing = pool.submit(shared.encode, ["ccc"], Side.QUERY)
        until(lambda: len(shared._waiting) == 2)
        again = pool.submit(shared.encode, ["bb"], Side.QUERY)
        until(lambda: "bb" in shared._kept)
        encoder.go.set()
        assert [one.result(PATIENCE)[0, 0] for one in (first, forgotten, pushing, again)] == [1, 2, 3, 2]


def test_passages_and_many_queries_go_to_the_encoder_as_they_are(shared, encoder):
    many, told = [f"{at}" for at in range(FEW + 1)], []
    for _ in range(2):
        shared.encode(["a"], Side.PASSAGE)
        shared.encode(many, Side.QUERY, progress=told.append)
    assert [len(texts) for texts, _ in encoder.batches] == [1, FEW + 1] * 2
    assert told == [FEW + 1] * 2
    shared.encode(["a", "b"], Side.QUERY, progress=told.append)
    assert told[-1] == 2


def test_rows_of_any_shape_come_back_as_they_are(shared, encoder):
    tables = [np.ones((2, 3), dtype=np.float32), np.zeros((1, 3), dtype=np.float32)]
    encoder.encode = lambda texts, side: tables
    assert shared.encode(["a", "b"], Side.QUERY) == tables


def test_encoders_are_shared_by_their_key_inside_the_context_alone(encoder):
    encoders, loaded = SharedEncoders(), []

    def load():
        loaded.append(1)
        return encoder

    assert shared_or_loaded("model", load) is encoder
    with sharing(encoders):
        first, again = (shared_or_loaded("model", load) for _ in range(2))
        other = shared_or_loaded("another", load)
    assert first is again
    assert first is not other
    assert len(loaded) == 3
    assert unshared(first) is encoder
    assert unshared(encoder) is encoder
    assert first.dimension == 2
