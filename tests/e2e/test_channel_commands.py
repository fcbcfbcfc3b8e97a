"""Channels through the real command: made, filled, interrupted, gone on with, searched, costed and dropped."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lexfuse.encode.channels import ChannelPlan, planned
from lexfuse.index.index import Index

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
COMMAND = Path(sys.executable).parent / "lexfuse"
_FILE = ROOT / "tests" / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def lexfuse(*arguments, **environment):
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "160"} | environment,
    )


def told(*arguments):
    """What a command that must succeed says as JSON."""
    done = lexfuse(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The examples with the two models that come with LexFuse."""
    folder = tmp_path_factory.mktemp("built") / "library.index"
    result = told("index", EXAMPLES / "articles.csv", folder, "--channels", "dense,splade")
    assert {name: channel["encoded"] for name, channel in result["channels"].items()} == {"dense": 6, "splade": 6}
    assert {name: channel["model"] for name, channel in result["channels"].items()} == {
        "dense": "fr-legal-dense",
        "splade": "fr-legal-splade",
    }
    return folder


@pytest.fixture
def index(built, tmp_path):
    return shutil.copytree(built, tmp_path / "library.index")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model so small that filling is quick."""
    return tiny.folder(tmp_path_factory.mktemp("models") / "small", normalise=True)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The examples without any channel."""
    folder = tmp_path_factory.mktemp("plain") / "library.index"
    told("index", EXAMPLES / "articles.csv", folder)
    return folder


def test_search_by_meaning(built):
    results = told("search", built, "amende pour un livre rendu trop tard", "-c", "dense", "-k", "3")["results"]
    assert len(results) == 3
    assert results[0]["id"] == "lib-4"  # it speaks of a delay, in other words
    assert {result["found"] for result in results} == {"dense"}
    assert -1 <= results[-1]["score"] <= results[0]["score"] <= 1


def test_cited_documents_still_come_first_and_filters_apply(built):
    assert told("search", built, "que dit l'article R. 1", "-c", "dense")["results"][0]["found"] == "citation"
    kept = told("search", built, "prêt", "-c", "splade", "--filter", "headings^=Partie législative > Titre II")["results"]
    assert {result["id"] for result in kept} == {"lib-3", "lib-4"}


def test_an_explanation_of_learned_terms_adds_up(built):
    results = told("search", built, "amende pour un livre rendu trop tard", "-c", "splade", "--explain")["results"]
    assert results[0]["id"] == "lib-4"
    for result in results:
        assert sum(part["contribution"] for part in result["explanation"]) == pytest.approx(result["score"], rel=1e-4)
    shown = lexfuse("search", built, "amende pour un livre rendu trop tard", "-c", "splade", "--explain", "-k", "1")
    assert results[0]["explanation"][0]["term"] in shown.stdout


def test_run_writes_a_trec_file_that_evaluate_reads(built, tmp_path):
    for channel in ("dense", "splade"):
        out = tmp_path / f"{channel}.trec"
        assert told("run", built, EXAMPLES / "questions.csv", "-c", channel, "-o", out, "--depth", "5")["queries"] == 3
        assert told("evaluate", EXAMPLES / "test.tsv", out, "-m", "R@5")[channel]["R@5"] > 0
    assert told("run", built, EXAMPLES / "questions.csv", "-c", "dense", "-o", tmp_path / "again.trec", "--depth", "5",
                "--name", "dense")  # fmt: skip
    assert (tmp_path / "again.trec").read_bytes() == (tmp_path / "dense.trec").read_bytes()


def test_info_tells_models_options_and_bytes(built):
    figures = told("info", built)
    assert figures["dense"]["model"] == "fr-legal-dense"
    assert (figures["dense"]["storage"], figures["dense"]["scheme"]) == ("fp16", "whole")
    for name in ("dense", "splade"):
        assert figures[name]["documents"] == 6
        assert figures[name]["complete"] is True
        files = (built / "channels" / name).rglob("*")
        assert figures[name]["bytes"] == sum(file.stat().st_size for file in files if file.is_file())
    shown = lexfuse("info", built)
    assert shown.returncode == 0
    assert "fr-legal-splade" in shown.stdout


