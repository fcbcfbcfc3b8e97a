"""The charts of the report's sections, drawn from an advice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lexfuse.advice.evidence.complementarity import Complementarity
from lexfuse.advice.evidence.length_bias import LengthBias
from lexfuse.advice.evidence.query_overlap import OverlapAnalysis
from lexfuse.advice.findings import Difference, Outcome, WeightCurve
from lexfuse.advice.report.charts.axes import AxisLabels, LinearScale, span
from lexfuse.advice.report.charts.cell_charts import axis_strip, bar_strip, interval_strip, share_strip
from lexfuse.advice.report.charts.distribution_chart import DistributionLane, hill_chart
from lexfuse.advice.report.charts.line_chart import PlotMark, ReferenceLevel, Series, line_chart, values_of
from lexfuse.advice.report.charts.point_charts import Corner, CostPoint, front_chart, region_chart
from lexfuse.advice.report.charts.svg import ChartSize
from lexfuse.advice.report.number_format import share_words, signed_words, size_words, time_words, value_words
from lexfuse.advice.report.results import colour, colour_number, cost_front, timed_results

if TYPE_CHECKING:
    from lexfuse.advice.advice import Advice

OUTCOME_CSS = {Outcome.BETTER: "better", Outcome.WORSE: "worse", Outcome.EQUAL: "equal"}
_GRAMS = re.compile(r"(\d+)-grams in common")
_SIDES = {"A": (True, False), "B": (False, True), "C": (True, True), "D": (False, False)}  # x high, y high


def outcome_strip(counts: Mapping[Outcome, int]) -> str:
    """How many fusions are better, not distinguishable and worse, as parts of a bar."""
    title = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return share_strip([(count, OUTCOME_CSS[outcome]) for outcome, count in counts.items()], title, height=14)


def mean_strip(advice: Advice, source: str, value: float) -> str:
    """The mean of a source as a bar; the highest mean of all configurations fills the cell."""
    top = max((each.value for each in advice.tried), default=0.0)
    return bar_strip(LinearScale(0.0, top if top > 0 else 1.0, 0, 100), value, colour(advice, source))


def correlation_strip(advice: Advice, bias: LengthBias) -> str:
    """A correlation as a bar from the middle of the cell."""
    return bar_strip(LinearScale(-1.0, 1.0, 0, 100), bias.pearson, colour(advice, bias.source))


def length_charts(advice: Advice) -> list[str]:
    """How often documents of each length are retrieved and relevant (RPRS Fig. 3), one chart a source on one scale."""
    binned = [bias for bias in advice.lengths if bias.bins]
    top = max((max(each.retrieved, each.relevant) for bias in binned for each in bias.bins), default=1.0)
    charts = []
    for bias in binned:
        words = tuple(each.words for each in bias.bins)
        retrieved = Series("retrieved", words, tuple(each.retrieved for each in bias.bins), dots=True)
        relevant = Series("relevant", words, tuple(each.relevant for each in bias.bins), dots=True)
        first, last = bias.bins[0], bias.bins[-1]
        described = " ".join(
            f"Documents of about {each.words:,.0f} words are retrieved {value_words(each.retrieved)} times as often as the "
            f"average document, and relevant {value_words(each.relevant)} times."
            for each in (first, last)
        )
        labels = AxisLabels(bias.source, "words of a document", "rate, relative to all documents", described)
        charts.append(line_chart([retrieved, relevant], labels, levels=[ReferenceLevel("all", 1.0)], y_range=(0.0, 1.05 * top)))
    return charts


def forest_scale(differences: Sequence[Difference]) -> LinearScale:
    """The scale that a forest plot has in common for all its rows."""
    return LinearScale(*span([0.0, *_ends(differences)], margin=0.04), 0, 100)


def difference_strip(scale: LinearScale, versus: Difference) -> str:
    """One row of a forest plot; hollow where the test cannot tell."""
    hollow = versus.outcome is Outcome.EQUAL
    return interval_strip(
        scale, versus.mean, versus.interval.low, versus.interval.high, OUTCOME_CSS[versus.outcome], hollow=hollow
    )


def forest_axis(scale: LinearScale, differences: Sequence[Difference], name: str) -> str:
    """The axis below a forest plot."""
    low, high = (signed_words(end(_ends(differences))) for end in (min, max))
    return axis_strip(scale, name, f"{len(differences)} differences with 95 % intervals between {low} and {high}.")


def weight_charts(advice: Advice) -> list[str]:
    """How the measure moves as weight moves from one source to another (FUSE Fig. 4), all pairs on one scale."""
    pairs: dict[tuple[str, str], list[WeightCurve]] = {}
    for curve in advice.curves:
        pairs.setdefault(curve.sources, []).append(curve)
    heights = [y for curve in advice.curves for y in values_of([_series(curve)], _levels(curve, "oracle"))]
    return [_weight_chart(pair, curves, advice.measure, span(heights, margin=0.05)) for pair, curves in pairs.items()]


def distribution_charts(advice: Advice) -> list[str]:
    """The scores of all sources on each common scale (FUSE Fig. 2)."""
    charts = []
    for scale in dict.fromkeys(each.scale for each in advice.distributions if each.scale != "raw"):
        found = [each for each in advice.distributions if each.scale == scale]
        lanes = [
            DistributionLane(each.source, each.edges, each.shares, each.quantiles, colour_number(advice, each.source))
            for each in found
        ]
        medians = ", ".join(f"{each.source} {each.quantiles[2]:.3g}" for each in found)
        labels = AxisLabels(scale, "scaled score", "share of scores in each bin", f"Medians: {medians}.")
        charts.append(hill_chart(lanes, labels))
    return charts


def pair_strip(advice: Advice, pair: Complementarity) -> str:
    """Relevant documents that one source, both or neither finds (FUSE Fig. 6), as parts of a bar."""
    first, second = colour(advice, pair.first), colour(advice, pair.second)
    parts = [(pair.only_first, first), (pair.both, "both"), (pair.only_second, second), (pair.neither, "neither")]
    alone = f"only {pair.first} {pair.only_first}, only {pair.second} {pair.only_second}"
    return share_strip(parts, f"{alone}, both {pair.both}, neither {pair.neither}")


def region_charts(advice: Advice) -> list[str]:
    """The scores of pairs of sources, with the corners where they agree or not (FUSE Fig. 3)."""
    charts = []
    for pair in advice.complementarity:
        corners = [
            Corner(region.name, *_SIDES[region.name], f"{share_words(region.relevant, region.pairs)} relevant")
            for region in pair.regions
            if region.name in _SIDES and region.pairs
        ]
        described = " ".join(f"{r.name}, {r.words}: {r.relevant} of {r.pairs} pairs are relevant." for r in pair.regions)
        labels = AxisLabels(f"{pair.first} and {pair.second}", f"score of {pair.first}", f"score of {pair.second}", described)
        charts.append(region_chart(pair.points, pair.quartiles, corners, labels))
    return charts


def overlap_charts(advice: Advice) -> list[str]:
    """N-grams that queries and their relevant documents have in common, by the source that wins (CJEU 5.2)."""
    charts = []
    for each in advice.overlaps:
        series = []
        for group in each.groups:
            points = sorted((int(found[1]), mean) for metric, mean in group.means.items() if (found := _GRAMS.fullmatch(metric)))
            if points:
                name = f"{group_name(each, group.name)} ({group.queries})"
                series.append(Series(name, tuple(float(n) for n, _ in points), tuple(mean for _, mean in points), dots=True))
        described = " ".join(
            f"{one.name}: {one.y[0]:.2f} at n = {one.x[0]:.0f}, {one.y[-1]:.2f} at n = {one.x[-1]:.0f}." for one in series
        )
        title = f"{each.first} and {each.second}, by {each.measure}"
        labels = AxisLabels(title, "n, words of the n-gram", "n-grams in common", described)
        charts.append(line_chart(series, labels, size=ChartSize(360, 300)))
    return charts


def group_name(analysis: OverlapAnalysis, name: str) -> str:
    """A group of queries with the name of the source that wins them."""
    return {"first wins": f"{analysis.first} wins", "second wins": f"{analysis.second} wins"}.get(name, name)


def cost_charts(advice: Advice) -> list[str]:
    """Quality against time and against bytes; the front is numbered."""
    chosen = advice.chosen
    numbers = {each.configuration: at for at, each in enumerate(cost_front(advice), start=1)}
    points = [
        (each, numbers.get(each.configuration), each.configuration == chosen.configuration) for each in timed_results(advice)
    ]
    times = [CostPoint(each.milliseconds or 0.0, each.value, number, taken) for each, number, taken in points]
    sizes = [CostPoint((each.bytes or 0) / 1e6, each.value, number, taken) for each, number, taken in points]
    drawn = [
        (times, "Quality and time", "milliseconds a query, median", time_words(chosen.milliseconds)),
        (sizes, "Quality and bytes", "index, MB", size_words(chosen.bytes)),
    ]
    return [
        front_chart(
            some,
            AxisLabels(title, axis, f"mean {advice.measure}", f"The choice reaches {value_words(chosen.value)} at {cost}."),
        )
        for some, title, axis, cost in drawn
    ]


def _ends(differences: Sequence[Difference]) -> list[float]:
    return [end for each in differences for end in (each.interval.low, each.interval.high, each.mean)]


def _series(curve: WeightCurve) -> Series:
    return Series(curve.normaliser, curve.weights, curve.means, tuple((each.low, each.high) for each in curve.band))


def _levels(curve: WeightCurve, oracle: str) -> list[ReferenceLevel]:
    return [ReferenceLevel(oracle, curve.oracle), *(ReferenceLevel(name, value) for name, value in curve.levels.items())]


def _weight_chart(pair: tuple[str, str], curves: Sequence[WeightCurve], measure: str, y_range: tuple[float, float]) -> str:
    first, second = pair
    alone = len(curves) == 1
    levels = {
        level.name: level for curve in curves for level in _levels(curve, "oracle" if alone else f"oracle, {curve.normaliser}")
    }
    described = " ".join(
        f"With {curve.normaliser} the mean {measure} goes from {value_words(curve.means[0])} ({first} alone) to "
        f"{value_words(curve.means[-1])} ({second} alone); the highest is {value_words(max(curve.means))} at a weight of "
        f"{curve.weights[curve.means.index(max(curve.means))]:.2f} for {second}; oracle {value_words(curve.oracle)}"
        f"{''.join(f'; {name} {value_words(value)}' for name, value in curve.levels.items())}."
        for curve in curves
        if curve.means
    )
    name = f"mean {measure}, {curves[0].normaliser}" if alone else f"mean {measure}"
    return line_chart(
        [_series(curve) for curve in curves],
        AxisLabels(f"{first} + {second}", f"weight of {second}", name, described),
        levels=list(levels.values()),
        marks=_marks(curves[0]) if alone else [],
        x_range=(0.0, 1.0),
        y_range=y_range,
    )


def _marks(curve: WeightCurve) -> list[PlotMark]:
    """The best point, and equal weights where they are another one."""
    if not curve.means:
        return []
    top = curve.means.index(max(curve.means))
    marks = [PlotMark(curve.weights[top], curve.means[top], f"best {value_words(curve.means[top])} at {curve.weights[top]:.2f}")]
    middle = min(range(len(curve.weights)), key=lambda at: abs(curve.weights[at] - 0.5))
    if middle != top:
        marks.append(PlotMark(curve.weights[middle], curve.means[middle], f"equal {value_words(curve.means[middle])}"))
    return marks
