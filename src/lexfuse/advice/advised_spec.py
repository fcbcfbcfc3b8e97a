"""The search that an advice comes to: the chosen configuration, those of query classes, the reranker, and what supports them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lexfuse.advice.advice import Advice
from lexfuse.advice.findings import ConfigurationResult
from lexfuse.advice.grid import RECIPES
from lexfuse.optimisation.fusion_weights import weighted
from lexfuse.search.spec.channel_spec import ChannelSpec
from lexfuse.search.spec.reranker_specs import RerankerChoice
from lexfuse.search.spec.spec import ClassSpec, SearchSpec
from lexfuse.text.query_class import QueryClass


def advised_spec(
    advice: Advice, depth: int, channels: Mapping[str, ChannelSpec], rerankers: Mapping[str, tuple[RerankerChoice, ...]]
) -> SearchSpec:
    """The spec of an advice on an index, from the channels and the rerankers that were tried, by their names."""
    rerank: tuple[RerankerChoice, ...] = ()
    evidence: dict[str, str | int | float] = {
        "verdict": advice.verdict.value,
        "measure": advice.measure,
        "dev": round(advice.chosen.value, 4),
        "dev_queries": advice.queries,
        "words": " ".join(advice.words),
    }
    if advice.confirmation is not None:
        test = advice.confirmation.means[advice.measure][advice.chosen.configuration.name]
        evidence |= {"test": round(test, 4), "test_queries": advice.confirmation.queries}
    if advice.reranking is not None and advice.reranking.taken:
        taken = next(each for each in advice.reranking.findings if each.name == advice.reranking.taken)
        rerank = rerankers[taken.name]
        evidence |= {"reranked_by": taken.name, "reranked_dev": round(taken.dev.means[advice.measure], 4)}
        if taken.test is not None:
            evidence["reranked_test"] = round(taken.test.means[advice.measure], 4)
    off: dict[str, Any] = {"rerank": ()} if rerank else {}  # the reranker is advised for the general search alone
    classes = {
        QueryClass(each.name): ClassSpec(**_pipeline(each.own, channels), **off)
        for each in advice.classes
        if each.own is not None
    }
    return SearchSpec(
        name=f"advised for {advice.collection}",
        depth=depth,
        rerank=rerank,
        classes=classes,
        evidence=evidence,
        **_pipeline(advice.chosen, channels),
    )


def _pipeline(result: ConfigurationResult, channels: Mapping[str, ChannelSpec]) -> dict[str, Any]:
    """The channels and the fusion of a configuration."""
    pipeline: dict[str, Any] = {"channels": tuple(channels[name] for name in result.configuration.members)}
    if not result.configuration.method:
        return pipeline
    recipe = RECIPES[result.configuration.method]
    return pipeline | {"fusion": weighted(recipe.fusion, result.weights) if recipe.tuned else recipe.fusion}
