"""What all charts with two axes share: title, name of the values, key, grid, ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lexfuse.advice.report.charts.scales import LinearScale, LogarithmicScale, short_words, span, tick_words
from lexfuse.advice.report.charts.svg import ChartSize, fitted, shape, text, width_of

Scale = LinearScale | LogarithmicScale
_BELOW = 40  # room for tick words and the name of the x axis
_RIGHT = 8


@dataclass(frozen=True, slots=True)
class AxisLabels:
    """What a chart says about itself."""

    title: str
    x: str
    y: str
    description: str  # for screen readers: what a sighted reader sees at a glance


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One entry of the key: a piece of SVG about 16 wide drawn around (0, 0), and its name."""

    sign: str
    name: str


@dataclass(frozen=True, slots=True)
class PlotArea:
    """The drawn frame and the scales to place things in it."""

    x: Scale
    y: Scale
    parts: tuple[str, ...]


def frame(
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    labels: AxisLabels,
    size: ChartSize,
    *,
    keys: Sequence[LegendEntry] = (),
    logarithmic: bool = False,
) -> PlotArea:
    """Title and key on top, the name of y above its axis, horizontal grid lines, the name of x below.

    >>> "weight" in "".join(frame((0, 1), (0, 1), AxisLabels("T", "weight", "y", ""), ChartSize()).parts)
    True
    """
    parts, top = head(labels.title, keys, size)
    names = fitted(labels.y, size.width)
    parts += [text(0, top + 10 + 13 * at, line, "name") for at, line in enumerate(names)]
    top += 13 * len(names) + 10
    y = LinearScale(*y_range, size.height - _BELOW, top)
    ticks = y.ticks(min(6, max(3, round((size.height - _BELOW - top) / 36))))
    words = tick_words(ticks)
    left = max((width_of(word) for word in words), default=0) + 8
    scale = LogarithmicScale if logarithmic else LinearScale
    x = scale(*x_range, left, size.width - _RIGHT)
    for tick, word in zip(ticks, words, strict=True):
        parts.append(shape("line", "grid", x1=left, x2=size.width - _RIGHT, y1=y(tick), y2=y(tick)))
        parts.append(text(left - 6, y(tick) + 4, word, "tick", anchor="end"))
    return PlotArea(x, y, (*parts, *below(x, labels.x, size.height - _BELOW, size)))


def below(x: Scale, name: str, at: float, size: ChartSize) -> list[str]:
    """The x axis at a height: a line, ticks, their words and the name.

    >>> len(below(LinearScale(0, 1, 0, 100), "weight", 50, ChartSize(100, 80)))
    14
    """
    ticks = x.ticks(5)
    words = tick_words(ticks) if isinstance(x, LinearScale) else short_words(ticks)
    parts = [shape("line", "axis", x1=x.start, x2=x.end, y1=at, y2=at)]
    for tick, word in zip(ticks, words, strict=True):
        parts.append(shape("line", "axis", x1=x(tick), x2=x(tick), y1=at, y2=at + 4))
        parts.append(text(min(x(tick), size.width - width_of(word) / 2), at + 17, word, "tick", anchor="middle"))
    parts.append(text((x.start + x.end) / 2, at + 34, name, "name", anchor="middle"))
    return parts


def head(title: str, keys: Sequence[LegendEntry], size: ChartSize) -> tuple[list[str], float]:
    """The title and the key, broken into lines as needed, and the height at which they end.

    >>> head("T", [], ChartSize())[1]
    18
    """
    lines = fitted(title, size.width, 14)
    parts = [text(0, 13 + 17 * at, line, "title") for at, line in enumerate(lines)]
    top = 17.0 * len(lines) + 1
    left = 0.0
    for at, key in enumerate(keys):
        wide = 24 + width_of(key.name) + 12
        if at == 0 or left + wide - 12 > size.width:
            left, top = 0.0, top + 17
        parts.append(f'<g transform="translate({left + 9:.1f} {top - 6:.1f})">{key.sign}</g>')
        parts.append(text(left + 22, top - 2, key.name, "key"))
        left += wide
    return parts, round(top + (4 if keys else 0))


def nothing(labels: AxisLabels, size: ChartSize) -> PlotArea:
    """An empty frame that says so.

    >>> "nothing to show" in "".join(nothing(AxisLabels("T", "x", "y", ""), ChartSize()).parts)
    True
    """
    made = frame(span([]), span([]), labels, size)
    words = text(size.width / 2, size.height / 2, "nothing to show", "empty", anchor="middle")
    return PlotArea(made.x, made.y, (*made.parts, words))
