"""Channels through the real command: made, filled, interrupted, gone on with, searched, costed and dropped."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launcher import lexfuse

from lexfuse.cli import main
from lexfuse.data.formats.file_format import read_corpus, read_queries
from lexfuse.data.formats.trec_run import read_run
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.index import Index
from lexfuse.storage.channel_store import BLOCK
from lexfuse.storage.index_folder import IndexFolder

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
_FILE = ROOT / "tests" / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def told(*arguments):
    """What a command that must succeed says as JSON."""
    done = lexfuse(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def here(monkeypatch, capsys):
    """Runs a command in this process, as there are many and a process costs a second: exit code, output, messages."""

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["lexfuse", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "400")
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


@pytest.fixture
def said(here):
    """What a command in this process that must succeed says as JSON."""

    def call(*arguments):
        code, out, err = here(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return call


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
    results = told("search", built, "pénalité si le livre est rendu tardivement", "-c", "dense", "-k", "3")["results"]
    assert len(results) == 3
    assert results[0]["id"] == "lib-4"  # it speaks of a delay, in other words
    assert {result["found"] for result in results} == {"dense"}
    assert -1 <= results[-1]["score"] <= results[0]["score"] <= 1


def test_learned_terms_with_a_citation_a_filter_and_an_explanation(built):
    question, kept = "pénalité prévue à l'article L. 3", "headings^=Partie législative > Titre II"
    cited, found = told("search", built, question, "-c", "splade", "--filter", kept, "--explain")["results"]
    assert (cited["id"], cited["found"], found["id"], found["found"]) == ("lib-3", "citation", "lib-4", "splade")
    assert sum(part["contribution"] for part in found["explanation"]) == pytest.approx(found["score"], rel=1e-4)
    assert found["explanation"][0]["term"]


def test_run_writes_a_trec_file_that_evaluate_reads(built, tmp_path):
    out = tmp_path / "splade.trec"
    assert told("run", built, EXAMPLES / "questions.csv", "-c", "splade", "-o", out, "--depth", "5")["queries"] == 3
    assert told("evaluate", EXAMPLES / "test.tsv", out, "-m", "R@5")["splade"]["R@5"] > 0


def test_info_tells_models_options_and_bytes(built, said):
    figures = said("info", built)
    assert figures["dense"]["model"] == "fr-legal-dense"
    assert (figures["dense"]["storage"], figures["dense"]["scheme"]) == ("fp16", "whole")
    for name in ("dense", "splade"):
        assert figures[name]["documents"] == 6
        assert figures[name]["complete"] is True
        files = (built / "channels" / name).rglob("*")
        assert figures[name]["bytes"] == sum(file.stat().st_size for file in files if file.is_file())


def test_costs(built, plain, here, said):
    result = said("info", built, "--cost")
    assert result["queries"] == 6
    assert [cost["channel"] for cost in result["channels"]] == ["bm25", "dense", "splade"]
    words, dense, sparse = result["channels"]
    assert words["passages_per_second"] is None
    assert dense["vectors"] == 6
    assert dense["flops"] > 1e8 > words["flops"] > 0
    assert sparse["passages_per_second"] > 0
    code, shown, _ = here("info", plain, "--cost", "--queries", EXAMPLES / "questions.csv")
    assert code == 0
    assert "3 queries one by one" in " ".join(shown.split())  # the title breaks where the path of the index is long
    assert "cross-encoder" not in shown


@pytest.fixture
def cross_encoder(tmp_path):
    path = tiny.folder(tmp_path / "monobert", head="classes")
    named = tiny.tensors("bert", ModelTokenizer(ModelFolder.read(path)).vocabulary_size, "classes")
    named |= {f"classifier.{kind}": named[f"classifier.{kind}"][:1] for kind in ("weight", "bias")}
    tiny.safetensors(path / "model.safetensors", named)
    return path


def test_costs_of_a_cross_encoder(plain, here, said, cross_encoder):
    *_, cost = said("info", plain, "--cost", "--cross-encoder", cross_encoder, "--depth", 3)["channels"]
    assert cost["channel"] == "cross-encoder"
    assert cost["flops"] > 0 == cost["bytes"]
    code, shown, _ = here("info", plain, "--cost", "--cross-encoder", cross_encoder, "--depth", 3)
    assert code == 0
    assert "search is 3 documents" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("given", "missing"), [(["--cross-encoder", "x"], "--cost"), (["--cost", "--depth", "3"], "--cross-encoder")]
)
def test_what_only_a_cross_encoder_needs_is_refused_without_one(plain, here, given, missing):
    code, _, message = here("info", plain, *given)
    assert code == 2
    assert missing in message


def test_filling_again_has_nothing_to_encode(built, said):
    files = {path: path.stat().st_mtime_ns for path in (built / "channels").rglob("*")}
    again = said("index", built, "--channels", "dense")
    assert {name: channel["encoded"] for name, channel in again["channels"].items()} == {"dense": 0, "splade": 0}
    assert {path: path.stat().st_mtime_ns for path in (built / "channels").rglob("*")} == files


def test_add_and_update_fill_the_channels_too(plain, tmp_path, model, said):
    folder = shutil.copytree(plain, tmp_path / "i")
    said("index", folder, "--channels", "dense", "--model", model)
    record = {"_id": "lib-9", "text": "Le bibliobus dessert les villages le mardi.", "metadata": {"language": "fr"}}
    (tmp_path / "new.jsonl").write_text(json.dumps(record) + "\n")
    assert said("index", tmp_path / "new.jsonl", folder, "--add")["channels"]["dense"]["encoded"] == 1
    (tmp_path / "new.jsonl").write_text(json.dumps(record | {"text": "La taxe est due par le propriétaire."}) + "\n")
    assert said("index", tmp_path / "new.jsonl", folder, "--update")["channels"]["dense"]["encoded"] == 1
    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        numbering = snapshot.channel_numbering("dense")
        assert (len(numbering), int(numbering.alive.sum()), numbering.complete) == (7, 7, True)
    said("index", folder, "--delete", "lib-9", "--merge", "--verify")
    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        assert len(snapshot.channel_numbering("dense")) == 6


def test_dropping_a_channel(index, here, said):
    assert said("index", index, "--drop", "splade", "--verify")["verified"]
    assert not (index / "channels" / "splade").exists()
    assert "splade" not in said("info", index)
    code, _, message = here("index", index, "--drop", "splade")
    assert code == 4
    assert "it has dense" in message


def test_options_reach_the_channel(plain, tmp_path, model, said):
    index = shutil.copytree(plain, tmp_path / "i")
    options = ["--passages", "windows", "--size", "10", "--overlap", "2", "--storage", "int8", "--no-headings"]
    result = said("index", index, "--channels", "dense-small", "--model", model, *options)  # a bare model: there is one channel
    assert result["channels"]["dense-small"]["passages"] > 6
    made = said("info", index)["dense-small"]
    assert made["model"] == str(model)
    assert {"scheme": "windows", "size": 10, "overlap": 2, "storage": "int8", "headings": False}.items() <= made.items()


def test_sentences_are_a_channel_with_a_plan_of_its_own(plain, tmp_path, said):
    index = shutil.copytree(plain, tmp_path / "i")
    result = said("index", index, "--channels", "dense,sentences", "--size", "7")
    assert result["channels"]["sentences"]["passages"] > result["channels"]["dense"]["passages"] == 6
    made = said("info", index)
    assert {"scheme": "sentences", "size": 7, "overlap": 0, "model": "fr-legal-dense"}.items() <= made["sentences"].items()
    assert made["dense"]["scheme"] == "whole"


def test_two_towers_and_late_interaction(plain, tmp_path, model, said):
    index = shutil.copytree(plain, tmp_path / "i")
    other = tiny.folder(tmp_path / "cls", normalise=True, pooling=["cls"])
    options = ["--model", f"dense={model}", "--query-model", f"dense={other}", "--model", f"colbert={model}", "--bits", "4"]
    said("index", index, "--channels", "dense,colbert", *options)
    assert len(said("search", index, "prêt", "-c", "dense")["results"]) == 6
    results = said("search", index, "prêt", "-c", "colbert", "--explain", "-k", "2")["results"]
    for result in results:
        assert sum(match["similarity"] for match in result["explanation"]) == pytest.approx(result["score"], rel=1e-4)


def test_how_many_windows_count_is_the_same_in_a_flag_a_profile_and_python(plain, tmp_path, model, here, said):
    index = shutil.copytree(plain, tmp_path / "i")
    said("index", index, "--channels", "dense", "--model", model, "--passages", "windows", "--size", "8", "--overlap", "2")
    questions, found = EXAMPLES / "questions.csv", {}
    for pool, shown in (("1", "1"), ("2", "2"), ("all", '"all"')):
        said("run", index, questions, "-c", "dense", "--pool", pool, "-o", tmp_path / "flag.trec")
        (tmp_path / "p.toml").write_text(f'version = 1\n[[channel]]\nname = "dense"\npool = {shown}\n')
        said("run", index, questions, "--profile", tmp_path / "p.toml", "-o", tmp_path / "profile.trec")
        runs = [read_run(tmp_path / f"{name}.trec") for name in ("flag", "profile")]
        with Index.open(index) as opened:
            runs.append(opened.run(read_queries(questions), channels=["dense"], pool=json.loads(shown)))
        docs, scores = ([[getattr(hit, field) for hit in run.hits("q2")] for run in runs] for field in ("doc", "score"))
        assert docs[0] == docs[1] == docs[2]
        assert scores[0] == scores[1] == pytest.approx(scores[2])
        found[pool] = docs[0], scores[0][0]
    assert len({score for _, score in found.values()}) == 3
    for pool, words in (("0", "at least 1 passage, got 0"), ("most", "a number of passages or 'all', got 'most'")):
        code, _, message = here("search", index, "prêt", "-c", "dense", "--pool", pool)
        assert code == 2
        assert words in message


def test_vectors_that_another_system_computed(plain, tmp_path, here, said):
    index = shutil.copytree(plain, tmp_path / "i")
    articles, questions = read_corpus(EXAMPLES / "articles.csv"), read_queries(EXAMPLES / "questions.csv")
    chance = np.random.default_rng(3)
    vectors, asked = chance.normal(size=(len(articles), 5)), chance.normal(size=(len(questions), 5))
    np.savez(tmp_path / "documents.npz", ids=list(articles.ids), vectors=vectors)
    np.savez(tmp_path / "questions.npz", ids=list(questions.ids), texts=questions.text, vectors=asked)
    options = ["--model", f"dense-ada={tmp_path / 'documents.npz'}", "--query-model", f"dense-ada={tmp_path / 'questions.npz'}"]
    made = said("index", index, "--channels", "dense-ada", *options, "--dot-product", "--storage", "fp32")
    assert made["channels"]["dense-ada"]["encoded"] == 6
    said("run", index, EXAMPLES / "questions.csv", "-c", "dense-ada", "-o", tmp_path / "ada.trec")
    run = read_run(tmp_path / "ada.trec")
    for row, id in enumerate(questions.ids):
        assert [hit.doc for hit in run.hits(id)] == [articles.ids[at] for at in np.argsort(-(vectors @ asked[row]))]
    judged = [index, EXAMPLES / "questions.csv", EXAMPLES / "test.tsv"]
    said("tune", "weights", *judged, "--channels", "bm25,dense-ada", "--folds", "2")
    said("advise", *judged, "--channels", "bm25,dense-ada", "--folds", "2", "-o", tmp_path / "advice")
    (tmp_path / "p.toml").write_text('version = 1\n[[channel]]\nname = "bm25"\n\n[[channel]]\nname = "dense-ada"\n')
    assert said("search", index, questions.text[0], "--profile", tmp_path / "p.toml")["results"]
    assert said("index", index, "--verify")["verified"]
    code, _, message = here("search", index, "une autre question", "-c", "dense-ada")
    assert code == 4
    assert "questions.npz has no vector of the question 'une autre question'; add it to the file" in message
    code, _, message = here("index", index, "--channels", "splade", "--dot-product")
    assert code == 2
    assert "--dot-product is for channels of dense, static, sentences" in message


def test_a_channel_that_is_there_keeps_its_model_and_options(index, model, here, said):
    more = said("index", index, "--channels", "dense,colbert", "--model", f"colbert={model}")
    assert (more["channels"]["dense"]["encoded"], more["channels"]["colbert"]["encoded"]) == (0, 6)
    for options, words in (
        (["--model", model], "made by 'fr-legal-dense' with other settings"),
        (["--query-model", "fr-legal-dense"], "made by 'fr-legal-dense' with other settings"),
        (["--storage", "int8"], "made with storage fp16, not int8"),
        (["--passages", "windows"], "made with passages whole, not windows"),
    ):
        code, _, message = here("index", index, "--channels", "dense", *options)
        assert code == 2
        assert words in message


def test_the_ends_that_are_not_encoded_are_told(tmp_path, model, here):
    record = {"_id": "a", "text": "le contrat de travail " * 200, "metadata": {"language": "fr"}}
    (tmp_path / "long.jsonl").write_text(json.dumps(record) + "\n")
    options = ["--channels", "dense", "--model", model, "--passages", "beginning"]
    _, out, message = here("index", tmp_path / "long.jsonl", tmp_path / "i", *options, "--json")
    assert json.loads(out)["channels"]["dense"]["cut"] == 1
    assert "beyond the model's window and not encoded" in message


def long_corpus(path, count=2000):
    """So many documents that filling takes several blocks."""
    words = " ".join(word for word in tiny.WORDS if not word.startswith("#"))
    lines = (json.dumps({"_id": f"d{number:04}", "text": f"{number} {words}"}) for number in range(count))
    path.write_text("\n".join(lines) + "\n")
    return path


INTERRUPTED = """
import os, signal
from lexfuse.cli import main
from lexfuse.storage.channel_store import ChannelStore

