"""Paragraphs, judgments and citations of a collection as its judgements have them: what CJEU's tables 1, 2 and 7 count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from reproduce.datasets import Dataset


@dataclass(frozen=True)
class Citations:
    """Every citation of a collection: the citing query and the cited paragraph."""

    edges: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, dataset: Dataset) -> Citations:
        """The citations of all splits; a pair counts once."""
        found = {
            (query, doc) for split in ("train", "dev", "test")
            if split in dataset.collection.qrels
            for query, judged in dataset.collection.qrels[split].as_dict().items()
            for doc, grade in judged.items() if grade > 0
        }  # fmt: skip
        return cls(tuple(sorted(found)))

    @property
    def paragraphs(self) -> set[str]:
        """The paragraphs that cite or are cited: those that the paper's data has."""
        return {id for edge in self.edges for id in edge}


def decision(paragraph: str) -> str:
    """The judgment of a paragraph, whose id is that of the judgment, a sign and its number.

    >>> decision("ECLI:EU:C:2017:1007#24")
    'ECLI:EU:C:2017:1007'
    """
    return paragraph.rpartition("#")[0] or paragraph.rpartition("_")[0] or paragraph


def mean_and_spread(counts: Counter[str]) -> tuple[float, float]:
    """The mean and the standard deviation of the counts."""
    values = np.array(list(counts.values()), dtype=np.float64)
    return float(values.mean()), float(values.std())
