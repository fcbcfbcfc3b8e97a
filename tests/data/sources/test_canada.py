import gzip
import json

import pytest

from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.canada import read_canada, split_of
from lexfuse.errors import DataError, NotFoundError


def section(act, label, note, french=""):
    texts = {"en": f"Text of {label}.", "fr": f"Texte de {label}.", "en_note": note, "fr_note": french}
    return {"id": f"{act}#{label}", "act": act, "label": label, **texts}


@pytest.fixture
def folder(tmp_path):
    def written(*records):
        with gzip.open(tmp_path / "pairs.jsonl.gz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps(record) + "\n" for record in records)
        return tmp_path

    return written


def test_every_section_is_a_document_in_both_languages(folder):
    report = ReadReport()
    read = read_canada(folder(section("A-1", "3", "Duty of the Minister", "Obligation du ministre")), report)
    assert read.corpus.ids.names == ("A-1#3-en", "A-1#3-fr")
    assert (read.corpus.language, read.corpus.text) == (("en", "fr"), ("Text of 3.", "Texte de 3."))
    assert (read.corpus.code, read.corpus.number) == (("A-1", "A-1"), ("3", "3"))
    assert [(query.text, query.language) for query in read.queries] == [
        ("Duty of the Minister", "en"),
        ("Obligation du ministre", "fr"),
    ]
    assert read.qrels[split_of("A-1")].as_dict() == {"A-1#3-en-note": {"A-1#3-en": 1}, "A-1#3-fr-note": {"A-1#3-fr": 1}}
    assert report.kept == 4


def test_notes_that_ask_for_no_single_section_are_no_questions(folder):
    notes = ["Definitions", "Report to Parliament", "report to parliament", "Powers of the court"]
    read = read_canada(folder(*(section("A-1", str(at), note) for at, note in enumerate(notes))))
    assert read.queries.text == ("Powers of the court",)


def test_an_act_is_on_one_side(folder):
    acts = [f"SOR-{number}" for number in range(40)]
    read = read_canada(folder(*(section(act, label, f"Note {label} of {act}") for act in acts for label in "12")))
    sides = {split: {id.partition("#")[0] for id in qrels.queries} for split, qrels in read.qrels.items()}
    assert set(sides) == {"train", "dev", "test"}
    assert sum(map(len, sides.values())) == len(acts)


def test_a_bad_record_is_named_or_skipped(folder):
    path = folder(section("A-1", "1", "Duty of the Minister"), {"id": "A-1#2"}, section("A-1", "1", "Another note here"))
    with pytest.raises(DataError, match=r"line 2.*expected texts in id, act"):
        read_canada(path)
    report = ReadReport(skip_bad=True)
    assert len(read_canada(path, report).corpus) == 2
    assert report.skipped == 2


def test_a_folder_without_the_file(tmp_path):
    with pytest.raises(NotFoundError, match=r"no pairs.jsonl in"):
        read_canada(tmp_path)
