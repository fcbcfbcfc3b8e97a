"""What sources and configurations cost, and which of them nothing beats on all counts."""

from __future__ import annotations

from lexfuse.advice.advice import Advice, Configuration, ConfigurationResult
from lexfuse.advice.report.charts.axes import AxisLabels
from lexfuse.advice.report.charts.cell_charts import numbered
from lexfuse.advice.report.charts.cost_chart import CostPoint, front_chart
from lexfuse.advice.report.sections.markup import Html, ReportSection, TableCell, figure, joined, paragraph, table
from lexfuse.advice.report.sections.number_format import size_words, time_words, value_words


def costs_section(advice: Advice) -> ReportSection:
    """Costs of sources, quality against time and against bytes, and the front in figures.

    >>> single = ConfigurationResult(Configuration(("bm25",)), (1.0,), 0.4)
    >>> costs_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>Nothing was timed or weighed: rankings from files do not tell what they cost.</p>'
    """
    timed = [each for each in advice.tried if each.milliseconds is not None and each.bytes is not None]
    if not timed and not advice.costs:
        words = "Nothing was timed or weighed: rankings from files do not tell what they cost."
        return ReportSection("costs", "Cost", paragraph(words))
    front = sorted((each for each in timed if each.on_front), key=lambda each: (each.milliseconds or 0.0, each.value))
    numbers = {each.configuration: at for at, each in enumerate(front, start=1)}
    parts = [_sources(advice)] if advice.costs else []
    if timed:
        caption = (
            f"Every configuration: mean {advice.measure} on dev against time and against bytes, both on logarithmic axes; up "
            "and left is better. Numbered are those on the front: no other is at least as good in quality, time and bytes "
            "together. One may look beaten in one chart and hold its place by the other."
        )
        charts = [_chart(advice, timed, numbers, bytes_=False), _chart(advice, timed, numbers, bytes_=True)]
        parts += [figure(charts, caption), _front(advice, front, numbers)]
    return ReportSection("costs", "Cost", joined(*parts))


def _chart(advice: Advice, timed: list[ConfigurationResult], numbers: dict[Configuration, int], *, bytes_: bool) -> str:
    priced = [
        CostPoint(
            (each.bytes or 0) / 1e6 if bytes_ else each.milliseconds or 0.0,
            each.value,
            numbers.get(each.configuration),
            each.configuration == advice.chosen.configuration,
        )
        for each in timed
    ]
    title, axis = ("Quality and bytes", "index, MB") if bytes_ else ("Quality and time", "milliseconds a query, median")
    cost = size_words(advice.chosen.bytes) if bytes_ else time_words(advice.chosen.milliseconds)
    description = f"The choice reaches {value_words(advice.chosen.value)} at {cost}."
    return front_chart(priced, AxisLabels(title, axis, f"mean {advice.measure}", description))


def _sources(advice: Advice) -> Html:
    rows: list[list[str | TableCell]] = [
        [
            each.source,
            TableCell(time_words(each.p50)),
            TableCell(time_words(each.p95)),
            TableCell(size_words(each.bytes)),
            TableCell(_operations(each.flops)),
        ]
        for each in advice.costs
    ]
    head: list[str | TableCell] = ["source", TableCell("median"), TableCell("95 %"), TableCell("index"), TableCell("operations")]
    caption = "Each source alone: time a query (median and 95 % quantile), bytes on disk, floating-point operations a query."
    return table(head, rows, caption)


def _front(advice: Advice, front: list[ConfigurationResult], numbers: dict[Configuration, int]) -> Html:
    rows: list[list[str | TableCell]] = []
    for each in front:
        css = "chosen" if each.configuration == advice.chosen.configuration else "best"
        sign = Html(numbered(str(numbers[each.configuration]), css))
        rows.append(
            [
                joined(sign, f" {each.configuration.name}"),
                TableCell(value_words(each.value)),
                TableCell(time_words(each.milliseconds)),
                TableCell(size_words(each.bytes)),
            ]
        )
    head: list[str | TableCell] = ["on the front", TableCell(advice.measure), TableCell("time"), TableCell("index")]
    return table(head, rows, "The front from the fastest to the slowest; a square is the choice.", css="front")


def _operations(count: int) -> str:
    for unit, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count:,}"
