"""Names and ordinals."""

import pytest

from lexfuse.data.ids import Ids
from lexfuse.errors import DataError, NotFoundError


def test_names_and_ordinals_are_inverse():
    ids = Ids(["b", "a", "é"])
    assert [ids[ids.ordinal(name)] for name in ids] == ["b", "a", "é"]
    assert ids[1:] == ("a", "é")


def test_a_name_that_comes_twice_is_named():
    with pytest.raises(DataError, match="id 'b' is repeated"):
        Ids(["a", "b", "c", "b"])


def test_an_unknown_name_is_not_found():
    with pytest.raises(NotFoundError, match="no id 'z' among 1"):
        Ids(["a"]).ordinal("z")


def test_ordinals_of_many_names_mark_the_unknown():
    assert Ids(["a", "b"]).ordinals(name for name in ["b", "z", "a"]).tolist() == [1, -1, 0]
    assert Ids([]).ordinals([]).tolist() == []


def test_order_is_by_code_point_not_by_ordinal():
    assert Ids(["b", "É", "a", "Z", "10", "9"]).order.tolist() == [4, 5, 3, 2, 0, 1]


def test_equality_and_hash_follow_the_names():
    assert Ids("ab") == Ids("ab")
    assert Ids("ab") != Ids("ba")
    assert hash(Ids("ab")) == hash(Ids("ab"))


def test_repr_of_a_large_table_is_short():
    assert repr(Ids(map(str, range(1000)))) == "Ids(['0', '1', '2', …], n=1000)"


def test_order_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        Ids("ab").order[0] = 7
