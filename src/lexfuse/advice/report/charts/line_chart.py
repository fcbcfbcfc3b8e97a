"""Lines with bands: how a mean moves with a weight (FUSE Fig. 4) or with the number of queries tuned on (BRUCH Fig. 12)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.advice.report.charts.axes import AxisLabels, LegendEntry, PlotArea, frame, nothing, span
from lexfuse.advice.report.charts.svg import COLOURS, ChartSize, drawing, path, shape, text, width_of

LABEL_HEIGHT = 12  # from the name of a level to the next one


@dataclass(frozen=True, slots=True)
class Series:
    """One line; `band` has the ends of the interval of each point, or is empty."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    band: tuple[tuple[float, float], ...] = ()
    dots: bool = False  # mark every point: few measured points rather than a curve


@dataclass(frozen=True, slots=True)
class ReferenceLevel:
    """A horizontal line to compare with."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class PlotMark:
    """A point worth pointing at."""

    x: float
    y: float
    words: str


def line_chart(
    series: Sequence[Series],
    labels: AxisLabels,
    *,
    levels: Sequence[ReferenceLevel] = (),
    marks: Sequence[PlotMark] = (),
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    size: ChartSize = ChartSize(),  # noqa: B008 — frozen
) -> str:
    """Lines with their bands, levels to compare with and marked points; values that are not finite leave gaps.

    >>> chart = line_chart([Series("tm2c2", (0.0, 1.0), (0.4, 0.5))], AxisLabels("Weights", "weight", "R@100", "It rises."))
    >>> chart.count('class="line l0"'), "<desc>It rises.</desc>" in chart
    (1, True)
    """
    across = x_range or span((x for each in series for x in each.x), margin=0)
    up = y_range or span(values_of(series, levels), margin=0.06)
    if not any(math.isfinite(y) for each in series for y in each.y):
        return drawing(size, labels.title, labels.description, nothing(labels, size).parts)
    keys = [
        LegendEntry(shape("line", f"line l{at % COLOURS}", x1=-9, x2=9, y1=0, y2=0), each.name) for at, each in enumerate(series)
    ]
    made = frame(across, up, labels, size, keys=keys if len(series) > 1 else ())
    bands = [_band(each, made, at) for at, each in enumerate(series) if each.band]
    lines = [_line(each, made, at) for at, each in enumerate(series)]
    drawn = [*made.parts, *bands, *_levels(levels, made), *lines, *_marks(marks, made, size)]
    return drawing(size, labels.title, labels.description, drawn)


def values_of(series: Sequence[Series], levels: Sequence[ReferenceLevel]) -> list[float]:
    """Every height that a chart of them shows: for a range common to several charts.

    >>> values_of([Series("a", (0.0,), (0.4,), ((0.3, 0.5),))], [ReferenceLevel("oracle", 0.6)])
    [0.4, 0.3, 0.5, 0.6]
    """
    return [
        *(y for each in series for y in each.y),
        *(end for each in series for ends in each.band for end in ends),
        *(level.value for level in levels),
    ]


def _line(each: Series, made: PlotArea, at: int) -> str:
    places = [(made.x(x), made.y(y)) for x, y in zip(each.x, each.y, strict=True)]
    drawn = shape("path", f"line l{at % COLOURS}", d=path(places))
    finite = [(x, y) for x, y in places if math.isfinite(x) and math.isfinite(y)]
    if each.dots or len(finite) == 1:
        drawn += "".join(shape("circle", f"dot f{at % COLOURS}", cx=x, cy=y, r=3.6) for x, y in finite)
    return drawn


def _band(each: Series, made: PlotArea, at: int) -> str:
    ends = [(made.x(x), made.y(low), made.y(high)) for x, (low, high) in zip(each.x, each.band, strict=True)]
    finite = [end for end in ends if all(math.isfinite(value) for value in end)]
    outline = [(x, high) for x, _, high in finite] + [(x, low) for x, low, _ in reversed(finite)]
    return shape("path", f"band f{at % COLOURS}", d=path(outline, closed=True))


def _levels(levels: Sequence[ReferenceLevel], made: PlotArea) -> list[str]:
    """Horizontal lines with their names at the end; a name moves down where another one is too near."""
    parts = []
    lowest = -math.inf
    for level in sorted((level for level in levels if math.isfinite(level.value)), key=lambda level: -level.value):
        y = made.y(level.value)
        lowest = max(y - 4, lowest + LABEL_HEIGHT)
        line = shape("line", "level", x1=made.x.start, x2=made.x.end, y1=y, y2=y)
        parts.append(line + text(made.x.end, lowest, level.name, "mark", anchor="end"))
    return parts


def _marks(marks: Sequence[PlotMark], made: PlotArea, size: ChartSize) -> list[str]:
    """Small rings with words next to them: above, or below where that line is taken already."""
    parts: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for mark in marks:
        if not (math.isfinite(mark.x) and math.isfinite(mark.y)):
            continue
        x, y, half = made.x(mark.x), made.y(mark.y), width_of(mark.words) / 2
        middle = min(max(x, made.x.start + half), size.width - half)
        heights = [y - 9, y + 18, y - 22, y + 31]
        free = [at for at in heights if not any(abs(at - other) < 12 and middle - half < right and left < middle + half
                                                for left, right, other in taken)]  # fmt: skip
        place = free[0] if free else heights[0]
        taken.append((middle - half, middle + half, place))
        parts.append(shape("circle", "pointer", cx=x, cy=y, r=3.6))
        parts.append(text(middle, place, mark.words, "mark", anchor="middle"))
    return parts
