"""Changes to requests that are fine: values, JSON, files and the bytes themselves. Everything comes from one seeded generator."""

from __future__ import annotations

import json
from random import Random
from typing import Any

WORDS = (
    "loyer", "bail", "article L. 1 du code civil", "C-60/22, point 64", "a1", "long", "d 1", "bm25", "hybrid", "law",
    "kind=statute", "date>=2020-01-01", "id=a1,a2", "headings^=Livre Ier", "court!=x", "newest", "csv", "2024-01-01", "fr",
    "1", "0", "-1", "true",
)  # fmt: skip
HOSTILE = (
    "", " ", "\x00", "a\x00b", "\r\nSet-Cookie: a=b", "%00", "%ff%fe", "..", "../../etc/passwd", "/etc/passwd", "//[", "http://[",
    "<!---->" * 40, "<script>alert(1)</script>", "<div>" * 500, "{{7*7}}", "${7*7}", "' OR 1=1 --", '"', "'", "\\", "`",
    "=1+1", "＝1+1",
    "\u202e\u2066", "\ufeff", "\ud800", "\U0010ffff", "e\u0301" * 50, "ﷺ" * 50, "1e309", "-1e309", "NaN", "9" * 400, "0x10", "١٢",
    "2024-13-45", "0000-00-00", "99999-01-01", "id=" + ",".join(map(str, range(200))), "=", "!=", "^=", "kind=", ">=", "a>=b>=c",
    "article L. 1 à L. 999999999", "L. " + "1-" * 500, "C-1/22 " * 200, "(((((((((((", "a" * 5000, "é" * 5000, "A. " * 1000,
    "undefined", "null", "[]", "{}", "*", "W/\"a\"", "lf_x", "about:blank", "javascript:alert(1)", "data:text/html,x",
)  # fmt: skip
NUMBERS = (0, 1, -1, 10, 100, 101, 1000, 1001, 2**31, 2**63, 10**400, -(10**400), 0.5, 1e308, float("inf"), float("nan"))
FILES = {
    "a.txt": "Le loyer est dû par le locataire. Voir l'article L. 1 du code civil.".encode(),
    "a.html": b"<!doctype html><meta charset=utf-8><title>Bail</title><p>Loyer</p><!-- x --><ul><li>bail</ul><script>x</script>",
    "a.pdf": b"".join(
        (
            b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n",
            b"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n",
            b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R >>\nendobj\n",
            b"4 0 obj\n<< /Length 30 >>\nstream\nBT /F1 9 Tf (loyer bail) Tj ET\nendstream\nendobj\n",
            b"xref\n0 5\n0000000000 65535 f \ntrailer\n<< /Size 5 /Root 1 0 R >>\n%%EOF\n",
        )
    ),
    "a.docx": b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
    "../a": b"\xff\xfe\x00l\x00o\x00y",
}
PIECES = (b"\x00", b"\r\n", b"\r\n\r\n", b"--border", b"<!--", b"<div>", b"obj", b'"', b"{", b"[" * 200)
HEADERS = (
    "accept", "accept-language", "accept-encoding", "authorization", "cookie", "content-type", "expect", "forwarded", "host",
    "if-match",
    "if-none-match", "origin", "range", "referer", "sec-fetch-site", "te", "transfer-encoding", "upgrade", "user-agent", "via",
    "x-api-key", "x-forwarded-for", "x-lexfuse-part", "x-request-id", "connection",
)  # fmt: skip
HEADER_VALUES = (
    b"", b"*", b"http://[", b"[", b"null", b"gzip", b"bytes=0-1", b"results", b"similar", b"why", b"judge", b"cross-site",
    b"same-origin",
    b"Basic ====", b"Basic \xff", b"Bearer \xff", b'"a", W/"b"', b"fr;q=nan, *;q=2",
    b"a=b; lexfuse_theme=dark; lexfuse_language=xx",
    b"100-continue", b"close", b"keep-alive", b"upgrade", b"websocket", b"h2c", b"multipart/form-data",
    b"multipart/form-data; boundary=",
    b"multipart/form-data; boundary=border; charset=undefined", b"application/json; charset=utf-16", b"text/html", b"image/png",
    b"localhost", b"127.0.0.1:1", b"evil.example", b"a" * 3000, b"\xff\xfe", b"identity", b"chunked",
)  # fmt: skip


