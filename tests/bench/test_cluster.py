"""The benchmark of clusters counts a question as equal only if it is, and finds what the documents can be limited by."""

import datetime

from bench.cluster import service_times
from bench.cluster_answers import divided, equal_questions
from bench.runner.index_searches import rerankers, searches
from lexfuse import Document, Index
from lexfuse.cluster.cluster_index import ClusterIndex
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


def test_every_search_of_the_check_runs(tmp_path):
    with Index.build(tmp_path / "index", DOCUMENTS) as index:
        found = searches(index.snapshot)
        assert {"bm25", "citation", "rrf of 2 channels", "bm25, filter on code", "rrf, as of a day"} <= set(found)
        assert found["bm25, filter on code"]["filters"] in (["code=Code civil"], ["code=Code\\, autre"])
        assert len(index.search("préavis", 10, **found["bm25, filter on code"])) == 3
        assert len(index.search("préavis", 10, **found["bm25, as of a day"])) == 4


def test_rerankers_are_those_that_the_channels_allow(tmp_path, tiny):
    with Index.build(tmp_path / "index", DOCUMENTS) as index:
        assert rerankers(index.snapshot, "") == {}
        index.add_channels({"dense": str(tiny.folder(tmp_path / "model"))})
        found = rerankers(index.snapshot, "")
        assert list(found) == ["rescored by dense", "rprs over dense", "sdr over dense", "birch over dense"]
        for search in found.values():
            assert len(index.search("préavis", 3, **search)) == 3


def test_every_shard_has_a_time_for_every_question(tmp_path):
    Index.build(tmp_path / "index", DOCUMENTS).close()
    builder = divided(tmp_path / "index", [2], tmp_path)[2]
    with ClusterIndex.published(builder.store, tmp_path / "cache") as cluster:
        times = service_times(cluster, ["préavis", "mois"])
    assert len(times) == 4
    assert min(times) >= 0
    assert max(times) > 0
