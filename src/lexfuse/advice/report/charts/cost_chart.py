"""Quality against cost: every configuration a ring, those that nothing beats on all counts numbered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.advice.report.charts.axes import AxisLabels, LegendEntry, PlotArea, frame, nothing
from lexfuse.advice.report.charts.scales import span
from lexfuse.advice.report.charts.svg import ChartSize, drawing, shape, text


@dataclass(frozen=True, slots=True)
class CostPoint:
    """A configuration: its cost, its quality, its number in the key below the chart (None: not on the front)."""

    cost: float
    quality: float
    number: int | None = None
    chosen: bool = False


def front_chart(
    priced: Sequence[CostPoint],
    labels: AxisLabels,
    *,
    size: ChartSize = ChartSize(360, 300),  # noqa: B008 — frozen
) -> str:
    """Cost on a logarithmic axis; what costs nothing or has no number is left out and counted in the description.

    >>> chart = front_chart([CostPoint(1.0, 0.5, 1), CostPoint(30.0, 0.6, 2, True)], AxisLabels("T", "ms", "R@100", "Two."))
    >>> chart.count('class="number"'), "2 configurations" in chart
    (2, True)
    """
    drawable = [each for each in priced if each.cost > 0 and math.isfinite(each.cost) and math.isfinite(each.quality)]
    left_out = len(priced) - len(drawable)
    description = f"{labels.description} {len(drawable)} configurations are shown, {left_out} left out for want of a number."
    if not drawable:
        return drawing(size, labels.title, description, nothing(labels, size).parts)
    costs = [math.log10(each.cost) for each in drawable]
    low, high = span(costs, margin=0.06)
    made = frame(
        (10**low, 10**high),
        span([each.quality for each in drawable], margin=0.06),
        labels,
        size,
        keys=_keys(drawable),
        logarithmic=True,
    )
    behind = [each for each in drawable if each.number is None and not each.chosen]
    front = sorted((each for each in drawable if each not in behind), key=lambda each: (each.chosen, each.number or 0))
    rings = [shape("circle", "behind", cx=made.x(each.cost), cy=made.y(each.quality), r=2.6) for each in behind]
    drawn = [*made.parts, *rings, *(_numbered(each, made) for each in front)]
    return drawing(size, labels.title, description, drawn)


def _keys(drawable: Sequence[CostPoint]) -> list[LegendEntry]:
    keys = [LegendEntry(shape("circle", "best", r=6), "on the front")]
    if any(each.chosen for each in drawable):
        keys.append(LegendEntry(shape("rect", "chosen", x=-6, y=-6, width=12, height=12), "chosen"))
    if any(each.number is None for each in drawable):
        keys.append(LegendEntry(shape("circle", "behind", r=3), "others"))
    return keys


def _numbered(each: CostPoint, made: PlotArea) -> str:
    x, y = made.x(each.cost), made.y(each.quality)
    sign = (
        shape("rect", "chosen", x=x - 7.5, y=y - 7.5, width=15, height=15)
        if each.chosen
        else shape("circle", "best", cx=x, cy=y, r=7.5)
    )
    return sign + ("" if each.number is None else text(x, y + 3.8, str(each.number), "number", anchor="middle"))
