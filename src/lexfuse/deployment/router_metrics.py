"""The metrics of all routers of a cluster in one answer: each series has the name of its router as a label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

LABEL = "router"


class RouterMetrics(Collector):
    """The metrics of routers, given by the texts that each shows to Prometheus."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Take the text of every router by its name."""
        self._texts = texts

    def collect(self) -> Iterable[Metric]:
        """Every metric once, with the samples of all routers."""
        found: dict[str, Metric] = {}
        for router, text in sorted(self._texts.items()):
            for one in text_string_to_metric_families(text):
                metric = found.setdefault(one.name, Metric(one.name, one.documentation, one.type))
                for sample in one.samples:
                    metric.add_sample(sample.name, {**sample.labels, LABEL: router}, sample.value)
        return found.values()


def joined_metrics(texts: Mapping[str, str]) -> bytes:
    r"""The texts of routers as one text for Prometheus.

    >>> text = "# HELP a_total Answers.\n# TYPE a_total counter\na_total 2.0\n"
    >>> print(joined_metrics({"r1": text, "r2": text}).decode(), end="")
    # HELP a_total Answers.
    # TYPE a_total counter
    a_total{router="r1"} 2.0
    a_total{router="r2"} 2.0
    """
    registry = CollectorRegistry()
    registry.register(RouterMetrics(texts))
    return generate_latest(registry)
