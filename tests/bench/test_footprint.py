"""The bytes of a passage are those of the files and of the objects, and totals follow from them."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from lexfuse import Document, Index, Queries, Query

BENCH = Path(__file__).parents[2] / "bench"
QUERIES = Queries.of([Query("q", "préavis du bail", "fr"), Query("r", "article L. 3", "fr")])


@pytest.fixture(scope="module")
def footprint():
    sys.path.insert(0, str(BENCH))
    try:
        yield importlib.import_module("footprint")
    finally:
        sys.path.remove(str(BENCH))
        for name in ("footprint", "cluster_answers"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("footprint") / "law.index"
    documents = [
        Document(f"a{at}", text=f"Le préavis du bail dure {at} mois.", language="fr", number=f"L{at}") for at in range(8)
    ]
    Index.build(path, documents).close()
    return path


def test_memory_is_that_of_what_is_made(footprint):
    made, held = footprint.traced(lambda: np.zeros(1_000_000, dtype=np.float32))
    assert made.nbytes <= held < 1.1 * made.nbytes
    assert footprint.traced(lambda: None)[1] < 10_000


def test_parts_of_an_index(footprint, folder):
    texts, ids, words = footprint.words(folder, QUERIES)
    assert texts["disk"] == (folder / "catalog.sqlite").stat().st_size / 8
    files = sum(file.stat().st_size for file in (folder / "segments").rglob("*") if file.is_file())
    assert ids["disk"] + words["disk"] == pytest.approx(files / 8)
    assert words["hot"] == words["disk"]
    assert words["private"] > 0


def test_parts_of_a_router(footprint, folder):
    ids, columns, terms = footprint.router(folder, QUERIES)
    assert (ids["count"], columns["count"]) == (8, 8)
    assert ids["private"] > len("a0")
    assert columns["private"] > 0
    assert terms["disk"] > 0


def test_totals(footprint):
    part = footprint.record("words", 10, disk=2000, hot=1000, private=500) | {"encoding": 86.4}
    found = footprint.total(part, 1 << 30, memory=100.0, price=7.0)
    days = pytest.approx((1 << 30) / 1e6)
    assert found == {
        "total": "words", "disk_gib": 200, "memory_gib": 150, "machines": 2, "price": 14, "encoding_core_days": days,
    }  # fmt: skip
