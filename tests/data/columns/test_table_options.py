"""Columns of tables: named by flags, typed over the whole column, near misses suggested."""

from datetime import date

import pytest

from lexfuse.data.columns.column_types import ColumnType, stated_types
from lexfuse.data.columns.table_options import TableOptions, mapped_columns
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError

GERMAN = (
    "nr;Datum;Inhalt;Gericht;Streitwert;verhandelt;Az\nA 1;3.2.2010;Text eins;BGH;12.50;2010-01-02;007\nB;;Text zwei;;3;;12\n"
)
OPTIONS = TableOptions(
    mapped_columns({"id": "nr", "text": "Inhalt", "date": "Datum"}, ["court=Gericht", "value=Streitwert"]), date_format="%d.%m.%Y"
)


def read(tmp_path, content, options=None, name="t.csv", report=None):
    (tmp_path / name).write_text(content)
    return list(read_corpus(tmp_path / name, report or ReadReport(), options or TableOptions()))


def test_columns_types_and_dates(tmp_path):
    report = ReadReport()
    first, second = read(tmp_path, GERMAN, OPTIONS, report=report)
    assert (first.id, first.text, first.court, first.date) == ("A 1", "Text eins", "BGH", date(2010, 2, 3))
    assert first.extra == {"value": 12.5, "verhandelt": "2010-01-02", "Az": "007"}
    assert second.extra == {"value": 3, "Az": "12"}  # "Az" is text, since 007 is no number
    assert (second.court, second.date) == ("", None)
    assert [line.partition(" (")[0] for line in report.lines()] == [
        "1 noted: metadata 'value' is read as a number; state another type with --type",
        "1 noted: metadata 'verhandelt' is read as a date; state another type with --type",
    ]


def test_stated_types(tmp_path):
    options = TableOptions(OPTIONS.columns, stated_types(["value=text", "verhandelt=text"]), OPTIONS.date_format)
    assert read(tmp_path, GERMAN, options)[0].extra == {"value": "12.50", "verhandelt": "2010-01-02", "Az": "007"}
    wrong = TableOptions(OPTIONS.columns, {"Az": ColumnType.DATE}, OPTIONS.date_format)
    with pytest.raises(DataError, match=r"line 2: column 'Az': '007' does not have the date format"):
        read(tmp_path, GERMAN, wrong)
    number = TableOptions(OPTIONS.columns, {"Az": ColumnType.NUMBER}, "%d.%m.%Y")
    assert read(tmp_path, GERMAN, number)[0].extra["Az"] == 7


def test_an_ambiguous_date_needs_a_form(tmp_path):
    table = "id,text,date\na,x,2/3/2010\n"
    with pytest.raises(DataError, match=r"line 2: field 'date': '2/3/2010' is not a date \(ambiguous"):
        read(tmp_path, table)
    for form, day in (("%d/%m/%Y", date(2010, 3, 2)), ("%m/%d/%Y", date(2010, 2, 3))):
        assert read(tmp_path, table, TableOptions(date_format=form))[0].date == day


def test_other_dates_of_a_table_decide_which_comes_first(tmp_path):
    table = "id,text,date,valid_from\na,x,2/3/2010,\nb,y,25/12/2010,\nc,z,,4/5/2011\n"
    assert [one.date or one.valid_from for one in read(tmp_path, table)] == [
        date(2010, 3, 2),
        date(2010, 12, 25),
        date(2011, 5, 4),
    ]
    for other in ("12/25/2010", "3/3/2010"):  # the contrary, and no evidence
        with pytest.raises(DataError, match=r"line 2: field 'date': '2/3/2010' is not a date \(ambiguous"):
            read(tmp_path, f"id,text,date\na,x,2/3/2010\nb,y,{other}\n")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('[{"nr": 1, "body": "x", "Gericht": "BGH", "fee": 3}, {"nr": 2, "body": "y"}]', "t.json"),
        ('{"nr": 1, "body": "x", "Gericht": "BGH", "fee": 3}\n{"nr": 2, "body": "y"}', "t.jsonl"),
        ("nr\tbody\tGericht\tfee\n1\tx\tBGH\t3\n2\ty\t\t\n", "t.tsv"),
        ("nr|body|Gericht|fee\n1|x|BGH|3\n2|y||\n", "t.csv"),
    ],
)
def test_every_table(tmp_path, content, name):
    options = TableOptions({"id": "nr", "text": "body", "court": "Gericht"})
    first, second = read(tmp_path, content, options, name)
    assert (first.id, first.text, first.court, first.extra) == ("1", "x", "BGH", {"fee": 3})
    assert (second.id, second.court, second.extra) == ("2", "", {})
    with pytest.raises(
        DataError, match=r"column 'boddy' not found; did you mean 'body'\? columns: 'nr', 'body', 'Gericht', 'fee'"
    ):
        read(tmp_path, content, TableOptions({"id": "nr", "text": "boddy"}), name)
    with pytest.raises(DataError, match=r"column 'Gerict' not found; did you mean 'Gericht'\?"):
        read(tmp_path, content, TableOptions({"id": "nr", "text": "body", "court": "Gerict"}), name)


