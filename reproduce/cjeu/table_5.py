"""CJEU, table 5: an example that both models find and one that BM25 alone finds."""

from __future__ import annotations

from reproduce.cjeu.examples import BETTER, PERFECT, Scenario, examples
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """One row a scenario: the first example of tables 9 and 10."""
    rows, notes, texts = {}, [], []
    for group in (PERFECT, BETTER):
        found, drawn = examples(experiment, Scenario("SBERT", "R@5", group), 1)
        notes.append(drawn)
        for one in found:
            rows[group] = one.values
            notes.append(one.note)
            texts.append(one.text)
    return Measured(rows, notes=tuple(notes), texts=tuple(texts))
