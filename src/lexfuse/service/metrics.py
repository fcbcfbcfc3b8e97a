"""Prometheus metrics of the service, in a separate registry; labels have few values, whatever is requested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from lexfuse.service.registry import IndexRegistry

CONTENT_TYPE = CONTENT_TYPE_LATEST
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
MOST_STAGES = 64
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class ServiceMetrics:
    """The counters of one application.

    >>> metrics = ServiceMetrics()
    >>> metrics.answered("/v1/search", "GET", 200, 0.004, {"bm25": 1.5})
    >>> 'lexfuse_requests_total{method="GET",route="/v1/search",status="200"} 1.0' in metrics.text().decode()
    True
    """

    def __init__(self) -> None:
        """Start at zero."""
        self.registry = registry = CollectorRegistry()
        labels = ("route", "method", "status")
        self.requests = Counter("lexfuse_requests", "Requests that were answered.", labels, registry=registry)
        self.seconds = Histogram(
            "lexfuse_request_seconds", "Time to answer, by route.", ("route",), buckets=_SECONDS, registry=registry
        )
        self.stages = Histogram(
            "lexfuse_stage_seconds", "Time in each stage of a search.", ("stage",), buckets=_SECONDS, registry=registry
        )
        self.running = Gauge("lexfuse_requests_in_flight", "Requests that are being answered.", registry=registry)
        self.generations = Gauge(
            "lexfuse_index_generation", "The version of each index that is searched.", ("index",), registry=registry
        )
        self.reloads = Counter(
            "lexfuse_index_reloads", "How often a newer version of an index took over.", ("index",), registry=registry
        )
        self.refused = Counter(
            "lexfuse_refused", "Requests refused before they were read, by reason.", ("reason",), registry=registry
        )
        self.stuck = Gauge(
            "lexfuse_stuck_workers", "Search threads that are busy with a request whose time is over.", registry=registry
        )
        self._stages: set[str] = set()

    def answered(self, route: str, method: str, status: int, seconds: float, stages: Mapping[str, float]) -> None:
        """Count a request; stages are in milliseconds. The route is a template, never the requested address."""
        self.requests.labels(route, method, str(status)).inc()
        self.seconds.labels(route).observe(seconds)
        for stage, milliseconds in stages.items():
            self.stages.labels(self._stage(stage)).observe(milliseconds / 1000)

    def reloaded(self, names: Iterable[str]) -> None:
        """Count newer versions that took over."""
        for name in names:
            self.reloads.labels(name).inc()

    def watch(self, registry: IndexRegistry) -> None:
        """Report the current versions of these indexes."""
        for name in registry.names:
            self.generations.labels(name).set_function(partial(getattr, registry.index(name), "generation"))
            self.reloads.labels(name)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self.registry)

    def _stage(self, name: str) -> str:
        """A stage's name, or `other` once there are too many."""
        if name not in self._stages and len(self._stages) >= MOST_STAGES:
            return OTHER
        self._stages.add(name)
        return name
