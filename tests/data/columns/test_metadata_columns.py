"""Metadata of an index: typed by its values, filtered, and counted in facets; other fields stay what they are."""

import pytest

from lexfuse.data.columns.column_types import ColumnType
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, UnknownFieldError
from lexfuse.search.hits import find_hits
from lexfuse.search.index_version import IndexVersion
from lexfuse.storage.filters import Condition, within
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder

EXTRA = [
    {"fee": 3, "heard": "2010-02-03", "judge": "A, B", "tags": ["rent", "lease"], "Case type": "civil", "code_id": "T1"},
    {"fee": 12.5, "heard": "2011-05-06", "judge": "C", "open": True, "Case type": "penal", "code_id": "T2"},
    {"fee": -1, "heard": "2011-01-01", "tags": ["rent"], "versions": [{"id": 1}], "nota": "x" * 400, "code_id": "T2"},
    {"heard": "2011-09-09", "judge": "D"},
]
CODES = ["Code civil", "Code pénal", "Code pénal", ""]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    documents = [Document("abcd"[at], text="law", language="en", code=CODES[at], extra=extra) for at, extra in enumerate(EXTRA)]
    folder = tmp_path_factory.mktemp("metadata") / "i"
    with IndexFolder.create(folder, documents=[*documents[:2], Document("gone", extra={"only": "here"})]) as index:
        index.add(documents[2:])
        index.delete(["gone"])
    with open_snapshot(folder) as opened:
        yield opened


def kept(snapshot, *texts):
    mask = within(snapshot, [Condition.parse(text) for text in texts])
    return "".join(sorted(id for id, keeps in zip(snapshot.ids, mask, strict=True) if keeps))


def test_types_follow_from_the_values(snapshot):
    assert {name: column.type.value for name, column in snapshot.metadata.items()} == {
        "Case type": "text", "code_id": "text", "fee": "number", "heard": "date", "judge": "text", "open": "text", "tags": "text",
    }  # fmt: skip
    assert snapshot.metadata["fee"].type is ColumnType.NUMBER


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fee=3", "a"), ("fee=3.0,12.5", "ab"), ("fee!=3", "bcd"), ("fee>=3", "ab"), ("fee>3", "b"), ("fee<0", "c"),
        ("fee=", "d"),
        ("heard>=2011-01-01", "bcd"), ("heard<2011-01-01", "a"), ("heard=2010-02-03", "a"), ("heard^=2011", "bcd"),
        ("heard!=2010-02-03", "bcd"),
        (r"judge=A\, B", "a"), ("judge=C,x", "b"), ("judge^=A", "a"), ("judge=", "c"), ("judge!=C", "acd"),
        ("tags=rent", "ac"), ("tags=lease", "a"), ("tags!=lease", "bcd"), ("open=true", "b"), ("Case type=penal", "b"),
    ],
)  # fmt: skip
def test_what_a_condition_keeps(snapshot, text, expected):
    assert kept(snapshot, text) == expected


def test_metadata_and_fields_together(snapshot):
    assert kept(snapshot, "code=Code pénal", "fee>0") == "b"


@pytest.mark.parametrize(
    ("text", "error", "reason"),
    [
        ("fee=much", ConfigError, "fee is a number; compare it with one such as 12.5, got 'much'"),
        ("fee^=1", ConfigError, "fee is a number; filter it with"),
        ("judge>=A", ConfigError, "judge is text; filter it with =, != or"),
        ("heard>=2/3/2010", ConfigError, "ambiguous"),
        ("versions=1", UnknownFieldError, "no field 'versions' to filter by; .*its metadata: 'Case type', 'code_id', 'fee'"),
        ("nota=x", UnknownFieldError, "no field 'nota'"),
        ("only=here", UnknownFieldError, "no field 'only'"),
    ],
)
def test_what_cannot_be_filtered_by(snapshot, text, error, reason):
    with pytest.raises(error, match=reason):
        within(snapshot, [Condition.parse(text)])


def test_facets_of_metadata(snapshot):
    """Few values are a facet, a date by year; one that divides the documents as another does is left out."""
    version = IndexVersion(snapshot)
    found = {
        facet.field: [(one.value, one.count) for one in facet.values] for facet in find_hits(version, "law", facets=True).facets
    }
    assert found == {
        "code": [("Code pénal", 2), ("Code civil", 1)],
        "Case type": [("civil", 1), ("penal", 1)],
        "fee": [("-1", 1), ("12.5", 1), ("3", 1)],
        "heard": [("2011", 3), ("2010", 1)],
    }


def test_the_filter_of_a_facet_selects_its_value(snapshot):
    version = IndexVersion(snapshot)
    for facet in find_hits(version, "law", facets=True).facets:
        for value in facet.values:
            hits = find_hits(version, "law", filters=value.filters, facets=True)
            assert len(hits.hits) == value.count, (facet.field, value)
            chosen = next(one for one in hits.facets if one.field == facet.field)
            assert [one.value for one in chosen.values if one.chosen] == [value.value]
