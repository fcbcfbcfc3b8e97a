"""Measures from text, in the spelling of ir_measures and in the other names people write."""

from __future__ import annotations

import re

from lexfuse.errors import ConfigError
from lexfuse.evaluation.measure import CutoffRule, Measure
from lexfuse.evaluation.measures import (
    F1,
    NDCG,
    AveragePrecision,
    MacroPercentileRank,
    MeanPercentileRank,
    MeanReciprocalRank,
    MicroF1,
    MicroPrecision,
    MicroRecall,
    Precision,
    Recall,
    RPrecision,
    Success,
)

MEASURES: tuple[type[Measure], ...] = (
    NDCG,
    Recall,
    Precision,
    F1,
    AveragePrecision,
    MeanReciprocalRank,
    RPrecision,
    Success,
    MacroPercentileRank,
    MeanPercentileRank,
    MicroF1,
    MicroPrecision,
    MicroRecall,
)

# Other names in use, in lower case; case never matters.
ALIASES: dict[str, type[Measure]] = {
    "recall": Recall,
    "precision": Precision,
    "map": AveragePrecision,
    "mrr": MeanReciprocalRank,
    "rprecision": RPrecision,
    "r-precision": RPrecision,
    "hit": Success,
    "hits": Success,
    "hitrate": Success,
    "microprecision": MicroPrecision,
    "microrecall": MicroRecall,
}

_BY_NAME: dict[str, type[Measure]] = {measure.name.lower(): measure for measure in MEASURES} | ALIASES
_SPELLING = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]*)(\(rel=(?P<rel>\d{1,9})\))?(@(?P<cutoff>\d{1,9}))?", re.ASCII)


def parse_measure(text: str) -> Measure:
    """One measure from its name; `ConfigError` lists the known ones if there is no such measure.

    >>> parse_measure("P(rel=2)@10"), parse_measure("MRR@10"), parse_measure("ndcg@10")
    (P(rel=2)@10, RR@10, nDCG@10)
    """
    match = _SPELLING.fullmatch(text.strip())
    measure = _BY_NAME.get(match["name"].lower()) if match else None
    if match is None or measure is None:
        raise ConfigError(f"no measure {text!r}; known are {known_measures()}, with a grade like P(rel=2)@5")
    cutoff = int(match["cutoff"]) if match["cutoff"] else None
    return measure(cutoff, int(match["rel"]) if match["rel"] else 1)


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Measures from names separated by spaces or commas, in that order; one that comes twice is there once.

    >>> parse_measures("nDCG@10 R@100 P(rel=2)@5")
    (nDCG@10, R@100, P(rel=2)@5)
    """
    measures = tuple(dict.fromkeys(parse_measure(name) for name in re.split(r"[\s,]+", text) if name))
    if not measures:
        raise ConfigError(f"no measure given; known are {known_measures()}")
    return measures


def known_measures() -> str:
    """The measures there are, as one writes them.

    >>> known_measures()
    'nDCG[@k], R@k, P@k, F1@k, AP[@k], RR[@k], Rprec, Success@k, macroMPR, MPR, microF1[@k], microP[@k], microR[@k]'
    """
    form = {CutoffRule.CUTOFF: "@k", CutoffRule.OPTIONAL_CUTOFF: "[@k]", CutoffRule.NO_CUTOFF: ""}
    return ", ".join(measure.name + form[measure.takes] for measure in MEASURES)
