import json

import pytest

from lexfuse.data.document import DocumentKind
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legalquad import read_legalquad
from lexfuse.errors import DataError, NotFoundError


def decision(id, text, *questions):
    qas = [{"id": number, "question": asked, "answers": [{"text": "Ja"}]} for number, asked in questions]
    return {"paragraphs": [{"document_id": id, "context": text, "qas": qas}]}


@pytest.fixture
def file(tmp_path):
    def written(*entries):
        path = tmp_path / "LegalQuAD.json"
        path.write_text(json.dumps({"data": entries}))
        return path

    return written


def test_decisions_and_questions(file):
    report = ReadReport()
    read = read_legalquad(file(decision(5, "Tenor1Die Revision.", (7, "Wie?"), (8, "Wer?")), decision(6, "Gründe.")), report)
    assert read.corpus.ids.names == ("5", "6")
    assert (read.corpus[0].text, read.corpus[0].language, read.corpus[0].kind) == (
        "Tenor1Die Revision.", "de", DocumentKind.DECISION,
    )  # fmt: skip
    assert [(query.id, query.text, query.extra["answers"]) for query in read.queries] == [
        ("7", "Wie?", ["Ja"]), ("8", "Wer?", ["Ja"]),
    ]  # fmt: skip
    assert read.qrels["test"].as_dict() == {"7": {"5": 1}, "8": {"5": 1}}
    assert report.kept == 4


def test_a_file_under_another_name_is_read(file, tmp_path):
    other = file(decision(5, "Tenor.", (7, "Wie?"))).rename(tmp_path / "AIKE2021_Appendix-6eed75f066c9-LegalQuAD.json")
    assert len(read_legalquad(other).corpus) == 1


@pytest.mark.parametrize(
    "second", [decision(5, "Another.", (8, "Wer?")), decision(6, "Another.", (7, "Wer?")), decision(6, None, (8, "Wer?"))]
)
def test_a_bad_record_is_named_or_skipped(file, second):
    path = file(decision(5, "Tenor.", (7, "Wie?")), second)
    with pytest.raises(DataError, match="record 2"):
        read_legalquad(path)
    report = ReadReport(skip_bad=True)
    assert len(read_legalquad(path, report).corpus) == 1
    assert report.skipped == 1


@pytest.mark.parametrize("text", ["[]", '{"data": [1]}', '{"version": 1}'])
def test_another_layout_is_refused(tmp_path, text):
    (tmp_path / "LegalQuAD.json").write_text(text)
    with pytest.raises(DataError, match="expected the layout of SQuAD"):
        read_legalquad(tmp_path)


def test_an_empty_folder(tmp_path):
    with pytest.raises(NotFoundError, match=r"no LegalQuAD.json in"):
        read_legalquad(tmp_path)