def test_a_parquet_table(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"nr": ["a"], "body": ["x"], "fee": [1.5]}), tmp_path / "t.parquet")
    (found,) = read_corpus(tmp_path / "t.parquet", ReadReport(), TableOptions({"id": "nr", "text": "body"}))
    assert (found.id, found.text, found.extra) == ("a", "x", {"fee": 1.5})
    with pytest.raises(DataError, match=r"perhaps --text 'body'"):
        read_corpus(tmp_path / "t.parquet", ReadReport(), TableOptions({"id": "nr"}))


def test_a_column_named_like_a_field_that_another_column_is_stays_as_metadata(tmp_path):
    (found,) = read(tmp_path, "id,text,body\na,short,long\n", TableOptions({"text": "body"}))
    assert (found.text, found.extra) == ("long", {"text": "short"})


def test_separators(tmp_path):
    assert read(tmp_path, 'id;text;note\na;"x; y";b\n')[0].text == "x; y"
    assert read(tmp_path, "id,text;x\na,b\n", TableOptions({"text": "text;x"}, delimiter=","))[0].text == "b"
    with pytest.raises(
        DataError, match=r"commas \(2 columns\) or semicolons \(2 columns\): which is not clear; give --delimiter"
    ):
        read(tmp_path, "nr,body;x\na,b\n")


def test_tables_of_ms_marco_have_no_header(tmp_path):
    report = ReadReport()
    found = read(tmp_path, '7\tA "lease\n8\tends', name="collection-part.tsv", report=report)
    assert [(one.id, one.text) for one in found] == [("7", 'A "lease'), ("8", "ends")]
    assert "no header; the columns are read as id, text" in "".join(report.lines())
    (found,) = read(tmp_path, "D1\thttps://x.org\tTitle\tThe body.", name="docs.tsv")
    assert (found.id, found.title, found.text, found.extra) == ("D1", "Title", "The body.", {"url": "https://x.org"})
    with pytest.raises(DataError, match="perhaps --id 'nr' and --text 'Inhalt'"):
        read(tmp_path, "nr\tInhalt\n1\tx", name="t.tsv")


def test_json_that_is_no_list(tmp_path):
    with pytest.raises(DataError, match=r"expected a list of objects, .* got an object with articles"):
        read(tmp_path, '{"articles": []}', name="t.json")
    with pytest.raises(DataError, match="record 2: expected a JSON object"):
        read(tmp_path, '[{"id": "a", "text": "x"}, 3]', name="t.json")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: mapped_columns({"id": "a"}, ["id=b"]),
        lambda: mapped_columns({}, ["court"]),
        lambda: stated_types(["fee=money"]),
        lambda: TableOptions({"id": "a", "text": "a"}),
        lambda: TableOptions(types={"court": ColumnType.TEXT}),
        lambda: TableOptions(delimiter=":"),
        lambda: TableOptions(date_format="%Y"),
        lambda: TableOptions(date_format="%"),
    ],
)
def test_options_that_cannot_be(wrong):
    with pytest.raises(ConfigError):
        wrong()


def test_a_header_that_is_no_csv(tmp_path):
    with pytest.raises(DataError):
        read(tmp_path, "a\rb,c\n")