def test_costs(built):
    result = told("info", built, "--cost")
    assert result["queries"] == 6
    assert [cost["channel"] for cost in result["channels"]] == ["bm25", "dense", "splade"]
    words, dense, sparse = result["channels"]
    assert words["passages_per_second"] is None
    assert dense["vectors"] == 6
    assert dense["flops"] > 1e8 > words["flops"] > 0
    assert sparse["passages_per_second"] > 0
    asked = lexfuse("info", built, "--cost", "--queries", EXAMPLES / "questions.csv")
    assert asked.returncode == 0
    assert "3 queries one by one" in " ".join(asked.stdout.split())


def test_costs_of_an_empty_index_and_without_an_index(tmp_path):
    Index.create(tmp_path / "i").close()
    empty = lexfuse("info", tmp_path / "i", "--cost")
    assert empty.returncode == 3
    assert "nothing to time" in empty.stderr
    assert lexfuse("info", tmp_path / "nowhere", "--cost").returncode == 4


def test_filling_again_has_nothing_to_encode(built):
    files = {path: path.stat().st_mtime_ns for path in (built / "channels").rglob("*")}
    again = told("index", built, "--channels", "dense")
    assert {name: channel["encoded"] for name, channel in again["channels"].items()} == {"dense": 0, "splade": 0}
    assert {path: path.stat().st_mtime_ns for path in (built / "channels").rglob("*")} == files


def test_add_and_update_fill_the_channels_too(index, tmp_path):
    record = {"_id": "lib-9", "text": "Le bibliobus dessert les villages le mardi.", "metadata": {"language": "fr"}}
    (tmp_path / "new.jsonl").write_text(json.dumps(record) + "\n")
    added = told("index", tmp_path / "new.jsonl", index, "--add")
    assert {name: channel["encoded"] for name, channel in added["channels"].items()} == {"dense": 1, "splade": 1}
    assert told("search", index, "véhicule itinérant de lecture", "-c", "dense", "-k", "1")["results"][0]["id"] == "lib-9"
    (tmp_path / "new.jsonl").write_text(json.dumps(record | {"text": "La taxe est due par le propriétaire."}) + "\n")
    assert told("index", tmp_path / "new.jsonl", index, "--update")["channels"]["dense"]["encoded"] == 1
    assert told("search", index, "véhicule itinérant de lecture", "-c", "dense", "-k", "1")["results"][0]["id"] != "lib-9"
    told("index", index, "--delete", "lib-9", "--merge")
    figures = told("info", index)
    assert (figures["dense"]["documents"], figures["dense"]["complete"]) == (6, True)
    assert lexfuse("index", index, "--verify").returncode == 0


def test_dropping_a_channel(index):
    told("index", index, "--drop", "splade")
    assert not (index / "channels" / "splade").exists()
    assert "splade" not in told("info", index)
    again = lexfuse("index", index, "--drop", "splade")
    assert again.returncode == 4
    assert "it has dense" in again.stderr
    assert lexfuse("index", index, "--verify").returncode == 0


def test_options_reach_the_channel(plain, tmp_path, model):
    index = shutil.copytree(plain, tmp_path / "i")
    options = ["--passages", "windows", "--size", "10", "--overlap", "2", "--storage", "int8", "--no-headings"]
    result = told("index", index, "--channels", "dense-small", "--model", model, *options)  # a bare model: there is one channel
    assert result["channels"]["dense-small"]["passages"] > 6
    made = told("info", index)["dense-small"]
    assert made["model"] == str(model)
    assert {"scheme": "windows", "size": 10, "overlap": 2, "storage": "int8", "headings": False}.items() <= made.items()
    assert len(told("search", index, "prêt", "-c", "dense-small")["results"]) == 6


