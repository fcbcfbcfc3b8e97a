"""Limits: buckets, bodies and requests at once."""

import asyncio
from functools import partial

import httpx
import pytest
from fastapi import FastAPI, Request

from lexfuse.errors import LimitError
from lexfuse.service.api_keys import KeyRing, KeyScope, add_key
from lexfuse.service.metrics import ServiceMetrics
from lexfuse.service.middleware import add_middleware
from lexfuse.service.middleware.limits import InFlightLimit, RateLimiter, neighbourhood
from lexfuse.service.problems import add_problems
from lexfuse.service.settings import ServiceSettings


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch):
    """However long the requests take, no token comes back meanwhile."""
    monkeypatch.setattr("lexfuse.service.middleware.api_key.RateLimiter", partial(RateLimiter, clock=Clock()))


def test_a_bucket_fills_at_its_rate_up_to_the_burst():
    clock = Clock()
    buckets = RateLimiter(per_minute=30, burst=3, clock=clock)
    assert [buckets.wait("a") for _ in range(4)] == [0, 0, 0, 2.0]
    clock.now = 1.0
    assert buckets.wait("a") == 1.0
    clock.now = 2.0
    assert buckets.wait("a") == 0
    clock.now = 1000.0
    assert [buckets.wait("a") for _ in range(4)] == [0, 0, 0, 2.0]


def test_those_who_ask_too_often_do_not_wait_longer_for_it():
    clock = Clock()
    buckets = RateLimiter(per_minute=60, burst=1, clock=clock)
    buckets.take("a")
    for _ in range(100):
        with pytest.raises(LimitError) as told:
            buckets.take("a")
        assert told.value.retry_after == 1
    clock.now = 1.0
    buckets.take("a")


def test_buckets_are_bounded_and_the_longest_unused_goes_first():
    buckets = RateLimiter(per_minute=1, burst=1, clock=Clock(), most=3)
    for name in ("a", "b", "c", "a", "d"):
        buckets.wait(name)
    assert len(buckets) == 3
    assert buckets.wait("a") > 0  # was used after b, so it is still known
    assert buckets.wait("b") == 0  # forgotten


def test_an_ipv6_client_has_one_bucket_for_its_network():
    assert neighbourhood("2001:db8:1:2:3::4") == neighbourhood("2001:db8:1:2:ffff::1") != neighbourhood("2001:db8:1:3::1")


def made(**values):
    """An application with the layers around it, and its counters."""
    metrics = ServiceMetrics()
    settings = ServiceSettings(**values)
    app = FastAPI()
    add_problems(app)

    @app.post("/size")
    async def size(request: Request) -> int:
        return len(await request.body())

    @app.post("/json")
    async def as_json(body: dict[str, str]) -> int:
        return len(body)

    @app.get("/ask")
    async def ask() -> str:
        return "answer"

    @app.get("/slow")
    async def slow() -> str:
        app.state.entered += 1
        await app.state.go_on.wait()
        return "done"

    @app.get("/healthz")
    async def healthz() -> str:
        return "alive"

    add_middleware(app, settings, KeyRing(settings.keys), metrics)
    return app, metrics


def client(app, address="192.0.2.1"):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(address, 5)), base_url="http://law.example")


def counted(metrics, reason):
    return metrics.registry.get_sample_value("lexfuse_refused_total", {"reason": reason})


async def pieces(*sizes):
    for size in sizes:
        yield b"x" * size


@pytest.mark.parametrize("sign", [b":", b"{", b"["])
def test_json_has_a_limit_of_fields_and_lists(sign):
    app, metrics = made(max_body_bytes=8_000_000)
    kinds = {"content-type": "application/json"}, {"content-type": "multipart/form-data; boundary=b"}

    async def parts():
        for _ in range(3):
            yield sign * 40_000

    async def session():
        async with client(app) as http:
            assert (await http.post("/size", content=sign * 100_000, headers=kinds[0])).json() == 100_000
            for body in (sign * 100_001, parts()):
                answer = await http.post("/size", content=body, headers=kinds[0])
                assert (answer.status_code, "100,000 fields" in answer.json()["detail"]) == (413, True)
            assert (await http.post("/size", content=sign * 100_001, headers=kinds[1])).json() == 100_001

    asyncio.run(session())
    assert counted(metrics, "body") == 2


