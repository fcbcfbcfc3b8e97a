"""A real browser for tests that look at pages, and a real server of a small invented collection for it to look at."""

import importlib.util
import os
import re
import shutil
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from launcher import going_on, lexfuse

PATIENCE = 300  # seconds after which something will not happen any more, however busy the machine is; it comes sooner


@pytest.fixture(scope="module")  # while it is open this thread has an event loop, and other modules start their own
def browser():
    """Debian's chromium, driven by playwright; where it is missing the test is skipped, but not where all tests must run."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        if os.environ.get("LEXFUSE_ALL_TESTS"):
            pytest.fail("no chromium on this machine, and all tests must run")
        pytest.skip("no chromium on this machine; scripts/install-browser installs it")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as running:
        opened = running.chromium.launch(
            executable_path=program, timeout=1000 * PATIENCE, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def collection():
    """The invented collection: tests/e2e/collection.py."""
    specification = importlib.util.spec_from_file_location("collection", Path(__file__).parent / "collection.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def law(collection, tmp_path_factory):
    """A folder with the collection, its index of words, vectors and sentences, and an advice report in the index."""
    folder = tmp_path_factory.mktemp("law")
    collection.write(folder)
    models = ["--model", "dense=fr-legal-dense", "--model", "sentences=fr-legal-dense"]
    _lexfuse("index", folder / "corpus.jsonl", folder / "labour.index", "--channels", "dense,sentences", *models)
    _lexfuse("index", folder / "lending.jsonl", folder / "lending.index")
    _lexfuse(
        "advise", folder / "labour.index", folder / "queries.jsonl", folder / "dev.tsv", "--channels", "bm25,dense",
        "-m", "nDCG@10 R@5", "--folds", "3", "-o", folder / "labour.index" / "advice" / "first",
    )  # fmt: skip
    return folder


def _lexfuse(*arguments):
    done = lexfuse(*arguments)
    assert done.returncode == 0, done.stderr


@contextmanager
def served(index, *flags):
    """A server of an index; its address."""
    usual = ["--port", "0", "--requests-per-minute", "0", "--anonymous-judging", "--timeout-seconds", PATIENCE]
    with going_on("serve", index, *usual, *flags) as (output, log):
        said = output.readline()
        address = re.search(r"http://[\w.:]+", said)
        if address is None:
            pytest.fail(f"the server did not start: {said}{log.read_text('utf-8')}")
        yield address[0]


@pytest.fixture(scope="session")
def serve():
    """Runs commands, and serves an index of a test that needs another one than the collection's."""
    return SimpleNamespace(lexfuse=_lexfuse, served=served)


@pytest.fixture(scope="session")
def site(law):
    """The address of the service that serves the collection, and next to it a code whose articles have versions."""
    with served(law / "labour.index", law / "lending.index") as address:
        yield address


@pytest.fixture(scope="session")
def shoot():
    """Keeps a screenshot of a page in the folder that LEXFUSE_SHOTS names; where it names none, nothing is drawn."""
    folder = os.environ.get("LEXFUSE_SHOTS")

    def kept(page, name):
        if folder:
            page.screenshot(path=Path(folder, name), full_page=True)

    return kept


@pytest.fixture
def visit(browser, site):
    """Opens pages of the site. At the end of the test no page may have complained, of the content policy either."""
    contexts, complaints = [], []

    def opened(path="/", *, width=1280, scheme="light", script=True, language="en", expected=(), expert=True):
        context = browser.new_context(
            base_url=site, viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script,
            locale={"en": "en-GB", "fr": "fr-FR"}[language], accept_downloads=True, reduced_motion="reduce",
        )  # fmt: skip
        context.set_default_timeout(1000 * PATIENCE)
        if expert:
            context.add_cookies([{"name": "lexfuse_expert", "value": "1", "url": site}])
        contexts.append(context)
        page = context.new_page()

        def complain(text):
            if not any(each in text for each in expected):
                complaints.append(text)

        page.on("console", lambda message: complain(message.text))
        page.on("pageerror", lambda error: complain(str(error)))
        page.on("request", lambda request: None if request.url.startswith((site, "data:")) else complain(request.url))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
