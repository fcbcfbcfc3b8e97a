"""Rerankers in the advice, through the real command: one that helps, one that does nothing, one that harms, and bad files."""

import importlib.util
import json
import tomllib
from pathlib import Path

import launcher
import numpy as np
import pytest

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.tokenizer import ModelTokenizer

WORDS = ["bail", "congé", "préavis", "salaire", "juge", "contrat", "retard", "prêt", "amende", "livre"]
QUERIES, DEV = 18, 12
FILES = {
    "mono": '[[rerank]]\nmethod = "cross-encoder"\nmodel = "{model}"\ndepth = 30\n',
    "first-only": '[[rerank]]\nchannel = "tfidf"\ndepth = 1\n',
    "sentences": 'version = 1\n[[channel]]\nname = "no-such-channel"\n[[rerank]]\nmethod = "rprs"\ndepth = 30\n',
    "none": 'version = 1\n[[channel]]\nname = "bm25"\n',
    "wrong": '[[rerank]]\nmethod = "magic"\n',
    "lost": '[[rerank]]\nchannel = "tfidf"\n[[rerank]]\nmethod = "cross-encoder"\nmodel = "no-such-model"\n',
    "broken": "[[rerank",
    "namesake": 'name = "mono"\n[[rerank]]\nchannel = "tfidf"\n',
}

specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parent.parent / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)


def lexfuse(folder, *arguments):
    return launcher.lexfuse(*arguments, cwd=folder, LEXFUSE_CACHE=str(folder / "cache"))


def qrels(rows):
    return "query-id\tcorpus-id\tscore\n" + "".join(f"{query}\t{doc}\t1\n" for query, doc in rows)


def first_of(run):
    """The first document of every query of a TREC run."""
    rows = [line.split() for line in run.read_text().splitlines()]
    return [(row[0], row[2]) for row in rows if row[3] == "1"]


