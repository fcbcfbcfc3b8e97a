"""The benchmark of clusters counts a question as equal only if it is, and finds what the documents can be limited by."""

import datetime

import pytest

from bench.cluster import equal_questions, searches, service_times
from lexfuse import Document, Index
from lexfuse.cluster.partition import partition
from lexfuse.data.run import Run

DOCUMENTS = [
    Document(
        f"a{number}", text=f"Le préavis dure {number} mois.", language="fr", code=("Code civil", "Code, autre")[number % 2],
        valid_from=datetime.date(2000 + number, 1, 1),
    )
    for number in range(6)
]  # fmt: skip


def test_questions_are_equal_by_documents_order_and_scores():
    single = Run.of(
        "single", {"same": {"a": 2.0, "b": 1.0}, "order": {"a": 2.0, "b": 1.0}, "score": {"a": 2.0}, "less": {"a": 1.0}}
    )
    other = Run.of(
        "other", {"same": {"a": 2.0000001, "b": 1.0}, "order": {"a": 1.0, "b": 2.0}, "score": {"a": 2.001}, "less": {}}
    )
    assert equal_questions(other, single) == ["same"]
    assert equal_questions(single, single) == list(single.queries)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("shards")
    for number, documents in enumerate(partition(DOCUMENTS, 2)):
        Index.build(home / str(number), documents).close()
    return [home / "0", home / "1"]


def test_every_search_of_the_check_runs(tmp_path):
    with Index.build(tmp_path / "index", DOCUMENTS) as index:
        found = searches(index.snapshot)
        assert {"bm25", "citation", "rrf of 2 channels", "bm25, filter on code", "rrf, as of a day"} <= set(found)
        assert found["bm25, filter on code"]["filters"] in (["code=Code civil"], ["code=Code\\, autre"])
        assert len(index.search("préavis", 10, **found["bm25, filter on code"])) == 3
        assert len(index.search("préavis", 10, **found["bm25, as of a day"])) == 4


def test_every_shard_has_a_time_for_every_question(folders):
    times = service_times(folders, ["préavis", "mois"])
    assert len(times) == 4
    assert min(times) >= 0
    assert max(times) > 0
