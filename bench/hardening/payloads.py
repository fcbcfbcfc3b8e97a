"""Hostile requests of the size that each address accepts, one after another, while /healthz is probed.

    python bench/hardening/payloads.py [--limit SECONDS]

Prints a table: the payload, its answer, how long that took, and the slowest /healthz meanwhile; then one JSON line. Ends with 1
if an answer is a failure, or if /healthz took longer than the limit (one second). An answer 503 after the timeout is none.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

BODY = 7_900_000  # bytes; 8,000,000 are accepted
FORM = "multipart/form-data; boundary=border"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Payload:
    """A request."""

    name: str
    method: str
    path: str
    kind: str = ""
    body: bytes = b""


def payloads() -> Iterator[Payload]:
    """Every payload, made when it is its turn."""
    yield from uploads()
    yield from bodies()
    yield from forms()
    yield from addresses()


def uploads() -> Iterator[Payload]:
    """Files that take their readers long."""
    files = {
        "40 comments": (b"<!---->" * 40, "a.txt"),
        "comments": (b"<!---->" * (BODY // 7), "a.txt"),
        "open comments": (b"<!--" * (BODY // 4), "a.txt"),
        "nested elements": (b"<div>" * 200_000, "a.html"),
        "attributes": (b"<p " + b" ".join(b"a%d=1" % n for n in range(60_000)) + b">x", "a.html"),
        "open tags": (b"<" * BODY, "a.html"),
        "entities": (b"&amp" * (BODY // 4), "a.html"),
        "pages of pages": (pages_of_pages(), "a.pdf"),
        "no charset": (b'<meta charset="undefined"><p>le loyer', "a.html"),
        "one word": (b"a" * BODY, "a.txt"),
        "citations": (b"article L. 1 du code civil, " * (BODY // 28), "a.txt"),
        "sentences": (b"A. " * (BODY // 3), "a.txt"),
        "lines": (b"\n" * BODY, "a.txt"),
    }
    for name, (content, file) in files.items():
        yield Payload(f"{name} to the API", "POST", "/v1/similar", FORM, upload(content, file))
    for name in ("40 comments", "nested elements", "attributes", "pages of pages", "no charset"):
        yield Payload(f"{name} to the page", "POST", "/similar", FORM, upload(*files[name]))


def bodies() -> Iterator[Payload]:
    """JSON of the largest size."""
    fields = ("{" + ",".join(f'"k{n}":1' for n in range(600_000)) + "}").encode()
    for method, path in (("POST", "/v1/search"), ("POST", "/v1/similar"), ("POST", "/v1/cite"), ("POST", "/v1/feedback")):
        yield Payload("unknown fields", method, path, JSON, fields)
        yield Payload("nested lists", method, path, JSON, b"[" * BODY)
        yield Payload("objects", method, path, JSON, b'{"index":[' + b"{}," * (BODY // 3) + b"1]}")
    yield Payload("unknown fields", "PUT", "/v1/documents/x", JSON, fields)
    yield Payload(
        "filters that are numbers", "POST", "/v1/search", JSON, b'{"query":"a","filters":[' + b"1," * 3_900_000 + b"1]}"
    )
    ids = [f"id={','.join(f'a{n}' for n in range(200))}"[:1000] for _ in range(50)]
    yield Payload("filters on ids", "POST", "/v1/search", JSON, encoded(query="loyer", filters=ids))
    yield Payload("the longest question", "POST", "/v1/search", JSON, encoded(query="loyer bail " * 1818))
    yield Payload("a million citations", "POST", "/v1/cite", JSON, encoded(text="L. 1 " * 200_000))
    yield Payload("half a citation", "POST", "/v1/cite", JSON, encoded(text="article " * 124_000))
    yield Payload("digits", "POST", "/v1/cite", JSON, encoded(text="1" * 999_999))
    yield Payload("numbers", "POST", "/v1/cite", JSON, encoded(text="L. 1-2-3, 4, 5 et 6 à 9 " * 41_000))
    for name, text in (("words", "loyer bail "), ("citations", "C-60/22, point 64; "), ("brackets", "(("), ("capitals", "A.B. ")):
        text = (text * 2_000_000)[:1_999_999]
        yield Payload(f"2 MB of {name}", "POST", "/v1/similar", JSON, encoded(text=text))
        yield Payload(f"2 MB of {name}, masked", "POST", "/v1/similar", JSON, encoded(text=text, mask=True))
    yield Payload("a long document", "PUT", "/v1/documents/x", JSON, encoded(text="Le loyer du bail. " * 50_000))


def forms() -> Iterator[Payload]:
    """Forms of the page."""
    words = ",".join(f"w{n}" for n in range(9_990))
    yield Payload("words to add", "POST", "/similar", FORM, form(("text", "le loyer"), ("action", "again"), ("add", words)))
    yield Payload(
        "commas", "POST", "/similar", FORM, form(("text", "le loyer"), ("action", "again"), ("add", "a," * (BODY // 2)))
    )
    yield Payload("fields", "POST", "/similar", FORM, form(*[("term", "x")] * 30_000, ("action", "again")))
    yield Payload("borders", "POST", "/similar", FORM, form(("text", "\r\n--" * (BODY // 4))))
    yield Payload("text", "POST", "/similar", FORM, form(("text", ("le loyer du bail " * 117_000)[:1_990_000])))
    encoded_form = "application/x-www-form-urlencoded"
    yield Payload("percent-encoded", "POST", "/similar", encoded_form, b"text=" + b"%41" * 333_000)
    yield Payload("percent-encoded fields", "POST", "/judge", encoded_form, b"a=b&" * 249_000)
    yield Payload("punycode", "POST", "/similar", f"{FORM}; charset=punycode", form(("text", "a-" * 1_000_000)))


def addresses() -> Iterator[Payload]:
    """Addresses whose answers are long, or that hold much."""
    question = "loyer du bail " * 1400
    yield Payload("a document of 350 kB", "GET", "/documents/long")
    yield Payload("a document of 350 kB", "GET", "/v1/documents/long")
    yield Payload("a document of 350 kB", "GET", "/similar?document=long")
    for path, name in (("/", "q"), ("/why/long", "q"), ("/compare", "q"), ("/v1/search", "query"), ("/v1/explain/long", "query")):
        yield Payload("the longest question", "GET", f"{path}?{urlencode({name: question})}")
    for kind in ("csv", "json", "trec", "bibtex", "ris"):
        yield Payload(f"the largest export, {kind}", "GET", f"/export?q=loyer&k=1000&format={kind}")
    filters = "&".join("filters=" + quote(f"id={','.join(f'a{n}' for n in range(200))}"[:1000]) for _ in range(50))
    yield Payload("filters on ids", "GET", f"/v1/search?query=loyer&{filters}")
    yield Payload("parameters", "GET", f"/v1/search?{'a&' * 120_000}")


def pages_of_pages() -> bytes:
    """A PDF of a few kilobytes whose tree of pages has ten thousand million leaves.

    >>> len(pages_of_pages()) < 4000
    True
    """
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    for level in range(10):
        kids = b" ".join([b"%d 0 R" % (level + 3)] * 10)
        objects.append(b"<< /Type /Pages /Count 10000000000 /Kids [ " + kids + b" ] >>")
    objects.append(b"<< /Type /Page /MediaBox [0 0 9 9] /Contents 13 0 R >>")
    objects.append(b"<< /Length 0 >>\nstream\n\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n" % size
        + table
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    )


def upload(content: bytes, name: str) -> bytes:
    """A form with one file."""
    head = f'--border\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n--border--\r\n"


def form(*fields: tuple[str, str]) -> bytes:
    """A form of texts."""
    parts = (f'--border\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields)
    return "".join(parts).encode() + b"--border--\r\n"


def encoded(**values: object) -> bytes:
    """A JSON object."""
    return json.dumps(values).encode()


def answer(host: str, port: int, key: str, payload: Payload, patience: float) -> tuple[int, int]:
    """The status of the answer and its length; status 0 if the service closed the connection without one."""
    connection = http.client.HTTPConnection(host, port, timeout=patience)
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/html"}
    if payload.kind:
        headers["Content-Type"] = payload.kind
    try:
        connection.request(payload.method, payload.path, payload.body or None, headers)
        response = connection.getresponse()
        return response.status, len(response.read())
    except (ConnectionError, http.client.HTTPException):
        return 0, 0
    finally:
        connection.close()


def main() -> None:
    """Send them all."""
    from service import PATIENCE, Probe, served

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=1.0, help="seconds that /healthz may take")
    limit = parser.parse_args().limit
    worst, wrong = 0.0, []
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as service, Probe(service.host, service.port) as probe:
        for payload in payloads():
            probe.restart()
            start = time.perf_counter()
            status, length = answer(service.host, service.port, service.key, payload, PATIENCE)
            seconds = time.perf_counter() - start
            probe.settle()
            slowest = probe.figures["max_ms"] / 1000
            worst = max(worst, slowest)
            if slowest > limit or (status >= 500 and status != 503):
                wrong.append(f"{payload.name}: {payload.method} {payload.path[:40]}")
            print(
                f"{payload.name:32} {payload.method:4} {payload.path[:24]:24} {len(payload.body):9,} B  {status} {length:10,} B "
                f"{seconds:7.2f} s  /healthz {slowest:5.2f} s",
                file=sys.stderr,
            )
        figures = probe.figures | {"max_ms": round(1000 * worst, 1)}
        print(json.dumps({"healthz": figures, "wrong": wrong, "unexpected": service.unexpected()}))
    if wrong or figures["failed"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
