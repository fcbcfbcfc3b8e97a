"""Headers of every answer, keys at the gate, and requests that another site made a browser send."""

import asyncio
import base64

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse

from lexfuse.service.api_keys import KeyRing, KeyScope, add_key, revoke_key
from lexfuse.service.metrics import ServiceMetrics
from lexfuse.service.middleware import add_middleware
from lexfuse.service.middleware.api_key import require
from lexfuse.service.middleware.origin import is_cross_site
from lexfuse.service.middleware.security_headers import CONTENT_POLICY
from lexfuse.service.problems import add_problems
from lexfuse.service.settings import ServiceSettings

OWN = "http://law.example:8080"


def made(**values):
    settings = ServiceSettings(**values)
    app = FastAPI()
    add_problems(app)

    @app.get("/")
    async def page() -> HTMLResponse:
        return HTMLResponse("<p>results")

    @app.get("/kept")
    async def kept() -> HTMLResponse:
        return HTMLResponse("help", headers={"cache-control": "max-age=60"})

    @app.get("/static/{version}/{name}")
    async def static(version: str, name: str) -> HTMLResponse:
        return HTMLResponse("p {}", status_code=200 if version == "1" else 404)

    @app.post("/form")
    async def form() -> str:
        return "taken"

    @app.put("/document")
    async def write(request: Request) -> str:
        caller = require(request, KeyScope.WRITE)
        return caller.key.name

    @app.get("/broken")
    async def broken() -> str:
        raise KeyError("secret")

    @app.get("/healthz")
    async def healthz() -> str:
        return "alive"

    add_middleware(app, settings, KeyRing(settings.keys), ServiceMetrics())
    return app


def asked(app, method, path, *, at=OWN, **headers):
    async def one():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=at) as http:
            return await http.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    return asyncio.run(one())


@pytest.mark.parametrize("path", ["/", "/nowhere", "/broken", "/static/1/page.css", "/healthz"])
def test_every_answer_has_the_headers_also_errors(path):
    headers = asked(made(), "GET", path).headers
    assert headers["content-security-policy"] == CONTENT_POLICY
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert "strict-transport-security" not in headers
    assert headers["x-request-id"]


def test_answers_are_not_kept_and_versioned_files_for_ever():
    app = made()
    for path in ("/", "/nowhere", "/broken", "/static/2/page.css"):
        assert asked(app, "GET", path).headers["cache-control"] == "no-store", path
    assert "immutable" in asked(app, "GET", "/static/1/page.css").headers["cache-control"]
    assert asked(app, "GET", "/kept").headers.get_list("cache-control") == ["max-age=60"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),  # a program, no browser
        ({"sec_fetch_site": "same-origin", "origin": OWN}, 200),
        ({"sec_fetch_site": "none"}, 200),
        ({"sec_fetch_site": "cross-site", "origin": "https://evil.example"}, 403),
        ({"sec_fetch_site": "same-site", "origin": "http://other.example"}, 403),
        ({"origin": OWN}, 200),  # a browser where there is no HTTPS
        ({"origin": "http://LAW.example:8080"}, 200),
        ({"origin": "http://law.example:9999"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://law.example:8080.evil.example"}, 403),
        *(({"origin": origin}, 403) for origin in ("http://[", "//[", "http://[]", "http://[v1.]", "http://[::1]x", "[")),
    ],
)
def test_forms_of_other_sites_are_refused(headers, status):
    assert asked(made(), "POST", "/form", **headers).status_code == status
    assert asked(made(), "GET", "/", **headers).status_code == 200  # a link from elsewhere is welcome


def test_a_key_given_on_purpose_may_come_from_another_site_but_not_one_the_browser_adds(tmp_path):
    token = add_key(tmp_path / "keys.toml", "w", KeyScope.WRITE)
    app = made(keys=tmp_path / "keys.toml")
    elsewhere = {"sec_fetch_site": "cross-site", "origin": "https://other.example"}
    basic = base64.b64encode(f"me:{token}".encode()).decode()
    assert asked(app, "PUT", "/document", authorization=f"Bearer {token}", **elsewhere).status_code == 200
    assert asked(app, "PUT", "/document", authorization=f"Basic {basic}", **elsewhere).status_code == 403
    assert asked(app, "PUT", "/document", authorization=f"Basic {basic}").status_code == 200


