"""A small advice with every part of it present, for tests of the report and of its page in a browser."""

import math

from lexfuse.advice.advice import Advice
from lexfuse.advice.evidence.complementarity import Complementarity, Region
from lexfuse.advice.evidence.length_bias import LengthBias
from lexfuse.advice.evidence.query_overlap import OverlapAnalysis, OverlapGroup, OverlapTest
from lexfuse.advice.evidence.score_distribution import ScoreDistribution
from lexfuse.advice.findings import (
    ClassFinding,
    Configuration,
    ConfigurationResult,
    Confirmation,
    Difference,
    RerankEffect,
    RerankFinding,
    Reranking,
    SourceCost,
    WeightCurve,
)
from lexfuse.evaluation.bootstrap import ConfidenceInterval


def difference(mean, p=0.01):
    return Difference(mean, ConfidenceInterval(mean - 0.02, mean + 0.02), 0.3, p / 2, p, 60)


def reranking(helps="rprs", harms="cross-encoder"):
    """Two rerankers on top of a choice that reaches 0.5, of which one helps."""

    def effect(gain):
        return RerankEffect({"nDCG@10": 0.5 + gain}, difference(gain, 0.01 if gain else 1.0))

    findings = (
        RerankFinding(
            helps,
            ("rprs",),
            50,
            12.5,
            effect(0.06),
            effect(0.07),
            0.4,
            effect(0.05),
            effect(0.04),
            (f"{helps} helps, so use it.",),
        ),
        RerankFinding(
            harms,
            ("cross-encoder",),
            20,
            900.0,
            effect(-0.06),
            effect(0.0),
            0.0,
            effect(-0.04),
            effect(0.0),
            (f"{harms} harms.",),
        ),
    )
    return Reranking({"nDCG@10": 0.5}, {"nDCG@10": 0.5}, findings, helps, f"Reranking: use {helps}; leave out {harms}.")


def small_advice(first="bm25", second="dense", *, collection="labour.index", **changes):
    """An advice on two sources, with every part of it present."""
    pair, methods = (first, second), {"rrf": 0.01, "min-max, equal": -0.03, "min-max, tuned": 0.05, "tm2c2": 0.04}
    singles = [
        ConfigurationResult(Configuration((name,)), (1.0,), value, "", None, 2.0, 10_000, True)
        for name, value in zip(pair, (0.4, 0.45), strict=True)
    ]
    fused = [
        ConfigurationResult(
            Configuration(pair, method),
            (0.4, 0.6),
            0.45 + gain,
            second,
            difference(gain, 0.6 if abs(gain) < 0.02 else 0.01),
            5.0,
            30_000,
        )
        for method, gain in methods.items()
    ]
    chosen = fused[2]
    means = {"nDCG@10": {first: 0.4, second: 0.45, chosen.configuration.name: 0.5}}
    groups = [
        OverlapGroup(name, 9, {"2-grams in common": 3.0, "3-grams in common": 1.0, "LCS": 7.0}, {"2-grams in common": 1.0})
        for name in ("first wins", "second wins", "both perfect", "both fail")
    ]
    tests = (OverlapTest("LCS", 0.01, -2.0, -3.0, ("first wins", "both perfect")),)
    curve = WeightCurve(
        pair,
        "min-max",
        (0.0, 0.5, 1.0),
        (0.4, 0.5, 0.45),
        (ConfidenceInterval(0.3, 0.6),) * 3,
        0.55,
        "not distinguishable from equal weights",
        {"RRF": 0.46, f"{second} alone, the best": 0.45, f"{first} alone": 0.4},
    )
    regions = (Region("A", f"{first} high, {second} low", 4, 3), Region("D", "both low", 0, 0))
    points = ((0.9, 0.1, True), (0.1, 0.2, False))
    parts = {
        "confirmation": Confirmation(50, means, {f"{second} alone": difference(0.04)}),
        "curves": (curve,),
        "distributions": tuple(
            ScoreDistribution(name, scale, (0.0, 0.5, 1.0), (0.7, 0.3), (0.0, 0.1, 0.3, 0.6, 0.9))
            for scale in ("raw", "min-max")
            for name in pair
        ),
        "complementarity": (Complementarity(first, second, ((0.2, 0.6), (0.3, 0.7)), regions, points, math.nan, 5, 6, 7, 8),),
        "overlaps": (OverlapAnalysis(first, second, "R@5", tuple(groups), tests, (f"{first} likes words.",)),),
        "lengths": (LengthBias(first, 0.4, 0.01, 300.0, 200.0, math.nan),),
        "classes": (ClassFinding("citation", 12, {first: 0.9, second: 0.2}, None, f"{first} alone serves them"),),
        "costs": (SourceCost(first, 10_000, 2.0, 4.0, 1_000_000),),
        "notes": (f"{first} has no text for 2 documents.",),
        "reranking": reranking(),
    }  # fmt: skip
    words = (f"Fuse {first} and {second}: +0.050, p = 0.010.", "Nothing else is worth adding.")
    every = {**parts, **changes}
    if every["reranking"] is not None:
        words = (*words, every["reranking"].words)
    return Advice(collection, "nDCG@10", ("nDCG@10",), 1200, 60, 5, pair, means, (*singles, *fused), chosen, words, **every)
