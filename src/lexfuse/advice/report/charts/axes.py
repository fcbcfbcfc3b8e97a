"""What all charts with two axes share: scales with round ticks, title, name of the values, key, grid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lexfuse.advice.report.charts.svg import ChartSize, fitted, shape, text, width_of


@dataclass(frozen=True, slots=True)
class LinearScale:
    """Values from `low` to `high`, laid out from `start` to `end`.

    >>> LinearScale(0, 10, 100, 200)(5)
    150.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """About this many round values within the range.

        >>> LinearScale(0, 1, 0, 1).ticks()
        [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        """
        step = _round_step(self.high - self.low, count)
        digits = max(0, 2 - math.floor(math.log10(step)))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(at * step, digits) + 0.0 for at in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class LogarithmicScale:
    """Positive values from `low` to `high`, equal ratios at equal distances.

    >>> LogarithmicScale(1, 100, 0, 200)(10)
    100.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + math.log(value / self.low) / math.log(self.high / self.low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Powers of ten within the range, with 2 and 5 times (or 3 times) them as long as there are few.

        >>> LogarithmicScale(1, 100, 0, 1).ticks()
        [1.0, 3.0, 10.0, 30.0, 100.0]
        >>> LogarithmicScale(1, 12, 0, 1).ticks()
        [1.0, 2.0, 5.0, 10.0]
        """
        powers = range(math.floor(math.log10(self.low)) - 1, math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            values = [float(f"{factor}e{power}") for power in powers for factor in factors]
            within = [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]
            if len(within) <= count:
                return within
        return within[:: math.ceil(len(within) / count)]


def span(values: Iterable[float], *, margin: float = 0.05) -> tuple[float, float]:
    """The range of all finite values, a little wider; (0, 1) without finite values.

    >>> span([1.0, 3.0, math.nan], margin=0.5)
    (0.0, 4.0)
    >>> span([2.0]), span([])
    ((1.5, 2.5), (0.0, 1.0))
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    wider = (high - low) * margin
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-12):
        wider = 0.25 * abs(low) or 0.5
    return low - wider, high + wider


def tick_words(ticks: list[float]) -> list[str]:
    """Ticks with as many decimals as they need to differ, and a true minus sign.

    >>> tick_words([-0.5, 0.0, 0.25])
    ['−0.50', '0.00', '0.25']
    >>> tick_words([1000.0, 20000.0])
    ['1,000', '20,000']
    """
    decimals = next((count for count in range(8) if all(math.isclose(round(t, count), t, abs_tol=1e-12) for t in ticks)), 8)
    return [f"{tick:,.{decimals}f}".replace("-", "−") for tick in ticks]


def short_words(ticks: list[float]) -> list[str]:
    """Each tick as short as it can be said: for logarithmic axes.

    >>> short_words([0.5, 10.0, 2000.0])
    ['0.5', '10', '2,000']
    """
    return [tick_words([tick])[0] for tick in ticks]


def _round_step(width: float, count: int) -> float:
    rough = width / count
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.8)


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
