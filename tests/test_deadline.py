"""A deadline is claimed or revoked, never both, and stops work wherever it is done."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lexfuse.data.queries import Queries, Query
from lexfuse.deadline import Deadline, check, claim, limited, unlimited
from lexfuse.errors import OverloadError
from lexfuse.kernels.threads import run_on_cores
from lexfuse.search.candidates import retrieve_all

PATIENCE = 600.0


def test_a_claimed_deadline_goes_on():
    deadline = Deadline(60)
    with limited(deadline):
        claim()
        assert not deadline.revoke()
        check()


def test_a_revoked_deadline_stops_at_the_next_check_and_cannot_be_claimed():
    deadline = Deadline(60)
    with limited(deadline):
        assert deadline.revoke()
        for stop in (check, claim):
            with pytest.raises(OverloadError):
                stop()


def test_claim_and_revoke_exclude_each_other_on_many_threads():
    for _ in range(200):
        deadline, barrier = Deadline(60), threading.Barrier(2)

        def claimed(deadline=deadline, barrier=barrier):
            barrier.wait(PATIENCE)
            try:
                deadline.claim()
            except OverloadError:
                return False
            return True

        def revoked(deadline=deadline, barrier=barrier):
            barrier.wait(PATIENCE)
            return deadline.revoke()

        with ThreadPoolExecutor(2) as pool:
            first, second = pool.submit(claimed), pool.submit(revoked)
            assert first.result() is not second.result()


def test_work_for_others_has_no_deadline():
    with limited(deadline := Deadline(60)):
        deadline.revoke()
        with unlimited():
            check()


def test_ranges_that_are_shared_out_stop_too():
    done = []
    deadline = Deadline(60)

    def work(first, _):
        done.append(first)
        deadline.revoke()

    with limited(deadline), pytest.raises(OverloadError):
        run_on_cores(work, 1000, 1)
    assert len(done) < 1000


def test_retrievers_that_are_asked_on_other_threads_have_the_deadline():
    class Slow:
        def is_quick(self, queries):
            return False

        def retrieve(self, queries, k, *, within=None):
            deadline.revoke()
            check()

    deadline = Deadline(60)
    with limited(deadline), pytest.raises(OverloadError):
        retrieve_all([Slow(), Slow(), Slow()], Queries.of([Query("q", "loi")]), 10)
