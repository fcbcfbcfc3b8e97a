"""How the measure moves as weight moves from one source to another (FUSE Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence

from lexfuse.advice.advice import Advice, WeightCurve
from lexfuse.advice.report.charts.axes import AxisLabels
from lexfuse.advice.report.charts.line_chart import PlotMark, ReferenceLevel, Series, line_chart, values_of
from lexfuse.advice.report.charts.scales import span
from lexfuse.advice.report.sections.markup import Html, ReportSection, figure, joined, listing, paragraph, shown
from lexfuse.advice.report.sections.number_format import count_words, value_words


def curves_section(advice: Advice) -> ReportSection:
    """A chart for each pair of sources, all on one scale, with what can be said of each.

    >>> from lexfuse.advice.advice import Configuration, ConfigurationResult
    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> curves_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>No weight curves were computed.</p>'
    """
    title = "Weights of pairs"
    if not advice.curves:
        return ReportSection("weights", title, paragraph("No weight curves were computed."))
    pairs: dict[tuple[str, str], list[WeightCurve]] = {}
    for curve in advice.curves:
        pairs.setdefault(curve.sources, []).append(curve)
    heights = [y for curve in advice.curves for y in values_of([_series(curve)], [ReferenceLevel("", curve.oracle)])]
    charts = [_chart(pair, curves, advice.measure, span(heights, margin=0.05)) for pair, curves in pairs.items()]
    caption = (
        f"Mean {advice.measure} of {count_words(advice.queries, 'dev query', 'dev queries')} as weight moves from the first "
        "source (left) to the second (right); band: 95 % of bootstrap means. At the ends stands each source alone, among the "
        "candidates of both. The dotted line is the oracle: every query at its own best weight, which nobody can know "
        "beforehand. All charts share one vertical scale."
    )
    words = [
        Html(f"<b>{shown(' + '.join(curve.sources))}</b> ({shown(curve.normaliser)}): {shown(curve.words)}")
        for curve in advice.curves
        if curve.words
    ]
    return ReportSection("weights", title, joined(figure(charts, caption), listing(words, "findings") if words else ""))


def _series(curve: WeightCurve) -> Series:
    return Series(curve.normaliser, curve.weights, curve.means, tuple((each.low, each.high) for each in curve.band))


def _chart(pair: tuple[str, str], curves: Sequence[WeightCurve], measure: str, y_range: tuple[float, float]) -> str:
    first, second = pair
    levels = [ReferenceLevel("oracle" if len(curves) == 1 else f"oracle, {curve.normaliser}", curve.oracle) for curve in curves]
    marks = _marks(curves[0]) if len(curves) == 1 else []
    description = " ".join(
        f"With {curve.normaliser} the mean {measure} goes from {value_words(curve.means[0])} ({first} alone) to "
        f"{value_words(curve.means[-1])} ({second} alone); the highest is {value_words(max(curve.means))} at a weight of "
        f"{curve.weights[curve.means.index(max(curve.means))]:.2f} for {second}; oracle {value_words(curve.oracle)}."
        for curve in curves
        if curve.means
    )
    named = f"mean {measure}, {curves[0].normaliser}" if len(curves) == 1 else f"mean {measure}"
    labels = AxisLabels(f"{first} + {second}", f"weight of {second}", named, description)
    return line_chart(
        [_series(curve) for curve in curves], labels, levels=levels, marks=marks, x_range=(0.0, 1.0), y_range=y_range
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
