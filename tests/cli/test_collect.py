"""``lexfuse collect`` with a small repository on disk: what is written, what is refused, and that nothing half-made stays."""

import hashlib
import json
import subprocess
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import lexfuse.data.downloads
from lexfuse.cli.app import app
from lexfuse.data.formats.beir import read_collection
from lexfuse.errors import FetchError, StorageError

QUESTION = {"id": 7, "question": "Wer trägt die Kosten?", "answers": [{"text": "Der Kläger"}]}
DECISION = {"document_id": 5, "context": "Der Kläger trägt die Kosten des Verfahrens.", "qas": [QUESTION]}
CONTENT = json.dumps({"data": [{"paragraphs": [DECISION]}]}).encode()


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """LegalQuAD as a repository on disk with one decision."""
    folder = tmp_path / "AIKE2021_Appendix"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "LegalQuAD.json").write_bytes(CONTENT)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "-m", "data"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    pinned = replace(lexfuse.data.downloads.LEGALQUAD, name=folder.as_uri(), version=commit, sha256=sha256)
    monkeypatch.setattr(lexfuse.data.downloads, "LEGALQUAD", pinned)
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    return folder


def collect(*arguments):
    return CliRunner().invoke(app, ["collect", *map(str, arguments)], env={"COLUMNS": "200"})


def test_a_collection_is_made_with_its_provenance(repository, tmp_path):
    out = tmp_path / "out"
    done = collect("legalquad", out, "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert (facts["documents"], facts["queries"], facts["qrels"]) == (1, 1, {"test": {"queries": 1, "judgements": 1}})
    read = read_collection(out)
    assert (read.corpus.ids.names, read.queries.text) == (("5",), ("Wer trägt die Kosten?",))
    provenance = (out / "PROVENANCE.md").read_text(encoding="utf-8")
    assert repository.as_uri() in provenance
    for name in ("corpus.jsonl.gz", "queries.jsonl.gz", "qrels/test.tsv"):
        assert f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}\n" in provenance


def test_a_second_call_needs_no_repository_and_gives_the_same_bytes(repository, tmp_path):
    assert collect("legalquad", tmp_path / "one").exit_code == 0
    repository.rename(tmp_path / "gone")
    assert collect("legalquad", tmp_path / "two").exit_code == 0
    files = [file.relative_to(tmp_path / "one") for file in (tmp_path / "one").rglob("*") if file.is_file()]
    assert len(files) == 4
    assert all((tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes() for file in files)


def test_files_can_come_from_a_folder(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # no git
    monkeypatch.chdir(tmp_path)
    assert collect("legalquad", "--from", repository).exit_code == 0
    assert len(read_collection(tmp_path / "legalquad").corpus) == 1
    assert not (tmp_path / "cache").exists()


def test_other_bytes_write_nothing(repository, tmp_path):
    (repository / "data" / "LegalQuAD.json").write_bytes(CONTENT + b"\n")
    failed = collect("legalquad", tmp_path / "out", "--from", repository)
    assert isinstance(failed.exception, FetchError)
    assert "other bytes than expected" in str(failed.exception)
    assert not (tmp_path / "out").exists()


def test_without_a_network_the_error_says_what_to_do(repository, tmp_path):
    repository.rename(tmp_path / "gone")
    failed = collect("legalquad", tmp_path / "out")
    assert isinstance(failed.exception, FetchError)
    assert "check the network" in str(failed.exception)
    assert f"-LegalQuAD.json (of that commit, data/LegalQuAD.json) into '{tmp_path / 'cache'}' yourself" in str(failed.exception)
    assert not (tmp_path / "out").exists()


def test_an_existing_folder_is_replaced_only_by_force(repository, tmp_path):
    out = tmp_path / "out"
    assert collect("legalquad", out).exit_code == 0
    assert isinstance(collect("legalquad", out).exception, StorageError)
    assert collect("legalquad", out, "--force", "--plain").exit_code == 0
    assert (out / "corpus.jsonl").is_file()


def test_the_list_and_an_unknown_name():
    shown = collect()
    assert shown.exit_code == 0
    for words in ("legalquad: LegalQuAD", "5,183 documents, 1,109 questions", "What it is not: Law.", "Licence: claims: CC BY"):
        assert words in shown.output
    listed = json.loads(collect("--json").stdout)
    assert {one["name"]: one["language"] for one in listed}["french-labour-law"] == "fr"
    unknown = collect("nonsense")
    assert unknown.exit_code == 2
    assert "'nonsense' is not one of 'french-labour-law', 'constitution-of-india', 'human-rights-judgments'," in unknown.output
    assert "Value error" not in unknown.output
