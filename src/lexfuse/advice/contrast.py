"""Choices of an analysis, apart from the arithmetic, so that help texts are fast."""

from __future__ import annotations

from enum import StrEnum


class Contrast(StrEnum):
    """When one source wins a query over another, in the analysis of words in common."""

    EXTREMES = "extremes"  # it reaches 1 and the other 0, as in CJEU 5.1 and 5.2
    HIGHER = "higher"  # it reaches more


class ScoreScope(StrEnum):
    """Whose scores distributions and complementarity are about."""

    CORPUS = "corpus"  # of all documents, as in FUSE Fig. 2, 3 and 6
    CANDIDATES = "candidates"  # of the documents that some source lists, which is what a fusion adds up
