"""Points in a plane: quality against cost, and the scores of two sources for the same pairs (FUSE Fig. 3 and 6).

Every configuration is a ring, and those that nothing beats on all counts are numbered. The plane of scores has corners where the
two sources agree or not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.advice.report.charts.axes import AxisLabels, LegendEntry, PlotArea, frame, nothing, span
from lexfuse.advice.report.charts.svg import ChartSize, drawing, number, shape, text

Point = tuple[float, float, bool]
Quartiles = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class CostPoint:
    """A configuration: its cost, its quality, its number in the key below the chart (None: not on the front)."""

    cost: float
    quality: float
    number: int | None = None
    chosen: bool = False


def front_chart(priced: Sequence[CostPoint], labels: AxisLabels) -> str:
    """Cost on a logarithmic axis; what costs nothing or has no number is left out and counted in the description.

    >>> chart = front_chart([CostPoint(1.0, 0.5, 1), CostPoint(30.0, 0.6, 2, True)], AxisLabels("T", "ms", "R@100", "Two."))
    >>> chart.count('class="number"'), "2 configurations" in chart
    (2, True)
    """
    drawable = [each for each in priced if each.cost > 0 and math.isfinite(each.cost) and math.isfinite(each.quality)]
    size, left_out = ChartSize(360, 300), len(priced) - len(drawable)
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


@dataclass(frozen=True, slots=True)
class Corner:
    """A corner of the plane: its letter, on which side of each axis it lies, and a few words for it."""

    letter: str
    high_x: bool
    high_y: bool
    words: str


def region_chart(points: Sequence[Point], quartiles: Quartiles, corners: Sequence[Corner], labels: AxisLabels) -> str:
    """Relevant pairs over other pairs; `quartiles` are the first and third of x and of y and bound the shaded corners.

    >>> corners = [Corner("C", True, True, "90 % relevant")]
    >>> region_chart([(0.9, 0.8, True)], ((0.2, 0.6), (0.1, 0.5)), corners, AxisLabels("T", "bm25", "dense", "")).count("region")
    1
    """
    finite = [point for point in points if math.isfinite(point[0]) and math.isfinite(point[1])]
    size = ChartSize(360, 344)
    if not finite:
        return drawing(size, labels.title, labels.description, nothing(labels, size).parts)
    across = span([x for x, _, _ in finite] + [0.0, 1.0], margin=0.02)
    up = span([y for _, y, _ in finite] + [0.0, 1.0], margin=0.02)
    keys = [
        LegendEntry(_cloud([(-4, 0), (4, 0)], "positive"), f"relevant ({sum(r for *_, r in finite):,})"),
        LegendEntry(_cloud([(-4, 0), (4, 0)], "negative"), f"not relevant ({sum(not r for *_, r in finite):,})"),
    ]
    made = frame(across, up, labels, size, keys=keys)
    clouds = [
        _cloud([(made.x(x), made.y(y)) for x, y, relevant in finite if relevant is kind], css)
        for kind, css in ((False, "negative"), (True, "positive"))
    ]
    boxes = [_corner(corner, quartiles, made) for corner in corners]
    drawn = [*(box for box, _ in boxes), *made.parts, *clouds, *(words for _, words in boxes)]
    return drawing(size, labels.title, labels.description, drawn)


def _cloud(places: Sequence[tuple[float, float]], css: str) -> str:
    """Many dots as one path of strokes without length: a tenth of the bytes of as many circles."""
    dots = "".join(f"M{number(round(x, 1))} {number(round(y, 1))}h0" for x, y in places)
    return shape("path", f"cloud {css}", d=dots) if dots else ""


def _corner(corner: Corner, quartiles: Quartiles, made: PlotArea) -> tuple[str, str]:
    """The shaded box, and its words for above the dots; both empty where the quartiles are not known."""
    (x_low, x_high), (y_low, y_high) = quartiles
    x_ends = (made.x(x_high), made.x.end) if corner.high_x else (made.x.start, made.x(x_low))
    y_ends = (made.y.end, made.y(y_high)) if corner.high_y else (made.y(y_low), made.y.start)
    if not all(math.isfinite(end) for end in (*x_ends, *y_ends)):
        return "", ""
    width, height = max(0.0, x_ends[1] - x_ends[0]), max(0.0, y_ends[1] - y_ends[0])
    box = shape("rect", "region", x=x_ends[0], y=y_ends[0], width=width, height=height)
    anchor, x = ("end", made.x.end - 5) if corner.high_x else ("start", made.x.start + 5)
    y = made.y.end + 14 if corner.high_y else made.y.start - 20
    return box, text(x, y, corner.letter, "letter", anchor=anchor) + text(x, y + 14, corner.words, "mark", anchor=anchor)
