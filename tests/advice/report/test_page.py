"""The report and the JSON of an advice: complete, escaped, honest about what is missing, the same bytes again."""

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lexfuse.advice.advice import Advice
from lexfuse.advice.evidence.length_bias import LengthBias, LengthBin
from lexfuse.advice.findings import ClassFinding, Configuration, ConfigurationResult, Difference, WeightCurve
from lexfuse.advice.report.page import SECTIONS, report_of
from lexfuse.advice.report.report_folder import advice_json
from lexfuse.advice.report.results import BEST
from lexfuse.evaluation.bootstrap import ConfidenceInterval

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\x00\ud800'
VOID = {"meta", "link", "br"}
EMPTY = {
    "confirmation": None, "curves": (), "distributions": (), "complementarity": (), "overlaps": (), "lengths": (), "classes": (),
    "costs": (), "notes": (), "reranking": None,
}  # fmt: skip


def difference(mean, p=0.01):
    return Difference(mean, ConfidenceInterval(mean - 0.02, mean + 0.02), 0.3, p / 2, p, 60)


class Reader(HTMLParser):
    """Collects tags, ids, links and text, and sees whether every tag is closed in its turn."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.words, self.wrong = [], [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append((tag, found))
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found[name] for name in ("href", "src") if name in found]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)


class Content(HTMLParser):
    """Collects tags with their attributes and the text between them, without the spaces around it."""

    def __init__(self, page):
        super().__init__()
        self.parts = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.parts.append((tag, attributes))

    def handle_endtag(self, tag):
        self.parts.append(f"/{tag}")

    def handle_data(self, data):
        self.parts += [" ".join(data.split())] if data.split() else []


@pytest.fixture(scope="module")
def page(small_advice):
    return report_of(small_advice())


def test_the_page_is_the_document_that_is_kept(page):
    kept = (Path(__file__).parent / "report.html").read_text("utf-8")
    assert Content(page).parts == Content(kept).parts


def test_the_page_is_well_formed(page):
    reader = Reader(page)
    assert reader.wrong == []
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))


def test_the_contents_lead_to_every_section(page):
    reader = Reader(page)
    anchors = [link[1:] for link in reader.links if link.startswith("#")]
    assert anchors == reader.ids
    assert len(anchors) == len(SECTIONS)


def test_nothing_is_loaded_from_elsewhere(page):
    assert {link for link in Reader(page).links if not link.startswith("#")} == {"data:,"}
    assert not re.search(r"url\(|@import|https?:", page)


def test_the_same_advice_gives_the_same_bytes(small_advice, page):
    assert report_of(small_advice()) == page


def test_the_verdict_comes_first(page):
    words = "".join(Reader(page).words).replace("\u00a0", " ")
    words = words[words.index("decided by") :]  # after the contents
    places = [
        words.index(part) for part in ("Fuse bm25 and dense: +0.050, p = 0.010.", "Every combination", "Gains over", "How it was")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("field", ["first", "collection"])
def test_hostile_names_are_text(small_advice, field):
    changes = {"collection": HOSTILE} if field == "collection" else {"first": HOSTILE}
    made = report_of(small_advice(**changes))
    made.encode()
    reader = Reader(made)
    assert reader.wrong == []
    assert [tag for tag, _ in reader.tags].count("script") == 1
    assert "img" not in [tag for tag, _ in reader.tags]
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
    assert "<script>alert(1)" in "".join(reader.words)


def test_hostile_words_are_text(small_advice):
    bad = small_advice(notes=(HOSTILE,), classes=(ClassFinding(HOSTILE, 1, {HOSTILE: 0.1}, None, HOSTILE),))
    reader = Reader(report_of(replace(bad, words=(HOSTILE, HOSTILE), measure=HOSTILE)))
    assert [tag for tag, _ in reader.tags].count("script") == 1
    assert reader.wrong == []


@pytest.mark.parametrize("part", EMPTY)
def test_a_missing_part_is_said_and_its_section_stays(small_advice, part):
    made = report_of(small_advice(**{part: EMPTY[part]}))
    assert len(Reader(made).ids) == len(SECTIONS)
    said = {
        "confirmation": "No test queries were given", "curves": "No weight curves", "distributions": "No score distributions",
        "complementarity": "No pairs of sources", "overlaps": "this needs the texts", "lengths": "needs the lengths",
        "classes": "Not analysed: the texts of the queries", "costs": "", "notes": "Nothing was left out",
        "reranking": "No reranker was tried; lexfuse advise",
    }[part]  # fmt: skip
    assert said in made
    assert not said or said not in report_of(small_advice())


def test_rankings_without_costs_say_so(small_advice):
    bare = small_advice(costs=())
    free = [replace(each, milliseconds=None, bytes=None, on_front=False) for each in bare.tried]
    assert "Nothing was measured" in report_of(replace(bare, tried=tuple(free), chosen=free[-2]))


def test_numbers_that_are_none_become_a_dash(small_advice):
    bad = Difference(math.nan, ConfidenceInterval(math.nan, math.inf), math.nan, math.nan, math.nan, 0)
    none = (math.nan,) * 2
    curve = WeightCurve(("bm25", "dense"), "min-max", (0.0, 1.0), none, (ConfidenceInterval(*none),) * 2, math.nan, "")
    advice = small_advice(curves=(curve,))
    tried = [replace(each, value=math.nan, versus_member=bad if each.versus_member else None) for each in advice.tried]
    words = "".join(Reader(report_of(replace(advice, tried=tuple(tried), chosen=tried[-1]))).words)
    assert not re.search(r"\b(nan|inf)\b", words, re.IGNORECASE)


def test_the_rates_by_length_are_drawn(small_advice):
    bins = (LengthBin(20.0, 5, 0.5, 1.25), LengthBin(900.0, 5, 1.5, 0.75))
    made = report_of(small_advice(lengths=(LengthBias("bm25", 0.4, 0.01, 300.0, 200.0, math.nan, 9, bins),)))
    assert (
        "Documents of about 900 words are retrieved 1.500 times as often as the average document, and relevant 0.750 times."
        in made
    )
    assert "How often documents of each length" in made


def test_every_chart_has_a_title_and_a_description(page):
    charts = re.findall(r'<svg class="chart" viewBox[^>]*>(.{0,40})', page)
    assert len(charts) == 6
    assert all(chart.startswith("<title>") for chart in charts)
    assert page.count("<figure") == page.count("<figcaption>")


def test_the_matrix_shows_outcomes_by_signs_and_words(page):
    matrix = page[page.index('<table class="matrix">') : page.index("</table>", page.index('<table class="matrix">'))]
    cells = re.findall(r'<td class="([a-z ]+)" title="([^"]*)">([\d.]+)<span class="sign" aria-hidden="true">(.)</span>', matrix)
    assert [(css, value, sign) for css, _, value, sign in cells] == [
        ("equal", "0.460", "≈"), ("worse", "0.420", "▼"), ("better chosen", "0.500", "▲"), ("better", "0.490", "▲"),
    ]  # fmt: skip
    assert cells[2][1].startswith("+0.050 over dense (+0.030 to +0.070)")
    assert matrix.count('rowspan="2"') == 3  # sources, rrf and tm2c2 have no second line


def test_a_subset_that_was_not_tried_with_a_method_is_an_empty_cell(small_advice):
    advice = small_advice()
    more = ConfigurationResult(Configuration(("bm25", "dense", "static"), "borda"), (), 0.3, "dense", difference(-0.15))
    assert report_of(replace(advice, tried=(*advice.tried, more))).count("not tried") == 5


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (ConfigurationResult(Configuration(("a",)), (1.0,), 0.4), "Do not fuse"),
        (ConfigurationResult(Configuration(("a", "b"), "rrf"), (), 0.4, "a", difference(0.05, 0.01)), "Fuse"),
        (
            ConfigurationResult(Configuration(("a", "b"), "rrf"), (), 0.4, "a", difference(0.05, 0.2)),
            "Fusing is not proven to help",
        ),
        (ConfigurationResult(Configuration(("a", "b"), "rrf"), (), 0.4, "a", difference(-0.05, 0.01)), "Fusing does harm"),
    ],
)
def test_the_headline_says_what_was_found(small_advice, chosen, words):
    advice = replace(small_advice(), chosen=chosen)
    assert advice.verdict == words
    assert f"<title>{words}: labour.index</title>" in report_of(advice)


def test_the_forest_shows_the_best_and_says_of_how_many(small_advice):
    advice = small_advice()
    many = [
        ConfigurationResult(Configuration(("bm25", "dense"), f"m{at:02}"), (), at / 100, "dense", difference(at / 100))
        for at in range(50)
    ]
    page = report_of(replace(advice, tried=(*advice.tried[:2], *many)))
    body = page[page.index('<section id="effects">') : page.index('<section id="test">')]
    shown = re.findall(r"m(\d\d) ·", body)
    assert shown == [f"{at:02}" for at in range(49, 49 - BEST, -1)]
    assert f"The {BEST} of 50 fusions" in body


def test_the_json_has_everything_and_stays_plain(small_advice):
    advice = small_advice()
    plain = advice_json(advice)
    again = json.loads(json.dumps(plain, allow_nan=False))
    assert again == plain
    assert list(plain)[:2] == ["version", "collection"]
    assert plain["version"] == 1
    assert plain["verdict"] == advice.verdict.value
    assert set(plain) - {"version", "verdict"} == set(Advice.__slots__) - {"spec"}
    assert plain["complementarity"][0]["correlation"] is None
    assert plain["chosen"]["versus_member"]["outcome"] == "better"
    assert plain["chosen"]["configuration"]["name"] == "bm25 + dense, min-max, tuned"
    assert plain["tried"][2]["versus_member"]["interval"] == {"low": pytest.approx(-0.01), "high": pytest.approx(0.03)}
    assert plain["overlaps"][0]["tests"][0]["groups"] == ["first wins", "both perfect"]


def test_report_and_charts_load_nothing_heavy():
    code = "import sys, lexfuse.advice.report.charts; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "numba", "pyarrow"} & set(loaded)


def test_rerankers_are_in_the_verdict_and_in_a_section_of_their_own(small_advice, page):
    body = page[page.index('<section id="reranking">') : page.index('<section id="weights">')]
    assert page.count("Reranking: use rprs; leave out cross-encoder.") == 2
    assert page.index("Reranking: use rprs") < page.index('<dl class="tiles"') < page.index("gain on dev of reranking by rprs")
    assert re.findall(r'class="badge">used', body) == ['class="badge">used'] * 2  # on dev and on test
    assert body.index("rprs helps") < body.index("cross-encoder harms.") < body.index('<table class="forest">')
    assert "12.5 ms" in body
    assert "Rerankers were tried on top of the choice only" in page


def test_without_rerankers_the_verdict_is_silent_about_them(small_advice):
    page = report_of(small_advice(reranking=None))
    assert "Rerankers were tried" not in page
    assert page.count("No reranker was tried") == 1
    assert page.count('<p class="lead">') == 1


def test_names_of_rerankers_are_text(small_advice):
    advice = small_advice()
    findings = tuple(replace(each, name=HOSTILE, words=(HOSTILE,)) for each in advice.reranking.findings)
    hostile = replace(advice.reranking, findings=findings, taken=HOSTILE, words=HOSTILE)
    reader = Reader(report_of(replace(advice, reranking=hostile)))
    assert reader.wrong == []
    assert [tag for tag, _ in reader.tags].count("script") == 1
    assert "img" not in [tag for tag, _ in reader.tags]