def test_two_towers_and_late_interaction(plain, tmp_path, model):
    index = shutil.copytree(plain, tmp_path / "i")
    other = tiny.folder(tmp_path / "cls", normalise=True, pooling=["cls"])
    options = ["--model", f"dense={model}", "--query-model", f"dense={other}", "--model", f"colbert={model}", "--bits", "4"]
    told("index", index, "--channels", "dense,colbert", *options)
    assert len(told("search", index, "prêt", "-c", "dense")["results"]) == 6
    results = told("search", index, "prêt", "-c", "colbert", "--explain", "-k", "2")["results"]
    for result in results:
        assert sum(match["similarity"] for match in result["explanation"]) == pytest.approx(result["score"], rel=1e-4)
    small = tiny.folder(tmp_path / "narrow", dense=8)
    refused = lexfuse("index", index, "--channels", "dense-x", "--model", model, "--query-model", small)
    assert refused.returncode == 2
    assert "vectors of 8 numbers" in refused.stderr
    assert "dense-x" not in told("info", index)


def test_a_channel_that_is_there_keeps_its_model_and_options(index, model):
    more = told("index", index, "--channels", "dense,colbert", "--model", f"colbert={model}")
    assert (more["channels"]["dense"]["encoded"], more["channels"]["colbert"]["encoded"]) == (0, 6)
    for options, words in (
        (["--model", model], "made by 'fr-legal-dense' with other settings"),
        (["--storage", "int8"], "made with storage fp16, not int8"),
        (["--passages", "windows"], "made with passages whole, not windows"),
    ):
        refused = lexfuse("index", index, "--channels", "dense", *options)
        assert refused.returncode == 2
        assert words in refused.stderr


def test_the_ends_that_are_not_encoded_are_told(tmp_path, model):
    record = {"_id": "a", "text": "le contrat de travail " * 200, "metadata": {"language": "fr"}}
    (tmp_path / "long.jsonl").write_text(json.dumps(record) + "\n")
    done = lexfuse("index", tmp_path / "long.jsonl", tmp_path / "i", "--channels", "dense", "--model", model, "--passages",
                   "beginning", "--json")  # fmt: skip
    assert json.loads(done.stdout)["channels"]["dense"]["cut"] == 1
    assert "beyond the model's window and not encoded" in done.stderr


def long_corpus(path, count=2600):
    """So many documents that filling takes several blocks."""
    words = " ".join(word for word in tiny.WORDS if not word.startswith("#"))
    lines = (json.dumps({"_id": f"d{number:04}", "text": f"{number} {words}"}) for number in range(count))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_an_interrupted_filling_goes_on_where_it_stopped(tmp_path, model):
    told("index", long_corpus(tmp_path / "long.jsonl"), tmp_path / "i")
    command = [str(COMMAND), "index", str(tmp_path / "i"), "--channels", "dense", "--model", str(model), "--threads", "1"]
    filling = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with Index(tmp_path / "i") as index:
        deadline = time.monotonic() + 120
        while not ("dense" in index.channels.names and index.channels.parts("dense")):
            assert time.monotonic() < deadline
            assert filling.poll() is None, filling.stderr.read()
        with index.changing():  # nothing more can be committed until the interruption has come
            left = len(index.channels.pending("dense"))
            filling.send_signal(signal.SIGINT)
    _, errors = filling.communicate(timeout=120)
    assert filling.returncode not in (0, None)
    assert "Traceback" not in errors
    assert 0 < left < 2600
    with Index(tmp_path / "i") as index:
        assert index.verify() == []
        assert len(index.channels.pending("dense")) == left
    assert told("info", tmp_path / "i")["dense"]["complete"] is False
    assert len(told("search", tmp_path / "i", "loi", "-c", "dense", "-k", "3")["results"]) == 3  # what is there is searched
    assert told("index", tmp_path / "i", "--channels", "dense")["channels"]["dense"]["encoded"] == left
    assert told("info", tmp_path / "i")["dense"]["complete"] is True
    assert lexfuse("index", tmp_path / "i", "--verify").returncode == 0


