"""Runs of any systems fused into one.

A run cannot compute a score that it does not have: such a score counts as the lowest of its list (or the rank after its last), or
as 0 with `Missing.ZERO`. TM2C2 needs the lowest possible score of each run and needs to know which runs match words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Missing

Bounds = Mapping[str, float | Mapping[str, float]]  # the lowest possible score of a run by its name: one, or one per query


@dataclass(frozen=True, slots=True, eq=False)
class FusedRuns:
    """A fused run and how it was made."""

    run: Run
    imputed: float  # share of the scores that no run has
    assumed_bounds: tuple[str, ...]  # runs whose lowest possible score was assumed, where the fusion uses it
    notes: tuple[str, ...]  # which runs count as lexical, and how many scores are imputed


@dataclass(frozen=True, slots=True, eq=False)
class LexicalOrder:
    """Runs with those that match words first."""

    runs: tuple[Run, ...]
    count: int  # how many match words
    words: str  # which they are, and why

    @property
    def lexical(self) -> frozenset[str]:
        """The names of the runs that match words."""
        return frozenset(run.name for run in self.runs[: self.count])


def fuse(
    runs: Sequence[Run],
    fusion: Fusion,
    k: int | None = None,
    bounds: Bounds | None = None,
    *,
    lexical: Sequence[str] = (),
    name: str | None = None,
) -> Run:
    """One run of several: the best k documents of every query, or all of them.

    `bounds` has the lowest possible score of runs by their names, which theoretical min-max (TM2C2) needs: 0 for BM25, -1 for a
    cosine. Where a run states none, 0 is assumed, or its lowest score if that is negative, with a `BoundWarning`. `lexical` names
    the runs that match words, for TM2C2; see `lexical_first` for what is assumed otherwise.

    >>> from lexfuse.fusion.reciprocal_rank import ReciprocalRank
    >>> words, dense = Run.of("bm25", {"q": {"a": 9.0, "b": 4.0}}), Run.of("dense", {"q": {"b": 0.8, "c": 0.5}})
    >>> fuse([words, dense], ReciprocalRank(60)).hits("q")[0].doc
    'b'
    >>> fuse([words, dense], TM2C2(alpha=0.8), k=2, bounds={"bm25": 0.0, "dense": -1.0}).hits("q")[0].parts
    {'bm25': 4.0, 'dense': 0.800...}
    """
    return fuse_runs(runs, fusion, k, bounds, lexical=lexical, name=name).run


def fuse_runs(
    runs: Sequence[Run],
    fusion: Fusion,
    k: int | None = None,
    bounds: Bounds | None = None,
    *,
    lexical: Sequence[str] = (),
    name: str | None = None,
) -> FusedRuns:
    """The same as `fuse`, with how the run was made."""
    if lexical and not isinstance(fusion, TM2C2):
        raise ConfigError(f"lexical is for tm2c2; the fusion is {fusion.name}")
    read = bounded_runs(runs, bounds or {})
    notes = []
    if isinstance(fusion, TM2C2) and len(read) > 1 and (lexical or fusion.lexical == 1):
        ordered = lexical_first(read, lexical)
        read, fusion = list(ordered.runs), replace(fusion, lexical=ordered.count)
        notes.append(ordered.words)
    union = union_of(read)
    fused = fusion.fused(union, max(1, len(union)) if k is None else k, name)
    imputed = 1.0 - float(union.known.mean()) if len(union) else 0.0
    if fusion.missing is Missing.RESCORE and imputed:
        notes.append(
            f"{imputed:.0%} of the scores are not in the runs: there the lowest of the list counts, or the rank after its last"
        )
    assumed = [each for each, stated in zip(union.names, union.stated, strict=True) if fusion.uses_infimum() and not stated]
    return FusedRuns(fused, imputed, tuple(assumed), tuple(notes))


def bounded_runs(runs: Sequence[Run], bounds: Bounds) -> list[Run]:
    """The runs with the lowest possible scores that are stated for them by name."""
    names = [run.name for run in runs]
    unknown = [name for name in bounds if name not in names]
    if unknown:
        raise ConfigError(f"a bound names no run: {unknown[0]!r}; there are {', '.join(names)}")
    return [run.bounded(bounds[run.name]) if run.name in bounds else run for run in runs]


def lexical_first(runs: Sequence[Run], lexical: Sequence[str] = ()) -> LexicalOrder:
    """The runs with those that match words first.

    They are those that are named. Otherwise, where every run states its bound, they are those that cannot fall below 0 if others
    can, as BM25 and a cosine. Where neither decides, the first run is lexical.

    >>> runs = [Run.of("dense", {"q": {"b": 0.8}}).bounded(-1.0), Run.of("bm25", {"q": {"a": 9.0}}).bounded(0.0)]
    >>> lexical_first(runs).words
    'tm2c2 counts as lexical: bm25, whose scores are never negative (--lexical RUN names others)'
    """
    names = [run.name for run in runs]
    unknown = [name for name in lexical if name not in names]
    if unknown:
        raise ConfigError(f"no run is called {unknown[0]!r}; there are {', '.join(names)}")
    above = {at for at, run in enumerate(runs) if run.low is not None and bool((run.low >= 0).all())}
    if lexical:
        words, why = {names.index(name) for name in lexical}, "as named"
    elif all(run.low is not None for run in runs) and 0 < len(above) < len(runs):
        words, why = above, "whose scores are never negative (--lexical RUN names others)"
    else:
        words, why = {0}, "the first of the runs (--lexical RUN names others)"
    order = sorted(range(len(runs)), key=lambda at: (at not in words, names[at]))
    first = " and ".join(names[at] for at in order[: len(words)])
    return LexicalOrder(tuple(runs[at] for at in order), len(words), f"tm2c2 counts as lexical: {first}, {why}")
