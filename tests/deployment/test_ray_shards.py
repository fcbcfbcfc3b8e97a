"""A router asks shards: answers, hedges, repeats, gives up, and never leaves a shard out unknowingly."""

import asyncio
import threading

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.cluster.partial_answer import partial_answer
from lexfuse.cluster.shard import RetrieverPlan
from lexfuse.cluster.shard_requests import DocumentCount, Ranking
from lexfuse.cluster.store import Published
from lexfuse.deadline import Deadline, limited
from lexfuse.deployment.ray_shards import EventLoop, RayShards, ShardLimits
from lexfuse.deployment.shard_metrics import ShardMetrics
from lexfuse.deployment.shard_replica import ShardAnswer
from lexfuse.errors import OverloadError, UnknownDocumentError

PUBLISHED = Published("000001-0f3a5c7e9b2d", "0" * 64)
FOREVER = "forever"
RANKING = Ranking(RetrieverPlan(BM25, ()), ("q1", "q2"), None, 10)


class Handle:
    """A deployment whose replicas give these answers, one after the other; the last one is repeated."""

    def __init__(self, *answers):
        self.answers, self.asked, self.responses = list(answers), [], []
        self.answer = self

    def remote(self, published, request, seconds):
        self.asked.append((published, request, seconds))
        self.responses.append(Response(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]))
        return self.responses[-1]


class Response:
    def __init__(self, answer):
        self._answer, self.cancelled = answer, threading.Event()

    def cancel(self):
        self.cancelled.set()

    def __await__(self):
        if self._answer is FOREVER:
            yield from asyncio.Event().wait().__await__()
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


@pytest.fixture(scope="module")
def loop():
    return EventLoop()


@pytest.fixture
def metrics():
    return ShardMetrics()


@pytest.fixture
def shards(loop, metrics):
    def made(*handles, **limits):
        return RayShards(handles, PUBLISHED, ShardLimits(**limits), loop, metrics)

    return made


def value(metrics, name):
    registry = CollectorRegistry()
    metrics.register(registry)
    return registry.get_sample_value(f"lexfuse_shard_{name}", {"shard": "0"})


def test_every_shard_that_is_asked_answers_about_the_generation(shards):
    handles = [Handle(ShardAnswer(4)), Handle(ShardAnswer(5)), Handle(ShardAnswer(6))]
    client = shards(*handles)
    assert client.shards == 3
    assert client.ask({0: DocumentCount(), 2: DocumentCount()}) == {0: 4, 2: 6}
    assert [[published for published, _, _ in handle.asked] for handle in handles] == [[PUBLISHED], [], [PUBLISHED]]


def test_an_error_of_a_shard_is_raised(shards):
    with pytest.raises(UnknownDocumentError, match="no document 'a'"):
        shards(Handle(ShardAnswer(code="unknown-document", message="no document 'a'"))).ask({0: DocumentCount()})


def test_a_slow_replica_is_hedged(shards, metrics):
    slow = Handle(FOREVER, ShardAnswer(4))
    assert shards(slow, hedge_seconds=0.001).ask({0: DocumentCount()}) == {0: 4}
    assert (len(slow.asked), value(metrics, "hedged_total")) == (2, 1.0)
    assert slow.responses[0].cancelled.wait(60)  # it leaves the queue of its replica
    assert not slow.responses[1].cancelled.is_set()


def test_a_lost_replica_is_asked_again(shards, metrics):
    lost = Handle(ConnectionError("died"), ConnectionError("died"), ShardAnswer(4))
    assert shards(lost).ask({0: DocumentCount()}) == {0: 4}
    assert (len(lost.asked), value(metrics, "retried_total")) == (3, 2.0)


def test_a_ranking_leaves_out_a_shard_where_the_caller_accepts_it(shards, metrics):
    client = shards(Handle(FOREVER), Handle(ShardAnswer("ranked")), seconds=2.0)
    with partial_answer() as lost:
        answers = client.ask({0: RANKING, 1: RANKING})
    assert (lost, answers[1], value(metrics, "unanswered_total")) == ({0}, "ranked", 1.0)
    assert answers[0].offsets.tolist() == [0, 0, 0]
    assert (len(answers[0].doc), answers[0].score.dtype, answers[0].low) == (0, np.float32, None)


@pytest.mark.parametrize("limits", [{}, {"partial": False}])
@pytest.mark.parametrize("asked", [RANKING, DocumentCount()], ids=["ranking", "count"])
def test_nothing_else_leaves_out_a_shard(shards, limits, asked):
    client = shards(Handle(FOREVER), Handle(ShardAnswer(4)), seconds=0.2, **limits)
    with pytest.raises(OverloadError, match="try again") as refused:  # nobody has accepted a partial answer
        client.ask({0: asked, 1: asked})
    assert refused.value.retry_after == 1
    if limits or asked is not RANKING:
        with partial_answer() as lost, pytest.raises(OverloadError, match="not available"):
            client.ask({0: asked, 1: asked})
        assert lost == set()


def test_an_answer_of_no_shard_is_no_partial_answer(shards):
    with partial_answer(), pytest.raises(OverloadError, match="not available: 0, 1"):
        shards(Handle(FOREVER), Handle(FOREVER), seconds=0.05).ask({0: RANKING, 1: RANKING})


def test_a_shard_has_no_more_time_than_its_caller(shards):
    handle = Handle(ShardAnswer(4))
    with limited(Deadline(50)):
        shards(handle, seconds=60).ask({0: DocumentCount()})
    assert handle.asked[0][2] <= 50


def test_a_shard_that_is_late_itself_did_not_answer(shards):
    late = Handle(ShardAnswer(code="timeout", message="not done"))
    with pytest.raises(OverloadError, match="not available"):
        shards(late, seconds=0.05).ask({0: DocumentCount()})
