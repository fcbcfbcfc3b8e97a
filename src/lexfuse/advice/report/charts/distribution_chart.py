"""Score distributions one below the other on a common scale: whether the same number means the same in each source (FUSE Fig. 2).

Each lane is as high as its own highest bin. What fusion needs is that the hills lie over the same values; overlaid curves hide
just that as soon as one source has most of its scores in one bin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.advice.report.charts.axes import AxisLabels, LinearScale, below, head, nothing, span
from lexfuse.advice.report.charts.svg import COLOURS, ChartSize, drawing, fitted, path, shape, text

_LANE = 52
_FOOT = 12  # below a lane's baseline: the box of its quantiles


@dataclass(frozen=True, slots=True)
class DistributionLane:
    """One histogram: edges (one more than shares), shares of all values, and the 5, 25, 50, 75 and 95 % quantiles."""

    name: str
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    quantiles: tuple[float, ...]
    colour: int = 0


def hill_chart(hills: Sequence[DistributionLane], labels: AxisLabels, *, width: int = 360) -> str:
    """A lane for each histogram, with its quantiles below: line 5 to 95 %, thick 25 to 75 %, ring the median.

    >>> hills = [DistributionLane("bm25", (0.0, 0.5, 1.0), (0.9, 0.1), (0.0, 0.1, 0.2, 0.3, 0.6))]
    >>> hill_chart(hills, AxisLabels("Min-max", "scaled score", "share of scores", "")).count('class="hill f0"')
    1
    """
    if not hills:
        size = ChartSize(width, 160)
        return drawing(size, labels.title, labels.description, nothing(labels, size).parts)
    parts, top = head(labels.title, (), ChartSize(width, 0))
    names = fitted(labels.y, width)
    parts += [text(0, top + 10 + 13 * at, line, "name") for at, line in enumerate(names)]
    top += 13 * len(names) + 10
    size = ChartSize(width, round(top + len(hills) * _LANE + 44))
    x = LinearScale(*span((edge for hill in hills for edge in hill.edges), margin=0), 2, width - 6)
    bottom = top + len(hills) * _LANE + 2
    parts += [shape("line", "grid", x1=x(tick), x2=x(tick), y1=top, y2=bottom) for tick in x.ticks(5)]
    for at, hill in enumerate(hills):
        parts += _lane(hill, x, top + (at + 1) * _LANE - _FOOT)
    return drawing(size, labels.title, labels.description, [*parts, *below(x, labels.x, bottom, size)])


def _lane(hill: DistributionLane, x: LinearScale, base: float) -> list[str]:
    highest = max((share for share in hill.shares if math.isfinite(share)), default=0.0) or 1.0
    reach = _LANE - _FOOT - 6
    steps = [(x(hill.edges[0]), base)]
    for share, left, right in zip(hill.shares, hill.edges, hill.edges[1:], strict=False):
        steps += [(x(left), base - reach * share / highest), (x(right), base - reach * share / highest)]
    steps.append((x(hill.edges[-1]), base))
    colour = hill.colour % COLOURS
    parts = [shape("path", f"hill f{colour}", d=path(steps, closed=True)), shape("path", f"outline l{colour}", d=path(steps))]
    if all(math.isfinite(value) for value in hill.quantiles):
        five, first, median, third, last = (min(max(x(value), x.start), x.end) for value in hill.quantiles)
        y = base + 5
        parts.append(shape("line", f"range l{colour}", x1=five, x2=last, y1=y, y2=y))
        parts.append(shape("line", f"middle l{colour}", x1=first, x2=third, y1=y, y2=y))
        parts.append(shape("circle", f"median l{colour}", cx=median, cy=y, r=3.2))
    parts.append(text(x.end, base - reach + 8, hill.name, "lane", anchor="end"))
    return parts
