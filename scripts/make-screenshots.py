"""Screenshots of the page for the documentation, from the invented collection of the tests.

    python scripts/make-screenshots.py [FOLDER]

Indexes the collection, serves it on this machine, and writes the pictures into FOLDER (docs). Needs chromium, playwright, Pillow.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Page, sync_playwright

COMMAND = Path(sys.executable).parent / "lexfuse"
TESTS = Path(__file__).parent.parent / "tests" / "e2e"
QUESTION = quote("rupture conventionnelle vice du consentement")
ANSWERED = quote("délai de rétractation de la rupture conventionnelle")
COLOURS = 128  # of a picture
SETTINGS = """anonymous_judging = true
port = 0

[[indexes]]
folder = "labour.index"
titles = { fr = "Droit du travail", en = "Labour law" }

[[indexes]]
folder = "lending.index"
titles = { fr = "Prêt", en = "Lending" }
"""
# A calibration by hand, so that an answer is shown: the collection is too small to calibrate on.
PROFILE = """version = 1

[[channel]]
name = "bm25"

[confidence]
features = ["coverage"]
centre = [0.5]
scale = [0.1]
answer = [0.0, 1.0]
topic = [0.0, 1.0]
threshold = 0.5
shown = 0.6
"""


def nothing(_: Page) -> None:
    """Show the page as it is."""


def why_first(page: Page) -> None:
    """Open the reasons of the first result."""
    page.locator("[data-result] a[data-why]").first.click()
    page.locator("[data-part=why] svg.bar").first.wait_for()


def first_pairs(page: Page) -> None:
    """Open the matching paragraphs of the first result."""
    page.locator(".aligned summary").first.click()
    page.locator(".pairs blockquote").first.wait_for()


@dataclass(frozen=True)
class Picture:
    """A page as it is to be seen."""

    path: str
    size: tuple[int, int]
    expert: bool = False
    scheme: str = "light"
    settle: Callable[[Page], None] = nothing


PICTURES = {
    "search": Picture(f"/?q={QUESTION}", (1320, 1130), expert=True, settle=why_first),
    "similar": Picture("/similar?document=lyon-2021-vice", (1320, 1250), expert=True, settle=first_pairs),
    "page-home": Picture("/", (1320, 700)),
    "page-answer": Picture(f"/?q={ANSWERED}&profile=words", (1320, 900)),
    "page-document": Picture(f"/documents/L1237-13%402008?q={ANSWERED}&rank=1", (1320, 900)),
    "page-compare": Picture(f"/compare?q={QUESTION}&profile=bm25&profile=dense&profile=hybrid", (1320, 900), expert=True),
    "page-judging": Picture("/judging", (1320, 900), expert=True),
    "page-phone": Picture(f"/?q={ANSWERED}&profile=words", (390, 844), scheme="dark"),
}


def index(folder: Path) -> None:
    """Index the collection with words, vectors and sentences."""
    sys.path.insert(0, str(TESTS))
    import collection

    collection.write(folder)
    models = ["--model", "dense=fr-legal-dense", "--model", "sentences=fr-legal-dense"]
    for arguments in (
        ["corpus.jsonl", "labour.index", "--channels", "dense,sentences", *models],
        ["lending.jsonl", "lending.index"],
    ):
        subprocess.run([str(COMMAND), "index", *arguments], cwd=folder, check=True)
    (folder / "labour.index" / "profiles").mkdir(exist_ok=True)
    (folder / "labour.index" / "profiles" / "words.toml").write_text(PROFILE, "utf-8")
    (folder / "serve.toml").write_text(SETTINGS, "utf-8")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the indexes; the address."""
    command = [str(COMMAND), "serve", "--config", "serve.toml"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            said = server.stdout.readline() if server.stdout else ""
            if (address := re.search(r"http://[\w.:]+", said)) is None:
                raise SystemExit(f"the service did not start: {said}")
            yield address[0]
        finally:
            server.terminate()


def judge(page: Page) -> None:
    """Have two judges grade some results."""
    for name, grade in (("Zoé Martin", "3"), ("Max", "1")):
        page.request.post("/judging/name", form={"judge": name})
        for document, given in (("L1237-14@2008", grade), ("lyon-2021-vice", "2"), ("civil-1728", "0")):
            page.request.post("/judge", form={"q": "rupture conventionnelle", "document": document, "grade": given})


def main() -> None:
    """Write every picture."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as made, sync_playwright() as running:
        folder = Path(made)
        index(folder)
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-background-networking"])
        with served(folder) as site:
            for name, picture in PICTURES.items():
                width, height = picture.size
                context = browser.new_context(
                    base_url=site, viewport={"width": width, "height": height}, color_scheme=picture.scheme,  # type: ignore[arg-type]
                    locale="fr-FR", reduced_motion="reduce",
                )  # fmt: skip
                context.set_default_timeout(120_000)
                if picture.expert:
                    context.add_cookies([{"name": "lexfuse_expert", "value": "1", "url": site}])
                page = context.new_page()
                if name == "page-judging":
                    judge(page)
                page.goto(picture.path)
                picture.settle(page)
                drawn = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS)
                drawn.save(out / f"{name}.png", optimize=True)
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
