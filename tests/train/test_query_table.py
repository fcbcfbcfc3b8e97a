"""A query table that is learned from a model: its error, tokens of no text, and the command."""

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
from lexfuse.train.query_table import LEAST, ROW, learned_query_table

_FILE = Path(__file__).parents[1] / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

SENTENCES = ["Le bail dure un an.", "Le congé du salarié est payé.", "Le contrat de travail cesse ensuite."]
QUESTIONS = ["le congé", "le contrat de travail", "le congé de travail", "the lease ended"]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    return tiny.folder(tmp_path / "model", "bert", head="mlm")


def distance(rows, vectors, size):
    """The mean squared difference of sparse vectors."""
    total = 0.0
    for one, other in zip(rows, vectors, strict=True):
        difference = np.zeros(size)
        difference[one[0]] += one[1]
        difference[other[0]] -= other[1]
        total += float(np.square(difference).sum())
    return total / len(vectors)


def test_rows_approximate_what_the_model_gives_texts(model):
    encoder = SparseEncoder.load(model, threads=1)
    table, size = learned_query_table(encoder, QUESTIONS, SENTENCES), len(encoder.terms)
    tokens = [np.unique(encoder.tokens.inner_ids(text)).astype(np.int32) for text in QUESTIONS]
    vectors = encoder.encode(QUESTIONS, Side.QUERY)
    alone = [(held, terms_alone(vector, held)) for held, vector in zip(tokens, vectors, strict=True)]
    learned = distance([table.summed(held) for held in tokens], vectors, size)
    assert learned < 0.2 * distance(alone, vectors, size)  # the best that tokens without other terms could give
    assert (table.weights >= LEAST).all()
    assert (np.diff(table.starts) <= ROW + 1).all()
    again = learned_query_table(encoder, QUESTIONS, SENTENCES)
    assert all((one == other).all() for one, other in zip(table, again, strict=True))


def terms_alone(vector, held):
    """What a vector gives the tokens of its text."""
    weights = dict(zip(*(part.tolist() for part in vector), strict=True))
    return np.array([weights.get(token, 0.0) for token in held.tolist()])


def test_a_token_of_no_text_has_the_weight_that_the_model_gives_it_alone(model):
    encoder = SparseEncoder.load(model, threads=1)
    table = learned_query_table(encoder, QUESTIONS)
    seen = {token for text in QUESTIONS for token in encoder.tokens.inner_ids(text).tolist()}
    compared = 0
    for token, word in enumerate(encoder.terms):
        if token not in seen and encoder.tokens.inner_ids(word).tolist() == [token]:
            (expected,) = encoder.encode([word], Side.QUERY)
            terms, weights = table.summed(np.array([token], dtype=np.int32))
            own = expected[1][expected[0] == token]  # nothing if the model does not give it itself
            assert terms.tolist() == [token] * len(own)
            np.testing.assert_allclose(weights, own, atol=1e-4)
            compared += len(own)
    assert compared > 5


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
    first, encoder = QueryTable.load(out), SparseEncoder.load(model, threads=1)
    expected = learned_query_table(encoder, [QUESTIONS[0], QUESTIONS[3]])
    assert all((one == other).all() for one, other in zip(first.rows, expected, strict=True))
    assert first.most_terms == 64
    code, said = run(monkeypatch, capsys, *command)
    assert code != 0
    assert "already exists" in said.err
    assert run(monkeypatch, capsys, *command, "--force")[0] == 0
    assert QueryTable.load(out).fingerprint == first.fingerprint


def test_sentences_of_documents_are_learned_from(tmp_path, model, monkeypatch, capsys):
    questions, corpus, out = tmp_path / "queries.jsonl", tmp_path / "corpus.jsonl", tmp_path / "table"
    questions.write_text(json.dumps({"_id": "q", "text": QUESTIONS[0]}) + "\n")
    corpus.write_text("".join(json.dumps({"_id": f"d{at}", "text": text}) + "\n" for at, text in enumerate(SENTENCES)))
    command = ("train", "query-table", model, questions, out, "--threads", 1, "--json")
    code, said = run(monkeypatch, capsys, *command, "--sentences", 5)
    assert code == 2
    assert "none is given; add --corpus" in said.err
    code, said = run(monkeypatch, capsys, *command, "--corpus", corpus, "--sentences", 2, "--most-terms", 7)
    assert code == 0, said.err
    assert json.loads(said.out)["sentences"] == 2
    assert all(len(terms) <= 7 for terms, _ in QueryTable.load(out).encode(QUESTIONS, Side.QUERY))
    assert run(monkeypatch, capsys, *command, "--corpus", tmp_path / "nothing", "--force")[0] != 0
    assert QueryTable.load(out).most_terms == 7  # what was there stays
