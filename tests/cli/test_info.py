"""What `lexfuse info` tells of a folder while others write to it."""

import json
from pathlib import Path

from typer.testing import CliRunner

from lexfuse.cli.app import app
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.folder_names import file_sizes


def test_files_that_vanish_while_they_are_counted_are_left_out(tmp_path, monkeypatch):
    (tmp_path / "catalog.sqlite").write_bytes(b"123")
    log = tmp_path / "catalog.sqlite-wal"
    log.write_bytes(b"12345")
    listed = list(tmp_path.rglob("*"))
    log.unlink()
    monkeypatch.setattr(Path, "rglob", lambda *_: iter(listed))
    assert list(file_sizes(tmp_path)) == [3]


def test_the_statistics_of_a_collection_as_tables_and_json(tmp_path):
    corpus = Corpus.of([Document(id, text="un deux", code=code) for id, code in (("1", "Code civil"), ("2", "Code pénal"))])
    queries = Queries.of([Query("a", "qui donc", extra={"category": "Family"}), Query("b", "où", extra={"category": "Work"})])
    qrels = {"test": Qrels.of([("a", "1", 1), ("a", "2", 1), ("b", "1", 1)])}
    write_collection(Collection(corpus, queries, qrels), tmp_path / "c")
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "c")], env={"COLUMNS": "120"})
    assert shown.exit_code == 0, shown.output
    lines = [" ".join(line.split()) for line in shown.output.splitlines()]
    for words in ("a document, mean 2", "words of a question 1.50 0.50 1 2", "relevant to a question of test 1.50 0.50 1 2"):
        assert words in lines
    for words in ("different words 2", "test: relevant pairs 3", "Family 1", "Code pénal 1"):
        assert words in lines
    found = json.loads(CliRunner().invoke(app, ["info", str(tmp_path / "c"), "--json"]).stdout)["statistics"]
    assert found["query_words"] == {"mean": 1.5, "standard_deviation": 0.5, "median": 1, "longest": 2}
    assert found["relevant_documents"] == {"Code civil": 1, "Code pénal": 1}
