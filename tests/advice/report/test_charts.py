"""Charts: well-formed, escaped, the same bytes again, and drawn where the values say."""

import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

from lexfuse.advice.report.charts.axes import AxisLabels, LinearScale, LogarithmicScale, frame, span, tick_words
from lexfuse.advice.report.charts.cell_charts import axis_strip, bar_strip, histogram_strip, interval_strip, numbered, share_strip
from lexfuse.advice.report.charts.distribution_chart import DistributionLane, hill_chart
from lexfuse.advice.report.charts.line_chart import PlotMark, ReferenceLevel, Series, line_chart
from lexfuse.advice.report.charts.point_charts import Corner, CostPoint, front_chart, region_chart
from lexfuse.advice.report.charts.svg import ChartSize, escaped, fitted, standalone, style

HOSTILE = '</svg><script>alert("x")</script>\x00\'&\ud800'
LABELS = AxisLabels(f"title {HOSTILE}", f"x {HOSTILE}", f"y {HOSTILE}", f"description {HOSTILE}")
QUARTILES = ((0.2, 0.6), (0.3, 0.7))


def lines(**more):
    curve = Series(f"one {HOSTILE}", (0.0, 0.5, 1.0), (0.4, 0.5, 0.3), ((0.3, 0.5), (0.4, 0.6), (0.2, 0.4)))
    other = Series("two", (0.0, 0.5, 1.0), (0.2, math.nan, 0.3), dots=True)
    return line_chart([curve, other], LABELS, levels=[ReferenceLevel(HOSTILE, 0.6)], marks=[PlotMark(0.5, 0.5, HOSTILE)], **more)


def hills():
    one = DistributionLane(HOSTILE, (0.0, 0.5, 1.0), (0.9, 0.1), (0.0, 0.1, 0.2, 0.4, 0.8))
    return hill_chart([one, DistributionLane("b", (0.0, 0.5, 1.0), (0.0, 1.0), (math.nan,) * 5, 9)], LABELS)


def regions():
    corners = [Corner(letter, *sides, HOSTILE) for letter, sides in {"A": (1, 0), "B": (0, 1), "C": (1, 1), "D": (0, 0)}.items()]
    return region_chart([(0.9, 0.1, True), (0.2, 0.3, False), (math.nan, 0.0, True)], QUARTILES, corners, LABELS)


def fronts():
    return front_chart(
        [CostPoint(1.0, 0.4, 1), CostPoint(20.0, 0.5, 2, True), CostPoint(30.0, 0.45), CostPoint(0.0, 0.9)], LABELS
    )


CHARTS = {"lines": lines, "hills": hills, "regions": regions, "fronts": fronts}
EMPTY = {
    "lines": lambda: line_chart([], LABELS),
    "nan": lambda: line_chart([Series("a", (0.0, 1.0), (math.nan, math.inf))], LABELS),
    "hills": lambda: hill_chart([], LABELS),
    "regions": lambda: region_chart([], ((math.nan,) * 2,) * 2, [], LABELS),
    "fronts": lambda: front_chart([CostPoint(0.0, math.nan)], LABELS),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_well_formed_and_describes_itself(name):
    alone = standalone(CHARTS[name]())
    root = ElementTree.fromstring(alone.encode())  # noqa: S314 — our own text
    space = {"": "http://www.w3.org/2000/svg"}
    assert root.get("role") == "img"
    assert root.find("title", space).text.startswith("title </svg><script>")
    assert root.find("desc", space).text.startswith("description ")
    assert not root.findall(".//script", space)
    assert "--ink" in root.find("style", space).text
    words = "".join(root.itertext())
    assert "x </svg>" in words
    assert "y </svg>" in words


@pytest.mark.parametrize("name", CHARTS)
def test_the_same_values_give_the_same_bytes(name):
    assert CHARTS[name]() == CHARTS[name]()


@pytest.mark.parametrize("name", [*CHARTS, *(f"empty {name}" for name in EMPTY)])
def test_no_coordinate_is_lost(name):
    drawn = EMPTY[name.removeprefix("empty ")]() if name.startswith("empty ") else CHARTS[name]()
    assert not re.search(r'="[^"]*\b(nan|inf)\b[^"]*"', drawn)


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_to_show_is_said(name):
    assert "nothing to show" in EMPTY[name]()


def test_every_class_that_charts_use_has_a_style():
    drawn = "".join(make() for make in CHARTS.values())
    scale = LinearScale(-1, 1, 0, 100)
    drawn += interval_strip(scale, 0.1, 0, 0.2, "better", hollow=True) + bar_strip(scale, 0.2, "f0") + numbered("1", "best")
    used = {one for classes in re.findall(r'class="([^"]*)"', drawn) for one in classes.split()}
    assert used - set(re.findall(r"\.([a-z]+\d?)", style())) <= {"tick", "strip", "sign"}  # plain words; the page styles strips


def test_a_line_goes_through_its_points():
    chart = line_chart([Series("a", (0.0, 1.0), (0.0, 1.0))], LABELS, y_range=(0.0, 1.0))
    made = frame((0.0, 1.0), (0.0, 1.0), LABELS, ChartSize())
    start, end = re.search(r'class="line l0" d="M(\S+) (\S+)L(\S+) (\S+)"', chart).groups()[:2], (made.x(0.0), made.y(0.0))
    assert [float(value) for value in start] == pytest.approx(end, abs=0.01)


def test_a_missing_value_interrupts_the_line():
    assert re.search(r'class="line l1" d="M\S+ \S+M\S+ \S+"', lines())


def test_a_file_has_the_size_of_the_chart_and_a_margin():
    assert 'width="760" height="480" class="chart alone" viewBox="-20 -20 760 480"' in standalone(lines(size=ChartSize(720, 440)))


def test_words_of_two_marks_do_not_cover_each_other():
    chart = line_chart(
        [Series("a", (0.0, 1.0), (0.4, 0.4))], LABELS, marks=[PlotMark(0.50, 0.4, "one mark"), PlotMark(0.52, 0.4, "two marks")]
    )
    heights = re.findall(r'class="mark" x="\S+" y="(\S+)"', chart)
    assert len(set(heights)) == 2


def test_a_corner_reaches_from_the_quartile_to_the_edge():
    drawn = region_chart([(0.0, 0.0, True), (1.0, 1.0, False)], QUARTILES, [Corner("A", True, False, "")], LABELS)
    x, y, width, height = (
        float(value) for value in re.search(r'"region" x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', drawn).groups()
    )
    assert x + width == pytest.approx(352)
    assert y + height == pytest.approx(304)
    assert width / (352 - 24) == pytest.approx((1.02 - 0.6) / 1.04, abs=0.02)


def test_what_cannot_stand_on_a_logarithmic_axis_is_counted():
    assert "3 configurations are shown, 1 left out" in fronts()


def test_many_colours_come_round_again():
    many = [Series(str(at), (0.0, 1.0), (at / 20, at / 20)) for at in range(10)]
    assert line_chart(many, LABELS).count('class="line l0"') == 4  # two in the key, two in the plot


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.371, 0.412, [0.38, 0.39, 0.4, 0.41]),
        (-3.0, 6.0, [-2.0, 0.0, 2.0, 4.0, 6.0]),
    ],
)
def test_ticks_are_round(low, high, expected):
    assert LinearScale(low, high, 0, 1).ticks() == expected


