"""Whether to fuse, what, and how: on an index and judged queries, or on runs of any systems."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexfuse.advice.advice import Advice
from lexfuse.advice.choice import SMALLEST
from lexfuse.advice.evidence.corpus_scores import corpus_union
from lexfuse.advice.findings import ConfigurationResult, Contrast, ScoreScope
from lexfuse.advice.grid import RECIPES, configurations, contributing_sources, usable_recipes
from lexfuse.advice.inputs import CollectionFacts, JudgedSources, channels_of, facts_of, judged_by, judged_runs
from lexfuse.advice.judged_advice import advise_judged
from lexfuse.advice.rerankers.reranked_run import RerankerFile, read_reranker_files
from lexfuse.advice.rerankers.reranker_effect import evaluate_rerankers
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import BoundWarning, ConfigError
from lexfuse.fusion.run_fusion import Bounds, bounded_runs, lexical_first
from lexfuse.index import Index
from lexfuse.optimisation.cross_validation import FOLDS
from lexfuse.optimisation.fusion_weights import weighted
from lexfuse.search.pipeline import DEPTH
from lexfuse.search.spec.channel_spec import ChannelSpec
from lexfuse.search.spec.reranker_specs import RerankerChoice
from lexfuse.search.spec.spec import ClassSpec, SearchSpec
from lexfuse.text.query_class import QueryClass

MEASURES = "nDCG@10 R@100"


def advise(
    index: Index,
    queries: Queries,
    dev: Qrels,
    test: Qrels | None = None,
    *,
    channels: Sequence[str] = (),
    measures: str = MEASURES,
    rerankers: Sequence[RerankerFile | str | Path] = (),
    depth: int = DEPTH,
    filters: Sequence[str] = (),
    as_of: datetime.date | str | None = None,
    before_query_date: bool = False,
    folds: int = FOLDS,
    smallest: float = SMALLEST,
    scores_of: ScoreScope = ScoreScope.CORPUS,
    contrast: Contrast = Contrast.EXTREMES,
    seed: int = 0,
    progress: ProgressBar = no_progress_bar,
    **options: Any,
) -> Advice:
    """Try every subset of the channels of an index by every fusion on dev, choose, and look at test once.

    The first of `measures` decides. `channels` are all that the index has if not given; `options` are theirs, as ``k1=0.9``.
    `rerankers` (TOML files with ``[[rerank]]`` tables) are tried on top of the choice; one that is better on dev enters the spec.
    `filters`, `as_of` and `before_query_date` limit what is ranked. `smallest` is the smallest difference that matters.

    >>> from lexfuse.data.formats.file_format import read_corpus
    >>> queries = Queries.of([Query(text, text, "fr") for text in ("retard de prêt", "ouverture", "inscription")])
    >>> dev = Qrels.of([(query, "lib-4", 1) for query in queries.ids])
    >>> with Index.build(folder / "law.index", read_corpus("examples/articles.csv")) as index:
    ...     advice = advise(index, queries, dev, channels=["bm25", "tfidf"], measures="RR")
    >>> advice.verdict.value, [channel.name for channel in advice.spec.channels]
    ('Too few questions to tell', ['bm25'])
    """
    _refuse_shared_queries(dev, test)
    files = _reranker_files(rerankers)
    version = index.version.on(as_of)
    snapshot, mask = version.snapshot, version.within(filters, as_of)
    opened = [file.open(snapshot) for file in files]  # before the long work, which one that cannot be opened would waste

    def judged(qrels: Qrels) -> JudgedSources:
        return judged_by(sources, queries, qrels, depth, within=mask, before_query_date=before_query_date)

    with progress("asking every source", 0):
        specs = channels_of(snapshot, channels, **options)
        sources = [spec.open(snapshot) for spec in specs]
        asked, confirming = judged(dev), judged(test) if test is not None else None
        facts = facts_of(snapshot, sources, queries, index.name)
    if scores_of is ScoreScope.CORPUS:
        with progress("scoring all documents", 0):
            every = corpus_union(sources, asked, within=mask, before_query_date=before_query_date)
        facts = replace(facts, every=every)
    found = _advise(asked, confirming, facts, measures, progress, folds=folds, smallest=smallest, seed=seed, contrast=contrast)
    if opened:
        ranked = len(asked.union.queries) + (len(confirming.union.queries) if confirming is not None else 0)
        with progress("reranking", len(opened) * ranked) as done:
            found = evaluate_rerankers(found, asked, confirming, opened, lexical=facts.lexical, seed=seed, progress=done)
    tried = {file.name: file.choices for file in files}
    return replace(found, spec=advised_spec(found, depth, {spec.name: spec for spec in specs}, tried))


def advise_runs(
    runs: Sequence[Run],
    dev: Qrels,
    test: Qrels | None = None,
    *,
    measures: str = MEASURES,
    bounds: Bounds | None = None,
    lexical: Sequence[str] = (),
    folds: int = FOLDS,
    smallest: float = SMALLEST,
    seed: int = 0,
    progress: ProgressBar = no_progress_bar,
) -> Advice:
    """The same for runs of any systems; `bounds` and `lexical` are as for `lexfuse.fusion.run_fusion.fuse`.

    A score that a run does not hold counts as the lowest of its list. Texts and costs are not known, and there is no spec.

    >>> rankings = {"a": {"x": 2.0, "y": 1.0}, "b": {"y": 3.0, "z": 1.0}}
    >>> runs = [Run.of(name, {f"q{n}": ranking for n in range(6)}) for name, ranking in rankings.items()]
    >>> dev = Qrels.of([(f"q{n}", "y", 1) for n in range(6)])
    >>> advise_runs(runs, dev, measures="RR", bounds={"a": 0.0, "b": 0.0}).words[0]
    'Too few questions to tell: 6 are judged, and it takes about 59 to show a difference of 0.05 RR.'
    """
    _refuse_shared_queries(dev, test)
    ordered = lexical_first(bounded_runs(runs, bounds or {}), lexical)
    asked = judged_runs(ordered.runs, dev)
    notes = ["scores that a run does not hold count as the lowest of its list", ordered.words]
    notes += [asked.union.assumption(at) for at, stated in enumerate(asked.union.stated) if not stated]
    names = " + ".join(asked.union.names)
    facts = CollectionFacts(names, len(asked.union.docs), ordered.lexical, notes=tuple(notes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundWarning)  # the notes say it
        confirming = judged_runs(ordered.runs, test) if test is not None else None
        return _advise(asked, confirming, facts, measures, progress, folds=folds, smallest=smallest, seed=seed)


def _advise(
    dev: JudgedSources, test: JudgedSources | None, facts: CollectionFacts, measures: str, progress: ProgressBar, **how: Any
) -> Advice:
    """Leave out the recipes that the sources do not allow, and try the others; see `advise_judged` for `how`."""
    recipes, left_out = usable_recipes(dev.union)
    facts = replace(facts, notes=(*facts.notes, *left_out))
    with progress("trying", configurations(len(contributing_sources(dev.union)), len(recipes))) as done:
        return advise_judged(dev, test, facts, measures.split(), recipes=recipes, progress=done, **how)


def _reranker_files(given: Sequence[RerankerFile | str | Path]) -> list[RerankerFile]:
    read = iter(read_reranker_files([Path(one) for one in given if not isinstance(one, RerankerFile)]))
    return [one if isinstance(one, RerankerFile) else next(read) for one in given]


def _refuse_shared_queries(dev: Qrels, test: Qrels | None) -> None:
    """Refuse test queries that were chosen on."""
    both = sorted(set(dev.queries) & set(test.queries)) if test is not None else []
    if both:
        raise ConfigError(
            f"{len(both)} queries are in both the dev and the test judgements, first {both[0]!r}; give a separate test split"
        )


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
