"""The advice: everything that was found out, the spec to search by, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lexfuse.advice.evidence.complementarity import Complementarity
from lexfuse.advice.evidence.length_bias import LengthBias
from lexfuse.advice.evidence.query_overlap import OverlapAnalysis
from lexfuse.advice.evidence.score_distribution import ScoreDistribution
from lexfuse.advice.findings import (
    ClassFinding,
    ConfigurationResult,
    Confirmation,
    Power,
    Reranking,
    ScoreBasis,
    SourceCost,
    Verdict,
    WeightCurve,
    verdict_of,
)
from lexfuse.advice.report.report_folder import write_report
from lexfuse.search.spec.spec import SearchSpec


@dataclass(frozen=True, slots=True)
class Advice:
    """Everything that was found out about one index and one set of judged queries."""

    collection: str  # name of the index folder or of the runs
    measure: str
    measures: tuple[str, ...]  # all that are reported; the first is the one decided by
    documents: int
    queries: int  # judged dev queries
    folds: int
    sources: tuple[str, ...]
    means: Mapping[str, Mapping[str, float]]  # dev: measure -> single source or the chosen configuration -> mean
    tried: tuple[ConfigurationResult, ...]  # single sources first, then all configurations in a fixed order
    chosen: ConfigurationResult
    words: tuple[str, ...]  # the verdict, sentence by sentence
    confirmation: Confirmation | None = None
    curves: tuple[WeightCurve, ...] = ()
    distributions: tuple[ScoreDistribution, ...] = ()
    complementarity: tuple[Complementarity, ...] = ()
    overlaps: tuple[OverlapAnalysis, ...] = ()
    lengths: tuple[LengthBias, ...] = ()
    classes: tuple[ClassFinding, ...] = ()
    costs: tuple[SourceCost, ...] = ()
    notes: tuple[str, ...] = field(default=())  # what was left out, and why
    reranking: Reranking | None = None  # None where no reranker was tried
    score_basis: ScoreBasis | None = None  # of distributions and complementarity
    power: Power | None = None  # of the choice (or the highest fusion) over its best member; None where no fusion was tried

    spec: SearchSpec | None = field(default=None, metadata={"json": False})  # the search to use; None for runs

    @property
    def verdict(self) -> Verdict:
        """The answer in a few words."""
        return verdict_of(self.chosen, self.power)

    def __str__(self) -> str:
        """The verdict, sentence by sentence."""
        return "\n".join(self.words)

    def write_report(self, folder: str | Path) -> None:
        """Write report.html, advice.json with all figures, and the spec as profile.toml; see `lexfuse.advice.report`."""
        write_report(self, Path(folder))
