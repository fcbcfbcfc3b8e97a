"""An index as a BEIR folder, by the library and by the command."""

import csv
import json
from pathlib import Path

import pytest
from launcher import lexfuse as command

import lexfuse
from lexfuse.bridges.beir import write_beir
from lexfuse.data.formats.beir import read_collection
from lexfuse.errors import DataError

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_files_are_those_of_beir(index, tmp_path):
    queries, qrels = lexfuse.read_queries(EXAMPLES / "questions.csv"), lexfuse.read_qrels(EXAMPLES / "test.tsv")
    write_beir(index, tmp_path / "out", queries=queries, qrels={"test": qrels})
    rows = [json.loads(line) for line in (tmp_path / "out" / "corpus.jsonl").read_text("utf-8").splitlines()]
    assert {row["_id"]: (row["title"], row["text"]) for row in rows} == {
        id: (index.document(id).title, index.document(id).text) for id in index.snapshot.ids
    }
    asked = [json.loads(line) for line in (tmp_path / "out" / "queries.jsonl").read_text("utf-8").splitlines()]
    assert [(row["_id"], row["text"]) for row in asked] == [(query.id, query.text) for query in queries]
    with (tmp_path / "out" / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        header, *judged = csv.reader(file, delimiter="\t")
    assert header == ["query-id", "corpus-id", "score"]
    assert len(judged) == len(qrels)
    again = read_collection(tmp_path / "out")
    assert list(again.corpus) == [index.document(id) for id in index.snapshot.ids]


def test_judgements_of_other_documents_are_refused(index, tmp_path):
    with pytest.raises(DataError, match="not in the corpus"):
        write_beir(index, tmp_path / "out", qrels={"test": lexfuse.Qrels.of([("q", "other", 1)])})
    assert not (tmp_path / "out").exists()


def test_the_commands(index, tmp_path):
    files = ["--queries", EXAMPLES / "questions.csv", "--qrels", EXAMPLES / "test.tsv"]
    done = command("export", "beir", index.folder, tmp_path / "out", *files, "--json")
    assert json.loads(done.stdout)["documents"] == len(index)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["corpus.jsonl", "qrels", "queries.jsonl"]
    refused = command("export", "beir", index.folder, tmp_path / "out")
    assert refused.returncode == 5
    assert command("export", "beir", index.folder, tmp_path / "out", "--force").returncode == 0

    out = tmp_path / "law.ciff.gz"
    assert f"of {len(index)} documents" in command("export", "ciff", index.folder, out).stdout
    assert command("export", "ciff", index.folder, out).returncode == 5
    again = command("export", "ciff", index.folder, out, "--force", "--json")
    assert json.loads(again.stdout)["documents"] == len(index)
