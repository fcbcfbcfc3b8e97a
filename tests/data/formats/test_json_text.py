"""JSON without silent changes."""

import pytest

from lexfuse.data.formats.json_text import DEEPEST, from_json, to_json
from lexfuse.errors import DataError


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "nan is not a JSON number"),
        ({"a": [1, {"b": float("inf")}]}, "inf is not a JSON number"),
        ("\ud800", "surrogates not allowed"),
        (2**64, "64-bit"),
        ({1: 2}, "key must be str"),
        ({"a": {1, 2}}, "not JSON serializable"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_owner(value, reason):
    with pytest.raises(DataError, match=f"document 'a'.*{reason}"):
        to_json(value, "document 'a'")


@pytest.mark.parametrize("raw", [b"", b"{", b"nan", b'{"a": 1} x', b'"\\ud800"', b"\xff"])
def test_what_is_no_json_is_refused(raw):
    with pytest.raises(DataError, match=r"not valid JSON: .* at character \d"):
        from_json(raw)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deep_values_are_refused_before_anything_recurses_into_them(opening, closing):
    def nested(levels):
        return opening * levels + ("1" if opening != "[" else "") + closing * levels

    assert to_json(from_json(nested(DEEPEST)), "it")
    for levels in (DEEPEST + 1, 300, 1020):
        with pytest.raises(DataError, match="nested more than 100 levels"):
            from_json(nested(levels))
        with pytest.raises(DataError, match="nested more than 100 levels"):
            from_json(nested(levels).encode())


def test_many_lists_side_by_side_are_not_deep():
    assert len(from_json("[" + "[[]]," * 1000 + "[]]")) == 1001
