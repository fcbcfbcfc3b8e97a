"""The report in a real browser: nothing is requested, nothing complains, it fits a telephone, tables sort, names stay text."""

import math

import pytest

from lexfuse.advise.advice import (
    Advice,
    ClassFinding,
    Configuration,
    Confirmation,
    Difference,
    SourceCost,
    Tried,
    WeightCurve,
)
from lexfuse.advise.complementarity import Complementarity, Region
from lexfuse.advise.distributions import ScoreDistribution
from lexfuse.advise.lengths import LengthBias
from lexfuse.advise.overlap import OverlapAnalysis, OverlapGroup, OverlapTest
from lexfuse.advise.report import report_of
from lexfuse.evaluate.bootstrap import Interval

HOSTILE = '"><script>window.hurt = 1</script><img src=x onerror="window.hurt = 1">'
SECTIONS = [
    "verdict", "matrix", "effects", "test", "weights", "distributions", "complementarity", "overlap", "lengths", "classes",
    "costs", "figures", "method", "notes",
]  # fmt: skip


def difference(mean, p=0.01):
    return Difference(mean, Interval(mean - 0.02, mean + 0.02), 0.3, p / 2, p, 60)


def small_advice(first="bm25", second="dense", *, collection="labour.index", **changes):
    """An advice on two sources, with every part of it present."""
    pair, methods = (first, second), {"rrf": 0.01, "min-max, equal": -0.03, "min-max, tuned": 0.05, "tm2c2": 0.04}
    singles = [
        Tried(Configuration((name,)), (1.0,), value, "", None, 2.0, 10_000, True)
        for name, value in zip(pair, (0.4, 0.45), strict=True)
    ]
    fused = [
        Tried(
            Configuration(pair, method),
            (0.4, 0.6),
            0.45 + gain,
            second,
            difference(gain, 0.6 if abs(gain) < 0.02 else 0.01),
            5.0,
            30_000,
        )
        for method, gain in methods.items()
    ]
    chosen = fused[2]
    means = {"nDCG@10": {first: 0.4, second: 0.45, chosen.configuration.name: 0.5}}
    groups = [
        OverlapGroup(name, 9, {"2-grams in common": 3.0, "3-grams in common": 1.0, "LCS": 7.0}, {"2-grams in common": 1.0})
        for name in ("first wins", "second wins", "both perfect", "both fail")
    ]
    tests = (OverlapTest("LCS", 0.01, -2.0, -3.0, ("first wins", "both perfect")),)
    curve = WeightCurve(
        pair,
        "min-max",
        (0.0, 0.5, 1.0),
        (0.4, 0.5, 0.45),
        (Interval(0.3, 0.6),) * 3,
        0.55,
        "not distinguishable from equal weights",
    )
    regions = (Region("A", f"{first} high, {second} low", 4, 3), Region("D", "both low", 0, 0))
    points = ((0.9, 0.1, True), (0.1, 0.2, False))
    parts = {
        "confirmation": Confirmation(50, means, {f"{second} alone": difference(0.04)}),
        "curves": (curve,),
        "distributions": tuple(
            ScoreDistribution(name, scale, (0.0, 0.5, 1.0), (0.7, 0.3), (0.0, 0.1, 0.3, 0.6, 0.9))
            for scale in ("raw", "min-max")
            for name in pair
        ),
        "complementarity": (Complementarity(first, second, ((0.2, 0.6), (0.3, 0.7)), regions, points, math.nan, 5, 6, 7, 8),),
        "overlaps": (OverlapAnalysis(first, second, "R@5", tuple(groups), tests, (f"{first} likes words.",)),),
        "lengths": (LengthBias(first, 0.4, 0.01, 300.0, 200.0, math.nan),),
        "classes": (ClassFinding("citation", 12, {first: 0.9, second: 0.2}, None, f"{first} alone serves them"),),
        "costs": (SourceCost(first, 10_000, 2.0, 4.0, 1_000_000),),
        "notes": (f"{first} has no text for 2 documents.",),
    }  # fmt: skip
    words = (f"Fuse {first} and {second}: +0.050, p = 0.010.", "Nothing else is worth adding.")
    return Advice(
        collection, "nDCG@10", ("nDCG@10",), 1200, 60, 5, pair, means, (*singles, *fused), chosen, words, **{**parts, **changes}
    )


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


def test_the_report_stands_alone(show):
    page, address = show(small_advice())
    assert [url for url in page.asked if url not in (address, "data:,")] == []
    assert page.complaints == []
    assert [each.get_attribute("id") for each in page.query_selector_all("main > section")] == SECTIONS
    assert page.inner_text(".answer") == "Fuse"
    assert page.title() == "Fuse: labour.index"


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_page_scrolls_sideways(show, width):
    page, _ = show(small_advice("a-source-with-a-name-that-is-much-longer-than-usual", collection="x" * 120), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    charts = page.query_selector_all("svg.chart[viewBox]")
    assert len(charts) == 6
    assert all(0 < chart.bounding_box()["width"] <= width for chart in charts)


def test_words_of_charts_stay_readable_on_a_telephone(show):
    page, _ = show(small_advice(), width=390)
    sizes = "[...document.querySelectorAll('svg.chart[viewBox] text')].map(e => e.getBoundingClientRect().height)"
    assert min(page.evaluate(sizes)) >= 10


def test_hostile_names_do_nothing(show):
    page, address = show(small_advice(HOSTILE, collection=HOSTILE))
    assert page.evaluate("window.hurt") is None
    assert page.query_selector("img") is None
    assert page.complaints == []
    assert [url for url in page.asked if url not in (address, "data:,")] == []
    assert page.inner_text("h1") == HOSTILE


def test_dark_paper_where_the_reader_wants_it(show):
    pages = [show(small_advice(), scheme=scheme)[0] for scheme in ("light", "dark")]
    colours = [page.evaluate("getComputedStyle(document.body).backgroundColor") for page in pages]
    brightness = [sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")) for colour in colours]
    assert brightness[0] > 700
    assert brightness[1] < 120


def test_a_click_sorts_the_figures(show):
    page, _ = show(small_advice())
    page.click("#figures summary")
    column = "[...document.querySelectorAll('#figures tbody tr')].map(row => row.cells[3].dataset.order ?? 'none')"
    page.click("#figures th:nth-child(4) button")
    falling = page.evaluate(column)
    assert falling == ["0.05", "0.04", "0.01", "-0.03", "none", "none"]
    assert page.get_attribute("#figures th:nth-child(4)", "aria-sort") == "descending"
    page.click("#figures th:nth-child(4) button")
    assert page.evaluate(column) == [*reversed(falling[:4]), "none", "none"]


def test_it_reads_without_script(browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report_of(small_advice()), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.inner_text(".answer") == "Fuse"
    assert len(page.query_selector_all("svg.chart[viewBox]")) == 6
    context.close()


def test_it_prints_on_paper(show):
    page, _ = show(small_advice(), scheme="dark")
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print", color_scheme="dark")
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert (
        sum(int(part) for part in ink.removeprefix("rgb(").removesuffix(")").split(",")) < 200
    )  # dark letters, whatever the screen
