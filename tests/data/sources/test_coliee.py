"""COLIEE folders of 2021 and later: numbered cases and labels in JSON, made up in the layout of the published programs."""

import json

import pytest

from lexfuse.data.document import DocumentKind
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.coliee import read_coliee
from lexfuse.data.sources.names import SourceName
from lexfuse.data.sources.registry import detect_source, read_source
from lexfuse.errors import DataError, NotFoundError

CASES = {
    "task1_train_files/000127.txt": "[1] The applicant relies on <FRAGMENT_SUPPRESSED>.\n[2] Dismissed.",
    "task1_train_files/000200.txt": "[1] The test is\xa0reasonableness.",
    "task1_test_files/000310.txt": "[1] See REFERENCE_SUPPRESSED and CITATION_SUPPRESSED.",
    "task1_test_files/000311.txt": "[1] Costs.",
}
LABELS = {
    "task1_train_labels_2022.json": {"000127.txt": ["000200.txt"]},
    "task1_test_labels_2022.json": {"000310.txt": ["000311.txt", "000200.txt"]},
}


def written(folder, cases=CASES, labels=LABELS):
    for name, text in cases.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for name, values in labels.items():
        (folder / name).write_text(json.dumps(values))
    return folder


def test_cases_are_documents_and_those_with_labels_queries(tmp_path):
    folder, report = written(tmp_path), ReadReport()
    assert detect_source(folder) is SourceName.COLIEE
    collection = read_source(SourceName.COLIEE, folder, report)
    assert sorted(collection.corpus.ids) == ["000127", "000200", "000310", "000311"]
    assert collection.corpus.document("000127").text == "[1] The applicant relies on  .\n[2] Dismissed."
    assert collection.corpus.document("000200").text == "[1] The test is reasonableness."
    assert collection.corpus.document("000310").text == "[1] See   and  ."
    assert set(collection.corpus.kind) == {DocumentKind.DECISION}
    assert collection.queries.query("000127").text == collection.corpus.document("000127").text
    assert {split: qrels.as_dict() for split, qrels in collection.qrels.items()} == {
        "test": {"000310": {"000311": 1, "000200": 1}},
        "train": {"000127": {"000200": 1}},
    }
    assert any("the cases of 2 folders are one corpus" in line for line in report.lines())


def test_labels_may_leave_the_suffix_out_and_a_case_never_notices_itself(tmp_path):
    report = ReadReport()
    folder = written(tmp_path, labels={"train_labels.json": {"000127": ["000127", "000200"], "000200": []}})
    collection = read_coliee(folder, report)
    assert collection.qrels["train"].as_dict() == {"000127": {"000200": 1}}
    assert sorted(collection.queries.ids) == ["000127", "000200"]
    said = "\n".join(report.lines())
    assert "label of a case on itself" in said
    assert "query case without a label" in said


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({"train_labels.json": {"000999.txt": ["000200.txt"]}}, "case 000999: labels of a case that is not in the folder"),
        ({"train_labels.json": {"000127.txt": ["000999.txt"]}}, "label 000999: a label on a case that is not in the folder"),
        ({"train_labels.json": {"000127.txt": "000200.txt"}}, "expected a list of files for '000127.txt', found '000200.txt'"),
        ({"train_labels.json": ["000127.txt"]}, "expected an object of query case and list of cases, found list"),
        ({"labels.json": {"000127.txt": ["000200.txt"]}}, "the name says no split"),
        (
            {"train_labels.json": {"000127.txt": ["000200.txt"]}, "test_labels.json": {"000127.txt": ["000311.txt"]}},
            "a case with labels in two splits",
        ),
    ],
)
def test_wrong_labels_are_errors(tmp_path, labels, reason):
    with pytest.raises(DataError, match=reason):
        read_coliee(written(tmp_path, labels=labels))


def test_two_cases_with_one_number(tmp_path):
    folder = written(tmp_path, CASES | {"task1_test_files/000127.txt": "[1] Another."})
    with pytest.raises(DataError, match=r"another case than '.*task1_test_files/000127.txt' has the same number"):
        read_coliee(folder)
    same = written(tmp_path / "same", CASES | {"task1_test_files/000127.txt": CASES["task1_train_files/000127.txt"]})
    assert len(read_coliee(same).corpus) == 4


def test_the_layout_up_to_2020_is_refused(tmp_path):
    folder = written(tmp_path, {"001/base_case.txt": "Query.", "001/candidates/001.txt": "One."})
    with pytest.raises(DataError, match=r"base_case.txt: a query with its own candidates, the layout up to 2020"):
        read_coliee(folder)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(NotFoundError, match="no COLIEE cases in"):
        read_coliee(written(tmp_path / "labels", cases={"readme.txt": "Hello."}))
    with pytest.raises(NotFoundError, match="no COLIEE labels in"):
        read_coliee(written(tmp_path / "cases", labels={}))


def test_a_case_that_is_not_utf8_is_a_bad_record(tmp_path):
    folder = written(tmp_path)
    (folder / "task1_test_files" / "000400.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=r"000400.txt: byte 0xe9 at position 3 is not UTF-8"):
        read_coliee(folder)
    report = ReadReport(skip_bad=True)
    assert len(read_coliee(folder, report).corpus) == 4
    assert report.skipped == 1