def test_percent_encoded_forms_have_a_limit_of_their_own():
    app, _ = made(max_body_bytes=8_000_000)
    form = {"content-type": "application/x-www-form-urlencoded"}

    async def session():
        async with client(app) as http:
            assert (await http.post("/size", content=b"a" * 1_000_000, headers=form)).json() == 1_000_000
            assert (await http.post("/size", content=b"a" * 1_000_001, headers=form)).status_code == 413
            assert (await http.post("/size", content=pieces(600_000, 600_000), headers=form)).status_code == 413
            assert (await http.post("/size", content=b"a" * 1_000_001)).json() == 1_000_001

    asyncio.run(session())


def test_bodies_above_the_limit_are_refused_declared_or_not():
    app, metrics = made(max_body_bytes=100)

    async def session():
        async with client(app) as http:
            assert (await http.post("/size", content=b"x" * 100)).json() == 100
            assert (await http.post("/size", content=pieces(50, 50))).json() == 100
            for content in (b"x" * 101, pieces(50, 51), pieces(1000)):
                answer = await http.post("/size", content=content)
                assert answer.status_code == 413
                assert answer.headers["content-type"] == "application/problem+json"
                assert "100 bytes" in answer.json()["detail"]
                assert answer.headers["x-request-id"]
            # A route whose body the framework reads tells the same, not that it could not be parsed.
            for content in (b'{"a": "' + b"x" * 100 + b'"}', pieces(60, 60)):
                answer = await http.post("/json", content=content, headers={"content-type": "application/json"})
                assert answer.status_code == 413

    asyncio.run(session())
    assert counted(metrics, "body") == 5


def test_a_body_that_does_not_come_is_not_waited_for():
    app, metrics = made(timeout_seconds=0.01)

    async def never():
        yield b"{"
        await asyncio.Event().wait()

    async def session():
        async with client(app) as http:
            for path in ("/size", "/json"):
                answer = await http.post(path, content=never(), headers={"content-type": "application/json"})
                assert answer.status_code == 503
                assert "did not come within 0.01 seconds" in answer.json()["detail"]

    asyncio.run(session())
    assert counted(metrics, "body") == 2


@pytest.mark.parametrize("length", [b"-5", b"1e9", b"abc", b""])
def test_a_declared_length_that_is_a_lie_does_not_help(length):
    app, _ = made(max_body_bytes=10)
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"x" * 11, "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/size", "raw_path": b"/size", "query_string": b"", "root_path": "",
        "headers": [(b"content-length", length), (b"host", b"h")], "client": ("192.0.2.1", 1), "scheme": "http",
        "server": ("h", 80), "http_version": "1.1", "asgi": {"version": "3.0"},
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 413


def test_too_many_requests_get_429_with_the_time_to_wait_each_address_for_itself():
    app, metrics = made(requests_per_minute=6, burst=2)

    async def session():
        async with client(app) as http, client(app, "192.0.2.2") as other:
            assert [(await http.get("/ask")).status_code for _ in range(3)] == [200, 200, 429]
            answer = await http.get("/ask")
            assert answer.headers["retry-after"] == "10"
            assert "6 requests a minute" in answer.json()["detail"]
            assert (await other.get("/ask")).status_code == 200
            assert {(await http.get("/healthz")).status_code for _ in range(9)} == {200}

    asyncio.run(session())
    assert counted(metrics, "rate") == 2


def test_a_key_has_a_bucket_of_its_own_wherever_it_comes_from(tmp_path):
    token = add_key(tmp_path / "keys.toml", "a", KeyScope.READ)
    app, _ = made(requests_per_minute=6, burst=1, keys=tmp_path / "keys.toml")

    async def session():
        headers = {"x-api-key": token}
        async with client(app) as http, client(app, "192.0.2.2") as other:
            assert (await http.get("/ask")).status_code == 200
            assert (await http.get("/ask", headers=headers)).status_code == 200
            assert (await other.get("/ask", headers=headers)).status_code == 429
            assert (await other.get("/ask")).status_code == 200

    asyncio.run(session())


