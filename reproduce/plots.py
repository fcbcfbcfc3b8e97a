"""Drawings as SVG text, made with matplotlib: the same values give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from lexfuse.data.arrays import F64
from reproduce.result import Plot

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "lexfuse",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
}
FEW = 40  # points of a curve that are marked
MANY = 6  # lines whose names would cover the drawing: they are put next to it
RELEVANT, OTHER = "#c1272d", "#333333"


@dataclass
class Canvas:
    """A figure while it is drawn, and what it says."""

    figure: Figure
    axes: list[Axes]
    svg: str = ""


@contextmanager
def canvas(columns: int = 1, *, width: float = 5.0, height: float = 3.4) -> Iterator[Canvas]:
    """Axes side by side; afterwards `svg` is the text of the drawing."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width * columns, height), layout="constrained")
        drawn = Canvas(figure, list(np.atleast_1d(figure.subplots(1, columns))))
        yield drawn
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None}, dpi=110)
        drawn.svg = "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


@dataclass(frozen=True)
class Labels:
    """What the axes of a drawing are called, and its title."""

    x: str
    y: str
    title: str = ""


def label(axes: Axes, labels: Labels) -> None:
    """Write names of axes and the title."""
    axes.set_xlabel(labels.x)
    axes.set_ylabel(labels.y)
    if labels.title:
        axes.set_title(labels.title, fontsize=9)


@dataclass(frozen=True)
class Curve:
    """A line through points, with a band around it where there is one."""

    x: Sequence[float]
    y: Sequence[float]
    band: tuple[Sequence[float], Sequence[float]] | None = None


def curves(
    name: str, description: str, labels: Labels, lines: Mapping[str, Curve], *, levels: Mapping[str, float] | None = None,
    log: bool = False, paired: bool = False,
) -> Plot:  # fmt: skip
    """Lines over a common axis, and horizontal lines for levels; `paired` gives each level the colour of its line."""
    levels = levels or {}
    many = len(lines) + len(levels) >= MANY
    with canvas(width=6.8 if many else 5.0) as drawn:
        (axes,) = drawn.axes
        colours = []
        for line, curve in lines.items():
            (made,) = axes.plot(
                curve.x, curve.y, label=line, marker="o" if len(curve.x) < FEW else "", markersize=2.5, linewidth=1.2
            )
            colours.append(made.get_color())
            if curve.band is not None:
                axes.fill_between(curve.x, *curve.band, color=made.get_color(), alpha=0.15, linewidth=0)
        for at, (line, level) in enumerate(levels.items()):
            colour = colours[at] if paired else "#777777"
            axes.axhline(level, color=colour, linestyle=(0, (4, 2 if paired else 2 + 2 * at)), linewidth=1, label=line)
        if log:
            axes.set_xscale("log")
        if many:
            drawn.figure.legend(loc="outside right upper", fontsize=7, frameon=False)
        else:
            axes.legend(fontsize=7, frameon=False)
        label(axes, labels)
    return Plot(name, description, drawn.svg)


def scatter(name: str, description: str, labels: Labels, relevant: F64, others: F64) -> Plot:
    """Pairs of scores of relevant and other documents, two rows each: x and y."""
    with canvas(height=4.2) as drawn:
        (axes,) = drawn.axes
        for points, colour, which in ((others, OTHER, "not relevant"), (relevant, RELEVANT, "relevant")):
            axes.scatter(points[0], points[1], s=4, alpha=0.35, color=colour, linewidths=0, label=which, rasterized=True)
        axes.legend(fontsize=7, frameon=True, markerscale=2)
        label(axes, labels)
    return Plot(name, description, drawn.svg)


def heat_maps(
    name: str, description: str, labels: Labels, maps: Mapping[str, ArrayLike], extent: tuple[float, float, float, float]
) -> Plot:
    """Values over two axes, one map beside the other; equal values are joined by lines."""
    with canvas(len(maps), width=3.8, height=3.4) as drawn:
        for axes, (title, values) in zip(drawn.axes, maps.items(), strict=True):
            values = np.asarray(values)
            left, right, low, high = extent
            x, y = np.linspace(left, right, values.shape[1]), np.linspace(low, high, values.shape[0])
            made = axes.contourf(x, y, values, levels=14, cmap="viridis")
            made.set_rasterized(True)
            drawn.figure.colorbar(made, ax=axes, shrink=0.8)
            axes.grid(visible=False)
            label(axes, Labels(labels.x, labels.y, title))
    return Plot(name, description, drawn.svg)


def grid_map(
    name: str, description: str, labels: Labels, ticks: tuple[Sequence[float], Sequence[float]], values: F64
) -> Plot:  # fmt: skip
    """Values of every pair of two parameters, blue below 0 and red above; rows go upward."""
    with canvas(width=5.2, height=4.4) as drawn:
        (axes,) = drawn.axes
        limit = float(np.abs(values).max()) or 1.0
        made = axes.imshow(values, origin="lower", cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
        axes.set_xticks(range(len(ticks[0])), [f"{one:g}" for one in ticks[0]], fontsize=7)
        axes.set_yticks(range(len(ticks[1])), [f"{one:g}" for one in ticks[1]], fontsize=7)
        axes.grid(visible=False)
        drawn.figure.colorbar(made, ax=axes)
        label(axes, labels)
    return Plot(name, description, drawn.svg)


def histograms(name: str, description: str, titles: Sequence[Labels], values: Sequence[ArrayLike], *, log: bool = True) -> Plot:
    """Distributions side by side."""
    with canvas(len(values), width=3.6, height=2.8) as drawn:
        for axes, labels, one in zip(drawn.axes, titles, values, strict=True):
            found = np.asarray(one, dtype=np.float64)
            top = max(float(found.max(initial=1.0)), 2.0)
            bins = np.geomspace(1, top, 30) if log else np.arange(0.5, min(top, 40) + 1.5)
            axes.hist(np.clip(found, 1, None), bins=bins.tolist(), color="#4477aa")
            if log:
                axes.set_xscale("log")
            label(axes, labels)
    return Plot(name, description, drawn.svg)


def bars(name: str, description: str, labels: Labels, groups: Mapping[str, Mapping[str, tuple[float, float]]]) -> Plot:
    """A bar with its spread for every entry of every group: group -> entry -> mean and standard deviation."""
    with canvas() as drawn:
        (axes,) = drawn.axes
        entries = list(dict.fromkeys(entry for values in groups.values() for entry in values))
        width = 0.8 / max(1, len(groups))
        for at, (group, values) in enumerate(groups.items()):
            places = [entries.index(entry) + at * width for entry in values]
            means, spreads = zip(*values.values(), strict=True)
            axes.bar(places, means, width, yerr=spreads, label=group, capsize=2)
        places = [at + width * (len(groups) - 1) / 2 for at in range(len(entries))]
        axes.set_xticks(places, entries, rotation=15, ha="right", fontsize=7)
        if len(groups) > 1:
            axes.legend(fontsize=7, frameon=False)
        label(axes, labels)
    return Plot(name, description, drawn.svg)
