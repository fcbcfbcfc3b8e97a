"""Advice through the real command: on an index and on TREC runs, with what it writes, and with input that cannot be."""

import json
import shutil
import tomllib

import numpy as np
import pytest
from launcher import lexfuse

from lexfuse.storage.feedback import FeedbackEntry
from lexfuse.storage.index_folder import IndexFolder

WORDS = ["bail", "congé", "préavis", "salaire", "juge", "contrat", "retard", "prêt", "amende", "livre"]
QUERIES = 12


def qrels(rows):
    return "query-id\tcorpus-id\tscore\n" + "".join(f"{query}\t{doc}\t1\n" for query, doc in rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A collection of invented words with its index, judgements to choose on and to test, and two runs."""
    chance = np.random.default_rng(0)
    root = tmp_path_factory.mktemp("advice")
    texts = [" ".join(chance.choice(WORDS, int(chance.integers(4, 20)))) for _ in range(30)]
    records = [json.dumps({"_id": f"d{at}", "text": text, "language": "fr"}) for at, text in enumerate(texts)]
    (root / "corpus.jsonl").write_text("\n".join(records) + "\n")
    asked = [" ".join(chance.choice(WORDS, 2, replace=False)) for _ in range(QUERIES)]
    lines = [json.dumps({"_id": f"q{at}", "text": text, "language": "fr"}) for at, text in enumerate(asked)]
    (root / "queries.jsonl").write_text("\n".join(lines) + "\n")
    judged = [(f"q{at}", f"d{doc}") for at in range(QUERIES) for doc in chance.choice(30, 3, replace=False).tolist()]
    (root / "dev.tsv").write_text(qrels([row for row in judged if int(row[0][1:]) < 8]))
    (root / "test.tsv").write_text(qrels([row for row in judged if int(row[0][1:]) >= 8]))
    assert lexfuse("index", root / "corpus.jsonl", root / "i.index").returncode == 0
    for channel in ("bm25", "tfidf"):
        done = lexfuse("run", root / "i.index", root / "queries.jsonl", "-c", channel, "-o", root / f"{channel}.trec")
        assert done.returncode == 0, done.stderr
    return root


@pytest.fixture(scope="module")
def advised(folder):
    done = lexfuse(
        "advise", folder / "i.index", folder / "queries.jsonl", folder / "dev.tsv", "--test-qrels", folder / "test.tsv",
        "--channels", "tfidf,bm25", "-m", "nDCG@10 R@5", "--folds", "4", "-o", folder / "advice",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def test_distributions_are_of_all_documents_unless_asked_for_candidates(folder, advised):
    assert "Score distributions and complementarity: all documents, 8 dev queries." in advised.stdout
    assert json.loads((folder / "advice" / "advice.json").read_text())["score_basis"] == {
        "scope": "corpus", "queries": 8, "of_queries": 8, "words": "all documents, 8 dev queries",
    }  # fmt: skip
    report = (folder / "advice" / "report.html").read_text()
    assert "Scores of all documents, 8 dev queries, on the scale of each normaliser" in report
    assert "over the scores of all documents, 8 dev queries." in report
    done = lexfuse(
        "advise", folder / "i.index", folder / "queries.jsonl", folder / "dev.tsv", "--channels", "tfidf,bm25", "--folds", "2",
        "--scores-of", "candidates", "--overlap-groups", "higher", "-o", folder / "other", "--json",
    )  # fmt: skip
    other, usual = json.loads(done.stdout), json.loads((folder / "advice" / "advice.json").read_text())
    assert other["score_basis"]["scope"] == "candidates"
    assert other["distributions"] != usual["distributions"]
    assert other["complementarity"][0]["quartiles"] != usual["complementarity"][0]["quartiles"]
    assert other["chosen"]["value"] == usual["chosen"]["value"]


def test_runs_have_no_scores_of_other_documents(folder):
    runs = ["--run", folder / "bm25.trec", "--run", folder / "tfidf.trec"]
    refused = lexfuse("advise", folder / "dev.tsv", *runs, "--scores-of", "corpus", "-o", folder / "refused")
    assert (refused.returncode, "leave --scores-of out" in refused.stderr) == (2, True)
    done = lexfuse("advise", folder / "dev.tsv", *runs, "--json", "-o", folder / "of-runs")
    assert json.loads(done.stdout)["score_basis"]["scope"] == "candidates"


def test_the_verdict_is_shown_and_what_was_left_out(folder, advised):
    assert advised.stdout.split()[0] in ("Fuse", "Too")  # eight questions carry no other verdict
    assert "On 4 test queries, used once" in advised.stdout
    assert "percentile was left out" in advised.stderr
    assert "--distributions" in advised.stderr


def test_the_figures_are_written(folder, advised):
    found = json.loads((folder / "advice" / "advice.json").read_text())
    assert found["version"] == 1
    assert found["sources"] == ["bm25", "tfidf"]
    assert found["measures"] == ["nDCG@10", "R@5"]
    assert len(found["tried"]) == 2 + 8  # two sources, one pair by eight recipes: no percentile here
    assert found["confirmation"]["queries"] == 4
    assert [cost["source"] for cost in found["costs"]] == ["bm25", "tfidf"]
    assert found["words"]
    assert found["curves"][0]["weights"][0] == 0.0


def test_the_report_holds_the_verdict(folder, advised):
    found = json.loads((folder / "advice" / "advice.json").read_text())
    page = (folder / "advice" / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert found["chosen"]["configuration"]["members"][0] in page


def test_the_profile_is_taken_by_search_and_run_and_gives_the_chosen_ranking(folder, advised, tmp_path):
    profile = folder / "advice" / "profile.toml"
    assert tomllib.loads(profile.read_text())["evidence"]["measure"] == "nDCG@10"
    shown = lexfuse("search", folder / "i.index", "préavis", "--profile", profile, "--json")
    assert shown.returncode == 0, shown.stderr
    done = lexfuse("run", folder / "i.index", folder / "queries.jsonl", "--profile", profile, "-o", tmp_path / "advised.trec")
    assert done.returncode == 0, done.stderr
    done = lexfuse("evaluate", folder / "test.tsv", tmp_path / "advised.trec", "-m", "nDCG@10", "--json")
    found = json.loads((folder / "advice" / "advice.json").read_text())
    confirmed = found["confirmation"]["means"]["nDCG@10"][found["chosen"]["configuration"]["name"]]
    assert json.loads(done.stdout)["advised"]["nDCG@10"] == pytest.approx(confirmed, abs=1e-9)


def test_the_same_input_gives_the_same_bytes_but_for_times(folder, advised, tmp_path):
    runs = ("advise", folder / "dev.tsv", "--run", folder / "bm25.trec", "--run", folder / "tfidf.trec", "--folds", "4")
    for name in ("one", "two"):
        assert lexfuse(*runs, "-o", tmp_path / name).returncode == 0
    for file in ("report.html", "advice.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert not (tmp_path / "one" / "profile.toml").exists()  # rankings of files cannot be searched


def test_runs_allow_percentiles_of_their_own_scores(folder, tmp_path):
    done = lexfuse(
        "advise", folder / "dev.tsv", "--run", folder / "bm25.trec", "--run", folder / "tfidf.trec", "--folds", "4",
        "-o", tmp_path / "out", "--json",
    )  # fmt: skip
    assert len(json.loads(done.stdout)["tried"]) == 2 + 10


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dev.tsv"], "give INDEX, QUERIES and QRELS, or INDEX with --judgements, or one QRELS with --run"),
        (["i.index", "queries.jsonl", "dev.tsv", "--run", "bm25.trec"], "with --run give the judgements alone"),
        (["dev.tsv", "--run", "bm25.trec"], "at least 2 sources"),
        (["dev.tsv", "--run", "bm25.trec", "--run", "tfidf.trec", "--test-qrels", "dev.tsv"], "give a separate test split"),
        (["dev.tsv", "--run", "bm25.trec", "--run", "tfidf.trec", "--folds", "1"], "at least 2 folds"),
        (["dev.tsv", "--run", "bm25.trec", "--run", "tfidf.trec", "-m", "nonsense"], "nonsense"),
        (["dev.tsv", "--run", "bm25.trec", "--run", "tfidf.trec", "-m", "microF1@5"], "microF1@5"),
        (["dev.tsv", "--run", "bm25.trec", "--run", "bm25.trec"], "two rankings are called 'bm25'"),
        (["i.index", "queries.jsonl", "dev.tsv", "--channels", "bm25,dense"], "no channel 'dense' in the index"),
    ],
)
def test_what_cannot_be_is_told(folder, tmp_path, arguments, said):
    done = lexfuse("advise", *arguments, "-o", tmp_path / "out", cwd=folder)
    assert done.returncode not in (0, 1), done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_judgements_of_the_page_are_advised_on_by_one_command(folder, tmp_path):
    index = shutil.copytree(folder / "i.index", tmp_path / "i.index")
    with IndexFolder(index) as opened:
        given = [("Zoé", f"{WORDS[at]} {WORDS[at + 1]}", f"d{at}", 3 - at % 2) for at in range(5)]
        given += [("Max", WORDS[0], "d0", 1), ("Max", WORDS[1], "d1", 0)]
        opened.feedback.keep(*(FeedbackEntry(query, doc, grade, judge=judge, generation=1) for judge, query, doc, grade in given))
    done = lexfuse("advise", index, "--judgements", "--folds", "2", "-o", tmp_path / "all")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Too few questions to tell: 6 are judged, and it takes about")
    assert lexfuse("advise", index, "--judgements", "--judge", "Zoé", "--folds", "2", "-o", tmp_path / "one").returncode == 0
    queries = [json.loads((tmp_path / name / "advice.json").read_bytes())["queries"] for name in ("all", "one")]
    assert queries == [6, 5]  # of seven, one has no relevant result
    for arguments, said in {
        ("--judge", "Zoé"): "give --judgements too",
        ("--judgements", "--judge", "Eva"): "there are no judgements by 'Eva'; there are Max, Zoé",
        ("--judgements", "--test-qrels", folder / "test.tsv"): "leave --run and --test-qrels out",
        (folder / "dev.tsv", "--judgements"): "INDEX with --judgements",
        ("--judgements", "--judge", "Max"): "at least 2 questions with a relevant result, got 1",
    }.items():
        refused = lexfuse("advise", index, *arguments, "-o", tmp_path / "none")
        assert (refused.returncode != 0, said in " ".join(refused.stderr.split())) == (True, True), refused.stderr
    assert not (tmp_path / "none").exists()
