"""The report in a real browser: nothing is requested, nothing complains, it fits a telephone, tables sort, names stay text."""

import pytest

from lexfuse.advice.report.page import report_of

HOSTILE = '"><script>window.hurt = 1</script><img src=x onerror="window.hurt = 1">'
SECTIONS = [
    "verdict", "matrix", "effects", "test", "reranking", "weights", "distributions", "complementarity", "overlap", "lengths",
    "classes", "costs", "figures", "method", "notes",
]  # fmt: skip


@pytest.fixture
def show(browser, tmp_path):
    """Open a report, and collect what it asks for and what it complains about."""
    contexts = []

    def opened(advice, *, width=1280, scheme="light"):
        file = tmp_path / "report.html"
        file.write_text(report_of(advice), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(file.as_uri())
        return page, file.as_uri()

    yield opened
    for context in contexts:
        context.close()


def test_the_report_stands_alone(small_advice, show):
    page, address = show(small_advice())
    assert [url for url in page.asked if url not in (address, "data:,")] == []
    assert page.complaints == []
    assert [each.get_attribute("id") for each in page.query_selector_all("main > section")] == SECTIONS
    assert page.inner_text(".answer") == "Fuse"
    assert page.title() == "Fuse: labour.index"


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_page_scrolls_sideways(small_advice, show, width):
    page, _ = show(small_advice("a-source-with-a-name-that-is-much-longer-than-usual", collection="x" * 120), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    charts = page.query_selector_all("svg.chart[viewBox]")
    assert len(charts) == 6
    assert all(0 < chart.bounding_box()["width"] <= width for chart in charts)


def test_words_of_charts_stay_readable_on_a_telephone(small_advice, show):
    page, _ = show(small_advice(), width=390)
    sizes = "[...document.querySelectorAll('svg.chart[viewBox] text')].map(e => e.getBoundingClientRect().height)"
    assert min(page.evaluate(sizes)) >= 10


def test_hostile_names_do_nothing(small_advice, show):
    page, address = show(small_advice(HOSTILE, collection=HOSTILE))
    assert page.evaluate("window.hurt") is None
    assert page.query_selector("img") is None
    assert page.complaints == []
    assert [url for url in page.asked if url not in (address, "data:,")] == []
    assert page.inner_text("h1") == HOSTILE


def test_dark_paper_where_the_reader_wants_it(small_advice, show):
    pages = [show(small_advice(), scheme=scheme)[0] for scheme in ("light", "dark")]
    colours = [page.evaluate("getComputedStyle(document.body).backgroundColor") for page in pages]
    brightness = [sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")) for colour in colours]
    assert brightness[0] > 700
    assert brightness[1] < 120


def test_a_click_sorts_the_figures(small_advice, show):
    page, _ = show(small_advice())
    page.click("#figures summary")
    column = "[...document.querySelectorAll('#figures tbody tr')].map(row => row.cells[3].dataset.order ?? 'none')"
    page.click("#figures th:nth-child(4) button")
    falling = page.evaluate(column)
    assert falling == ["0.05", "0.04", "0.01", "-0.03", "none", "none"]
    assert page.get_attribute("#figures th:nth-child(4)", "aria-sort") == "descending"
    page.click("#figures th:nth-child(4) button")
    assert page.evaluate(column) == [*reversed(falling[:4]), "none", "none"]


def test_it_reads_without_script(small_advice, browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report_of(small_advice()), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.inner_text(".answer") == "Fuse"
    assert len(page.query_selector_all("svg.chart[viewBox]")) == 6
    context.close()


def test_it_prints_on_paper(small_advice, show):
    page, _ = show(small_advice(), scheme="dark")
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print", color_scheme="dark")
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert (
        sum(int(part) for part in ink.removeprefix("rgb(").removesuffix(")").split(",")) < 200
    )  # dark letters, whatever the screen
