"""Results of earlier runs: a file of JSON lines, one for each script and run, and a plot of the ratios over the runs."""

from __future__ import annotations

import io
import json
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.runner.figures import Figure
from bench.runner.script import ROOT, Outcome
from reproduce.result import Circumstances

RESULTS = ROOT / "docs" / "benchmarks" / "results.jsonl"
_COLUMNS, _WIDTH, _HEIGHT = 3, 3.6, 2.4  # of the panels of the plot; inches
_AROUND = 2.5  # every panel shows at least ratios from 1 / 2.5 to 2.5
_COLOURS = ("#1f5fa8", "#b4541a", "#3a7d44", "#7a3e8e")


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one script measured in one run."""

    script: str
    quick: bool
    seconds: float
    figures: tuple[Figure, ...]
    circumstances: Circumstances

    @classmethod
    def of(cls, outcome: Outcome, circumstances: Circumstances, *, quick: bool) -> Measurement:
        """The figures of an outcome, with when, by which code and where they were measured."""
        return cls(outcome.script, quick, round(outcome.seconds, 1), outcome.figures, circumstances)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        figures = [figure.as_json() for figure in self.figures]
        return asdict(self.circumstances) | {
            "script": self.script, "quick": self.quick, "seconds": self.seconds, "figures": figures,
        }  # fmt: skip

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Measurement:
        """What `as_json` gave."""
        circumstances = Circumstances(values["date"], values["commit"], values["machine"])
        figures = tuple(Figure(**figure) for figure in values["figures"])
        return cls(values["script"], values["quick"], values["seconds"], figures, circumstances)

    @property
    def series(self) -> str:
        """What can be compared: runs of the same length on the same machine."""
        return f"{self.circumstances.machine}{', quick' if self.quick else ''}"


def append(path: Path, measurement: Measurement) -> None:
    """Add a line to the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(measurement.as_json(), ensure_ascii=False) + "\n")


def read(path: Path) -> list[Measurement]:
    """All measurements of a file, in its order; none if there is no file."""
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            found.append(Measurement.from_json(json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}, line {number}: not a measurement ({error!r}); restore the file from git") from None
    return found


def newest(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The last measurement of every script, by the names of the scripts."""
    last = {one.script: one for one in measurements}
    return [last[script] for script in sorted(last)]


def plot(measurements: Sequence[Measurement]) -> str:
    """An SVG with a panel for each script: thin lines are the ratios of its metrics, the thick line is their median.

    A colour is a series: a machine, and whether the run was quick. Figures without a peer have no ratio and are left out. The
    same measurements give the same bytes.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

    from reproduce.plots import STYLE

    panels = {name: [one for one in measurements if one.script == name] for name in sorted({one.script for one in measurements})}
    panels = {name: runs for name, runs in panels.items() if any(_ratios(one) for one in runs)}
    series = sorted({one.series for runs in panels.values() for one in runs})
    rows = -(-len(panels) // _COLUMNS)
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(_WIDTH * _COLUMNS, _HEIGHT * max(rows, 1) + 0.3), layout="constrained")
        if panels:
            axes = canvas.subplots(rows, _COLUMNS, squeeze=False).ravel().tolist()
            for panel, (name, runs) in zip(axes, panels.items(), strict=False):
                _draw(panel, name, runs, series)
            for panel in axes[len(panels) :]:
                panel.set_axis_off()
        canvas.supylabel("ratio to the peer (above 1: ours is better)", fontsize=8)
        keys = [Line2D([], [], color=_colour(at), linewidth=2, label=one) for at, one in enumerate(series)]
        canvas.legend(handles=keys, loc="outside upper left", fontsize=7, frameon=False)
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _draw(panel: Any, name: str, runs: Sequence[Measurement], series: Sequence[str]) -> None:
    """One script: its runs from left to right."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for at, one in enumerate(series):
        own = [(place, _ratios(run)) for place, run in enumerate(runs) if run.series == one and _ratios(run)]
        colour = _colour(at)
        lines = defaultdict(list)
        for place, ratios in own:
            for metric, ratio in ratios.items():
                lines[metric].append((place, ratio))
        for points in lines.values():
            panel.plot(*zip(*points, strict=True), color=colour, alpha=0.25, linewidth=0.7, marker=".", markersize=3)
        medians = [(place, statistics.median(ratios.values())) for place, ratios in own]
        if medians:
            panel.plot(*zip(*medians, strict=True), color=colour, linewidth=2, marker="o", markersize=4)
    panel.axhline(1.0, color="#777777", linestyle=(0, (4, 2)), linewidth=0.8)
    panel.set_yscale("log")
    low, high = panel.get_ylim()
    panel.set_ylim(min(low, 1 / _AROUND), max(high, _AROUND))
    panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_title(name, fontsize=9)
    labels = [f"{run.circumstances.date[:10]}\n{run.circumstances.commit[:9]}" for run in runs]
    panel.set_xticks(range(len(runs)), labels, fontsize=6, rotation=0 if len(runs) < 5 else 60)
    panel.set_xlim(-0.5, len(runs) - 0.5)


def _colour(series: int) -> str:
    return _COLOURS[series % len(_COLOURS)]


def _ratios(measurement: Measurement) -> dict[str, float]:
    """The ratio of every metric and peer."""
    return {f"{one.metric} {one.peer}": one.ratio for one in measurement.figures if one.ratio is not None and one.ratio > 0}
