"""Collections of ir_datasets, with the real package and files in place of downloads."""

from typing import NamedTuple

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, NotFoundError


@pytest.fixture(scope="module")
def read(bridge):
    return bridge("ir_datasets", "ir_datasets").read_ir_dataset


def test_documents_queries_and_judgements(read, tmp_path):
    import ir_datasets

    files = {"docs": "d1\tle prêt\nd2\tla cotisation\n", "queries": "q1\tretard\n", "qrels": "q1 0 d1 2\nq1 0 d2 0\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    dataset = ir_datasets.create_dataset(tmp_path / "docs", tmp_path / "queries", tmp_path / "qrels")
    collection = read(dataset, split="dev")
    assert [(one.id, one.text) for one in collection.corpus] == [("d1", "le prêt"), ("d2", "la cotisation")]
    assert collection.queries.query("q1").text == "retard"
    assert collection.qrels["dev"].as_dict() == {"q1": {"d1": 2, "d2": 0}}


class Decision(NamedTuple):
    doc_id: str
    title: str
    body: str
    court: str
    years: tuple
    seen: object

    def default_text(self):
        return f"{self.title} {self.body}"


def test_other_fields_are_kept_or_counted(read):
    import ir_datasets
    from ir_datasets.formats import BaseDocs

    class Decisions(BaseDocs):
        def docs_iter(self):
            yield Decision("c1", "A v B", "Dismissed.", "House of Lords", (1932, 1933), object())

    report = ReadReport()
    [found] = read(ir_datasets.Dataset(Decisions()), report).corpus
    assert (found.title, found.text) == ("A v B", "A v B Dismissed.")
    assert found.extra == {"body": "Dismissed.", "court": "House of Lords", "years": [1932, 1933]}
    assert report.lines() == ["1 noted: field 'seen' is no JSON value and was left out"]


def test_a_dataset_that_is_not_there_or_has_no_documents(read):
    import ir_datasets

    with pytest.raises(NotFoundError, match="no dataset 'law/none'"):
        read("law/none")
    with pytest.raises(DataError, match="has no documents"):
        read(ir_datasets.Dataset())
