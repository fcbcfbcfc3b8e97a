"""Drawings: what a reader has to tell apart."""

import re

from reproduce.plots import MANY, Curve, Labels, curves

LABELS = Labels("x", "y")


def drawing(count, **settings):
    lines = {f"line {at}": Curve([0, 1], [at, at + 1]) for at in range(count)}
    return curves("name", "what it shows", LABELS, lines, **settings).svg


def width(svg):
    return float(re.search(r'<svg [^>]*width="([\d.]+)pt"', svg)[1])


def test_names_of_many_lines_are_next_to_the_drawing():
    assert width(drawing(MANY)) > width(drawing(MANY - 1))
    assert width(drawing(MANY - 2, levels={"a": 1.0, "b": 2.0})) == width(drawing(MANY))


def test_a_paired_level_has_the_colour_of_its_line():
    levels = {"a": 0.5, "b": 1.5}
    grey = "#777777"
    assert grey in drawing(2, levels=levels)
    assert grey not in drawing(2, levels=levels, paired=True)
    assert drawing(2, levels=levels) == drawing(2, levels=levels)
