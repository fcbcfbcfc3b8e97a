"""Charts one line high, as wide as their cell of the table: intervals, bars, parts of a whole, small histograms.

They are placed by percentages, so a table on a telephone and one on paper show the same. The numbers are next to them in the
table; for screen readers the strips are hidden.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lexfuse.advice.report.charts.axes import LinearScale, tick_words
from lexfuse.advice.report.charts.svg import escaped, number, shape, text

_HEIGHT = 20
_BEYOND = 40  # the line at zero goes on into the padding of its cell, which cuts it off


def interval_strip(scale: LinearScale, mean: float, low: float, high: float, css: str, *, hollow: bool = False) -> str:
    """A mean with its interval, and a line at zero: one row of a forest plot. `scale` runs from 0 to 100.

    >>> interval_strip(LinearScale(-1, 1, 0, 100), 0.5, 0.0, 1.0, "better").count("line")
    2
    """
    zero = shape("line", "zero", x1=_percent(scale(0.0)), x2=_percent(scale(0.0)), y1=-_BEYOND, y2=_HEIGHT + _BEYOND)
    if not all(math.isfinite(value) for value in (mean, low, high)):
        return _strip(zero)
    ends = (_percent(_within(scale(low))), _percent(_within(scale(high))))
    whisker = shape("line", f"whisker {css}", x1=ends[0], x2=ends[1], y1=_HEIGHT / 2, y2=_HEIGHT / 2)
    dot = shape("circle", f"{css} hollow" if hollow else css, cx=_percent(_within(scale(mean))), cy=_HEIGHT / 2, r=4)
    return _strip(zero + whisker + dot)


def axis_strip(scale: LinearScale, name: str, description: str) -> str:
    """The axis below a column of strips, with its name; screen readers read this one for all of them.

    >>> "<desc>all are positive</desc>" in axis_strip(LinearScale(-1, 1, 0, 100), "difference", "all are positive")
    True
    """
    ticks = scale.ticks(4)
    words = ""
    for tick, word in zip(ticks, tick_words(ticks), strict=True):
        place = scale(tick)
        anchor = "start" if place < 4 else "end" if place > 96 else "middle"
        words += shape("line", "axis", x1=_percent(place), x2=_percent(place), y1=0, y2=4)
        words += shape("text", "tick", escaped(word), x=_percent(place), y=16, text_anchor=anchor)
    words += shape("line", "axis", x1="0%", x2="100%", y1=0, y2=0)
    words += shape("text", "name", escaped(name), x="50%", y=32, text_anchor="middle")
    named = f"<title>{escaped(name)}</title><desc>{escaped(description)}</desc>"
    return f'<svg class="chart strip" width="100%" height="38" role="img">{named}{words}</svg>'


def bar_strip(scale: LinearScale, value: float, css: str) -> str:
    """A bar from zero to a value.

    >>> 'width="25%"' in bar_strip(LinearScale(-1, 1, 0, 100), 0.5, "f0")
    True
    """
    zero = scale(0.0) if scale.low <= 0 <= scale.high else 0.0
    line = shape("line", "zero", x1=_percent(zero), x2=_percent(zero), y1=1, y2=_HEIGHT - 1)
    if not math.isfinite(value):
        return _strip(line)
    start, end = sorted((zero, _within(scale(value))))
    return _strip(shape("rect", css, x=_percent(start), width=_percent(end - start), y=4, height=_HEIGHT - 8) + line)


def share_strip(parts: Sequence[tuple[float, str]], title: str, *, height: int = _HEIGHT) -> str:
    """Parts of a whole side by side, each with a class; said aloud by its title.

    >>> share_strip([(3, "better"), (1, "worse")], "3 better, 1 worse").count('width="75%"')
    1
    """
    whole = sum(part for part, _ in parts)
    left, drawn = 0.0, f"<title>{escaped(title)}</title>"
    for part, css in parts:
        if part > 0 and whole > 0:
            width = 100 * part / whole
            drawn += shape("rect", css, x=_percent(left), width=_percent(width), y=0, height=height)
            left += width
    return f'<svg class="chart strip whole" width="100%" height="{height}" role="img">{drawn}</svg>'


def histogram_strip(shares: Sequence[float], css: str) -> str:
    """A small histogram without axes, as high as its highest bin.

    >>> histogram_strip([0.5, 0.25], "f0").count("<rect")
    2
    """
    highest = max((share for share in shares if math.isfinite(share)), default=0.0) or 1.0
    width = 100 / max(1, len(shares))
    bars = [
        shape(
            "rect", css, x=_percent(at * width), width=_percent(width), y=24 - 24 * share / highest, height=24 * share / highest
        )
        for at, share in enumerate(shares)
        if math.isfinite(share) and share > 0
    ]
    return f'<svg class="chart strip" width="100%" height="24" aria-hidden="true">{"".join(bars)}</svg>'


def numbered(words: str, css: str) -> str:
    """The sign of a point of a chart in the table below it.

    >>> 'class="number"' in numbered("3", "best")
    True
    """
    sign = (
        shape("rect", css, x=1, y=1, width=16, height=16) if css == "chosen" else shape("circle", css, cx=9, cy=9, r=8)
    ) + text(9, 12.8, words, "number", anchor="middle")
    return f'<svg class="chart sign" width="18" height="18" role="img"><title>{escaped(words)}</title>{sign}</svg>'


def _strip(content: str) -> str:
    return f'<svg class="chart strip" width="100%" height="{_HEIGHT}" aria-hidden="true">{content}</svg>'


def _percent(place: float) -> str:
    return f"{number(place)}%"


def _within(place: float) -> float:
    return min(max(place, 0.0), 100.0)
