"""Hostile requests of the accepted size to the real service: others are answered meanwhile, and it works on afterwards.

`bench/hardening/payloads.py` sends more of them, and measures.
"""

import importlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

HARDENING = Path(__file__).parents[2] / "bench" / "hardening"
PATIENCE = 300.0  # seconds after which no answer will come; without a bound on the work, none of these has one
CHOSEN = {
    "40 comments to the API", "nested elements to the API", "attributes to the page", "pages of pages to the API",
    "no charset to the page", "unknown fields", "filters on ids", "a million citations", "half a citation",
    "2 MB of words, masked", "words to add", "commas", "punycode", "a document of 350 kB",
}  # fmt: skip


@pytest.fixture(scope="module")
def hardening():
    """The modules of the scripts."""
    sys.path.insert(0, str(HARDENING))
    try:
        yield importlib.import_module("payloads"), importlib.import_module("service")
    finally:
        sys.path.remove(str(HARDENING))
        for name in ("payloads", "service"):
            sys.modules.pop(name, None)


def test_health_is_answered_whatever_is_sent(hardening, tmp_path):
    payloads, service = hardening
    chosen = [one for one in payloads.payloads() if one.name in CHOSEN]
    assert {one.name for one in chosen} == CHOSEN
    with (
        service.served(tmp_path, "--timeout-seconds", "1") as served,
        ThreadPoolExecutor(1) as others,
        httpx.Client(base_url=f"http://{served.host}:{served.port}", timeout=PATIENCE) as client,
    ):
        for payload in chosen:
            sent = others.submit(payloads.answer, served.host, served.port, served.key, payload, PATIENCE)
            while True:
                assert client.get("/healthz").status_code == 200, payload.name
                if sent.done():
                    break
            status, _ = sent.result()
            assert status < 500 or status == 503, payload.name
        until = time.monotonic() + PATIENCE
        while (
            found := client.get("/v1/search", params={"query": "loyer"})
        ).status_code == 503:  # a busy machine needs more than a second
            assert time.monotonic() < until
        assert found.json()["results"]
        assert served.unexpected() == []
