"""CJEU, table 7: citations from and to whole decisions."""

from __future__ import annotations

from collections import Counter

from reproduce.cjeu.statistics import Citations, decision, mean_and_spread
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """Counts, means and standard deviations over decisions with at least one citation."""
    citations = Citations.of(experiment.dataset)
    ends = {
        "outbound citations of a decision": Counter(decision(citing) for citing, _ in citations.edges),
        "inbound citations of a decision": Counter(decision(cited) for _, cited in citations.edges),
    }
    rows: dict[str, dict[str, float]] = {"unique decisions": {"number": len(set(map(decision, citations.paragraphs)))}}
    rows |= {name: dict(zip(("mean", "standard deviation"), mean_and_spread(one), strict=True)) for name, one in ends.items()}
    return Measured(rows)
