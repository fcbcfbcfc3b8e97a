"""The advice: everything tried on dev queries, the choice confirmed once on test queries, and why it is so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lexfuse.advice import verdict
from lexfuse.advice.advice import Advice
from lexfuse.advice.choice import (
    SMALLEST,
    best,
    best_members,
    choose_configuration,
    compare_configurations,
    confirm_on_test,
    held_out_choice,
    pareto_front,
    power_of,
)
from lexfuse.advice.evidence.complementarity import complementarity
from lexfuse.advice.evidence.corpus_scores import sources_only
from lexfuse.advice.evidence.length_bias import LengthBias, length_bias
from lexfuse.advice.evidence.query_overlap import OverlapAnalysis, overlap
from lexfuse.advice.evidence.score_distribution import score_distributions
from lexfuse.advice.findings import ConfigurationResult, Contrast, ScoreBasis, ScoreScope, WeightCurve
from lexfuse.advice.grid import RECIPES, GridTrial, contributing_sources, trials, versus_equal_weights
from lexfuse.advice.inputs import CollectionFacts, JudgedSources
from lexfuse.advice.query_class_findings import class_findings
from lexfuse.errors import ConfigError, DataError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.significance import differences
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import Normaliser, TheoreticalMinMax
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.union import Union
from lexfuse.optimisation.fusion_weights import tune_weights
from lexfuse.optimisation.weight_surface import first_highest
from lexfuse.text.query_class import query_class


def advise_judged(
    dev: JudgedSources,
    test: JudgedSources | None,
    facts: CollectionFacts,
    measures: Sequence[str],
    *,
    recipes: Sequence[str] = tuple(RECIPES),
    folds: int = 5,
    smallest: float = SMALLEST,
    seed: int = 0,
    contrast: Contrast = Contrast.EXTREMES,
    progress: Callable[[int], None] = lambda done: None,
) -> Advice:
    """Try everything on dev, choose, and look at test once; the first measure decides.

    Distributions and complementarity are about the scores of all documents where `facts.every` has them, as in FUSE, else about
    those of the candidates. `contrast` says which queries of two sources are compared by their words in common.
    With fewer queries than folds, every query is a fold. `smallest` is the difference that matters: the verdict says so where
    the queries are too few to show one of that size.

    >>> rankings = {f"q{n}": {"x": 2.0, "y": 1.0} for n in range(6)}, {f"q{n}": {"y": 3.0, "z": 1.0} for n in range(6)}
    >>> union = union_of([Run.of("a", rankings[0]).bounded(0.0), Run.of("b", rankings[1]).bounded(0.0)])
    >>> dev = JudgedSources(union, Qrels.of([(f"q{n}", "y", 1) for n in range(6)]))
    >>> advise_judged(dev, None, CollectionFacts("toy", 3), ["RR"], recipes=["rrf", "borda"]).words[0]
    'Too few questions to tell: 6 are judged, and it takes about 59 to show a difference of 0.05 RR.'
    """
    _checked(dev, measures)
    measure = measures[0]
    queries = list(evaluate(dev.qrels, dev.singles()[0], measure).queries)
    folds = min(folds, max(2, len(queries)))
    listing = contributing_sources(dev.union)
    heard = replace(dev, union=dev.union.only(listing))
    every = None if facts.every is None else sources_only(facts.every, listing)
    silent = [
        f"{name} lists nothing for any of the queries and was not fused"
        for name in dev.union.names
        if name not in heard.union.names
    ]
    found = trials(
        dev.union, dev.qrels, measure, lexical=facts.lexical, recipes=recipes, folds=folds, seed=seed, progress=progress
    )
    choice, top = choose_configuration(found), best(found)
    fused = best([trial for trial in found if len(trial.configuration.members) > 1])
    tried = _on_front(_tried(found, facts, seed))
    by_name = {each.configuration.name: each for each in tried}
    taken = by_name[choice.configuration.name]
    confirmation = confirm_on_test(test, choice, top, taken.best_member, measures, seed=seed) if test else None
    kinds = [query_class(dev.queries.query(query).text) for query in queries] if dev.queries is not None else []
    classes = class_findings(kinds, queries, found, choice, by_name, folds=folds, seed=seed) if kinds else ()
    again = held_out_choice(found, queries, folds=folds, seed=seed)
    judged = choice if len(choice.configuration.members) > 1 else fused
    power = power_of(differences(judged.values, best_members(found)[judged.configuration.name].values), smallest)
    words = [
        *verdict.choice_words(taken, by_name[top.configuration.name], measure, confirmation, power),
        *([f"Its weights are {choice.words}." if choice.words else ""] if choice.tuned else []),
        *verdict.additions(found, choice, measure),
        verdict.counts(tried),
        verdict.power_words(power, measure),
        *verdict.class_words(classes),
        *verdict.cost_words(taken, tried),
        verdict.choosing_words(again, best(found[: len(dev.union.names)]), measure, folds, seed),
    ]
    return Advice(
        facts.collection,
        measure,
        tuple(measures),
        facts.documents,
        len(queries),
        folds,
        dev.union.names,
        _means(dev, choice, measures),
        tuple(tried),
        taken,
        tuple(word for word in words if word),
        confirmation=confirmation,
        curves=_curves(heard, facts.lexical, measure, folds, seed),
        distributions=score_distributions(heard.union if every is None else every, _scales(recipes)),
        complementarity=complementarity(heard.union, dev.qrels, every=every, seed=seed),
        overlaps=_overlaps(heard, facts, found, contrast),
        lengths=_lengths(heard, facts),
        classes=classes,
        costs=facts.costs,
        notes=(*facts.notes, *silent),
        score_basis=_basis(dev.union, every),
        power=power,
    )


def _basis(union: Union, every: Union | None) -> ScoreBasis:
    if every is None:
        return ScoreBasis(ScoreScope.CANDIDATES, len(union.queries), len(union.queries))
    return ScoreBasis(ScoreScope.CORPUS, len(every.queries), len(union.queries))


def _checked(dev: JudgedSources, measures: Sequence[str]) -> None:
    if not measures:
        raise ConfigError("name at least one measure to decide by, such as nDCG@10")
    judged = sum(query in dev.union.queries for query in dev.qrels.queries)
    if judged < 2:
        raise DataError(f"advice needs judged queries, and {judged} of the queries have judgements; check their ids")
    names = [dev.union.names[at] for at in contributing_sources(dev.union)]
    if len(names) < 2:
        raise ConfigError(f"advice needs at least 2 sources that list something, got {', '.join(names) or 'none'}")


def _means(judged: JudgedSources, choice: GridTrial, measures: Sequence[str]) -> dict[str, dict[str, float]]:
    """The mean of every measure for every source alone, and for the choice."""
    runs = judged.singles()
    if choice.fusion is not None:
        runs.append(judged.fused(choice.configuration.members, choice.fusion, choice.configuration.name))
    found = {run.name: evaluate(judged.qrels, run, " ".join(measures)) for run in runs}
    return {measure: {name: each.mean(measure) for name, each in found.items()} for measure in measures}


def _tried(found: Sequence[GridTrial], facts: CollectionFacts, seed: int) -> list[ConfigurationResult]:
    """All trials as plain values, the fused ones compared with their best member."""
    members = best_members(found)
    fused = [trial for trial in found if trial.configuration.name in members]
    versus = compare_configurations([(trial.values, members[trial.configuration.name].values) for trial in fused], seed=seed)
    compared = dict(zip((trial.configuration.name for trial in fused), versus, strict=True))
    costs = {cost.source: cost for cost in facts.costs}
    result = []
    for trial in found:
        name, sources = trial.configuration.name, trial.configuration.members
        timed = all(source in costs for source in sources)
        shared = max((costs[source].bytes for source in sources if source in facts.shared), default=0) if timed else 0
        own = sum(costs[source].bytes for source in sources if source not in facts.shared) if timed else 0
        result.append(
            ConfigurationResult(
                trial.configuration,
                trial.weights,
                trial.mean,
                members[name].configuration.members[0] if name in members else "",
                compared.get(name),
                sum(costs[source].p50 for source in sources) if timed else None,
                shared + own if timed else None,
            )
        )
    return result


def _on_front(tried: Sequence[ConfigurationResult]) -> list[ConfigurationResult]:
    """The same, with those marked that nothing else beats in quality, time and bytes at once."""
    if any(each.milliseconds is None or each.bytes is None for each in tried):
        return list(tried)
    points = [(each.value, float(each.milliseconds or 0), float(each.bytes or 0)) for each in tried]
    front = pareto_front(points, (True, False, False))
    return [replace(each, on_front=on) for each, on in zip(tried, front, strict=True)]


def _curves(dev: JudgedSources, lexical: frozenset[str], measure: str, folds: int, seed: int) -> tuple[WeightCurve, ...]:
    """The weight curve of every pair of sources by theoretical min-max, with the means of other systems to compare with."""
    curves = []
    names = dev.union.names
    alone = {run.name: evaluate(dev.qrels, run, measure).mean(measure) for run in dev.singles()}
    best_one = max(names, key=lambda name: alone[name])
    singles = {f"{best_one} alone, the best": alone[best_one]}
    singles |= {f"{name} alone": alone[name] for name in names if name in lexical and name != best_one}
    for first in range(len(names)):
        for second in range(first + 1, len(names)):
            pair = dev.union.only([first, second])
            tuned = tune_weights(pair, Convex(None, TheoreticalMinMax()), dev.qrels, measure, folds=folds, seed=seed)
            surface = tuned.surface
            order = np.argsort(surface.weights[:, 1])
            band = surface.band(seed=seed)
            curves.append(
                WeightCurve(
                    (names[first], names[second]),
                    TheoreticalMinMax.name,
                    tuple(surface.weights[order, 1].tolist()),
                    tuple(surface.means[order].tolist()),
                    tuple(band[at] for at in order.tolist()),
                    tuned.oracle,
                    versus_equal_weights(tuned),
                    {"RRF": evaluate(dev.qrels, dev.fused(pair.names, ReciprocalRank(), "RRF"), measure).mean(measure)} | singles,
                )
            )
    return tuple(curves)


def _scales(recipes: Sequence[str]) -> dict[str, Normaliser]:
    """The normalisers that were tried, by name."""
    used = [RECIPES[name].normaliser for name in recipes]
    return {normaliser.name: normaliser for normaliser in used if normaliser is not None}


def _overlaps(
    dev: JudgedSources, facts: CollectionFacts, found: Sequence[GridTrial], contrast: Contrast
) -> tuple[OverlapAnalysis, ...]:
    """The best source that matches words against every source that does not."""
    if dev.queries is None or facts.text_of is None:
        return ()
    names = dev.union.names
    alone = {trial.configuration.members[0]: trial for trial in found if len(trial.configuration.members) == 1}
    words = [name for name in names if name in facts.lexical]
    if not words:
        return ()
    lexical = words[first_highest([alone[name].mean for name in words])]
    others = [name for name in names if name not in facts.lexical]
    runs = {name: dev.alone(name) for name in (lexical, *others)}
    return tuple(
        overlap(dev.queries, dev.qrels, (runs[lexical], runs[name]), facts.text_of, contrast=contrast) for name in others
    )


def _lengths(dev: JudgedSources, facts: CollectionFacts) -> tuple[LengthBias, ...]:
    if facts.lengths is None:
        return ()
    return tuple(length_bias(run.name, run, facts.lengths, dev.qrels) for run in dev.singles())
