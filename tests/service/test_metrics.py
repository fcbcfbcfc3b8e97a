"""What is counted, and that labels stay few whatever is asked."""

import asyncio

import httpx
import pytest

from lexfuse.data.document import Document
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.metrics import MOST_STAGES, ServiceMetrics
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.index_folder import IndexFolder


@pytest.fixture
def library(tmp_path):
    IndexFolder.create(tmp_path / "law.index", documents=[Document("a", text="la loi", language="fr")]).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "law.index")]) as opened:
        yield opened


def asked(app, *paths):
    async def session():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://law.example") as http:
            split = [(path, "GET") if isinstance(path, str) else path for path in paths]
            return [await http.request(method, path) for path, method in split]

    return asyncio.run(session())


def value(app, name, **labels):
    return app.state.metrics.registry.get_sample_value(f"lexfuse_{name}", labels)


def test_requests_stages_and_versions_are_told(library):
    app = create_app(ServiceContext(library, ServiceSettings()))
    *_, answer = asked(app, "/v1/search?query=loi", "/v1/search?query=loi", "/v1/search?query=loi&k=0", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'lexfuse_requests_total{method="GET",route="/v1/search",status="200"} 2.0' in answer.text
    assert value(app, "requests_total", route="/v1/search", method="GET", status="422") == 1
    assert value(app, "request_seconds_count", route="/v1/search") == 3
    assert value(app, "stage_seconds_count", stage="search") == 2
    assert value(app, "index_generation", index="law") == library.index().generation
    assert "lexfuse_requests_in_flight 1.0" in answer.text  # the request for the numbers itself
    assert value(app, "requests_in_flight") == 0


def test_the_version_follows_the_index_and_reloads_are_counted(library, tmp_path):
    app = create_app(ServiceContext(library, ServiceSettings()))
    before = value(app, "index_generation", index="law")
    assert value(app, "index_reloads_total", index="law") == 0
    with IndexFolder(tmp_path / "law.index") as index:
        index.add([Document("b", text="le droit")])
    app.state.metrics.reloaded(library.refresh())
    assert value(app, "index_generation", index="law") > before
    assert value(app, "index_reloads_total", index="law") == 1


def test_labels_stay_few_whatever_is_asked(library):
    app = create_app(ServiceContext(library, ServiceSettings(requests_per_minute=0)))
    asked(app, *(f"/{number}" for number in range(50)), *(f"/v1/search?query=loi&index={number}" for number in range(50)))
    asked(app, *(f"/static/{number}" for number in range(50)))
    series = [line for line in app.state.metrics.text().decode().splitlines() if line.startswith("lexfuse_requests_total")]
    assert len(series) == 3
    assert 'route="other"' in "".join(series)


def test_odd_methods_are_counted_as_one(library):
    app = create_app(ServiceContext(library, ServiceSettings()))
    asked(app, *(("/v1/search", f"M{number}") for number in range(5)))
    assert value(app, "requests_total", route="/v1/search", method="other", status="405") == 5


def test_too_many_stages_are_counted_as_one():
    metrics = ServiceMetrics()
    for number in range(2 * MOST_STAGES):
        metrics.answered("/", "GET", 200, 0.1, {f"stage {number}": 1.0})
    assert metrics.text().decode().count("lexfuse_stage_seconds_count{") == MOST_STAGES + 1


def test_two_applications_count_apart(library):
    first, second = (create_app(ServiceContext(library, ServiceSettings())) for _ in range(2))
    asked(first, "/v1/search?query=loi")
    assert value(first, "requests_total", route="/v1/search", method="GET", status="200") == 1
    assert value(second, "requests_total", route="/v1/search", method="GET", status="200") is None
