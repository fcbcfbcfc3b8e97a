"""The gateway passes requests and responses on unchanged, asks another router when one is lost, and says so when none answers."""

import asyncio

import pytest
from fastapi import FastAPI, Request, Response
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from lexfuse.deployment import gateway
from lexfuse.deployment.gateway import gateway_application
from lexfuse.deployment.routed_request import RoutedResponse
from lexfuse.service.metrics import ServiceMetrics
from lexfuse.service.settings import ServiceSettings

pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray, when it is imported
FOREVER = "forever"


def answering_app():
    """An application that answers with what it was asked."""
    app = FastAPI()

    @app.api_route("/echo/{rest:path}", methods=["GET", "POST", "HEAD"])
    async def echo(request: Request, rest: str) -> Response:
        body = await request.body()
        headers = {
            "x-path": request.scope["raw_path"].decode(),
            "x-query": request.url.query,
            "x-given": request.headers.get("x-given", ""),
        }
        answer = Response(body[::-1], int(request.headers.get("x-status", "200")), headers)
        answer.headers.append("set-cookie", "a=1")
        answer.headers.append("set-cookie", "b=2")
        answer.headers["x-client"], answer.headers["x-method"] = request.client.host, request.method
        return answer

    return app


class Routers:
    """A deployment of routers: each call meets the next failure, and after them the application."""

    def __init__(self, *failures, metrics=()):
        self.failures, self.asked, self.app, self.metrics = list(failures), 0, answering_app(), metrics
        self.answer = self

    def broadcast(self, method):
        assert method == "metrics"
        return self

    async def results_async(self, *, timeout_s, return_exceptions):
        return list(self.metrics)

    def remote(self, request):
        self.asked += 1
        return self._answer(request, self.failures.pop(0) if self.failures else None)

    async def _answer(self, request, failure):
        if failure is FOREVER:
            await asyncio.Event().wait()
        if isinstance(failure, Exception):
            raise failure
        return failure or await RoutedResponse.of(self.app, request)


@pytest.fixture
def client():
    def made(routers, **settings):
        app = gateway_application(routers, ServiceSettings(**settings))
        return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)

    return made


def test_requests_and_responses_pass_unchanged(client):
    asked = client(Routers())
    body = bytes(range(256)) * 300
    answer = asked.post("/echo/caf%C3%A9%2Fx?q=a%20b&q=%E2%82%AC", content=body, headers={"x-given": "a, b", "x-status": "418"})
    assert (answer.status_code, answer.content) == (418, body[::-1])
    assert (answer.headers["x-query"], answer.headers["x-given"]) == ("q=a%20b&q=%E2%82%AC", "a, b")
    assert (answer.headers["x-path"], answer.headers["x-client"]) == ("/echo/caf%C3%A9%2Fx", "testclient")
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert asked.head("/echo/x").headers["x-method"] == "HEAD"
    assert asked.get("/nowhere").json() == {"detail": "Not Found"}  # the router says so, not the gateway


def test_the_request_of_a_lost_router_goes_to_another(client):
    routers = Routers(ConnectionError("died"), ConnectionError("died"))
    assert client(routers).post("/echo/x", content=b"ab").content == b"ba"
    assert routers.asked == 3


def test_the_request_of_a_silent_router_goes_to_another(client, monkeypatch):
    monkeypatch.setattr(gateway, "HEDGE_SECONDS", 0.001)
    routers = Routers(FOREVER, FOREVER)
    assert client(routers).get("/echo/x").status_code == 200
    assert routers.asked == 3


def test_a_refusal_counts_only_if_no_other_router_answers(client, monkeypatch):
    monkeypatch.setattr(gateway, "HEDGE_SECONDS", 0.001)
    refusal = RoutedResponse(503, [(b"retry-after", b"1")], b"full")
    assert client(Routers(refusal)).get("/echo/x").content == b"full"
    assert client(Routers(FOREVER, refusal)).get("/echo/x").status_code == 200


def test_a_failure_of_the_application_is_not_repeated(client):
    from ray.exceptions import RayTaskError

    routers = Routers(RayTaskError("answer", "trace", ValueError("secret question")))
    answer = client(routers).get("/v1/search")
    assert (answer.status_code, answer.json()["code"], routers.asked) == (500, "internal-error", 1)
    assert "secret" not in answer.text


def test_without_an_answer_it_says_try_again(client, monkeypatch):
    monkeypatch.setattr(gateway, "GRACE_SECONDS", 0.0)
    answer = client(Routers(FOREVER), timeout_seconds=0.05).get("/v1/search")
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["code"]) == (503, "1", "overload")
    assert answer.headers["x-content-type-options"] == "nosniff"
    page = client(Routers(FOREVER), timeout_seconds=0.05).get("/", headers={"accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")


def test_a_body_above_the_limit_reaches_no_router(client):
    routers = Routers()
    answer = client(routers, max_body_bytes=10).post("/echo/x", content=b"a" * 11)
    assert (answer.status_code, answer.json()["code"], routers.asked) == (413, "too-large", 0)


def test_metrics_are_those_of_all_routers(client):
    """A router that is lost is left out; one that refuses, because the key is wrong, answers for all of them."""
    own, all_of = RoutedResponse(200, [(b"content-type", b"text/plain"), (b"content-length", b"3")], b"own"), ServiceMetrics()
    all_of.answered("/v1/search", "GET", 200, 0.004, {"bm25": 1.5})
    text = all_of.text().decode()
    answer = client(Routers(own, metrics=[("b", text), ("a", text), ConnectionError("died")])).get("/metrics")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    for family in text_string_to_metric_families(text):
        expected = [(one.name, {**one.labels, "router": router}, one.value) for router in ("a", "b") for one in family.samples]
        assert [(one.name, one.labels, one.value) for one in families[family.name].samples] == expected
        assert families[family.name].type == family.type
    refused = RoutedResponse(401, [], b"no key")
    assert client(Routers(refused, metrics=[("a", text)])).get("/metrics").content == b"no key"
