"""What an advice is made from: the sources of an index asked for all judged queries, or rankings of other systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lexfuse.advice.findings import SourceCost
from lexfuse.channels.cost import costs_of
from lexfuse.channels.distribution import levels_of
from lexfuse.channels.registry import builtin_channels, channels_in
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.arrays import I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Union
from lexfuse.search.candidates import retrieve_union
from lexfuse.search.spec.channel_spec import ChannelSpec, specs_of
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.storage.feedback import FeedbackEntry, qrels_of
from lexfuse.storage.snapshot import Snapshot

LEAST_QUESTIONS = 2  # that cross-validation needs
TIMED = 30  # queries that each source is timed on


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSources:
    """Queries, what every source says about them, and what is relevant; the texts of queries may be unknown.

    >>> union = union_of([Run.of("a", {"q": {"x": 2.0, "y": 1.0}}), Run.of("b", {"q": {"y": 3.0}})])
    >>> judged = JudgedSources(union, Qrels.of([("q", "y", 1)]))
    >>> judged.alone("b").as_dict(), [run.name for run in judged.singles()]
    ({'q': {'y': 3.0}}, ['a', 'b'])
    """

    union: Union
    qrels: Qrels
    queries: Queries | None = None

    def alone(self, source: str) -> Run:
        """The ranking of one source."""
        return alone(self.union, self.union.names.index(source))

    def singles(self) -> list[Run]:
        """The rankings of all sources, each alone."""
        return [self.alone(source) for source in self.union.names]

    def fused(self, members: Sequence[str], fusion: Fusion | None, name: str) -> Run:
        """The ranking of some sources by a fusion, or of one source without any."""
        if fusion is None:
            return replace(self.alone(members[0]), name=name)
        some = self.union.only([self.union.names.index(member) for member in members])
        return fusion.fused(some, max(1, len(some)), name)


def alone(union: Union, source: int) -> Run:
    """The ranking of one source of a union set.

    >>> alone(union_of([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {"y": 3.0}})]), 0).as_dict()
    {'q': {'x': 2.0}}
    """
    one = union.only([source])
    return one.ranked_by(one.names[0], one.scores[0], max(1, len(one)))


@dataclass(frozen=True, slots=True, eq=False)
class CollectionFacts:
    """What is known about the collection, apart from the rankings."""

    collection: str
    documents: int
    lexical: frozenset[str] = frozenset()  # sources that match words; they come first
    costs: tuple[SourceCost, ...] = ()
    shared: frozenset[str] = frozenset()  # sources that use the same files: their bytes count once
    text_of: Callable[[str], str] | None = None  # the text of a document
    lengths: I64 | None = None  # words of every document of the union
    notes: tuple[str, ...] = ()
    every: Union | None = None  # the scores of all documents for the dev queries, or some of them (`corpus_scores`)


def channels_of(snapshot: Snapshot, channels: Sequence[str] = (), **options: Any) -> list[ChannelSpec]:
    """Some channels of an index, or all that it has, as they are searched; those that match words first.

    An option, such as `k1`, is for the channels that have it; one that none has is a `ConfigError`.

    >>> channels_of(snapshot, ["tfidf", "bm25"], k1=0.9)[0].options
    {'k1': 0.9}
    """
    words = builtin_channels()
    wanted = list(dict.fromkeys(channels)) or list(channels_in(snapshot))
    wanted.sort(key=lambda name: words.index(name) if name in words else len(words))
    return specs_of(snapshot, wanted, options)


def judged_by(
    sources: Sequence[Retriever],
    queries: Queries,
    qrels: Qrels,
    depth: int,
    *,
    within: Mask | None = None,
    before_query_date: bool = False,
) -> JudgedSources:
    """The judged queries and what every source says about them, with true scores for what only others list.

    >>> asked = Queries.of([Query("q1", "retard", "fr"), Query("q2", "inscription", "fr")])
    >>> sources = [channel.open(snapshot) for channel in channels_of(snapshot, ["bm25", "tfidf"])]
    >>> judged = judged_by(sources, asked, Qrels.of([("q2", "lib-2", 1)]), 10)
    >>> list(judged.union.queries), judged.union.names
    (['q2'], ('bm25', 'tfidf'))
    """
    unknown = [query for query in qrels.queries if query not in queries.ids]
    if unknown:
        raise NotFoundError(
            f"{len(unknown)} judged queries are not among the queries, first {unknown[0]!r}; give those they judge"
        )
    asked = queries.select([queries.ids.ordinal(query) for query in qrels.queries])
    if not before_query_date:
        return JudgedSources(retrieve_union(sources, asked, depth, within=within), qrels, asked)
    runs = [retrieve_before(source, asked, depth, within=within) for source in sources]
    union = union_of(runs, sources, asked)
    return JudgedSources(replace(union, levels=tuple(levels_of(source) for source in sources)), qrels, asked)


def judged_questions(feedback: Sequence[FeedbackEntry], judge: str = "") -> tuple[Queries, Qrels]:
    """The questions that were judged on the page, and their grades: of one judge, or of all, merged.

    >>> judged_questions([FeedbackEntry("préavis", "a", 1, generation=1), FeedbackEntry("bail", "a", 0, generation=1)])
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: advice needs at least 2 questions with a relevant result, got 1; judge more results
    """
    queries, qrels = qrels_of(feedback, judge)
    usable = sum(any(grade > 0 for grade in qrels.judged(query).values()) for query in qrels.queries)
    if usable < LEAST_QUESTIONS:
        reason = f"advice needs at least {LEAST_QUESTIONS} questions with a relevant result, got {usable}; judge more results"
        raise ConfigError(reason)
    return queries, qrels


def judged_runs(runs: Sequence[Run], qrels: Qrels) -> JudgedSources:
    """The judged queries of rankings from files, whose retrievers cannot be queried; queries without judgements are left out.

    >>> run = Run.of("a", {"q1": {"x": 1.0}, "q2": {"x": 1.0}})
    >>> list(judged_runs([run, Run.of("b", {"q1": {"y": 1.0}})], Qrels.of([("q1", "x", 1)])).union.queries)
    ['q1']
    """
    judged = set(qrels.queries)
    return JudgedSources(union_of([_kept(run, judged) for run in runs]), qrels)


def facts_of(snapshot: Snapshot, sources: Sequence[Retriever], queries: Queries, collection: str) -> CollectionFacts:
    """What an index knows about its documents and its sources, timed on some of the queries."""
    names = [source.name for source in sources]
    timed = queries.select(np.unique(np.linspace(0, len(queries) - 1, min(TIMED, len(queries))).astype(int)).tolist())
    costs = tuple(
        SourceCost(cost.channel, cost.bytes, cost.read_p50 + cost.search_p50, cost.read_p95 + cost.search_p95, cost.flops)
        for cost in costs_of(snapshot, timed, channels=names)
    )
    words = frozenset(builtin_channels())
    lengths = np.array([len(text.split()) if text else 0 for text in snapshot.column("text")], dtype=np.int64)
    return CollectionFacts(
        collection,
        len(snapshot),
        words,
        costs,
        words,
        lambda doc: snapshot.document(doc).text,
        lengths,
        _incomplete(snapshot, names),
    )


def _incomplete(snapshot: Snapshot, names: Sequence[str]) -> tuple[str, ...]:
    notes = []
    for name in names:
        if name not in builtin_channels():
            held = int(snapshot.channel_numbering(name).alive.sum())
            if held < len(snapshot):
                notes.append(
                    f"{name} holds {held:,} of {len(snapshot):,} documents; continue with lexfuse index INDEX --channels {name}"
                )
    return tuple(notes)


def _kept(run: Run, judged: set[str]) -> Run:
    """The rankings of some queries."""
    rows = [row for row, query in enumerate(run.queries) if query in judged]
    if len(rows) == len(run.queries):
        return run
    kept = Run.of(run.name, {run.queries[row]: {hit.doc: hit.score for hit in run.hits(run.queries[row])} for row in rows})
    return replace(kept, low=None if run.low is None else run.low[rows])