@pytest.mark.parametrize(
    ("hosts", "host", "status"),
    [
        ((), "anything.example", 200),
        (("law.example",), "law.example:8080", 200),
        (("law.example",), "LAW.example", 200),
        (("law.example",), "evil.example", 403),
        (("*.law.example",), "search.law.example", 200),
        (("*.law.example",), "law.example.evil.example", 403),
        (("[::1]",), "[::1]:8080", 200),
    ],
)
def test_only_names_of_the_service_are_answered_where_they_are_given(hosts, host, status):
    app = made(allowed_hosts=hosts)
    assert asked(app, "GET", "/", host=host).status_code == status
    assert asked(app, "GET", "/healthz", host=host).status_code == 200


LOOPBACK = ("http://127.0.0.1:8080", "http://[::1]:8080", "http://[::ffff:127.0.0.1]:8080", "http://127.9.9.9")


@pytest.mark.parametrize("at", LOOPBACK)
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200), ("localhost:8080", 200), ("LOCALHOST.:1", 200), ("law.localhost", 200), ("127.0.0.1:8080", 200),
        ("127.1.2.3", 200), ("[::1]", 200), ("[::1]:8080", 200), ("lawbox:8080", 200),
        ("evil.example", 403), ("evil.example:8080", 403), ("localhost.evil.example", 403), ("127.0.0.1.evil.example", 403),
        ("[::1]evil.example", 403), ("evillocalhost", 403), ("192.0.2.1", 403), ("", 403), ("[", 403), ("[::1", 403),
    ],
)  # fmt: skip
def test_on_a_loopback_address_only_loopback_names_are_answered(at, host, status):
    app = made(host="lawbox")  # a name of this computer
    answer = asked(app, "GET", "/", at=at, host=host)
    assert answer.status_code == status
    assert status == 200 or "allowed_hosts" in answer.json()["detail"]
    assert asked(app, "GET", "/healthz", at=at, host=host).status_code == 200


def test_a_proxy_on_the_same_computer_is_allowed_by_name():
    app = made(allowed_hosts=("law.example",))
    assert asked(app, "GET", "/", at=LOOPBACK[0], host="law.example").status_code == 200
    assert asked(app, "GET", "/", at=LOOPBACK[0], host="localhost").status_code == 403


def test_writing_needs_a_key_that_allows_it(tmp_path):
    file = tmp_path / "keys.toml"
    reader, writer = add_key(file, "r", KeyScope.READ), add_key(file, "w", KeyScope.WRITE)
    app = made(keys=file)
    without = asked(app, "PUT", "/document")
    assert without.status_code == 401
    assert without.headers["www-authenticate"].startswith("Bearer")
    refused = asked(app, "PUT", "/document", authorization=f"Bearer {reader}")
    assert refused.status_code == 403
    assert "'r' does not allow to write" in refused.json()["detail"]
    assert asked(app, "PUT", "/document", authorization=f"bearer {writer}").json() == "w"
    assert asked(app, "PUT", "/document", x_api_key=writer).json() == "w"
    revoke_key(file, "w")
    assert asked(app, "PUT", "/document", x_api_key=writer).status_code == 401


def test_a_key_that_is_not_known_is_refused_even_where_none_is_needed(tmp_path):
    add_key(tmp_path / "keys.toml", "r", KeyScope.READ)
    app = made(keys=tmp_path / "keys.toml")
    for headers in ({"x_api_key": "lf_guess"}, {"authorization": "Bearer x"}, {"authorization": "Basic ///"}):
        assert asked(app, "GET", "/", **headers).status_code == 401
    assert asked(app, "GET", "/").status_code == 200


def test_without_anonymous_reading_all_but_health_and_files_needs_a_key(tmp_path):
    token = add_key(tmp_path / "keys.toml", "r", KeyScope.READ)
    app = made(keys=tmp_path / "keys.toml", anonymous_read=False)
    for path in ("/", "/nowhere", "/static/../", "//static/x"):
        assert asked(app, "GET", path).status_code == 401, path
        assert asked(app, "GET", path, authorization=f"Bearer {token}").status_code in (200, 404)
    assert asked(app, "GET", "/healthz").status_code == 200
    assert asked(app, "GET", "/static/1/page.css").status_code == 200


def test_guessing_keys_is_as_slow_as_asking(tmp_path):
    add_key(tmp_path / "keys.toml", "r", KeyScope.READ)
    app = made(keys=tmp_path / "keys.toml", requests_per_minute=1, burst=3)
    assert [asked(app, "GET", "/", x_api_key=f"lf_{guess}").status_code for guess in range(4)] == [401, 401, 401, 429]


def test_nobody_writes_without_a_file_of_keys():
    assert asked(made(), "PUT", "/document").status_code == 401


def test_where_a_request_comes_from_is_told_by_the_browser_first():
    headers = [(b"sec-fetch-site", b"same-origin"), (b"origin", b"null"), (b"host", b"x")]
    assert is_cross_site({"headers": headers}) is False
