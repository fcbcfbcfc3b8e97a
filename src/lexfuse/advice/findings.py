"""What an advice consists of: plain values that the verdict, the report and the JSON file are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lexfuse.evaluation.bootstrap import ConfidenceInterval


class Contrast(StrEnum):
    """When one source wins a query over another, in the analysis of words in common."""

    EXTREMES = "extremes"  # it reaches 1 and the other 0, as in CJEU 5.1 and 5.2
    HIGHER = "higher"  # it reaches more


class ScoreScope(StrEnum):
    """Whose scores distributions and complementarity are about."""

    CORPUS = "corpus"  # of all documents, as in FUSE Fig. 2, 3 and 6
    CANDIDATES = "candidates"  # of the documents that some source lists, which is what a fusion adds up


class Outcome(StrEnum):
    """How a configuration compares with its best member."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "not distinguishable"


class Verdict(StrEnum):
    """The answer, in the words that the terminal, the report, the figures, the profile and the page have in common."""

    FUSE = "Fuse"
    ALONE = "Do not fuse"
    UNPROVEN = "Fusing is not proven to help"
    HARM = "Fusing does harm"
    TOO_FEW = "Too few questions to tell"

    @property
    def outcome(self) -> Outcome:
        """Whether that is good news, bad news or neither, as figures are coloured."""
        return {Verdict.FUSE: Outcome.BETTER, Verdict.HARM: Outcome.WORSE}.get(self, Outcome.EQUAL)


@dataclass(frozen=True, slots=True)
class Power:
    """The smallest difference that a number of queries can show, and the number needed to show one that matters."""

    queries: int
    smallest: float  # the difference that matters
    detectable: float  # the difference that these queries would show four times out of five
    needed: int  # queries that would show the smallest one four times out of five

    @property
    def enough(self) -> bool:
        """Whether there are as many queries as that."""
        return self.queries >= self.needed


@dataclass(frozen=True, slots=True)
class Configuration:
    """Some sources and the way they are fused; `method` is empty for a single source.

    >>> Configuration(("bm25", "dense"), "tm2c2").name
    'bm25 + dense, tm2c2'
    """

    members: tuple[str, ...]
    method: str = ""  # a name of lexfuse.advice.grid.RECIPES: "borda", "rrf", "min-max, equal", "z-score, tuned" …

    @property
    def name(self) -> str:
        """How it is called in tables."""
        return " + ".join(self.members) + (f", {self.method}" if self.method else "")


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of means on the same queries, with its interval, effect size and p-value."""

    mean: float
    interval: ConfidenceInterval  # 95 %, bootstrap over queries
    effect_size: float  # Cohen's d of the paired differences
    p: float
    adjusted_p: float  # over the whole family of tests it was made in
    queries: int

    @property
    def outcome(self) -> Outcome:
        """Better or worse where the corrected test says so at 0.05."""
        if not self.adjusted_p < 0.05:  # nor where there is no p
            return Outcome.EQUAL
        return Outcome.BETTER if self.mean > 0 else Outcome.WORSE


@dataclass(frozen=True, slots=True)
class ConfigurationResult:
    """One configuration and its result; tuned weights were chosen without the query they are measured on."""

    configuration: Configuration
    weights: tuple[float, ...]  # of the members; those tuned on all dev queries where they are tuned; empty where none are meant
    value: float  # mean of the measure on dev, held out by cross-validation where something was tuned
    best_member: str = ""  # the member with the highest dev mean
    versus_member: Difference | None = None  # None for a single source
    milliseconds: float | None = None  # a query, median; None where nothing was timed
    bytes: int | None = None  # on disk, of all members
    on_front: bool = False  # on the Pareto front of quality against milliseconds and bytes


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The single use of the test queries: single sources, the configuration chosen on dev, and what it was chosen over."""

    queries: int
    means: Mapping[str, Mapping[str, float]]  # measure -> configuration name -> mean
    versus: Mapping[str, Difference]  # of the chosen one: over each single source and over equal weights, by their names


