"""Bounds through the commands: four kinds of channels advised and tuned, and runs from files fused as the index fuses them."""

import importlib.util
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from lexfuse.advice.findings import Verdict
from lexfuse.cli import main
from lexfuse.data.formats.trec_run import read_run

ROOT = Path(__file__).parents[2]
specification = importlib.util.spec_from_file_location("tiny", ROOT / "tests" / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)
WORDS = [word for word in tiny.WORDS if not word.startswith("#")]
DOCUMENTS, QUESTIONS = 30, 12


def call(capsys, *arguments, code=0):
    """A command in this process: what it prints, and its notes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["lexfuse", *map(str, arguments)])
        patch.setenv("COLUMNS", "400")
        with pytest.raises(SystemExit) as ended:
            main()
    found = capsys.readouterr()
    assert (ended.value.code or 0) == code, found.err
    return found.out, found.err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root, chance = tmp_path_factory.mktemp("bounds"), np.random.default_rng(2)
    documents = [{"_id": f"d{at:02}", "text": " ".join(chance.choice(WORDS, 15)), "language": "fr"} for at in range(DOCUMENTS)]
    queries = [
        {"_id": f"q{at:02}", "text": " ".join(chance.choice(WORDS, 1 + 4 * at)), "language": "fr"} for at in range(QUESTIONS)
    ]
    for name, rows in (("corpus", documents), ("queries", queries)):
        (root / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    judged = [f"q{at:02}\td{doc:02}\t1" for at in range(QUESTIONS) for doc in chance.choice(DOCUMENTS, 4, replace=False)]
    (root / "dev.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]) + "\n", encoding="utf-8")
    models = {"dense": tiny.folder(root / "dense", normalise=True), "splade": tiny.folder(root / "splade", head="mlm"),
              "colbert": tiny.folder(root / "colbert")}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        options = [part for name in ("dense", "splade", "colbert") for part in ("--model", f"{name}={models[name]}")]
        patch.setattr(
            "sys.argv",
            ["lexfuse", "index", str(root / "corpus.jsonl"), str(root / "i"), "--channels", "dense,splade,colbert", *options],
        )
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        yield root


def ranked(folder, capsys, channel, *options):
    out = folder / f"{channel.replace(',', '-')}.trec"
    said, _ = call(capsys, "run", folder / "i", folder / "queries.jsonl", "-c", channel, "-o", out, *options)
    return out, " ".join(said.split())  # the screen may be narrow


FOUR = "bm25,dense,splade,colbert"


def test_advise_completes_on_all_kinds_and_says_one_verdict_everywhere(folder, capsys, tmp_path):
    out, _ = call(
        capsys, "advise", folder / "i", folder / "queries.jsonl", folder / "dev.tsv", "--channels", FOUR, "--folds", "2",
        "-o", tmp_path,
    )  # fmt: skip
    plain = json.loads((tmp_path / "advice.json").read_bytes())
    verdict = Verdict(plain["verdict"])
    assert out.startswith(verdict.value)
    assert plain["words"][0].startswith(verdict.value)
    assert f"<title>{verdict.value}:" in (tmp_path / "report.html").read_text(encoding="utf-8")
    evidence = tomllib.loads((tmp_path / "profile.toml").read_text(encoding="utf-8"))["evidence"]
    assert (evidence["verdict"], evidence["words"].startswith(verdict.value)) == (verdict.value, True)
    names = {each["configuration"]["name"] for each in plain["tried"]}
    assert {"bm25 + dense + splade + colbert, tm2c2", "bm25 + dense + splade + colbert, tm2c2, tuned"} <= names
    assert plain["power"]["queries"] == QUESTIONS
    assert (verdict is Verdict.TOO_FEW) == (plain["power"]["needed"] > QUESTIONS and plain["words"][0].startswith("Too few"))
    _, err = call(capsys, "search", folder / "i", "contrat de travail", "--profile", tmp_path / "profile.toml")
    assert "Invalid" not in err


def test_too_few_questions_depends_on_what_matters(folder, capsys, tmp_path):
    runs = [part for channel in ("bm25", "dense") for part in ("--run", ranked(folder, capsys, channel)[0])]
    said = {}
    for smallest in ("0.001", "5"):
        bounds = ("--bound", "bm25=0", "--bound", "dense=-1")
        call(capsys, "advise", folder / "dev.tsv", *runs, *bounds, "--folds", "2", "--smallest", smallest, "-o", tmp_path)
        said[smallest] = json.loads((tmp_path / "advice.json").read_bytes())
    assert said["0.001"]["verdict"] == "Too few questions to tell"
    needed = said["0.001"]["power"]["needed"]
    assert f"it takes about {needed:,} to show a difference of 0.001 nDCG@10" in said["0.001"]["words"][0]
    assert said["5"]["verdict"] != "Too few questions to tell"


def test_tune_weights_completes_on_all_kinds(folder, capsys):
    asked = "tune", "weights", folder / "i", folder / "queries.jsonl", folder / "dev.tsv", "--folds", "2"
    out, err = call(capsys, *asked, "--channels", FOUR, "--step", "0.25", "--json")
    assert len(json.loads(out)["weights"]) == 4
    assert "assumed" not in err
    out, _ = call(capsys, *asked, "--channels", "bm25,colbert", "--json")
    assert sum(json.loads(out)["weights"]) == pytest.approx(1)


def test_search_by_the_default_hybrid_of_all_kinds_explains_itself(folder, capsys):
    out, _ = call(capsys, "search", folder / "i", "le contrat de travail", "-c", FOUR, "--why", "d03", "-k", "3", "--json")
    found = json.loads(out)
    assert len(found["results"]) == 3
    (why,) = found["why"]
    assert {part["source"] for part in why["parts"]} == set(FOUR.split(","))
    assert "tm2c2" in why["others"]


def test_stated_bounds_give_what_the_index_gives_in_any_order(folder, capsys, tmp_path):
    index, _ = ranked(folder, capsys, "bm25,dense,colbert")
    bm25, said = ranked(folder, capsys, "bm25")
    assert said.endswith("hits; the lowest possible score is 0")
    dense, said = ranked(folder, capsys, "dense")
    assert said.endswith("hits; the lowest possible score is -1")
    colbert, said = ranked(folder, capsys, "colbert", "--bounds", tmp_path / "colbert.tsv")
    assert "depends on the query" in said
    stated = ["--bound", "bm25=0", "--bound", f"{dense}=-1", "--bound", f"colbert={tmp_path / 'colbert.tsv'}"]
    results = []
    for at, order in enumerate([(bm25, dense, colbert), (colbert, dense, bm25), (dense, bm25, colbert)]):
        out = tmp_path / f"{at}.trec"
        _, err = call(capsys, "fuse", *order, "-o", out, "--missing", "zero", "--name", "fused", *stated)
        assert "tm2c2 counts as lexical: bm25, whose scores are never negative" in err
        assert "is assumed" not in err
        results.append(out.read_bytes())
    assert results[0] == results[1] == results[2]
    expected, found = read_run(index).as_dict(), read_run(tmp_path / "0.trec").as_dict()
    for query in read_run(bm25).queries:  # those that have a word of some document
        # BM25 lists no document without a word of the query, whose score and value are 0: as --missing zero has it.
        assert found[query] == pytest.approx(expected[query], rel=1e-6), query


def test_without_a_stated_bound_it_says_what_was_assumed(folder, capsys, tmp_path):
    bm25, dense = (ranked(folder, capsys, channel)[0] for channel in ("bm25", "dense"))
    out, err = call(capsys, "fuse", bm25, dense, "-o", tmp_path / "f.trec", "--json")
    assert "the lowest possible score of 'dense' is not stated: 0 is assumed" in err
    assert "state it with --bound dense=NUMBER" in err
    assert "tm2c2 counts as lexical: bm25, the first of the runs" in err
    assert json.loads(out)["assumed_bounds"] == ["bm25", "dense"]
    out, err = call(capsys, "fuse", bm25, dense, "-o", tmp_path / "f.trec", "--json", "--fusion", "rrf")
    assert "assumed" not in err
    assert json.loads(out)["assumed_bounds"] == []
    _, err = call(capsys, "tune", "runs", folder / "dev.tsv", bm25, dense, "--folds", "2")
    assert err.count("the lowest possible score of 'dense' is not stated") == 1
    _, err = call(
        capsys, "tune", "runs", folder / "dev.tsv", bm25, dense, "--folds", "2", "--bound", "bm25=0", "--bound", "dense=-1"
    )
    assert "not stated" not in err
    _, err = call(capsys, "advise", folder / "dev.tsv", "--run", bm25, "--run", dense, "--folds", "2", "-o", tmp_path)
    assert err.count("the lowest possible score of 'dense' is not stated") == 1
    assert "the lowest possible score of &#x27;dense&#x27; is not stated" in (tmp_path / "report.html").read_text(
        "utf-8"
    ).replace("&#39;", "&#x27;")


def test_which_run_is_lexical_can_be_said(folder, capsys, tmp_path):
    bm25, splade = (ranked(folder, capsys, channel)[0] for channel in ("bm25", "splade"))
    stated = ["--bound", "bm25=0", "--bound", "splade=0", "--name", "x"]
    call(capsys, "fuse", bm25, splade, "-o", tmp_path / "first.trec", *stated)
    _, err = call(capsys, "fuse", splade, bm25, "-o", tmp_path / "named.trec", "--lexical", "bm25", *stated)
    assert "tm2c2 counts as lexical: bm25, as named" in err
    assert (tmp_path / "named.trec").read_bytes() == (tmp_path / "first.trec").read_bytes()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--bound", "dense"], 2, "--bound takes RUN=NUMBER, such as dense=-1; got 'dense'"),
        (["--bound", "dense=low"], 2, "there is no file 'low'"),
        (["--bound", "other=-1"], 2, "--bound names no run: 'other'; there are bm25, dense"),
        (["--bound", "dense=-1", "--bound", "dense.trec=-1"], 2, "--bound is given twice for the run 'dense.trec'"),
        (["--bound", "dense=0.999"], 3, "below the stated bound 0.999"),
        (["--bound", "dense=nan"], 2, "must be a number, got nan"),
        (["--lexical", "bm25", "--fusion", "rrf"], 2, "lexical is for tm2c2; the fusion is rrf"),
        (["--lexical", "words"], 2, "--lexical names no run: 'words'"),
    ],
)
def test_what_cannot_be_is_refused(folder, capsys, tmp_path, options, code, said):
    bm25, dense = (ranked(folder, capsys, channel)[0] for channel in ("bm25", "dense"))
    _, err = call(capsys, "fuse", bm25, dense, "-o", tmp_path / "f.trec", *options, code=code)
    assert said in err
    assert not (tmp_path / "f.trec").exists()


def test_a_file_of_bounds_is_checked_line_by_line(folder, capsys, tmp_path):
    dense, _ = ranked(folder, capsys, "dense")
    (tmp_path / "b.tsv").write_text("q00\t-1\nq01 -1\n", encoding="utf-8")
    _, err = call(capsys, "fuse", dense, "-o", tmp_path / "f.trec", "--bound", f"dense={tmp_path / 'b.tsv'}", code=3)
    assert "b.tsv, line 2: expected a query, a tab and a number, got 'q01 -1'" in err
    hybrid = ("run", folder / "i", folder / "queries.jsonl", "-c", "bm25,dense", "-o", tmp_path / "h.trec")
    _, err = call(capsys, *hybrid, "--bounds", tmp_path / "h.tsv", code=2)
    assert "no lowest possible one to write" in err


def test_eta_is_tuned_at_equal_weights_unless_weights_are_asked_for(folder, capsys):
    bm25, dense = (ranked(folder, capsys, channel)[0] for channel in ("bm25", "dense"))
    asked = "tune", "runs", folder / "dev.tsv", bm25, dense, "--fusion", "rrf", "--folds", "2"
    found = json.loads(call(capsys, *asked, "--eta", "4,10", "--eta-each", "--json")[0])
    assert list(found["trials"]) == ["eta 4 4", "eta 4 10", "eta 10 4", "eta 10 10"]
    assert (found["weights"], found["tuned"], found["usual"]["trial"]) == ("equal", None, "eta 60")
    found = json.loads(call(capsys, *asked, "--eta", "4,10", "--with-weights", "--json")[0])
    assert found["weights"] == "tuned"
    _, err = call(capsys, *asked, "--with-weights", code=2)
    assert "with_weights goes with eta or beta" in err
    _, err = call(capsys, *asked, "--eta", "4,10", "--queries", folder / "queries.jsonl", code=2)
    assert "add with_weights" in err
