"""The few pieces of SVG that all charts are written with; every word passes through `escaped`."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_MARGIN = 20  # around a chart in its own file
COLOURS = 8  # classes f0 … f7 and l0 … l7 of chart.css
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # what XML and UTF-8 cannot hold


@dataclass(frozen=True, slots=True)
class ChartSize:
    """Width and height of a chart, in its own units (CSS pixels where it is shown at its natural size)."""

    width: int = 360
    height: int = 264


def escaped(words: str) -> str:
    """Text that is safe in content and in quoted attributes, of HTML and of XML; what neither can hold becomes U+FFFD.

    >>> escaped('<script>"a" & b')
    '&lt;script&gt;&quot;a&quot; &amp; b'
    """
    return html.escape(printable(words))


def printable(words: str) -> str:
    """Text without the characters that XML and UTF-8 cannot hold: each becomes U+FFFD."""
    return _FORBIDDEN.sub("\ufffd", words)


def number(value: float) -> str:
    """A coordinate: two decimals at most, no trailing zeros.

    >>> number(12.0), number(0.126), number(-0.0001)
    ('12', '0.13', '0')
    """
    said = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if said == "-0" else said


def shape(name: str, css: str, content: str = "", **places: float | str) -> str:
    """One element with a class; numbers are rounded, other attributes escaped; `_` in names becomes `-`.

    >>> shape("circle", "dot f0", cx=1.234, cy=5, r=3)
    '<circle class="dot f0" cx="1.23" cy="5" r="3"/>'
    """
    attributes = "".join(f' {key.replace("_", "-")}="{_attribute(value)}"' for key, value in places.items())
    start = f'<{name} class="{escaped(css)}"{attributes}'
    return f"{start}>{content}</{name}>" if content else f"{start}/>"


def text(x: float, y: float, words: str, css: str, *, anchor: str = "start") -> str:
    """A line of words with its baseline at y.

    >>> text(0, 10, "a < b", "name")
    '<text class="name" x="0" y="10" text-anchor="start">a &lt; b</text>'
    """
    return shape("text", css, escaped(words), x=x, y=y, text_anchor=anchor)


def path(points: Iterable[tuple[float, float]], *, closed: bool = False) -> str:
    """The `d` of a line through points; it starts again after a point that is not finite.

    >>> path([(0, 0), (1, 2), (math.nan, 0), (3, 4)])
    'M0 0L1 2M3 4'
    """
    steps, pen = [], "M"
    for x, y in points:
        if not (math.isfinite(x) and math.isfinite(y)):
            pen = "M"
            continue
        steps.append(f"{pen}{number(x)} {number(y)}")
        pen = "L"
    return "".join(steps) + ("Z" if closed and steps else "")


def drawing(size: ChartSize, title: str, description: str, parts: Iterable[str]) -> str:
    """A whole chart for an HTML page that embeds `style()`; screen readers get the title and the description.

    >>> drawing(ChartSize(10, 5), "T", "D", [])
    '<svg class="chart" viewBox="0 0 10 5" role="img"><title>T</title><desc>D</desc></svg>'
    """
    named = f"<title>{escaped(title)}</title><desc>{escaped(description)}</desc>"
    return shape("svg", "chart", named + "".join(parts), viewBox=f"0 0 {size.width} {size.height}", role="img")


@cache
def style() -> str:
    """The style sheet of all charts.

    >>> ".chart" in style()
    True
    """
    return files("lexfuse.advice.report.charts").joinpath("chart.css").read_text("utf-8")


def standalone(svg: str) -> str:
    """The text of an SVG file that shows one chart without any page around it, with a margin.

    >>> alone = standalone(drawing(ChartSize(10, 5), "T", "D", []))
    >>> alone.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="50" height="45"'), "</style>" in alone
    (True, True)
    """
    size = re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0]
    width, height = (int(side) + 2 * _MARGIN for side in size)
    start = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" class="chart alone"'
    opened = svg.replace('<svg class="chart"', start, 1)
    opened = opened.replace(f'viewBox="0 0 {size[0]} {size[1]}"', f'viewBox="-{_MARGIN} -{_MARGIN} {width} {height}"', 1)
    return opened.replace("</desc>", f"</desc><style>{html.escape(style(), quote=False)}</style>", 1) + "\n"


def width_of(words: str, size: float = 11.5) -> float:
    """About how wide words are drawn: enough to place a legend, since fonts differ anyway.

    >>> width_of("iii") < width_of("mmm")
    True
    """
    narrow, wide = sum(letter in "iljtf.,:;'|!()[] " for letter in words), sum(letter in "mwMW@%" for letter in words)
    capital = sum(letter.isupper() for letter in words)
    return size * (0.57 * len(words) - 0.25 * narrow + 0.28 * wide + 0.12 * capital)


def fitted(words: str, width: float, size: float = 11.5) -> list[str]:
    """Words broken into lines of at most a width; a single longer word stays whole.

    >>> fitted("mean of all queries", 70)
    ['mean of all', 'queries']
    """
    lines: list[str] = []
    for word in words.split():
        if lines and width_of(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _attribute(value: float | str) -> str:
    return escaped(value) if isinstance(value, str) else number(value)
