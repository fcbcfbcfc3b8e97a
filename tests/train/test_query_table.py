"""A query table from a model: means over questions, tokens by themselves, and the command."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lexfuse.cli import main
from lexfuse.encode.encoder import Side
from lexfuse.encode.query_table import QueryTable
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.train.query_table import mean_query_table

_FILE = Path(__file__).parents[1] / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

QUESTIONS = ["le congé", "le contrat de travail", "le congé de travail", "the lease ended"]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    return tiny.folder(tmp_path / "model", "bert", head="mlm")


def test_a_token_weighs_what_it_does_in_questions_or_by_itself(model):
    encoder = SparseEncoder.load(model, threads=1)
    table = mean_query_table(encoder, QUESTIONS)
    held = [set(encoder.tokens.inner_ids(question).tolist()) for question in QUESTIONS]
    vectors = [dict(zip(*(part.tolist() for part in row), strict=True)) for row in encoder.encode(QUESTIONS, Side.QUERY)]
    alone = 0
    for token in range(len(encoder.terms)):
        own = [vector.get(token, 0.0) for tokens, vector in zip(held, vectors, strict=True) if token in tokens]
        if own:
            assert table[token] == pytest.approx(np.mean(own), rel=1e-5)
        elif encoder.tokens.inner_ids(encoder.terms[token]).tolist() == [token]:
            vector = dict(zip(*(part.tolist() for part in encoder.encode([encoder.terms[token]], Side.QUERY)[0]), strict=True))
            assert table[token] == pytest.approx(vector.get(token, 0.0), abs=1e-4)
            alone += 1
    assert alone > 5
    assert (table >= 0).all()


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["lexfuse", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, capsys.readouterr()


def test_the_command(tmp_path, model, monkeypatch, capsys):
    questions, qrels, out = tmp_path / "queries.jsonl", tmp_path / "train.tsv", tmp_path / "table"
    questions.write_text("".join(json.dumps({"_id": f"q{at}", "text": text}) + "\n" for at, text in enumerate(QUESTIONS)))
    qrels.write_text("query-id\tcorpus-id\tscore\nq0\td0\t1\nq3\td1\t1\n")
    command = ("train", "query-table", model, questions, out, "--judged", qrels, "--threads", 1, "--json")
    code, said = run(monkeypatch, capsys, *command)
    assert code == 0, said.err
    assert json.loads(said.out)["questions"] == 2
    first = QueryTable.load(out)
    assert first.weights.tolist() == mean_query_table(SparseEncoder.load(model, threads=1), [QUESTIONS[0], QUESTIONS[3]]).tolist()
    code, said = run(monkeypatch, capsys, *command)
    assert code != 0
    assert "already exists" in said.err
    assert run(monkeypatch, capsys, *command, "--force")[0] == 0
    assert QueryTable.load(out).fingerprint == first.fingerprint
