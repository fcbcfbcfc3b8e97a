import threading

import pytest

from lexfuse.deadline import Deadline, limited
from lexfuse.errors import DeadlineError
from lexfuse.kernels import threads
from lexfuse.kernels.threads import run_on_cores


@pytest.fixture(autouse=True)
def four_cores(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 4)


def test_every_range_is_done_once():
    seen = []
    run_on_cores(lambda first, last: seen.append((first, last)), 1001, 10)
    assert sorted(seen) == [(first, min(first + 10, 1001)) for first in range(0, 1001, 10)]


def test_an_error_of_a_helper_is_raised():
    main = threading.get_ident()
    met = threading.Barrier(2)

    def work(first, _):
        if first < 2:
            met.wait()  # so that two threads take part
        if threading.get_ident() != main:
            raise ValueError("in a helper")

    with pytest.raises(ValueError, match="in a helper"):
        run_on_cores(work, 2, 1)


def test_helpers_that_no_thread_is_free_for_are_not_waited_for(monkeypatch):
    pool, ended = threads.ThreadPoolExecutor(1), threading.Event()
    monkeypatch.setattr(threads, "_helpers", lambda: pool)
    pool.submit(ended.wait)  # the only thread is busy
    seen = []
    run_on_cores(lambda first, last: seen.append(first), 8, 1)
    assert seen == list(range(8))
    ended.set()
    pool.shutdown()


def test_work_inside_work_ends():
    seen = []
    run_on_cores(lambda first, _: run_on_cores(lambda inner, __: seen.append((first, inner)), 8, 1), 40, 1)
    assert len(set(seen)) == 320


def test_helpers_have_the_deadline_of_the_call():
    with pytest.raises(DeadlineError), limited(Deadline(1e-9)):
        run_on_cores(lambda first, last: None, 8, 1)
