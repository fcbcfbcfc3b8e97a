"""CSV with a header."""

from datetime import date

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.file_format import read_corpus, read_queries, write_corpus, write_queries
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError


def read(tmp_path, text, report=None):
    path = tmp_path / "corpus.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_corpus(path, report)


def test_a_document_is_one_row_with_lists_and_extra_as_json(tmp_path):
    document = Document(
        "a",
        'dit "loi"',
        "un,\ndeux",
        "fr",
        DocumentKind.STATUTE,
        headings=("I > II", "[x]"),
        date=date(2020, 1, 2),
        extra={"é": [1, None]},
    )
    write_corpus(Corpus.of([document]), tmp_path / "c.csv")
    header, row = (tmp_path / "c.csv").read_bytes().decode().split("\n", 1)
    assert header == (
        "id,title,text,language,kind,code,number,headings,court,date,valid_from,valid_to,status,identifiers,citations,extra"
    )
    assert row == ('a,"dit ""loi""","un,\ndeux",fr,statute,,,"[""I > II"",""[x]""]",,2020-01-02,,,,,,"{""é"":[1,null]}"\n')
    assert read_corpus(tmp_path / "c.csv")[0] == document


def test_lists_can_be_written_by_hand(tmp_path):
    document = read(tmp_path, 'id,text,headings,citations,cases\na,x,A > B-C > [D],L1; L2 ;,"[""C-1/17"", 5]"\nb,y,[X] > Y,,\n')
    assert document[0].headings == ("A", "B-C", "[D]")
    assert document[0].citations == ("L1", "L2")
    assert document[0].identifiers == ("C-1/17", "5")
    assert document[1].headings == ("[X]", "Y")


def test_unknown_columns_go_to_extra_as_text_and_empty_cells_say_nothing(tmp_path):
    corpus = read(tmp_path, "_id,contents,note,etat,date_fin\n1,x,007,VIGUEUR,22/02/2222\n2,y,,,\n")
    assert [document.extra for document in corpus] == [{"note": "007"}, {}]
    assert [str(status) for status in corpus.status] == ["in force", ""]


def test_queries_keep_list_columns_as_text(tmp_path):
    (tmp_path / "q.csv").write_text("id,text,cases\nq,x,C-1/17;C-2/17\n")
    assert read_queries(tmp_path / "q.csv")[0].extra == {"cases": "C-1/17;C-2/17"}


def test_queries_round_trip(tmp_path):
    queries = [Query("q1", "a;b\r\nc", "fr", date(2020, 1, 1), {"n": 1}), Query("q2", "x")]
    write_queries(Queries.of(queries), tmp_path / "q.csv")
    assert list(read_queries(tmp_path / "q.csv")) == queries


def test_excel_files_with_a_byte_order_mark_and_carriage_returns_are_read(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbfid,text\r\na,x\r\n\r\nb,y\r\n").text == ("x", "y")


def test_a_whole_judgment_fits_in_a_cell(tmp_path):
    text = "attendu que " * 50_000
    assert read(tmp_path, f"id,text\na,{text}\n").text == (text,)


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("id,body", "'text': found 'id', 'body'"),
        ("nom,texte", "'id', 'text': found 'nom', 'texte'"),
        ("nom;texte", "'id', 'text': found 'nom', 'texte'"),
    ],
)
def test_other_columns_are_listed_beside_those_expected(tmp_path, header, missing):
    with pytest.raises(DataError, match=f"line 1: no column {missing}; expected 'id' and 'text', and where known 'title', "):
        read(tmp_path, f"{header}\n1,2\n")


def test_a_column_given_twice_and_an_empty_file_are_refused(tmp_path):
    with pytest.raises(DataError, match="repeated columns in the header: 'text'"):
        read(tmp_path, "id,text,text\n1,2,3\n")
    with pytest.raises(DataError, match="found no header"):
        read(tmp_path, "")


def test_lines_are_the_physical_ones_where_records_start(tmp_path):
    report = ReadReport(skip_bad=True)
    corpus = read(tmp_path, 'id,text,date\na,"one\n\ntwo",\nb,x,2023-02-30\n"c\nd",y,\ne,z\n', report)
    assert corpus.ids.names == ("a", "c\nd")
    assert report.lines()[0].startswith("1 skipped: field 'date': '2023-02-30' is not a date")
    assert report.lines()[1].startswith("1 skipped: the row has 2 columns, the header 3")
    assert [line.rsplit(", ", 1)[1] for line in report.lines()] == ["line 5)", "line 8)"]
    assert report.kept == 2


def test_a_quote_that_never_ends_is_refused_where_it_starts(tmp_path):
    with pytest.raises(DataError, match="line 3: not valid CSV: unexpected end of data"):
        read(tmp_path, 'id,text\na,x\nb,"never\nends\n')


def test_reading_goes_on_after_a_broken_row(tmp_path):
    report = ReadReport(skip_bad=True)
    assert read(tmp_path, 'id,text\na,"x"y\nb,z\n', report).ids.names == ("b",)
    assert "line 2" in report.lines()[0]


def test_bytes_that_are_not_utf8_cost_one_row(tmp_path):
    content = b"id,text\na,\xe9t\xe9\nb,x\n"
    with pytest.raises(DataError, match="line 2: byte 0xe9 in the row is not UTF-8"):
        read(tmp_path, content)
    report = ReadReport(skip_bad=True)
    assert read(tmp_path, content, report).ids.names == ("b",)
    assert report.skipped == 1


def test_broken_json_in_extra_is_refused(tmp_path):
    with pytest.raises(DataError, match="line 2: column 'extra': not valid JSON"):
        read(tmp_path, "id,text,extra\na,x,{broken\n")
    assert read(tmp_path, "id,text,extra\na,x,free text\n")[0].extra == {"extra": "free text"}


def test_a_header_of_a_hundred_thousand_columns(tmp_path):
    names = [f"column{number}" for number in range(100_000)]
    corpus = read(tmp_path, ",".join(["id", "text", *names]) + "\na,x" + "," * len(names) + "\n")
    assert corpus[0].extra == {}
    with pytest.raises(DataError, match=r"found 'column0', .*'column19' and 99,980 more; expected 'id' and 'text'") as error:
        read(tmp_path, ",".join(names))
    assert len(str(error.value)) < 2000
    with pytest.raises(DataError, match="repeated columns in the header: 'id', 'text'; rename them"):
        read(tmp_path, ",".join(["id", "text", *names, "text", "id"]))
