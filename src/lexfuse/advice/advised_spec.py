"""The search that an advice comes to: the chosen configuration, those of query classes, the reranker, and what supports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lexfuse.advice.advice import Advice
from lexfuse.advice.findings import ConfigurationResult
from lexfuse.advice.grid import RECIPES
from lexfuse.channels.registry import channel_kind
from lexfuse.fusion.convex import Convex
from lexfuse.search.spec.channel_spec import ChannelSpec
from lexfuse.search.spec.reranker_specs import RerankerChoice
from lexfuse.search.spec.spec import ClassSpec, SearchSpec
from lexfuse.text.query_class import QueryClass


def advised_spec(
    advice: Advice, depth: int, options: Mapping[str, Any], rerankers: Mapping[str, tuple[RerankerChoice, ...]]
) -> SearchSpec:
    """The spec of an advice on an index; `options` are those of its channels, `rerankers` those that were tried, by name."""
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
        QueryClass(each.name): ClassSpec(**_pipeline(each.own, options), **off) for each in advice.classes if each.own is not None
    }
    return SearchSpec(
        name=f"advised for {advice.collection}",
        depth=depth,
        rerank=rerank,
        classes=classes,
        evidence=evidence,
        **_pipeline(advice.chosen, options),
    )


def _pipeline(result: ConfigurationResult, options: Mapping[str, Any]) -> dict[str, Any]:
    """The channels and the fusion of a configuration."""
    configuration = result.configuration
    channels = tuple(ChannelSpec.of(name, **_own_options(name, options)) for name in configuration.members)
    if not configuration.method:
        return {"channels": channels}
    recipe = RECIPES[configuration.method]
    tuned = isinstance(recipe.fusion, Convex) and recipe.tuned
    return {"channels": channels, "fusion": replace(recipe.fusion, weights=result.weights) if tuned else recipe.fusion}


def _own_options(channel: str, options: Mapping[str, Any]) -> dict[str, Any]:
    fields = channel_kind(channel).search_options.model_fields
    return {option: value for option, value in options.items() if option in fields}
