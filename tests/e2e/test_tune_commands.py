"""Weights tuned through the real command, on an index and on TREC runs."""

import json
import sys

import numpy as np
import pytest
from launcher import lexfuse

from lexfuse.cli import main

WORDS = ["bail", "congé", "préavis", "salaire", "juge", "contrat", "retard", "prêt", "amende", "livre"]


def told(*arguments):
    done = lexfuse(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A collection of invented words with its index, judgements, and two runs."""
    chance = np.random.default_rng(0)
    root = tmp_path_factory.mktemp("tuning")
    texts = [" ".join(chance.choice(WORDS, int(chance.integers(4, 20)))) for _ in range(30)]
    records = [json.dumps({"_id": f"d{at}", "text": text, "language": "fr"}) for at, text in enumerate(texts)]
    (root / "corpus.jsonl").write_text("\n".join(records) + "\n")
    asked = [" ".join(chance.choice(WORDS, 2, replace=False)) for _ in range(8)]
    lines = [json.dumps({"_id": f"q{at}", "text": text, "language": "fr"}) for at, text in enumerate(asked)]
    (root / "queries.jsonl").write_text("\n".join(lines) + "\n")
    rows = [f"q{at}\td{doc}\t1" for at in range(8) for doc in chance.choice(30, 3, replace=False).tolist()]
    (root / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(rows) + "\n")
    assert lexfuse("index", root / "corpus.jsonl", root / "i.index").returncode == 0
    for channel in ("bm25", "tfidf"):
        done = lexfuse("run", root / "i.index", root / "queries.jsonl", "-c", channel, "-o", root / f"{channel}.trec")
        assert done.returncode == 0, done.stderr
    return root


def weights(folder, *arguments):
    return ("tune", "weights", folder / "i.index", folder / "queries.jsonl", folder / "dev.tsv", "-c", "bm25,tfidf", *arguments)


def test_weights_of_channels(folder, tmp_path):
    found = told(*weights(folder, "--folds", "4", "-o", tmp_path / "found.json"))
    assert found["sources"] == ["bm25", "tfidf"]
    assert len(found["surface"]["means"]) == 21
    assert found["value"] >= max(found["surface"]["means"]) - 1e-9
    assert found["held_out"]["folds"] == 4
    assert json.loads((tmp_path / "found.json").read_text()) == found
    done = lexfuse(*weights(folder, "--folds", "4", "--classes"))
    assert done.returncode == 0, done.stderr
    assert "weight of tfidf" in done.stdout
    assert "equal weights" in done.stdout
    assert "keywords: all 8 queries are of this class" in done.stdout


def test_k1_and_b_jointly_with_weights(folder):
    found = told(*weights(folder, "--bm25", "--step", "0.5"))
    assert len(found["trials"]) == 56
    assert found["best"] in found["trials"]
    alone = told("tune", "bm25", folder / "i.index", folder / "queries.jsonl", folder / "dev.tsv")
    best = max(found["trials"].values())
    assert best >= alone["value"] - 1e-9  # weight 1 on BM25 is among the points


def test_runs_and_constants(folder):
    runs = ("tune", "runs", folder / "dev.tsv", folder / "bm25.trec", folder / "tfidf.trec")
    found = told(*runs, "--fusion", "rrf", "--eta", "5,60", "--eta-each", "--depths", "5,30")
    assert len(found["trials"]) == 8
    assert "depth 5, eta 5 60" in found["trials"]
    assert len(found["chosen"]) == 5
    found = told(*runs, "--fusion", "srrf", "--beta", "40,100")
    assert list(found["trials"]) == ["eta 60, beta 40", "eta 60, beta 100"]
    found = told(*runs, "--normaliser", "z-score", "--fusion", "convex", "--queries", folder / "queries.jsonl")
    assert found["classes"][0]["class"] == "keywords"
    done = lexfuse(*runs, "--fusion", "rrf", "--eta", "5,60")
    assert "tried, at equal weights" in done.stdout
    done = lexfuse(*runs, "--fusion", "rrf", "--eta", "5,60", "--with-weights")
    assert "tried, each with its best weights" in done.stdout
    assert "best is eta" in done.stdout


def test_rprs_is_tuned_and_its_profile_reaches_what_was_found(folder, tmp_path):
    vectors = [f"{word} {' '.join('1' if at == one else '0' for one in range(len(WORDS)))}" for at, word in enumerate(WORDS)]
    (tmp_path / "words.vec").write_text("\n".join([f"{len(WORDS)} {len(WORDS)}", *vectors]) + "\n")
    index, judged, profile = tmp_path / "i.index", folder / "dev.tsv", tmp_path / "rprs.toml"
    channel = ("--channels", "sentences", "--model", f"sentences={tmp_path / 'words.vec'}")
    assert lexfuse("index", folder / "corpus.jsonl", index, *channel).returncode == 0
    command = ("tune", "rprs", index, folder / "queries.jsonl", judged, "-m", "nDCG@10")
    found = told(
        *command, "--n", "1,2,3", "--k1", "0,1", "--b", "0,1", "--depths", "5,20", "--folds", "4", "--save-profile", profile
    )
    assert found["depth"] in (5, 20)
    assert found["value"] == max(value for curve in found["curves"].values() for value in curve.values())
    assert found["held_out"]["folds"] == 4
    done = lexfuse("run", index, folder / "queries.jsonl", "--profile", profile, "-o", tmp_path / "rprs.trec")
    assert done.returncode == 0, done.stderr
    evaluated = told("evaluate", judged, tmp_path / "rprs.trec", "-m", "nDCG@10")
    assert evaluated["rprs"]["nDCG@10"] == pytest.approx(found["value"])
    done = lexfuse(*command, "--first", profile)
    assert done.returncode == 2
    assert "the first stage has rerankers already" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fusion", "borda"], "has no weights; take convex, tm2c2, rrf or srrf"),
        (["--eta", "5"], "eta and beta are for rrf and srrf; the fusion is tm2c2"),
        (["--fusion", "rrf", "--eta-each"], "eta_each needs values"),
        (["--fusion", "rrf", "--eta", "5,x"], "--eta takes numbers with commas between, got '5,x'"),
        (["--fusion", "rrf", "--beta", "5"], "has no beta; take srrf"),
        (["--depths", "0"], "depth must be at least 1, got 0"),
        (["--depths", "2.5"], "--depths takes whole numbers with commas between, got '2.5'"),
        (["--step", "0.3"], "the step must divide 1, got 0.3"),
        (["--folds", "9"], "9 folds need at least 9 queries with a relevant document, got 8"),
        (["-m", "microF1@5"], "has no value per query"),
        (["-c", "bm25"], "two sources or more, got 1"),
        (["-c", "bm25,dense"], "no channel 'dense' in the index"),
        (["-c", "tfidf,bm25", "--bm25"], "bm25 needs bm25 as the first of several channels, got tfidf, bm25"),
        (["--bm25", "--classes"], "bm25 tries k1 and b only"),
    ],
)
def test_what_is_refused(folder, arguments, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lexfuse", *map(str, weights(folder, *arguments))])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code not in (0, None)
    assert message in " ".join(capsys.readouterr().err.split())
