"""Scores of two sources for the same pairs, with the corners where they agree or not (FUSE Fig. 3 and 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.advice.report.charts.axes import AxisLabels, LegendEntry, PlotArea, frame, nothing
from lexfuse.advice.report.charts.scales import span
from lexfuse.advice.report.charts.svg import ChartSize, drawing, number, shape, text

Point = tuple[float, float, bool]
Quartiles = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Corner:
    """A corner of the plane: its letter, on which side of each axis it lies, and a few words for it."""

    letter: str
    high_x: bool
    high_y: bool
    words: str


def region_chart(
    points: Sequence[Point],
    quartiles: Quartiles,
    corners: Sequence[Corner],
    labels: AxisLabels,
    *,
    size: ChartSize = ChartSize(360, 344),  # noqa: B008 — frozen
) -> str:
    """Relevant pairs over other pairs; `quartiles` are the first and third of x and of y and bound the shaded corners.

    >>> corners = [Corner("C", True, True, "90 % relevant")]
    >>> region_chart([(0.9, 0.8, True)], ((0.2, 0.6), (0.1, 0.5)), corners, AxisLabels("T", "bm25", "dense", "")).count("region")
    1
    """
    finite = [point for point in points if math.isfinite(point[0]) and math.isfinite(point[1])]
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
    """Many dots as one path of strokes without length: a tenth of the bytes of so many circles."""
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
