import zipfile

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.scifact import read_scifact
from lexfuse.errors import DataError, NotFoundError

FILES = {
    "corpus_train.csv": (
        "doc_id,title,abstract,structured\n"
        '4,Cells  divide,"[\'One \\u2019a\\u2019.\'\n ""It\'s two.   \\n RESULTS.""]",False\n'
        "5,Other,['Three.'],False\n"
    ),
    "claims_train.csv": (
        "id,claim,evidence_doc_id,cited_doc_ids\n0,Cells divide.,,[4 5]\n0,Cells divide.,4,[4 5]\n2,Cells rest.,,[5]\n"
    ),
    "claims_validation.csv": "id,claim,cited_doc_ids\n1,Cells die.,[4]\n",
    "claims_test.csv": "id,claim,cited_doc_ids\n7,Nobody knows.,[]\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def check(read):
    assert read.corpus.ids.names == ("4", "5")
    assert read.corpus.text == ("One ’a’. It's two. RESULTS.", "Three.")
    assert read.corpus[0].title == "Cells divide"
    assert read.queries.ids.names == ("0", "2", "1")
    assert {split: qrels.as_dict() for split, qrels in read.qrels.items()} == {
        "train": {"0": {"4": 1, "5": 1}, "2": {"5": 1}},
        "test": {"1": {"4": 1}},
    }


def test_splits_and_labels_are_those_of_beir(folder):
    check(read_scifact(folder))


def test_the_zip_file_is_read_in_place(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "scifact.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    check(read_scifact(path))


def test_a_label_without_its_abstract(folder):
    (folder / "claims_validation.csv").write_text("id,claim,cited_doc_ids\n1,Cells die.,[9]\n")
    with pytest.raises(DataError, match=r"claims_validation.csv, line 2: the claim cites an abstract .* '9'"):
        read_scifact(folder)
    report = ReadReport(skip_bad=True)
    assert "test" not in read_scifact(folder, report).qrels
    assert report.skipped == 1


def test_other_columns_and_missing_files(folder):
    (folder / "claims_train.csv").write_text("id,text\n1,A\n")
    with pytest.raises(DataError, match=r"claims_train.csv: no column claim, cited_doc_ids; found id, text"):
        read_scifact(folder)
    (folder / "claims_train.csv").unlink()
    with pytest.raises(NotFoundError, match=r"no claims_train.csv in .*; give scifact.zip or its unpacked folder"):
        read_scifact(folder)
