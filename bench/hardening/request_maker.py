"""Requests that are fine, of every address of the API and of the pages, and what fuzzing makes of them."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

from mutations import FILES, HEADER_VALUES, HEADERS, damaged, encoded, form, text, value

from lexfuse.web.routes import ROUTERS
from lexfuse.web.static_files import static_files
from service import Served

KNOWN: dict[str, Any] = {
    "query": "loyer", "profiles": ["bm25", "hybrid"], "text": "Le loyer du bail, article L. 1 du code civil.", "index": "law",
    "profile": "bm25",
    "document": "a1", "document_id": "fuzz-1", "filters": ["kind=statute"], "as_of": "2024-01-01",
    "k": 3,
    "language": "fr", "sort": "newest", "facets": True, "cursor": "", "code": "Code civil", "format": "qrels", "grade": 1,
    "rank": 1,
    "terms": [], "added": [], "dropped": [], "before": "2030-01-01", "generation": 1, "change": "x", "spec": None,
}  # fmt: skip
FRAMING = ("transfer-encoding", "expect", "connection", "upgrade", "content-length", "te")  # headers that say what comes after
WRITING = 0.02  # share of the requests that may change the index: a write costs as much as many searches
KINDS = {"api": 0.6, "page": 0.24, "upload": 0.08, "malformed": 0.08}
JUNK = (
    b"\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n", b"GET http://[ HTTP/1.1\r\nhost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nhost: localhost\r\n\r\n", b"CONNECT a:1 HTTP/1.1\r\nhost: localhost\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"POST /v1/cite HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n",
    b"GET /\xff HTTP/1.1\r\nhost: localhost\r\n\r\n",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """A request as bytes; one that is not whole may leave the service waiting for more."""

    kind: str
    method: str
    raw: bytes
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Fine:
    """A request that is fine: where, and with what."""

    method: str
    path: str  # {name} stands for a value of `parts`
    parts: dict[str, Any] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | None = None  # JSON
    form: dict[str, str] | None = None

    @property
    def writes(self) -> bool:
        """Whether it may change the index."""
        return self.method in ("PUT", "DELETE") or self.path in ("/v1/feedback", "/judge")


SEARCH = {"q": "loyer", "index": "law", "profile": "bm25", "filter": "kind=statute", "as_of": "2024-01-01"}
PAGES = (
    Fine("GET", "/", query=SEARCH | {"sort": "newest", "cursor": "", "lang": "fr"}),
    Fine("GET", "/documents/{name}", {"name": "a1"}, {"index": "law", "lang": "fr"}),
    Fine("GET", "/why/{name}", {"name": "a1"}, SEARCH),
    Fine("GET", "/why", query=SEARCH | {"cite": "article L. 1 du code civil"}),
    Fine("GET", "/compare", query=SEARCH),
    Fine("GET", "/similar", query={"document": "a1", "index": "law", "filter": "kind=statute"}),
    Fine("POST", "/similar", form={"text": "le loyer du bail", "index": "law", "kind": "statute", "mask": "1",
    "before": "2030-01-01",
                                   "action": "again", "term": "loyer", "count": "1", "weight": "2", "use": "loyer",
    "add": "bail=2"}),
    Fine("GET", "/experiments"),
    Fine("GET", "/experiments/{name}", {"name": "first"}),
    Fine("GET", "/export", query=SEARCH | {"format": "csv", "k": "5", "sort": "", "language": "fr"}),
    Fine("GET", "/help", query={"lang": "en"}),
    Fine("GET", "/docs"),
    Fine("POST", "/judge", form={"q": "loyer", "document": "a1", "grade": "1", "rank": "1", "index": "law",
    "next": "/?q=loyer"}),
    Fine("GET", "/judgements", query={"format": "qrels", "index": "law"}),
    Fine("GET", "/preferences", query={"theme": "dark", "next": "/?q=loyer"}),
    Fine("GET", "/static/{version}/{name}", {"version": static_files().version, "name": "style.css"}),
)  # fmt: skip


class RequestMaker:
    """Makes requests; the same generator makes the same ones."""

    def __init__(self, key: str, api: list[Fine]) -> None:
        """For a service with this key and these addresses."""
        self.key = key
        self.fine = {"api": api, "page": list(PAGES)}

    @classmethod
    def of(cls, service: Served) -> RequestMaker:
        """For a service that runs: its OpenAPI document tells the addresses; every page must be in the table."""
        there = {route.path.replace(":path", "") for router in ROUTERS for route in router.routes}  # type: ignore[attr-defined]
        assert there == {one.path for one in PAGES}, there
        connection = http.client.HTTPConnection(service.host, service.port)
        connection.request("GET", "/openapi.json")
        return cls(service.key, operations(json.loads(connection.getresponse().read())))

    def made(self, random: Random) -> Made:
        """One request."""
        kind = random.choices(list(KINDS), list(KINDS.values()))[0]
        if kind == "malformed":
            whole = self._request(random, self._chosen(random, "api"), kind).raw
            return Made(kind, "GET", random.choice(JUNK) if random.random() < 0.2 else damaged(random, whole), whole=False)
        if kind == "upload":
            return self._upload(random)
        return self._request(random, self._chosen(random, kind), kind)

    def _chosen(self, random: Random, kind: str) -> Fine:
        writes = random.random() < WRITING / KINDS["api"]
        return random.choice([one for one in self.fine[kind] if one.writes == writes])

    def _request(self, random: Random, fine: Fine, kind: str) -> Made:
        parts = {name: mutated(random, given) for name, given in fine.parts.items()}
        query = [(name, mutated(random, given)) for name, given in fine.query.items() if random.random() < 0.8]
        body, content = b"", b""
        if fine.body is not None:
            body, content = encoded(value(random, fine.body) if random.random() < 0.9 else fine.body), b"application/json"
            body = damaged(random, body) if random.random() < 0.1 else body
        elif fine.form is not None:
            fields = [(name, mutated(random, given)) for name, given in fine.form.items() if random.random() < 0.9]
            body, content = form(random, fields, None), b"multipart/form-data; boundary=border"
        return self._raw(random, kind, fine.method, target(fine.path, parts, query), body, content)

    def _upload(self, random: Random) -> Made:
        name = random.choice(sorted(FILES))
        raw = damaged(random, FILES[name]) if random.random() < 0.9 else FILES[name]
        fields = [
            (name, mutated(random, given))
            for name, given in (("k", "3"), ("index", "law"), ("mask", "1"))
            if random.random() < 0.5
        ]
        body = form(random, fields, (text(random, name) if random.random() < 0.2 else name, raw))
        path = random.choice(("/v1/similar", "/similar"))
        return self._raw(random, "upload", "POST", path.encode(), body, b"multipart/form-data; boundary=border")

    def _raw(self, random: Random, kind: str, method: str, address: bytes, body: bytes, content: bytes) -> Made:
        headers = {"host": b"localhost", "accept": random.choice((b"text/html", b"application/json", b"*/*"))}
        if random.random() < 0.95:
            headers["authorization"] = b"Bearer " + self.key.encode()
        if content:
            headers["content-type"] = content
        if random.random() < 0.3:
            headers |= {random.choice(HEADERS): random.choice(HEADER_VALUES) for _ in range(random.randrange(1, 3))}
        if body or method in ("POST", "PUT"):
            headers["content-length"] = b"%d" % len(body)
        if random.random() < 0.02:
            method = random.choice(("HEAD", "OPTIONS", "PATCH", "TRACE", "DELETE", "get", "X"))
        lines = [name.encode() + b": " + given for name, given in headers.items()]
        whole = not any(name in headers for name in FRAMING if name != "content-length")
        raw = b"\r\n".join([method.encode() + b" " + address + b" HTTP/1.1", *lines, b"", body])
        return Made(kind, method, raw, whole)


def mutated(random: Random, given: Any) -> str:
    """A value as text: as it was, or changed."""
    before = str(given).lower() if isinstance(given, bool) else str(given)
    return text(random, before) if random.random() < 0.3 else before


def target(path: str, parts: dict[str, str], query: list[tuple[str, str]]) -> bytes:
    """An address; halves of characters become question marks.

    >>> target("/why/{name}", {"name": "a b"}, [("q", "é")])
    b'/why/a%20b?q=%C3%A9'
    """
    for name, given in parts.items():
        path = path.replace(f"{{{name}}}", quote(given.encode("utf-8", "replace"), safe="/"))
    asked = "&".join(f"{name}={quote(given.encode('utf-8', 'replace'), safe='')}" for name, given in query)
    return f"{path}?{asked}".rstrip("?").encode()


def operations(document: dict[str, Any]) -> list[Fine]:
    """A fine request for every address of an OpenAPI document."""
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            named = {where: {} for where in ("path", "query", "header")}  # type: dict[str, dict[str, Any]]
            for one in operation.get("parameters", ()):
                known = KNOWN.get(one["name"], "a")
                named[one["in"]][one["name"]] = known[0] if isinstance(known, list) and known else known
            schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            body = example(document, schema) if schema else None
            found.append(Fine(method.upper(), path, named["path"], named["query"], body))
    return found


def example(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """A fine object of a schema: values that are known by their names, else examples and defaults."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    fields = schema.get("properties", {})
    return {name: KNOWN.get(name, (one.get("examples") or [one.get("default")])[0]) for name, one in fields.items()}
