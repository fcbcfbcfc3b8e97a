import gzip

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.tables import TableRow, columns, rows
from lexfuse.errors import DataError


def read(path, content: bytes | str, report: ReadReport | None = None, required=()):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(rows(path, report or ReadReport(), required))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", '\ufeffID,Text\n1,"un\ndeux, trois"\n\n2,x\n'),
        ("a.tsv", 'ID\tText\r\n1\t"un\ndeux, trois"\r\n2\tx\r\n'),
        ("a.jsonl", '{"ID": 1, "Text": "un\\ndeux, trois"}\n{"ID": "2", "Text": "x"}\n'),
        ("a.json", '[{"ID": 1, "Text": "un\\ndeux, trois"}, {"ID": 2, "Text": "x"}]'),
    ],
)
def test_every_form_gives_the_same_rows(tmp_path, name, content):
    plain = read(tmp_path / name, content)
    assert [(row.text("id"), row.text("text")) for row in plain] == [("1", "un\ndeux, trois"), ("2", "x")]
    packed = read(tmp_path / f"{name}.gz", gzip.compress(content.encode(), mtime=0))
    assert [row.values for row in packed] == [row.values for row in plain]
    assert columns(tmp_path / name) == ("id", "text")


def test_lines_are_counted_through_quoted_breaks(tmp_path):
    found = read(tmp_path / "a.csv", 'id,text\n1,"un\ndeux"\n2,x\n')
    assert [row.line for row in found] == [2, 4]
    assert [row.number for row in found] == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.csv", 'id,text\n1,"open', "a.csv, line 2: not valid CSV"),
        ("a.csv", b"id,text\n1,\xe9\n", "a.csv, line 2: byte 0xe9 at position 2 is not UTF-8"),
        ("a.csv.gz", gzip.compress(b"id,text\n1,x\n" * 50, mtime=0)[:-10], "gzip data is truncated"),
        ("a.jsonl", '{"id": 1}\n{"id"\n', "a.jsonl, line 2: not valid JSON"),
        ("a.jsonl", "[1]\n", "a.jsonl, line 1: expected an object, found list"),
        ("a.json", '{"id": 1}', "a.json: expected a list of records, found dict"),
        ("a.json", "[1]", "a.json, record 1: expected an object, found int"),
        ("a.parquet", "PAR1 not really", "not a readable Parquet file"),
    ],
)
def test_damage_is_named(tmp_path, name, content, reason):
    with pytest.raises(DataError, match=reason):
        read(tmp_path / name, content)


def test_required_columns(tmp_path):
    with pytest.raises(DataError, match=r"a.csv: no column 'text'; found 'id', 'texte'; expected id, text"):
        read(tmp_path / "a.csv", "id,texte\n1,x\n", ReadReport(skip_bad=True), ("id", "text"))
    report = ReadReport(skip_bad=True)
    assert len(read(tmp_path / "a.jsonl", '{"id": 1}\n{"x": 1}\n', report, ("id",))) == 1
    assert report.skipped == 1


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ("1,2", ["1", "2"]),
        ("['1', '2']", ["1", "2"]),
        ([1, 2, 1], ["1", "2"]),
        (7, ["7"]),
        ("", []),
        (None, []),
        (float("nan"), []),
    ],
)
def test_lists_in_any_spelling(value, items):
    assert TableRow({"ids": value}, "a", 1).items("ids") == items