@dataclass(frozen=True, slots=True)
class WeightCurve:
    """The mean of the measure as weight moves from one source to another, with a bootstrap band and the oracle.

    `levels` are the lines that FUSE draws (Fig. 4 and 7 to 10): RRF of the pair, the best single source and the lexical one.
    """

    sources: tuple[str, str]
    normaliser: str
    weights: tuple[float, ...]  # of the second source, rising
    means: tuple[float, ...]
    band: tuple[ConfidenceInterval, ...]
    oracle: float  # the mean if every query had its best weight
    words: str  # "not distinguishable from equal weights" or what else holds
    levels: Mapping[str, float] = field(default_factory=dict)  # name of the line -> mean


@dataclass(frozen=True, slots=True)
class ClassFinding:
    """What holds for one class of queries: citation lookups, keywords, questions, whole documents."""

    name: str
    queries: int
    means: Mapping[str, float]  # single sources and the chosen configuration, on dev queries of the class
    own: (
        ConfigurationResult | None
    )  # the configuration that is better for the class by cross-validation; None: the general one serves it
    words: str = ""


@dataclass(frozen=True, slots=True)
class SourceCost:
    """What one source costs; see lexfuse.channels.cost."""

    source: str
    bytes: int
    p50: float  # milliseconds a query
    p95: float
    flops: int


@dataclass(frozen=True, slots=True)
class RerankEffect:
    """What one way to rerank reaches on some queries, and how that differs from the same ranking before it."""

    means: Mapping[str, float]  # measure -> mean; where something was tuned, on dev only the measure that it was tuned for
    versus: Difference  # of the measure decided by


@dataclass(frozen=True, slots=True)
class RerankFinding:
    """A reranker on top of the choice: instead of its scores, and fused with them."""

    name: str
    stages: tuple[str, ...]  # the rerankers, one after the other: "rprs", "cross-encoder" …
    depth: int  # how many documents the first of them takes
    milliseconds: float  # a query, median, on top of the choice
    dev: RerankEffect  # its scores rank
    fused_dev: RerankEffect  # its scores and those of the choice rank, with weights that were tuned without the query measured
    weight: float  # of the reranker in that fusion, tuned on all dev queries
    test: RerankEffect | None = None
    fused_test: RerankEffect | None = None
    words: tuple[str, ...] = ()  # use it or leave it out, sentence by sentence


@dataclass(frozen=True, slots=True)
class Reranking:
    """Rerankers tried on top of the choice, all tests of a set of queries corrected together."""

    dev: Mapping[str, float]  # measure -> mean of the choice without any
    test: Mapping[str, float] | None
    findings: tuple[RerankFinding, ...]
    taken: str  # the one that is better on dev, and of several the best; empty where none is
    words: str  # all of it in one sentence


@dataclass(frozen=True, slots=True)
class ScoreBasis:
    """Whose scores the distributions and the complementarity are about.

    >>> ScoreBasis(ScoreScope.CORPUS, 50, 100).words
    'all documents, 50 of 100 dev queries'
    """

    scope: ScoreScope
    queries: int  # dev queries that were used
    of_queries: int

    @property
    def words(self) -> str:
        """The same in words."""
        documents = "all documents" if self.scope is ScoreScope.CORPUS else "candidates, the documents that some source lists"
        queries = f"{self.queries:,}" if self.queries == self.of_queries else f"{self.queries:,} of {self.of_queries:,}"
        return f"{documents}, {queries} dev {'query' if self.of_queries == 1 else 'queries'}"


def verdict_of(chosen: ConfigurationResult, power: Power | None) -> Verdict:
    """Fuse or not, where the tests decide; otherwise whether there were enough queries to decide.

    >>> verdict_of(ConfigurationResult(Configuration(("dense",)), (1.0,), 0.4), Power(25, 0.05, 0.11, 120))
    <Verdict.TOO_FEW: 'Too few questions to tell'>
    """
    outcome = chosen.versus_member.outcome if chosen.versus_member is not None else Outcome.EQUAL
    if outcome is not Outcome.EQUAL:
        return Verdict.FUSE if outcome is Outcome.BETTER else Verdict.HARM
    if power is not None and not power.enough:
        return Verdict.TOO_FEW
    return Verdict.ALONE if chosen.versus_member is None else Verdict.UNPROVEN
