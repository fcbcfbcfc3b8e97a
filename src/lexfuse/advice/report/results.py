"""What the templates ask about an advice: single sources, fusions, the grid by methods and by subsets, the cost front."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from lexfuse.advice.findings import ConfigurationResult, Outcome, RerankEffect, Reranking, ScoreBasis, ScoreScope
from lexfuse.optimisation.weight_surface import first_highest

if TYPE_CHECKING:
    from lexfuse.advice.advice import Advice

BEST = 30  # rows of the forest plot
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}


@dataclass(frozen=True, slots=True)
class RerankedRow:
    """One row of the forest plot of rerankers: ranked by the reranker's scores, or by them and those of the choice."""

    name: str
    effect: RerankEffect
    fused: bool


def singles(advice: Advice) -> list[ConfigurationResult]:
    """The sources alone."""
    return [each for each in advice.tried if len(each.configuration.members) == 1]


def single_means(advice: Advice) -> dict[str, float]:
    """The mean of each source alone, by its name."""
    return {each.configuration.members[0]: each.value for each in singles(advice)}


def best_single(advice: Advice) -> ConfigurationResult | None:
    """The single source with the highest mean on dev; the first of equal ones."""
    return _highest(singles(advice))


def fusions(advice: Advice) -> list[ConfigurationResult]:
    """The configurations that are compared with their best member."""
    return [each for each in advice.tried if each.versus_member is not None]


def best_fusion(advice: Advice) -> ConfigurationResult | None:
    """The fusion with the highest mean on dev; the first of equal ones."""
    return _highest(fusions(advice))


def best_fusions(advice: Advice) -> list[ConfigurationResult]:
    """The fusions with the highest means, as many as the forest plot has rows."""
    return sorted(fusions(advice), key=lambda each: -each.value)[:BEST]


def outcome_counts(advice: Advice) -> dict[Outcome, int]:
    """How many fusions beat their best member, as FUSE sums up its Tables 3 and 6."""
    found = Counter(each.versus_member.outcome for each in advice.tried if each.versus_member is not None)
    return {outcome: found[outcome] for outcome in (Outcome.BETTER, Outcome.EQUAL, Outcome.WORSE)}


def method_families(advice: Advice) -> dict[str, list[str]]:
    """The columns of the grid: "min-max" with its variants "equal" and "tuned"; one empty variant where a method has none."""
    return {
        family: [method.partition(", ")[2] for method in some]
        for family, some in groupby(_methods(advice), key=lambda method: method.split(", ")[0])
    }


def subsets_by_size(advice: Advice) -> dict[str, dict[tuple[str, ...], list[ConfigurationResult | None]]]:
    """The rows of the grid by the number of sources; None where a method was not tried."""
    results = {(each.configuration.members, each.configuration.method): each for each in _fused(advice)}
    subsets = sorted(dict.fromkeys(each.configuration.members for each in _fused(advice)), key=len)
    return {
        _NUMBERS.get(size, str(size)): {
            members: [results.get((members, method)) for method in _methods(advice)] for members in some
        }
        for size, some in groupby(subsets, key=len)
    }


def reranked_rows(reranking: Reranking, where: str) -> list[RerankedRow]:
    """The effects of every reranker on dev or on test."""
    rows = []
    for each in reranking.findings:
        effects = (each.test, each.fused_test) if where == "test" else (each.dev, each.fused_dev)
        rows += [RerankedRow(each.name, effect, bool(at)) for at, effect in enumerate(effects) if effect is not None]
    return rows


def timed_results(advice: Advice) -> list[ConfigurationResult]:
    """The configurations whose cost is known."""
    return [each for each in advice.tried if each.milliseconds is not None and each.bytes is not None]


def cost_front(advice: Advice) -> list[ConfigurationResult]:
    """Those on the Pareto front, from the fastest to the slowest."""
    front = [each for each in timed_results(advice) if each.on_front]
    return sorted(front, key=lambda each: (each.milliseconds or 0.0, each.value))


def column_names(tables: Iterable[Mapping[str, float]]) -> list[str]:
    """The keys of several mappings, each once, in the order in which they appear."""
    return list(dict.fromkeys(name for each in tables for name in each))


def score_basis(advice: Advice) -> str:
    """Which scores the distributions and the complementarity show; the candidates' where the advice does not say."""
    return (advice.score_basis or ScoreBasis(ScoreScope.CANDIDATES, advice.queries, advice.queries)).words


def colour(advice: Advice, source: str) -> str:
    """The class of a source's colour in chart.css."""
    return f"f{colour_number(advice, source)}"


def colour_number(advice: Advice, source: str) -> int:
    """The number of a source's colour."""
    return advice.sources.index(source) % 8 if source in advice.sources else 7


def _fused(advice: Advice) -> list[ConfigurationResult]:
    return [each for each in advice.tried if len(each.configuration.members) > 1]


def _methods(advice: Advice) -> list[str]:
    return list(dict.fromkeys(each.configuration.method for each in _fused(advice)))


def _highest(results: list[ConfigurationResult]) -> ConfigurationResult | None:
    return results[first_highest([each.value for each in results])] if results else None
