"""What sources and configurations cost, and which of them nothing beats on all counts."""

from __future__ import annotations

from lexfuse.advise.advice import Advice, Configuration, Tried
from lexfuse.advise.charts.frame import Labels
from lexfuse.advise.charts.fronts import Priced, front_chart
from lexfuse.advise.charts.strips import numbered
from lexfuse.advise.sections.markup import Cell, Html, Section, figure, joined, paragraph, table
from lexfuse.advise.sections.words import size_words, time_words, value_words


def costs_section(advice: Advice) -> Section:
    """Costs of sources, quality against time and against bytes, and the front in figures.

    >>> single = Tried(Configuration(("bm25",)), (1.0,), 0.4)
    >>> costs_section(Advice("i", "R@10", ("R@10",), 9, 5, 5, ("bm25",), {}, (single,), single, ())).body
    '<p>Nothing was timed or weighed: rankings from files do not tell what they cost.</p>'
    """
    timed = [each for each in advice.tried if each.milliseconds is not None and each.bytes is not None]
    if not timed and not advice.costs:
        words = "Nothing was timed or weighed: rankings from files do not tell what they cost."
        return Section("costs", "Cost", paragraph(words))
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
    return Section("costs", "Cost", joined(*parts))


def _chart(advice: Advice, timed: list[Tried], numbers: dict[Configuration, int], *, bytes_: bool) -> str:
    priced = [
        Priced(
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
    return front_chart(priced, Labels(title, axis, f"mean {advice.measure}", description))


def _sources(advice: Advice) -> Html:
    rows: list[list[str | Cell]] = [
        [
            each.source,
            Cell(time_words(each.p50)),
            Cell(time_words(each.p95)),
            Cell(size_words(each.bytes)),
            Cell(_operations(each.flops)),
        ]
        for each in advice.costs
    ]
    head: list[str | Cell] = ["source", Cell("median"), Cell("95 %"), Cell("index"), Cell("operations")]
    caption = "Each source alone: time a query (median and 95 % quantile), bytes on disk, floating-point operations a query."
    return table(head, rows, caption)


def _front(advice: Advice, front: list[Tried], numbers: dict[Configuration, int]) -> Html:
    rows: list[list[str | Cell]] = []
    for each in front:
        css = "chosen" if each.configuration == advice.chosen.configuration else "best"
        sign = Html(numbered(str(numbers[each.configuration]), css))
        rows.append(
            [
                joined(sign, f" {each.configuration.name}"),
                Cell(value_words(each.value)),
                Cell(time_words(each.milliseconds)),
                Cell(size_words(each.bytes)),
            ]
        )
    head: list[str | Cell] = ["on the front", Cell(advice.measure), Cell("time"), Cell("index")]
    return table(head, rows, "The front from the fastest to the slowest; a square is the choice.", css="front")


def _operations(count: int) -> str:
    for unit, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count:,}"
