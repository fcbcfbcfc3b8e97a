import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legalpincite import read_legalpincite
from lexfuse.errors import DataError, NotFoundError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "doc_test_par.csv").write_text("docno,text\n62010CJ0002-7,It must be held.\n62010CJ0002-8,Costs.\n")
    (tmp_path / "doc_dev_par.csv").write_text("docno,text\n62010CJ0002-7,It must be held.\n")
    (tmp_path / "query_test_par.csv").write_text("qid,query_unmasked,query\n62018CJ0001-5,See C-2/10.,See.\n")
    (tmp_path / "qrel_test_par_par.csv").write_text(
        "qid,docno,label,source\n62018CJ0001-5,62010CJ0002-7,1,eur_lex\n62018CJ0001-5,62010CJ0002-7,1,expert\n"
    )
    (tmp_path / "query_test_case.csv").write_text("qid,query\n62018CJ0001,A whole case.\n")
    (tmp_path / "qrel_test_par_case.csv").write_text("qid,docno,label\n62018CJ0001-5,62010CJ0002,1\n")
    return tmp_path


def test_paragraph_level(folder):
    collection = read_legalpincite(folder)
    assert collection.corpus.ids.names == ("62010CJ0002-7", "62010CJ0002-8")
    document = collection.corpus[0]
    assert (document.number, document.title, document.identifiers) == ("7", "C-2/10, paragraph 7", ("62010CJ0002", "C-2/10"))
    assert (collection.queries[0].text, collection.queries[0].extra) == ("See.", {"unmasked": "See C-2/10."})
    assert len(collection.queries) == 1
    assert {split: qrels.as_dict() for split, qrels in collection.qrels.items()} == {
        "test": {"62018CJ0001-5": {"62010CJ0002-7": 1}}
    }


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("other,62010CJ0002-7,1,x", "qid 'other': a label of an unknown query"),
        ("62018CJ0001-5,nowhere-1,1,x", "docno 'nowhere-1': a label on a paragraph that is not in the corpus"),
        ("62018CJ0001-5,62010CJ0002-8,yes,x", "label 'yes': a label that is not an integer"),
    ],
)
def test_bad_labels(folder, row, reason):
    with (folder / "qrel_test_par_par.csv").open("a") as file:
        file.write(row + "\n")
    with pytest.raises(DataError, match=reason):
        read_legalpincite(folder)
    report = ReadReport(skip_bad=True)
    assert len(read_legalpincite(folder, report).qrels["test"]) == 1
    assert report.skipped == 1


def test_bad_paragraphs_and_queries(folder):
    with (folder / "doc_dev_par.csv").open("a") as file:
        file.write("nohyphen,x\n62010CJ0002-9,\n62010CJ0002-8,Other costs.\n")
    with (folder / "query_test_par.csv").open("a") as file:
        file.write("62018CJ0001-5,,Again.\n")
    report = ReadReport(skip_bad=True)
    assert len(read_legalpincite(folder, report).corpus) == 2
    assert report.skipped == 3
    assert any("paragraph with two texts" in line for line in report.lines())


def test_nothing_there(tmp_path):
    with pytest.raises(NotFoundError, match=r"expected doc_dev_par.csv"):
        read_legalpincite(tmp_path)