add = ChannelStore._add

def interrupted(self, name, part):
    if self.parts(name):  # Ctrl-C amid the second block, however busy the machine is
        os.kill(os.getpid(), signal.SIGINT)
    add(self, name, part)

ChannelStore._add = interrupted
main()
"""


def test_an_interrupted_filling_goes_on_where_it_stopped(tmp_path, model, said):
    said("index", long_corpus(tmp_path / "long.jsonl"), tmp_path / "i")
    arguments = ["index", str(tmp_path / "i"), "--channels", "dense", "--model", str(model), "--threads", "1"]
    filling = subprocess.run([sys.executable, "-c", INTERRUPTED, *arguments], capture_output=True, text=True, check=False)
    assert filling.returncode == 130
    assert "Traceback" not in filling.stderr
    left = 2000 - BLOCK
    with IndexFolder(tmp_path / "i") as index:
        assert index.verify() == []
        assert len(index.channels.pending("dense")) == left
    assert len(said("search", tmp_path / "i", "loi", "-c", "dense", "-k", "3")["results"]) == 3  # what is there is searched
    assert told("index", tmp_path / "i", "--channels", "dense")["channels"]["dense"]["encoded"] == left
    with IndexFolder(tmp_path / "i") as index, index.snapshot() as snapshot:
        assert index.verify() == []
        assert snapshot.channel_numbering("dense").complete


DENSE = ["--channels", "dense"]
REFUSED = {
    "kind": (["--channels", "fast"], 2, "no kind of channel 'fast'; there are dense, static, sentences, splade, colbert"),
    "model of another": (["--channels", "splade", "--model", "dense=x"], 2, "--model takes channel=MODEL for one of splade"),
    "query model of another": (["--channels", "splade", "--query-model", "dense=x"], 2, "--query-model takes channel=MODEL"),
    "unknown model": ([*DENSE, "--model", "no-such"], 4, "no model 'no-such'; give a folder, one of fr-legal-dense"),
    "no such folder": ([*DENSE, "--model", "/no/such/folder"], 4, "no model '/no/such/folder'"),
    "storage": ([*DENSE, "--storage", "fp99"], 2, "storage must be one of fp32, fp16, int8; got 'fp99'"),
    "passages": ([*DENSE, "--passages", "foo"], 2, "passages must be one of whole, windows, paragraphs, sentences, words"),
    "overlap": ([*DENSE, "--size", "5", "--overlap", "9"], 2, "the overlap must be at least 0 and below the size 5"),
    "bits": (
        ["--channels", "colbert", "--model", "x", "--bits", "9"],
        2,
        "1 to 8 bits a dimension; got 9",
    ),
    "undivided": (
        ["--channels", "colbert", "--model", "x", "--passages", "beginning"],
        2,
        "--passages is for channels of dense, static",
    ),
    "others": (["--channels", "dense,splade-mine", "--bits", "2"], 2, "--bits is for channels of colbert, and --channels"),
    "terms": ([*DENSE, "--terms", "100"], 2, "--terms is for channels of splade, and --channels names none"),
    "no channel": (["--merge", "--storage", "int8"], 2, "--storage is for channels of dense, static, sentences, and --channels"),
    "no model": (["--channels", "colbert"], 2, "no model for the channel 'colbert' in 'fr' comes with LexFuse"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(plain, here, case):
    arguments, code, words = REFUSED[case]
    found, _, message = here("index", plain, *arguments)
    assert found == code
    assert words in message
    with IndexFolder(plain) as index:
        assert index.channels.names == ()  # nothing is left behind


def test_a_hub_that_cannot_be_reached(plain, tmp_path):
    arguments = ["--channels", "dense", "--model", "nobody/nothing"]
    done = lexfuse("index", plain, *arguments, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))
    assert done.returncode == 6
    assert "the hub did not give 'nobody/nothing'" in done.stderr
    assert "these need no hub: fr-legal-dense" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--model", "dense=x"], ["--channels", "dense", "--storage", "fp99"], ["--channels", "fast"]], ids=" ".join
)
def test_options_are_refused_before_anything_is_built(tmp_path, here, arguments):
    assert here("index", EXAMPLES / "articles.csv", tmp_path / "i", *arguments)[0] == 2
    assert not (tmp_path / "i").exists()


def test_a_model_folder_without_a_tokenizer(plain, tmp_path, here):
    folder = tiny.folder(tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    code, _, message = here("index", plain, "--channels", "dense", "--model", folder)
    assert code == 3
    assert "no tokenizer.json" in message


def test_costs_without_documents_or_an_index(tmp_path, here):
    IndexFolder.create(tmp_path / "i").close()
    code, _, message = here("info", tmp_path / "i", "--cost")
    assert code == 3
    assert "nothing to time" in message
    assert here("info", tmp_path / "nowhere", "--cost")[0] == 4


def test_a_channel_that_the_index_lacks(built, plain, tmp_path, here):
    code, _, message = here("search", built, "prêt", "-c", "colbert")
    assert code == 4
    assert "it has bm25, tfidf, citation, tfidf-1gram, tfidf-2gram, tfidf-bigram, dense, splade" in message
    out = tmp_path / "x.trec"
    code, _, message = here("run", plain, EXAMPLES / "questions.csv", "-c", "dense", "-o", out)
    assert code == 4
    assert "it has bm25, tfidf, citation, tfidf-1gram, tfidf-2gram, tfidf-bigram; add one" in message
    assert not out.exists()
