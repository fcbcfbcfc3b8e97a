"""The drawings of the atlas: gains with their intervals, gains of pairs, and how many questions show a gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from reproduce.atlas.entry import AtlasEntry, PairFinding
from reproduce.plots import Curve, Labels, canvas, curves, label
from reproduce.result import Plot

COLOURS = {"zero-shot": "#4477aa", "tuned": "#cc6677"}
KINDS = ("bm25", "tfidf", "static", "dense", "splade")


def gain_chart(entries: Sequence[AtlasEntry]) -> Plot:
    """The gain of the fusion chosen on dev over the best single source, with its interval."""
    description = "Gain of the fusion chosen on dev over the best single source by collection and setting, with 95 % intervals"
    names = list(dict.fromkeys(entry.collection for entry in entries))[::-1]
    with canvas(width=6.4, height=0.45 * len(names) + 1.2) as drawn:
        (axes,) = drawn.axes
        for setting, shift in (("zero-shot", 0.15), ("tuned", -0.15)):
            some = [entry for entry in entries if entry.setting == setting]
            places = [names.index(entry.collection) + shift for entry in some]
            gains = [entry.advised.gain for entry in some]
            spreads = [
                [entry.advised.gain - entry.advised.low for entry in some],
                [entry.advised.high - entry.advised.gain for entry in some],
            ]
            axes.errorbar(gains, places, xerr=spreads, fmt="o", markersize=4, capsize=2, color=COLOURS[setting], label=setting)
        axes.axvline(0, color="#777777", linewidth=1)
        axes.set_yticks(range(len(names)), names)
        axes.legend(fontsize=7, frameon=False)
        label(axes, Labels(f"gain in {entries[0].measure}", ""))
    return Plot("gains", description, drawn.svg)


def pair_chart(entries: Sequence[AtlasEntry]) -> Plot:
    """The gain of the best fusion of two sources over the better one, for every pair and collection, zero-shot."""
    some = [entry for entry in entries if entry.setting == "zero-shot"]
    pairs = sorted(
        {pair for entry in some for pair, _ in kinds_of_pairs(entry)}, key=lambda pair: [KINDS.index(one) for one in pair]
    )
    gains = np.full((len(some), len(pairs)), np.nan)
    marks: dict[tuple[int, int], str] = {}
    for row, entry in enumerate(some):
        for pair, found in kinds_of_pairs(entry):
            gains[row, pairs.index(pair)] = found.gain
            marks[row, pairs.index(pair)] = f"{found.gain:+.3f}{'*' if found.p < 0.05 else ''}"
    with canvas(width=0.85 * len(pairs) + 2.2, height=0.42 * len(some) + 1.4) as drawn:
        (axes,) = drawn.axes
        limit = float(np.nanmax(np.abs(gains), initial=0.01))
        axes.imshow(gains, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
        for (row, column), mark in marks.items():
            dark = abs(gains[row, column]) > limit * 0.6
            axes.text(column, row, mark, ha="center", va="center", fontsize=6.5, color="white" if dark else "black")
        axes.set_xticks(range(len(pairs)), [" + ".join(pair) for pair in pairs], rotation=30, ha="right", fontsize=7)
        axes.set_yticks(range(len(some)), [entry.collection for entry in some], fontsize=8)
        axes.grid(visible=False)
    return Plot(
        "pairs", "Gain of the best fusion of two sources over the better one, by pair and collection; * p < .05", drawn.svg
    )


def kinds_of_pairs(entry: AtlasEntry) -> Iterator[tuple[tuple[str, str], PairFinding]]:
    """The pairs of an entry by the kinds of their channels."""
    for found in entry.pairs:
        first, second = (name.removesuffix("-tuned") for name in (found.first, found.second))
        if first in KINDS and second in KINDS:
            ordered = sorted((first, second), key=KINDS.index)
            yield (ordered[0], ordered[1]), found


def detection_chart(entries: Sequence[AtlasEntry], setting: str = "zero-shot") -> Plot:
    """The share of samples that show the gain, by their size."""
    lines = {}
    for entry in entries:
        if entry.setting == setting and entry.test_questions:
            points = [(int(size), share) for size, share in entry.detection.items()]
            some = points[:-1] or points  # the last has all questions: it is no sample
            lines[entry.collection] = Curve([size for size, _ in some], [share for _, share in some])
    description = "Share of random samples of test questions in which a t-test shows the gain, by the number of questions"
    labels = Labels("judged questions", "share of samples that show the gain")
    return curves("detection", description, labels, lines, levels={"four of five": 0.8}, log=True)