@pytest.mark.parametrize(
    ("header", "addresses", "statuses"),
    [
        ("", ["198.51.100.1", "198.51.100.2"], [200, 429]),  # nobody said to believe it
        ("X-Forwarded-For", ["198.51.100.1", "198.51.100.2"], [200, 200]),
        ("X-Forwarded-For", ["1.1.1.1, 198.51.100.1", "2.2.2.2, 198.51.100.1"], [200, 429]),  # the client wrote the first
        ("X-Forwarded-For", ["nonsense", "more nonsense"], [200, 429]),
    ],
)
def test_the_address_behind_a_proxy(header, addresses, statuses):
    app, _ = made(requests_per_minute=1, burst=1, client_header=header)

    async def session():
        async with client(app) as http:
            return [(await http.get("/ask", headers={"x-forwarded-for": one})).status_code for one in addresses]

    assert asyncio.run(session()) == statuses


def test_more_at_once_than_allowed_is_refused_at_once_and_health_is_not():
    app, metrics = made(workers=1, max_waiting=1)

    async def session():
        app.state.entered, app.state.go_on = 0, asyncio.Event()
        async with client(app) as http:
            running = [asyncio.create_task(http.get("/slow")) for _ in range(2)]
            while app.state.entered < 2:
                await asyncio.sleep(0)
            refused = await http.get("/ask")
            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "1"
            assert (await http.get("/healthz")).status_code == 200
            app.state.go_on.set()
            assert [(await one).json() for one in running] == ["done", "done"]
            assert (await http.get("/ask")).status_code == 200

    asyncio.run(session())
    assert counted(metrics, "overload") == 1


def unfinished(go_on):
    """A body whose end does not come until it is told to."""

    async def pieces():
        yield b"x"
        await go_on.wait()
        yield b"y"

    return pieces()


def test_slow_bodies_keep_nobody_from_being_answered():
    app, _ = made(workers=1, max_waiting=1)

    async def session():
        go_on = asyncio.Event()
        async with client(app) as http:
            slow = [asyncio.create_task(http.post("/size", content=unfinished(go_on))) for _ in range(30)]
            while len(bodies_of(app)) < len(slow):
                await asyncio.sleep(0)
            assert (await http.get("/ask")).status_code == 200
            assert (await http.post("/size", content=b"xyz")).json() == 3
            go_on.set()
            assert {(await one).status_code for one in slow} <= {200, 503}  # 503: all were complete at the same moment
            assert len(bodies_of(app)) == 0

    asyncio.run(session())


@pytest.mark.parametrize(("bound", "value"), [("MAX_INCOMPLETE_BODIES", 2), ("MAX_INCOMPLETE_BYTES", 2)])
def test_of_too_many_unfinished_bodies_the_oldest_makes_room(monkeypatch, bound, value):
    monkeypatch.setattr(f"lexfuse.service.middleware.limits.{bound}", value)
    app, metrics = made()

    async def session():
        first, others = asyncio.Event(), asyncio.Event()
        async with client(app) as http:
            slow = []
            for number in range(3):
                slow.append(asyncio.create_task(http.post("/size", content=unfinished(others if number else first))))
                while (
                    sum(bodies_of(app).values()) < min(number + 1, 2 + (bound == "MAX_INCOMPLETE_BYTES")) and not slow[0].done()
                ):
                    await asyncio.sleep(0)
            refused = await slow[0]
            assert refused.status_code == 503
            assert "too slowly" in refused.json()["detail"]
            others.set()
            assert [(await one).json() for one in slow[1:]] == [2, 2]

    asyncio.run(session())
    assert counted(metrics, "body") == 1


def bodies_of(app):
    """What is known of the bodies on their way."""
    layer = app.middleware_stack
    while layer is not None and not isinstance(layer, InFlightLimit):
        layer = getattr(layer, "app", None)
    return layer.bodies._coming if layer else {}
