"""Stored ids are ids like others, read only when they must be."""

import numpy as np
import pytest

from lexfuse.data.ids import Ids
from lexfuse.errors import NotFoundError
from lexfuse.storage.stored_ids import StoredIds
from lexfuse.storage.string_list import StringList

LISTS = [StringList.of(["a", "c", "é"]), StringList.of([]), StringList.of(["b"]), StringList.of(["0", "z"])]
CASES = [
    (np.ones(6, dtype=bool), ["a", "c", "é", "b", "0", "z"]),
    (np.array([False, True, True, False, True, False]), ["c", "é", "0"]),
    (np.zeros(6, dtype=bool), []),
]


@pytest.mark.parametrize("names_first", [False, True])
@pytest.mark.parametrize(("alive", "expected"), CASES)
def test_the_same_as_other_ids(alive, expected, names_first):
    ids, plain = StoredIds(LISTS, alive), Ids(expected)
    if names_first:
        assert ids.names == plain.names
    assert len(ids) == len(plain)
    assert [ids[at] for at in range(-len(plain), len(plain))] == expected * 2
    with pytest.raises(IndexError):
        ids[len(plain)]
    assert ids.order.tolist() == plain.order.tolist()
    assert ids.ordinals(["z", "c", "nowhere"]).tolist() == plain.ordinals(["z", "c", "nowhere"]).tolist()
    assert [ids.ordinal(name) for name in expected] == list(range(len(expected)))
    assert (list(ids), ids[:2], repr(ids), hash(ids)) == (list(plain), plain[:2], repr(plain), hash(plain))
    assert ids == plain == ids
    assert "nowhere" not in ids
    with pytest.raises(NotFoundError):
        ids.ordinal("nowhere")


def test_one_name_does_not_read_the_others(monkeypatch):
    ids = StoredIds(LISTS, CASES[1][0])
    monkeypatch.setattr(StringList, "strings", lambda self: pytest.fail("all were read"))
    assert [ids[at] for at in range(len(ids))] == CASES[1][1]