def cross_encoder(root):
    path = tiny.folder(root / "monobert", head="classes")
    named = tiny.tensors("bert", ModelTokenizer(ModelFolder.read(path)).vocabulary_size, "classes")
    named |= {f"classifier.{kind}": named[f"classifier.{kind}"][:1] for kind in ("weight", "bias")}
    tiny.safetensors(path / "model.safetensors", named)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A collection whose judgements are what a cross-encoder puts first, and others that are what BM25 puts first."""
    chance, root = np.random.default_rng(0), tmp_path_factory.mktemp("advice")
    for name, text in FILES.items():
        (root / f"{name}.toml").write_text(text.format(model=cross_encoder(root)) if name == "mono" else text)
    texts = [" ".join(chance.choice(WORDS, int(chance.integers(6, 20)))) for _ in range(30)]
    records = [json.dumps({"_id": f"d{at}", "text": text, "language": "fr"}) for at, text in enumerate(texts)]
    (root / "corpus.jsonl").write_text("\n".join(records) + "\n")
    asked = [" ".join(chance.choice(WORDS, 4, replace=False)) for _ in range(QUERIES)]
    lines = [json.dumps({"_id": f"q{at}", "text": text, "language": "fr"}) for at, text in enumerate(asked)]
    (root / "queries.jsonl").write_text("\n".join(lines) + "\n")
    done = lexfuse(root, "index", "corpus.jsonl", "i.index")
    assert done.returncode == 0, done.stderr
    (root / "profile.toml").write_text('version = 1\n[[channel]]\nname = "bm25"\n' + (root / "mono.toml").read_text())
    for name, option in (("mono", ("--profile", "profile.toml")), ("bm25", ("-c", "bm25"))):
        done = lexfuse(root, "run", "i.index", "queries.jsonl", *option, "-o", f"{name}.trec")
        assert done.returncode == 0, done.stderr
        judged = first_of(root / f"{name}.trec")
        (root / f"{name}-dev.tsv").write_text(qrels([row for row in judged if int(row[0][1:]) < DEV]))
        (root / f"{name}-test.tsv").write_text(qrels([row for row in judged if int(row[0][1:]) >= DEV]))
    return root


def advised(folder, judged, *options):
    return lexfuse(
        folder, "advise", "i.index", "queries.jsonl", f"{judged}-dev.tsv", "--test-qrels", f"{judged}-test.tsv",
        "--channels", "tfidf,bm25", "-m", "RR nDCG@5", "--folds", "4", *options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def helped(folder):
    done = advised(folder, "mono", "--rerank", "mono.toml", "--rerank", "first-only.toml", "-o", "helped")
    assert done.returncode == 0, done.stderr
    return done


def test_one_that_helps_is_used_and_one_that_changes_nothing_is_left_out(folder, helped):
    found = json.loads((folder / "helped" / "advice.json").read_text())
    mono, nothing = found["reranking"]["findings"]
    assert found["reranking"]["taken"] == "mono"
    assert mono["stages"] == ["cross-encoder"]
    assert mono["dev"]["versus"]["outcome"] == "better"
    assert mono["dev"]["means"]["RR"] == mono["test"]["means"]["RR"] == 1.0
    assert mono["milliseconds"] > 0
    assert nothing["dev"]["versus"]["mean"] == nothing["test"]["versus"]["mean"] == 0.0
    assert found["words"][-1] == found["reranking"]["words"]
    assert found["words"][-1].startswith("Reranking: use mono (+0.")
    assert "leave out first-only, which does not help here (+0.000 RR on dev, p = 1.000" in found["words"][-1]


def test_the_screen_and_the_report_say_so(folder, helped):
    assert "Reranking: use mono (+0." in helped.stdout
    assert "mono, fused with the choice" in helped.stdout
    page = (folder / "helped" / "report.html").read_text()
    assert page.index('<p class="lead">Reranking: use mono') < page.index('<dl class="tiles"')
    assert page.count("Reranking: use mono") == 2  # in the verdict and in its own section
    assert "mono helps, so use it: +0." in page


def test_the_profile_reranks_and_reaches_what_was_confirmed(folder, helped):
    profile = tomllib.loads((folder / "helped" / "profile.toml").read_text())
    assert [stage["method"] for stage in profile["rerank"]] == ["cross-encoder"]
    assert profile["evidence"]["reranked_by"] == "mono"
    assert profile["evidence"]["reranked_dev"] == profile["evidence"]["reranked_test"] == 1.0
    done = lexfuse(folder, "run", "i.index", "queries.jsonl", "--profile", "helped/profile.toml", "-o", "used.trec")
    assert done.returncode == 0, done.stderr
    assert first_of(folder / "used.trec") == first_of(folder / "mono.trec")


def test_one_that_harms_stays_out_of_the_profile(folder):
    done = advised(folder, "bm25", "--rerank", "mono.toml", "-o", "harmed", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["reranking"]
    assert found["taken"] == ""
    assert found["findings"][0]["dev"]["versus"]["outcome"] == "worse"
    assert found["findings"][0]["words"][0].startswith("mono harms, so leave it out: -0.")
    assert "rerank" not in tomllib.loads((folder / "harmed" / "profile.toml").read_text())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rerank", "nowhere.toml"], "no file or folder 'nowhere.toml'"),
        (["--rerank", "none.toml"], "none.toml: there is no [[rerank]]; give at least one"),
        (["--rerank", "wrong.toml"], "wrong.toml: rerank 1: method must be one of rescore, cross-encoder"),
        (["--rerank", "broken.toml"], "broken.toml: not valid TOML"),
        (["--rerank", "mono.toml", "--rerank", "namesake.toml"], "two files to rerank by are called 'mono'"),
        (["--rerank", "lost.toml"], "lost.toml: rerank 2 (cross-encoder): no model 'no-such-model'; give a folder"),
        (
            ["--rerank", "sentences.toml"],
            "sentences.toml: rerank 1 (rprs): no channel 'sentences' in the index; it has bm25, tfidf, citation, tfidf-1gram, "
            "tfidf-2gram, tfidf-bigram; add one with lexfuse index --channels",
        ),
    ],
)
def test_what_cannot_rerank_is_told_before_the_work(folder, options, said):
    done = advised(folder, "mono", *options, "-o", "out")
    assert done.returncode not in (0, 1), done.stdout
    assert said in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert not (folder / "out").exists()


def test_rankings_of_files_cannot_be_reranked(folder):
    done = lexfuse(
        folder, "advise", "mono-dev.tsv", "--run", "mono.trec", "--run", "bm25.trec", "--rerank", "mono.toml", "-o", "out"
    )
    assert done.returncode == 2
    assert "rerankers read the documents" in done.stderr