def test_a_killed_filling_goes_on_where_it_stopped(tmp_path, model):
    told("index", long_corpus(tmp_path / "long.jsonl"), tmp_path / "i")
    with Index(tmp_path / "i") as index:
        index.channels.make("dense", planned("dense", ChannelPlan(str(model)), threads=1))
        command = [str(COMMAND), "index", str(tmp_path / "i"), "--channels", "dense", "--threads", "1"]
        filling = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while not index.channels.parts("dense"):
            assert time.monotonic() < deadline
            assert filling.poll() is None
        filling.kill()
        filling.wait()
        left = len(index.channels.pending("dense"))
    assert 0 < left < 2600
    assert lexfuse("index", tmp_path / "i", "--verify").returncode == 0
    assert told("index", tmp_path / "i", "--channels", "dense")["channels"]["dense"]["encoded"] == left
    assert told("info", tmp_path / "i")["dense"]["complete"] is True


REFUSED = {
    "kind": (["--channels", "fast"], 2, "no kind of channel 'fast'; there are dense, static, splade, colbert"),
    "model of another": (["--channels", "splade", "--model", "dense=fr-legal-dense"], 2, "--model takes channel=MODEL for one of splade"),
    "query model of another": (["--channels", "splade", "--query-model", "dense=x"], 2, "--query-model takes channel=MODEL"),
    "unknown model": (["--channels", "dense", "--model", "no-such"], 4, "no model 'no-such'; give a folder, one of fr-legal-dense"),
    "storage": (["--channels", "dense", "--storage", "fp99"], 2, "--storage must be one of fp32, fp16, int8; got 'fp99'"),
    "passages": (["--channels", "dense", "--passages", "foo"], 2, "--passages must be one of whole, windows, paragraphs, beginning"),
    "overlap": (["--channels", "dense", "--size", "5", "--overlap", "9"], 2, "the overlap must be at least 0 and below the size 5"),
    "bits": (["--channels", "colbert", "--model", "x", "--bits", "3"], 2, "1, 2, 4, 8 bits a dimension; got 3"),
    "no model": (["--channels", "colbert"], 2, "no model for the channel 'colbert' in 'fr' comes with LexFuse"),
    "hub": (["--channels", "dense", "--model", "nobody/nothing"], 6, "the hub did not give 'nobody/nothing'"),
    "no such folder": (["--channels", "dense", "--model", "/no/such/folder"], 4, "no model '/no/such/folder'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(plain, tmp_path, case):
    arguments, code, words = REFUSED[case]
    done = lexfuse("index", plain, *arguments, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    with Index(plain) as index:
        assert index.channels.names == ()  # nothing is left behind


@pytest.mark.parametrize(
    "arguments", [["--model", "dense=x"], ["--channels", "dense", "--storage", "fp99"], ["--channels", "fast"]], ids=" ".join
)
def test_options_are_refused_before_anything_is_built(tmp_path, arguments):
    done = lexfuse("index", EXAMPLES / "articles.csv", tmp_path / "i", *arguments)
    assert done.returncode == 2
    assert not (tmp_path / "i").exists()


def test_a_model_folder_without_a_tokenizer(plain, tmp_path):
    folder = tiny.folder(tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    done = lexfuse("index", plain, "--channels", "dense", "--model", folder)
    assert done.returncode == 3
    assert "no tokenizer.json" in done.stderr


def test_a_channel_that_the_index_lacks(built, plain, tmp_path):
    done = lexfuse("search", built, "prêt", "-c", "colbert")
    assert done.returncode == 4
    assert "it has bm25, tfidf, citation, dense, splade" in done.stderr
    done = lexfuse("run", plain, EXAMPLES / "questions.csv", "-c", "dense", "-o", tmp_path / "x.trec")
    assert done.returncode == 4
    assert "it has bm25, tfidf, citation; add one" in done.stderr
    assert not (tmp_path / "x.trec").exists()