@pytest.mark.parametrize(("low", "high"), [(0.4, 30.0), (1e-3, 1e7), (3.0, 4.0), (0.9, 1100.0)])
def test_logarithmic_ticks_are_within_and_few(low, high):
    ticks = LogarithmicScale(low, high, 0, 1).ticks()
    assert len(ticks) <= 6
    assert all(low * 0.99 <= tick <= high * 1.01 for tick in ticks)


@pytest.mark.parametrize("values", [[], [0.0], [5.0], [math.nan], [math.inf, 2.0], [0.0, 0.0], [1e-300, 1e-300]])
def test_a_span_is_never_empty(values):
    low, high = span(values)
    assert low < high


def test_tick_words_differ():
    assert tick_words([0.485, 0.49]) == ["0.485", "0.490"]


def test_strips_stay_within_their_cell():
    scale = LinearScale(-0.1, 0.1, 0, 100)
    places = re.findall(r'(?:x1|x2|cx)="(\S+)%"', interval_strip(scale, 0.5, -0.5, 0.9, "better"))
    assert all(0 <= float(place) <= 100 for place in places)


def test_strips_without_a_number_show_none():
    scale = LinearScale(-1.0, 1.0, 0, 100)
    assert "circle" not in interval_strip(scale, math.nan, 0.0, 1.0, "better")
    assert "rect" not in bar_strip(scale, math.nan, "f0")
    assert "rect" not in share_strip([(0, "better")], "none")
    assert "rect" not in histogram_strip([math.nan, 0.0], "f0")


def test_a_bar_may_point_left():
    assert 'x="25%" width="25%"' in bar_strip(LinearScale(-1.0, 1.0, 0, 100), -0.5, "f0")


def test_the_axis_of_strips_speaks():
    said = axis_strip(LinearScale(-1.0, 1.0, 0, 100), HOSTILE, HOSTILE)
    assert "<script>" not in said
    assert said.count("<desc>") == 1


def test_text_that_xml_cannot_hold_is_replaced():
    assert escaped("a\x00b\ud800c\x85") == "a\ufffdb\ufffdc\ufffd"
    escaped("a\ud800").encode()


def test_a_long_title_is_broken_not_cut():
    title = "a title of many words that goes on and on beyond what one line of a chart can hold"
    broken = fitted(title, 200)
    assert len(broken) > 1
    assert " ".join(broken) == title


def test_names_of_near_levels_do_not_overlap():
    levels = [
        ReferenceLevel("oracle", 0.9),
        ReferenceLevel("RRF", 0.501),
        ReferenceLevel("bm25", 0.5),
        ReferenceLevel("none", math.nan),
    ]
    chart = line_chart([Series("a", (0.0, 1.0), (0.4, 0.6))], LABELS, levels=levels)
    heights = {name: float(re.search(rf'y="([0-9.]+)"[^>]*>{name}<', chart)[1]) for name in ("oracle", "RRF", "bm25")}
    assert heights["oracle"] < heights["RRF"] <= heights["bm25"] - 12
    assert chart.count('class="level"') == 3
