"""The commands on an index in PostgreSQL: export, search, run, advise, info, the page, and secrets that stay secret."""

import json
from pathlib import Path

import launcher
import pytest

from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings, load_settings
from lexfuse.web.routes import add_pages

EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = "rendre un livre après le délai"
SECRET = "s3cr3t"  # noqa: S105


def lexfuse(*arguments, code=0):
    done = launcher.lexfuse(*arguments)
    assert done.returncode == code, done.stderr
    return done.stdout if not code else done.stderr


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library") / "library.index"
    lexfuse("index", EXAMPLES / "articles.csv", folder, "--channels", "dense,splade")
    return folder


@pytest.fixture(scope="module")
def address(postgres_server, library):
    address = f"{postgres_server}&schema={library.parent.name}"  # of this set-up: the module may be set up twice
    written = json.loads(lexfuse("export", "postgres", address, library, "--json"))
    assert (written["written"], written["channels"], written["text_config"]) == (True, ["dense", "splade"], "french")
    assert "up to date: 6 documents and bm25, dense, splade" in lexfuse("export", "postgres", address, library)
    return address


def test_search_and_run(address, library, tmp_path):
    for channels in ("dense", "splade", "dense,splade"):
        found = [json.loads(lexfuse("search", place, QUESTION, "-c", channels, "--json")) for place in (library, address)]
        shown = [[(hit["id"], round(hit["score"], 4), hit["snippet"]) for hit in each["results"]] for each in found]
        assert shown[0] == shown[1]
    lexfuse("run", address, EXAMPLES / "questions.csv", "-o", tmp_path / "postgres.trec")
    lexfuse("fuse", tmp_path / "postgres.trec", EXAMPLES / "words.trec", "-o", tmp_path / "fused.trec")
    assert (tmp_path / "fused.trec").read_text("utf-8").strip()


def test_explained_search(address):
    found = json.loads(lexfuse("search", address, QUESTION, "-c", "bm25,dense", "--explain", "--why", "lib-1", "--json"))
    assert found["results"][0]["fusion"]["parts"][0]["source"] == "bm25"
    assert found["why"][0]["doc"] == "lib-1"


def test_similar(address):
    found = json.loads(lexfuse("similar", address, "lib-4", "--exclude-self", "--add-term", "lecteur", "--json"))
    assert found["results"]
    assert "lib-4" not in [hit["id"] for hit in found["results"]]
    assert "lecteur" in lexfuse("similar", address, "lib-4", "--show-terms", "--add-term", "lecteur")


def test_info_and_advice(address, tmp_path):
    figures = json.loads(lexfuse("info", address, "--json"))
    assert figures["documents alive"] == 6
    assert figures["dense"]["bytes"] > 0
    lexfuse(
        "advise", address, EXAMPLES / "questions.csv", EXAMPLES / "test.tsv", "--channels", "bm25,dense", "--folds", "2",
        "-o", tmp_path / "advice",
    )  # fmt: skip
    assert any((tmp_path / "advice").iterdir())


def test_the_page_and_the_api(address):
    from starlette.testclient import TestClient

    settings = load_settings({"indexes": [f"library={address}"]}).settings
    with IndexRegistry.open([index.place() for index in settings.indexes]) as registry:
        app = create_app(ServiceContext(registry, ServiceSettings(requests_per_minute=0, reload_seconds=0)))
        add_pages(app)
        with TestClient(app, "http://127.0.0.1:8080") as client:
            page = client.get("/", params={"q": QUESTION}, headers={"accept": "text/html"})
            assert page.status_code == 200
            assert "lib-4" in page.text
            answer = client.get("/v1/search", params={"query": QUESTION})
            assert answer.status_code == 200, answer.text
        assert not registry.index().refresh()


def test_a_newer_export_is_taken_over_by_the_service(postgres_server, library, tmp_path):
    address = f"{postgres_server}&schema=served"
    lexfuse("export", "postgres", address, library)
    with IndexRegistry.open([IndexPlace.of(address)]) as registry:
        other = tmp_path / "other.index"
        (tmp_path / "one.jsonl").write_text('{"id": "only", "text": "Une seule loi."}\n', encoding="utf-8")
        lexfuse("index", tmp_path / "one.jsonl", other)
        lexfuse("export", "postgres", address, other, "--force")
        assert registry.refresh() == ["served"]
        with registry.index().lease() as version:
            assert list(version.snapshot.ids) == ["only"]


@pytest.mark.usefixtures("psycopg")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", f"postgresql://me:{SECRET}@127.0.0.1:1/law", "loi"], 5),
        (["export", "postgres", f"postgresql://me:{SECRET}@127.0.0.1:1/law", "LIBRARY"], 5),
        (["export", "postgres", f"postgresql://me:{SECRET}@127.0.0.1:1/law?schema=public", "LIBRARY"], 2),
        (["export", "postgres", "LIBRARY", f"postgresql://me:{SECRET}@127.0.0.1:1/law"], 2),
        (["index", f"postgresql://me:{SECRET}@127.0.0.1:1/law", "--merge"], 2),
        (["info", f"postgresql://me:{SECRET}@[db/law"], 2),
        (["advise", f"postgresql://me:{SECRET}@127.0.0.1:1/law", "a", "b", "--run", "c"], 2),
        (["serve", f"postgresql://me:{SECRET}@127.0.0.1:1/law"], 5),
    ],
)
def test_no_message_has_the_password(library, arguments, code):
    assert SECRET not in lexfuse(*(str(library) if word == "LIBRARY" else word for word in arguments), code=code)


def test_settings_are_shown_without_the_password():
    shown = lexfuse("serve", f"law=postgresql://me:{SECRET}@db/law?schema=labour", "--show-settings")
    assert SECRET not in shown
    assert "postgresql://me@db/law?schema=labour" in shown