def text(random: Random, before: str) -> str:
    """A value in the place of one that is fine: hostile, another fine one, or the same with a change.

    >>> text(Random(1), "loyer") == text(Random(1), "loyer")
    True
    """
    match random.randrange(6):
        case 0:
            return random.choice(HOSTILE)
        case 1:
            return random.choice(WORDS)
        case 2:
            return before + random.choice(HOSTILE)
        case 3:
            return " ".join(random.choice(WORDS) for _ in range(random.randrange(1, 30)))
        case 4:
            return "".join(
                chr(random.choice((random.randrange(32, 127), random.randrange(0x300), random.randrange(0x110000))))
                for _ in range(8)
            )
        case _:
            at = random.randrange(len(before) + 1)
            return before[:at] + random.choice(HOSTILE) + before[at + random.randrange(3) :]


def value(random: Random, before: Any, depth: int = 0) -> Any:
    """A JSON value in the place of another; now and then one of another kind."""
    if isinstance(before, dict) and before and depth < 3 and random.random() < 0.8:
        changed = dict(before)
        for name in random.sample(sorted(changed), k=min(len(changed), random.randrange(1, 3))):
            changed[name] = value(random, changed[name], depth + 1)
        if random.random() < 0.1:
            changed.pop(random.choice(sorted(changed)))
        if random.random() < 0.1:
            changed[text(random, "field")] = 1
        return changed
    if isinstance(before, str) and random.random() < 0.7:
        return text(random, before)
    choices: tuple[Any, ...] = (
        None, True, False, random.choice(NUMBERS), text(random, "loyer"), [], {}, [before], {"a": before}, [text(random,
    "a")] * 60,
        [[[[before]]]], random.randrange(-5, 2000),
    )  # fmt: skip
    return random.choice(choices)


def encoded(given: Any) -> bytes:
    """JSON with whatever Python can write, halves of characters included."""
    return json.dumps(given).encode()


def damaged(random: Random, before: bytes) -> bytes:
    """Bytes with a few changes: flipped, cut, repeated, moved or put in."""
    changed = bytearray(before)
    for _ in range(random.randrange(1, 5)):
        at = random.randrange(len(changed) + 1)
        match random.randrange(5):
            case 0 if changed:
                changed[at % len(changed)] ^= 1 << random.randrange(8)
            case 1:
                del changed[at : at + random.randrange(1, 20)]
            case 2:
                changed[at:at] = changed[at : at + random.randrange(1, 20)] * random.randrange(1, 50)
            case 3:
                changed[at:at] = random.randbytes(random.randrange(1, 9))
            case _:
                changed[at:at] = random.choice(
                    (b"\x00", b"\r\n", b"\r\n\r\n", b"--border", b"<!--", b"<div>", b"obj", b'"', b"{", b"[" * 200)
                )
    return bytes(changed)


def form(random: Random, fields: list[tuple[str, str]], file: tuple[str, bytes] | None) -> bytes:
    """A form with texts and perhaps a file, sometimes damaged."""
    parts = []
    for name, content in fields:
        parts.append(
            b'--border\r\nContent-Disposition: form-data; name="'
            + name.encode("utf-8", "replace").replace(b"\r\n", b"")
            + b'"\r\n\r\n'
        )
        parts.append(content.encode("utf-8", "replace") + b"\r\n")
    if file is not None:
        name, raw = file
        parts.append(
            b'--border\r\nContent-Disposition: form-data; name="file"; filename="'
            + name.encode("utf-8", "replace")
            + b'"\r\n\r\n'
        )
        parts.append(raw + b"\r\n")
    whole = b"".join(parts) + b"--border--\r\n"
    return damaged(random, whole) if random.random() < 0.2 else whole
