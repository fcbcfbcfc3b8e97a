"""Which test and which correction: the choices, apart from the arithmetic, so that help texts are fast."""

from __future__ import annotations

from enum import Enum


class PairedTest(Enum):
    """The tests there are."""

    T = "t"
    WILCOXON = "wilcoxon"
    RANDOMISATION = "randomisation"


class Correction(Enum):
    """How p-values of a family of tests are adjusted.

    Bonferroni multiplies each by their number. Holm does so step by step from the smallest on; it holds the same promise (the
    chance of any false finding stays below the level) and finds at least as much, so it is the one to use.
    """

    NONE = "none"
    BONFERRONI = "bonferroni"
    HOLM = "holm"
