"""Whether rerankers are worth it on top of the choice: instead of its scores, and fused with them.

FUSE and RPRS leave open what rerankers are worth as sources of a fusion. Here the scores of a reranker and those of the choice
are fused by a convex combination of min-max scores, with a weight that is tuned like every other: measured on queries that it was
not tuned on. What the reranker did not score counts as its lowest score, and so stays below in the order of the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lexfuse.advice.advice import Advice
from lexfuse.advice.choice import compare_configurations
from lexfuse.advice.findings import RerankEffect, RerankFinding, Reranking
from lexfuse.advice.grid import fusion_tried
from lexfuse.advice.inputs import JudgedSources
from lexfuse.advice.rerankers.reranked_run import FIRST, NamedReranker, RerankedRun, rerank_run
from lexfuse.advice.rerankers.reranker_verdict import finding_words, recommended_rerankers, summary_words
from lexfuse.data.arrays import F64
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.evaluation.evaluation import Evaluation, evaluate
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.run_union import union_of
from lexfuse.optimisation.fusion_weights import TunedWeights, tune_weights


def evaluate_rerankers(
    advice: Advice,
    dev: JudgedSources,
    test: JudgedSources | None,
    rerankers: Sequence[NamedReranker],
    *,
    lexical: frozenset[str] = frozenset(),
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Advice:
    """An advice with what rerankers are worth on top of its choice; `progress` gets the number of reranked queries.

    >>> from lexfuse.advice.inputs import CollectionFacts
    >>> from lexfuse.advice.judged_advice import advise_judged
    >>> from lexfuse.advice.inputs import judged_runs
    >>> from lexfuse.rerank.reranker import Reranker, first_documents, reorder
    >>> class Backwards(Reranker):
    ...     name, depth = "backwards", 2
    ...     def rerank(self, queries, run, *, depth):
    ...         return reorder(run, self.name, -first_documents(run, depth).score, depth)
    >>> asked, offset = Queries.of([Query(f"q{n}", "loi") for n in range(9)]), {"x": 3.0, "y": 2.0, "z": 1.0}
    >>> runs = [Run.of(name, {query: offset for query in asked.ids}).bounded(0.0) for name in "ab"]
    >>> dev = replace(judged_runs(runs, Qrels.of([(query, "y", 1) for query in asked.ids])), queries=asked)
    >>> found = advise_judged(dev, None, CollectionFacts("toy", 3), ["RR"], recipes=["rrf"])
    >>> evaluate_rerankers(found, dev, None, [NamedReranker("mine", (Backwards(),))]).words[-1]
    'Reranking: use mine (+0.500 RR on dev, p = 0.005).'
    """
    _checked(rerankers)
    done = _Counter(progress)
    first = _Stage.of(dev, advice, lexical, rerankers, done)
    tuned = [_tuned(first, each.scored, advice, seed) for each in first.rescored]
    effects = _effects(first, [each.held_out.values for each in tuned], advice, seed)
    confirmed = None
    if test is not None:
        second = _Stage.of(test, advice, lexical, rerankers, done)
        blends = [_blended(second, each.scored, one) for each, one in zip(second.rescored, tuned, strict=True)]
        confirmed = second, _confirmed(second, blends, advice, seed)
    findings = tuple(
        RerankFinding(
            named.name,
            tuple(stage.name for stage in named.stages),
            named.stages[0].depth,
            first.rescored[at].milliseconds,
            *effects[at],
            tuned[at].weights[1],
            *(confirmed[1][at] if confirmed else ()),
        )
        for at, named in enumerate(rerankers)
    )
    taken, measure = recommended_rerankers(findings, advice.measure), advice.measure
    worded = tuple(replace(each, words=finding_words(each, measure, taken)) for each in findings)
    words = summary_words(worded, measure, taken)
    before = _means(confirmed[0].before, advice) if confirmed else None
    reranking = Reranking(_means(first.before, advice), before, worded, taken, words)
    return replace(advice, words=(*advice.words, words), reranking=reranking)


@dataclass(frozen=True, slots=True, eq=False)
class _Stage:
    """A set of judged queries, the ranking of the choice, and what the rerankers made of it."""

    judged: JudgedSources
    run: Run
    before: Evaluation
    rescored: tuple[RerankedRun, ...]

    @classmethod
    def of(
        cls, judged: JudgedSources, advice: Advice, lexical: frozenset[str], rerankers: Sequence[NamedReranker], done: _Counter
    ) -> _Stage:
        chosen = advice.chosen
        ranked = judged.fused(chosen.configuration.members, fusion_tried(chosen, lexical), FIRST)
        run, queries = replace(ranked, parts={}), judged.queries
        if queries is None:
            raise ConfigError("rerankers read queries, and their texts are not known; give an index and its queries")
        found = tuple(rerank_run(named, queries, run, done.of(len(run.queries))) for named in rerankers)
        return cls(judged, run, evaluate(judged.qrels, run, " ".join(advice.measures)), found)

    def evaluated(self, run: Run, measures: Sequence[str]) -> Evaluation:
        return evaluate(self.judged.qrels, run, " ".join(measures))


class _Counter:
    """Adds up the progress of several parts of the work."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self.progress, self.before = progress, 0

    def of(self, queries: int) -> Callable[[int], None]:
        """The progress function for the next part, which has this many queries."""
        before, self.before = self.before, self.before + queries
        return lambda done: self.progress(before + done)


def _checked(rerankers: Sequence[NamedReranker]) -> None:
    if not rerankers:
        raise ConfigError("no reranker to try; give at least one")
    names = [named.name for named in rerankers]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"two rerankers are called {twice!r}; give each its own name")


def _tuned(stage: _Stage, scored: Run, advice: Advice, seed: int) -> TunedWeights:
    union = union_of([stage.run, scored])
    return tune_weights(union, Convex(), stage.judged.qrels, advice.measure, folds=advice.folds, seed=seed)


def _blended(stage: _Stage, scored: Run, tuned: TunedWeights) -> Run:
    """The fusion with the weights that were tuned on dev."""
    union = union_of([stage.run, scored])
    return tuned.fusion.fused(union, max(1, len(union)))


def _effects(stage: _Stage, held_out: Sequence[F64], advice: Advice, seed: int) -> list[tuple[RerankEffect, RerankEffect]]:
    """What each reranker reaches on dev, alone and fused; all are one family of tests."""
    alone = [stage.evaluated(each.ranking, advice.measures) for each in stage.rescored]
    values = [*(each.values(advice.measure) for each in alone), *held_out]
    versus = compare_configurations([(each, stage.before.values(advice.measure)) for each in values], seed=seed)
    return [
        (
            RerankEffect(_means(each, advice), versus[at]),
            RerankEffect({advice.measure: float(held_out[at].mean())}, versus[len(alone) + at]),
        )
        for at, each in enumerate(alone)
    ]


def _confirmed(stage: _Stage, blends: Sequence[Run], advice: Advice, seed: int) -> list[tuple[RerankEffect, RerankEffect]]:
    """The same on test, where nothing is tuned."""
    found = [stage.evaluated(run, advice.measures) for run in (*(each.ranking for each in stage.rescored), *blends)]
    before = stage.before.values(advice.measure)
    versus = compare_configurations([(each.values(advice.measure), before) for each in found], seed=seed)
    effects = [RerankEffect(_means(each, advice), one) for each, one in zip(found, versus, strict=True)]
    return list(zip(effects[: len(blends)], effects[len(blends) :], strict=True))


def _means(found: Evaluation, advice: Advice) -> dict[str, float]:
    return {measure: found.mean(measure) for measure in advice.measures}
