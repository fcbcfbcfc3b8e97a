"""Metrics of a router about its shards, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class ShardMetrics:
    """Counts answers, hedged and repeated requests, and shards that did not answer.

    >>> registry, metrics = CollectorRegistry(), ShardMetrics()
    >>> metrics.register(registry)
    >>> metrics.hedged(3)
    >>> registry.get_sample_value("lexfuse_shard_hedged_total", {"shard": "3"})
    1.0
    """

    def __init__(self) -> None:
        """Start counting; `register` shows the figures."""
        labels = ("shard",)
        self._seconds = Histogram("lexfuse_shard_seconds", "Time of a shard's answers.", labels, buckets=_SECONDS, registry=None)
        self._hedged = Counter("lexfuse_shard_hedged", "Requests sent to a second replica.", labels, registry=None)
        self._retried = Counter("lexfuse_shard_retried", "Requests whose replica was lost or full.", labels, registry=None)
        self._lost = Counter("lexfuse_shard_unanswered", "Requests that a shard did not answer.", labels, registry=None)

    def register(self, registry: CollectorRegistry) -> None:
        """Show the figures with those of a registry."""
        for one in (self._seconds, self._hedged, self._retried, self._lost):
            registry.register(one)

    def answered(self, shard: int, seconds: float) -> None:
        """A shard has answered."""
        self._seconds.labels(str(shard)).observe(seconds)

    def hedged(self, shard: int) -> None:
        """A second replica is asked."""
        self._hedged.labels(str(shard)).inc()

    def retried(self, shard: int) -> None:
        """A request failed and is sent again."""
        self._retried.labels(str(shard)).inc()

    def lost(self, shard: int) -> None:
        """A shard did not answer in time."""
        self._lost.labels(str(shard)).inc()
