"""A query context reads each question once for each reader, also in threads, and passes errors on."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Barrier, Event

import pytest

from lexfuse.channels.query_context import BLOCK_CHARACTERS, BLOCK_QUERIES, query_blocks, query_context, read_once
from lexfuse.data.queries import Queries, Query

PATIENCE = 600.0  # seconds after which a thread will not come any more


class Reader:
    """Reads texts as their lengths, and keeps what it was asked for."""

    def __init__(self):
        self.texts, self.entered, self.go = [], Event(), Event()
        self.go.set()

    def __call__(self, texts):
        self.entered.set()
        assert self.go.wait(PATIENCE)
        self.texts += texts
        return [len(text) for text in texts]

    def rows(self, *texts, kind="lengths"):
        return list(read_once(self, kind, texts, self))


def test_inside_a_context_every_text_is_read_once_in_any_order():
    reader = Reader()
    with query_context():
        assert reader.rows("a", "bb", "a") == [1, 2, 1]
        assert reader.rows("ccc", "bb") == [3, 2]
        with query_context():  # the same one
            assert reader.rows("a") == [1]
        assert reader.rows() == []
    assert reader.texts == ["a", "bb", "ccc"]


def test_outside_and_in_a_new_context_texts_are_read_again():
    reader = Reader()
    assert reader.rows("a") + reader.rows("a") == [1, 1]
    with query_context():
        reader.rows("a")
        with query_context(new=True):
            reader.rows("a")
        reader.rows("a")
    assert reader.texts == ["a"] * 4


def test_readers_and_kinds_are_kept_apart():
    first, second = Reader(), Reader()
    with query_context():
        for reader in (first, second):
            reader.rows("a")
            reader.rows("a", kind="others")
    assert first.texts == second.texts == ["a", "a"]


def test_threads_with_a_copy_of_the_context_wait_for_each_other_instead_of_reading_twice():
    reader, barrier = Reader(), Barrier(4)

    def ask():
        barrier.wait(PATIENCE)
        return reader.rows("a", "bb")

    with query_context(), ThreadPoolExecutor(4) as pool:
        found = [pool.submit(copy_context().run, ask) for _ in range(4)]
        assert [one.result(PATIENCE) for one in found] == [[1, 2]] * 4
    assert sorted(reader.texts) == ["a", "bb"]


def test_an_error_reaches_who_waits_and_the_next_try_reads_again():
    reader = Reader()
    reader.go.clear()

    def fails(texts):
        reader(texts)
        raise ValueError("cannot read")

    with query_context(), ThreadPoolExecutor(2) as pool:
        first = pool.submit(copy_context().run, read_once, reader, "lengths", ["a"], fails)
        assert reader.entered.wait(PATIENCE)
        waiting = pool.submit(copy_context().run, reader.rows, "a")
        reader.go.set()
        with pytest.raises(ValueError, match="cannot read"):
            first.result(PATIENCE)
        # It waited for the first, or came after it and read the text itself.
        assert waiting.exception(PATIENCE) is first.exception() or waiting.result(PATIENCE) == [1]
        assert reader.rows("a") == [1]


def test_blocks_hold_all_queries_in_order_within_both_bounds():
    texts = ["x"] * (2 * BLOCK_QUERIES + 1) + ["y" * (BLOCK_CHARACTERS // 2)] * 5 + ["z" * (2 * BLOCK_CHARACTERS), "w"]
    blocks = list(query_blocks(Queries.of(Query(str(at), text) for at, text in enumerate(texts))))
    assert [at for block in blocks for at in block] == list(range(len(texts)))
    assert max(map(len, blocks)) == BLOCK_QUERIES
    assert all(len(block) == 1 or sum(len(texts[at]) for at in block) <= BLOCK_CHARACTERS for block in blocks)
    assert list(query_blocks(Queries.of([]))) == []
