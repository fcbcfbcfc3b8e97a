"""Judged queries with what every source says about them, and the rankings that follow from that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.union import Union


@dataclass(frozen=True, slots=True, eq=False)
class JudgedSources:
    """Queries, what every source says about them, and what is relevant; the texts of queries may be unknown.

    >>> from lexfuse.fusion.union import union_of
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

    >>> from lexfuse.fusion.union import union_of
    >>> alone(union_of([Run.of("a", {"q": {"x": 2.0}}), Run.of("b", {"q": {"y": 3.0}})]), 0).as_dict()
    {'q': {'x': 2.0}}
    """
    one = union.only([source])
    return one.ranked_by(one.names[0], one.scores[0], max(1, len(one)))
