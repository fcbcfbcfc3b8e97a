"""`lexfuse.collect` from a folder: what it writes, returns and refuses."""

import hashlib
import json
from dataclasses import replace

import pytest

import lexfuse
import lexfuse.data.downloads
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, FetchError, NotFoundError, StorageError

QUESTION = {"id": 7, "question": "Wer trägt die Kosten?", "answers": [{"text": "Der Kläger"}]}
DECISION = {"document_id": 5, "context": "Der Kläger trägt die Kosten des Verfahrens.", "qas": [QUESTION]}
CONTENT = json.dumps({"data": [{"paragraphs": [DECISION]}]}).encode()


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with LegalQuAD of one decision."""
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    monkeypatch.setattr(lexfuse.data.downloads, "LEGALQUAD", replace(lexfuse.data.downloads.LEGALQUAD, sha256=sha256))
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "LegalQuAD.json").write_bytes(CONTENT)
    return folder


def test_what_is_returned_is_what_is_written(files, tmp_path):
    report, steps = ReadReport(), []

    def progress(step, _):
        steps.append(step.split()[0])
        return lexfuse.public_collection.no_progress_bar(step, 0)

    made = lexfuse.collect("legalquad", tmp_path / "out", folder=files, report=report, progress=progress)
    read = lexfuse.read_collection(tmp_path / "out")
    assert made.corpus.ids.names == read.corpus.ids.names == ("5",)
    assert made.queries.text == read.queries.text == ("Wer trägt die Kosten?",)
    assert read.qrels["test"].as_dict() == {"7": {"5": 1}}
    assert "Licence:" in (tmp_path / "out" / "PROVENANCE.md").read_text("utf-8")
    assert report.kept == 2
    assert steps == ["fetching", "reading", "finding", "writing"]


def test_the_folder_is_called_like_the_collection(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lexfuse.collect("legalquad", folder=files, gzipped=False)
    assert (tmp_path / "legalquad" / "corpus.jsonl").is_file()


def test_an_existing_collection_is_replaced_only_where_allowed(files, tmp_path):
    lexfuse.collect("legalquad", tmp_path / "out", folder=files)
    with pytest.raises(StorageError, match="already exists"):
        lexfuse.collect("legalquad", tmp_path / "out", folder=files)
    assert len(lexfuse.collect("legalquad", tmp_path / "out", folder=files, replace=True).corpus) == 1


def test_bad_input_writes_nothing(files, tmp_path):
    with pytest.raises(ConfigError, match="no public collection 'nonsense'; there are french-labour-law"):
        lexfuse.collect("nonsense", tmp_path / "out")
    with pytest.raises(NotFoundError, match="nowhere"):
        lexfuse.collect("legalquad", tmp_path / "out", folder=tmp_path / "nowhere")
    (files / "LegalQuAD.json").write_bytes(CONTENT + b"\n")
    with pytest.raises(FetchError, match="other bytes than expected"):
        lexfuse.collect("legalquad", tmp_path / "out", folder=files)
    assert not (tmp_path / "out").exists()
