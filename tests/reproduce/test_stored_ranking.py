"""Rankings that recipes/rankings.py stores, as reproduce reads them."""

import numpy as np
import pytest

from lexfuse.data.queries import Queries, Query
from lexfuse.errors import DataError
from reproduce.stored_ranking import StoredRanking


@pytest.fixture
def arrays():
    return {
        "queries": np.array(["q1", "q2"]), "docs": np.array(["a", "b", "c"]), "offsets": np.array([0, 2, 3]),
        "doc": np.array([2, 0, 1], dtype=np.int32), "score": np.array([0.5, 0.9, 0.1], dtype=np.float32),
    }  # fmt: skip


def asked(*ids):
    return Queries.of(Query(id, "…") for id in ids)


def test_rankings_are_those_of_the_queries_in_their_order(tmp_path, arrays):
    np.savez(tmp_path / "SBERT.npz", **arrays, milliseconds=np.array(4.5))
    stored = StoredRanking.read(tmp_path / "SBERT.npz")
    assert stored.milliseconds == 4.5
    run = stored.of(asked("q2", "q1"))
    assert list(run.queries) == ["q2", "q1"]
    assert {query: [hit.doc for hit in run.hits(query)] for query in run.queries} == {"q2": ["b"], "q1": ["a", "c"]}
    assert [hit.doc for hit in stored.of(asked("q2")).hits("q2")] == ["b"]


def test_a_query_that_was_not_asked_is_an_error(tmp_path, arrays):
    np.savez(tmp_path / "SBERT.npz", **arrays)
    with pytest.raises(DataError, match="no ranking of 1 of 2 queries, first 'q9'"):
        StoredRanking.read(tmp_path / "SBERT.npz").of(asked("q1", "q9"))


def test_another_file_is_refused(tmp_path, arrays):
    del arrays["doc"]
    np.savez(tmp_path / "less.npz", **arrays)
    (tmp_path / "text.npz").write_text("nothing")
    with pytest.raises(DataError, match="doc is not in queries"):
        StoredRanking.read(tmp_path / "less.npz")
    with pytest.raises(DataError, match="is no stored ranking"):
        StoredRanking.read(tmp_path / "text.npz")
