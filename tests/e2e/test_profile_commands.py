"""Profiles, distributions and input that cannot be, through the real command."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest
from launcher import lexfuse

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.tokenizer import ModelTokenizer

specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parent.parent / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

EXAMPLES = Path(__file__).parents[2] / "examples"
PROFILE = """
version = 1
name = "library"

[[channel]]
name = "bm25"
k1 = 0.9

[[channel]]
name = "tfidf"

[fusion]
method = "convex"
weights = [0.5, 0.5]

[[class.citation.channel]]
name = "citation"
"""


def told(*arguments):
    done = lexfuse(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "library.index"
    assert lexfuse("index", EXAMPLES / "articles.csv", folder).returncode == 0
    return folder


@pytest.fixture
def profile(tmp_path):
    (tmp_path / "p.toml").write_text(PROFILE, encoding="utf-8")
    return tmp_path / "p.toml"


def test_search_and_run_take_a_profile_and_rank_as_its_options_do(built, profile, tmp_path):
    found = told("search", built, "retard de prêt", "--profile", profile, "--explain")["results"]
    options = ["-c", "bm25,tfidf", "--k1", "0.9", "--fusion", "convex"]
    assert found == told("search", built, "retard de prêt", *options, "--explain")["results"]
    assert sum(part["contribution"] for part in found[0]["fusion"]["parts"]) == pytest.approx(found[0]["score"], abs=1e-6)
    told("run", built, EXAMPLES / "questions.csv", "--profile", profile, "-o", tmp_path / "a" / "x.trec")
    told("run", built, EXAMPLES / "questions.csv", *options, "-o", tmp_path / "b" / "x.trec")
    assert (tmp_path / "a" / "x.trec").read_bytes() == (tmp_path / "b" / "x.trec").read_bytes()


def test_a_class_of_queries_goes_its_own_way(built, profile):
    [only] = told("search", built, "article R. 1", "--profile", profile, "--explain")["results"]
    assert (only["id"], only["found"]) == ("lib-5", "citation")
    assert [part["source"] for part in only["fusion"]["parts"]] == ["citation"]


def test_a_reranked_hit_shows_what_was_before(built, profile):
    profile.write_text(PROFILE + '\n[[rerank]]\nchannel = "tfidf"\ndepth = 2\n', encoding="utf-8")
    done = lexfuse("search", built, "retard de prêt", "--profile", profile, "--explain")
    assert done.returncode == 0, done.stderr
    assert "before reranking: rank 1" in done.stdout
    first = told("search", built, "retard de prêt", "--profile", profile, "--explain")["results"][0]
    assert first["fusion"]["score"] == first["score"] == first["sources"]["tfidf"]
    assert {part["source"] for part in first["fusion"]["before"]["parts"]} == {"bm25", "tfidf"}


def test_a_cross_encoder_is_one_more_source(built, tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    model, profile = tiny.folder(tmp_path / "model", head="classes"), tmp_path / "p.toml"
    named = tiny.tensors("bert", ModelTokenizer(ModelFolder.read(model)).vocabulary_size, "classes")
    named |= {f"classifier.{kind}": named[f"classifier.{kind}"][:1] for kind in ("weight", "bias")}
    tiny.safetensors(model / "model.safetensors", named)
    source = f'[[channel]]\nmethod = "cross-encoder"\nmodel = {json.dumps(str(model))}\nover = "OVER"\ndepth = 3\n'
    text = f'version = 1\n{source}[[channel]]\nname = "bm25"\n'
    profile.write_text(text.replace("OVER", "bm25"), encoding="utf-8")
    first = told("search", built, "retard de prêt", "--profile", profile, "--explain")["results"][0]
    assert [part["source"] for part in first["fusion"]["parts"]] == ["bm25", "cross-encoder"]
    assert 0 < first["sources"]["cross-encoder"] < 1
    assert told("run", built, EXAMPLES / "questions.csv", "--profile", profile, "-o", tmp_path / "x.trec")["hits"] > 0
    profile.write_text(text.replace("OVER", "dense"), encoding="utf-8")
    done = lexfuse("search", built, "retard", "--profile", profile)
    assert done.returncode == 2
    assert "p.toml: channel 'cross-encoder' is over 'dense', which is no channel here" in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["search", "run"])
def test_a_profile_and_options_that_say_the_same_thing_are_refused(built, profile, tmp_path, command):
    asked = ["retard"] if command == "search" else [EXAMPLES / "questions.csv", "-o", tmp_path / "x.trec"]
    done = lexfuse(command, built, *asked, "--profile", profile, "--channels", "bm25", "--k1", "1.2")
    assert done.returncode == 2
    assert "--profile says how to rank, and so does --channels, --k1" in done.stderr
    done = lexfuse(command, built, *asked, "--eta", "5")
    assert done.returncode == 2
    assert "--eta needs several channels to fuse" in done.stderr
    assert not (tmp_path / "x.trec").exists()


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (('name = "tfidf"', 'name = "dense"'), 4, "no channel 'dense' in the index; it has bm25, tfidf, citation"),
        (("[0.5, 0.5]", "[0.5, 0.6]"), 2, "p.toml: fusion: weights must sum to 1"),
        (('"convex"', '"mean"'), 2, "method must be one of tm2c2, convex, rrf"),
        (("version = 1", "version = 9"), 2, "use a newer LexFuse"),
        (("version = 1", "version ="), 3, "not valid TOML"),
        (("class.citation", "class.poem"), 2, "there are citation, keywords, question, document"),
    ],
)
def test_profiles_that_cannot_be(built, profile, tmp_path, change, code, words):
    profile.write_text(PROFILE.replace(*change), encoding="utf-8")
    for arguments in (["search", built, "retard"], ["run", built, EXAMPLES / "questions.csv", "-o", tmp_path / "x.trec"]):
        done = lexfuse(*arguments, "--profile", profile)
        assert (done.returncode, words in " ".join(done.stderr.split())) == (code, True), done.stderr
    assert not (tmp_path / "x.trec").exists()
    assert lexfuse("search", built, "retard", "--profile", tmp_path / "none.toml").returncode == 4


def test_distributions_are_kept_shown_and_used(built, tmp_path):
    index = shutil.copytree(built, tmp_path / "library.index")
    percentile = ["-c", "bm25,tfidf", "--fusion", "convex", "--normaliser", "percentile"]
    refused = lexfuse("search", index, "retard de prêt", *percentile)
    assert refused.returncode == 2
    assert "estimate it with lexfuse index INDEX --distributions --k1 1.2 --b 0.75" in " ".join(refused.stderr.split())
    made = told("index", index, "--distributions")["distributions"]
    assert made["tfidf"]["queries"] == 6
    assert made["tfidf"]["scores"] == 36
    assert told("info", index)["distributions"] == made
    assert "distributions: tfidf: scores" in lexfuse("info", index).stdout
    found = told("search", index, "retard de prêt", *percentile, "--explain")["results"][0]
    assert found["id"] == "lib-4"
    assert all(0 <= part["value"] <= 1 for part in found["fusion"]["parts"])
    assert lexfuse("search", index, "retard de prêt", *percentile, "--k1", "0.9").returncode == 2
    more = told("index", index, "--distributions", "--distribution-queries", EXAMPLES / "questions.csv", "--k1", "0.9")
    assert more["distributions"]["bm25 (k1=0.9, b=0.75)"]["from"] == "given"
    assert lexfuse("search", index, "retard de prêt", *percentile, "--k1", "0.9").returncode == 0
    alone = lexfuse("index", index, "--distribution-queries", EXAMPLES / "questions.csv")
    assert alone.returncode == 2
    assert "are for --distributions" in alone.stderr


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


METHODS = [
    ["--fusion", "tm2c2"], ["--fusion", "convex"], ["--fusion", "convex", "--normaliser", "percentile"],
    ["--fusion", "convex", "--normaliser", "z-score"],
    ["--fusion", "rrf"], ["--fusion", "srrf"], ["--fusion", "borda"], ["--fusion", "combmnz"], ["--fusion", "combmax"],
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=" ".join)
def test_runs_with_little_in_them_are_fused(tmp_path, method):
    a = write(tmp_path / "a.trec", "q1 Q0 x 1 2.0 a", "q1 Q0 y 2 2.0 a", "q2 Q0 x 1 1.0 a")
    b = write(tmp_path / "b.trec", "q1 Q0 z 1 9.0 b", "q3 Q0 x 1 1.0 b")
    empty = write(tmp_path / "empty.trec")
    out = tmp_path / "out.trec"
    assert told("fuse", a, b, *method, "-o", out)["hits"] == 5
    ranked = [line.split()[:3:2] for line in out.read_text("utf-8").splitlines()]
    assert sorted(ranked) == [["q1", "x"], ["q1", "y"], ["q1", "z"], ["q2", "x"], ["q3", "x"]]
    assert told("fuse", a, empty, *method, "-o", out)["hits"] == 3
    assert [line.split()[2] for line in out.read_text("utf-8").splitlines()] == ["x", "y", "x"]


@pytest.mark.parametrize("score", ["nan", "inf", "-inf"])
def test_scores_that_are_no_numbers_are_told_with_their_line(tmp_path, score):
    a = write(tmp_path / "a.trec", "q1 Q0 x 1 2.0 a")
    b = write(tmp_path / "b.trec", "q1 Q0 y 1 3.0 b", f"q1 Q0 x 2 {score} b")
    done = lexfuse("fuse", a, b, "-o", tmp_path / "out.trec")
    assert done.returncode == 3
    assert "b.trec" in done.stderr
    assert not (tmp_path / "out.trec").exists()


def test_runs_of_other_queries_and_of_the_same_name_are_told(tmp_path):
    a, b = write(tmp_path / "a.trec", "q1 Q0 x 1 2.0 a"), write(tmp_path / "b.trec", "q2 Q0 x 1 2.0 b")
    done = lexfuse("fuse", a, b, "-o", tmp_path / "out.trec")
    assert (done.returncode, "have no query in common" in done.stderr) == (3, True)
    done = lexfuse("fuse", a, a, "-o", tmp_path / "out.trec")
    assert (done.returncode, "two rankings are called" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fusion", "convex", "--weights", "0.3,0.3"], "weights must sum to 1"),
        (["--fusion", "rrf", "--eta", "-5"], "eta must be positive"),
        (["--fusion", "convex", "--normaliser", "log"], "there are min-max, theoretical-min-max, z-score, percentile, identity"),
        (["--missing", "mean"], "'mean' is not one of"),
    ],
)
def test_search_and_run_refuse_the_same_fusions_as_fuse(built, tmp_path, options, words):
    for arguments in (["search", built, "retard"], ["run", built, EXAMPLES / "questions.csv", "-o", tmp_path / "x.trec"]):
        done = lexfuse(*arguments, "-c", "bm25,tfidf", *options)
        assert (done.returncode, words in " ".join(done.stderr.split())) == (2, True), done.stderr


def test_a_profile_of_the_index_is_named(built, profile, tmp_path):
    own = tmp_path / "own.index"
    shutil.copytree(built, own)
    (own / "profiles").mkdir()
    shutil.copy(profile, own / "profiles" / "library.toml")
    by_name, by_file = (told("search", own, "retard de prêt", "--profile", one) for one in ("library", profile))
    assert by_name == by_file
    assert by_name != told("search", own, "retard de prêt")
    runs = []
    for one in ("library", profile):
        assert (
            lexfuse(
                "run", own, EXAMPLES / "questions.csv", "--profile", one, "-o", tmp_path / "out.trec", "--name", "r"
            ).returncode
            == 0
        )
        runs.append((tmp_path / "out.trec").read_text())
        (tmp_path / "out.trec").unlink()
    assert runs[0] == runs[1]
    unknown = lexfuse("search", own, "prêt", "--profile", "libary")
    assert unknown.returncode == 4
    assert "no profile 'libary': the index has words, bm25, library, and there is no such file" in unknown.stderr
