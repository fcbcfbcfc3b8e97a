"""How to fuse, chosen on judged queries: weights, constants (eta, beta, depth), k1 and b, and weights of query classes.

One entry for an index and for runs of any systems. The result has the fusion to use, its evidence and, for an index, a spec.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexfuse.data.files import write_json
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.run_fusion import Bounds, bounded_runs
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import Union
from lexfuse.index import Index
from lexfuse.optimisation.bm25_parameters import B_S, K1S, tune_bm25_and_weights
from lexfuse.optimisation.cross_validation import FOLDS, CrossValidated
from lexfuse.optimisation.fusion_constants import ConstantTrial, TunedConstants, depth_trials, eta_trials, tune_constants
from lexfuse.optimisation.fusion_weights import STEP, TunedWeights, tune_weights, weighted
from lexfuse.optimisation.query_class_weights import ClassWeights, classes_of, tune_classes
from lexfuse.search.candidates import retrieve_union
from lexfuse.search.pipeline import DEPTH
from lexfuse.search.spec.channel_spec import ChannelSpec, specs_of
from lexfuse.search.spec.spec import ClassSpec, SearchSpec


@dataclass(frozen=True, slots=True)
class TuneGrid:
    """What is tried in addition to weights, or at equal weights instead of them.

    `etas` and `betas` are for reciprocal ranks; with `eta_each` every combination of one eta per source is tried. Weights are
    equal while eta or beta is tuned, unless `with_weights`. `depths` are depths of the lists. `bm25` tries k1 and b of BM25.
    """

    etas: tuple[float, ...] = ()
    betas: tuple[float, ...] = ()
    eta_each: bool = False
    with_weights: bool = False
    depths: tuple[int, ...] = ()
    bm25: bool = False

    def check(self, fusion: Fusion) -> None:
        """Refuse what does not go together."""
        constants = bool(self.etas or self.betas)
        if constants and not isinstance(fusion, ReciprocalRank | SmoothReciprocalRank):
            raise ConfigError(f"eta and beta are for rrf and srrf; the fusion is {fusion.name}")
        if self.eta_each and not self.etas:
            raise ConfigError("eta_each needs values to combine; give several values of eta, such as 5, 20 and 60")
        if self.with_weights and not constants:
            raise ConfigError("with_weights goes with eta or beta; without them the weights are tuned anyway")


@dataclass(frozen=True, slots=True, eq=False)
class TunedSearch:
    """The fusion that was found, with its evidence; `print` shows it in words."""

    best: TunedWeights | TunedConstants  # constants where eta, beta, depths or k1 and b were tried
    classes: tuple[ClassWeights, ...] = ()
    spec: SearchSpec | None = None  # the search to use, for an index

    @property
    def weights(self) -> TunedWeights | None:
        """The weights; None where constants were tuned at equal weights."""
        return self.best.tuned if isinstance(self.best, TunedConstants) else self.best

    @property
    def constants(self) -> TunedConstants | None:
        """The constants; None where only weights were tuned."""
        return self.best if isinstance(self.best, TunedConstants) else None

    @property
    def fusion(self) -> Fusion:
        """The fusion to use."""
        return self.best.fusion

    @property
    def held_out(self) -> CrossValidated:
        """What it reaches on queries that it was not chosen on."""
        return self.best.held_out

    def __str__(self) -> str:
        """What was found, in plain words."""
        return "\n".join([self.best.words(), *(one.words for one in self.classes)])

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        found = self.best.as_json()
        return found | {"classes": [one.as_json() for one in self.classes]} if self.classes else found

    def save(self, path: str | Path) -> None:
        """Write everything as JSON, complete or not at all."""
        write_json(path, self.as_json())


def tune(
    source: Index | Sequence[Run],
    queries: Queries | None,
    qrels: Qrels,
    measure: str = "nDCG@10",
    *,
    fusion: Fusion = TM2C2(),  # noqa: B008 — frozen
    grid: TuneGrid = TuneGrid(),  # noqa: B008 — frozen
    classes: bool = False,
    channels: Sequence[str] = ("bm25", "dense"),
    depth: int = DEPTH,
    filters: Sequence[str] = (),
    as_of: datetime.date | str | None = None,
    bounds: Bounds | None = None,
    step: float = STEP,
    folds: int = FOLDS,
    seed: int = 0,
    progress: ProgressBar = no_progress_bar,
    **options: Any,
) -> TunedSearch:
    """The weights and constants of a fusion that are best on judged queries, with what they are worth on other queries.

    `source` is an index, whose `channels` are searched with `options` such as ``k1=0.9``, or runs with their `bounds`. `classes`
    tests whether classes of queries need their own weights. `queries` may be None for runs, where no classes are asked for.

    >>> scores = {"a": {"x": 3.0, "y": 1.0, "z": 0.0}, "b": {"y": 4.0, "x": 2.0, "z": 0.0}}
    >>> runs = [Run.of(name, {f"q{n}": ranking for n in range(4)}) for name, ranking in scores.items()]
    >>> qrels = Qrels.of([(f"q{n}", "y", 1) for n in range(4)])
    >>> tune(runs, None, qrels, "RR", bounds={"a": 0.0, "b": 0.0}, folds=2).fusion.weights
    (0.2, 0.8)
    """
    grid.check(fusion)
    how: dict[str, Any] = {"step": step, "folds": folds, "seed": seed}
    if classes and queries is None:
        raise ConfigError("classes are recognised by the texts of the queries; give the queries")
    if not isinstance(source, Index):
        given = [name for name, value in {"filters": filters, "as_of": as_of, **options}.items() if value not in ((), None)]
        if given or grid.bm25:
            raise ConfigError(f"{given[0] if given else 'bm25'} is for an index; runs are ranked already")
        union = union_of(bounded_runs(source, bounds or {}))
        with progress("tuning", 0):
            return _tune(union, fusion, qrels, measure, grid, queries if classes else None, how)[0]
    if queries is None or bounds:
        raise ConfigError("an index is tuned on queries, and knows its bounds; give queries, and no bounds")
    asked, version = queries.select([queries.ids.ordinal(query) for query in qrels.queries]), source.version.on(as_of)
    snapshot, mask = version.snapshot, version.within(filters, as_of)
    specs = specs_of(snapshot, list(dict.fromkeys(channels)), options)
    retrievers = [spec.open(snapshot) for spec in specs]
    if grid.bm25:
        if specs[0].name != "bm25" or len(specs) < 2:
            raise ConfigError(f"bm25 needs bm25 as the first of several channels, got {', '.join(spec.name for spec in specs)}")
        if grid != TuneGrid(bm25=True) or classes:
            raise ConfigError("bm25 tries k1 and b only; leave out eta, beta, depths and classes")
        with progress("trying k1 and b", len(K1S) * len(B_S)) as done:
            found = tune_bm25_and_weights(
                snapshot, asked, qrels, measure, retrievers[1:], fusion, depth=depth, within=mask, progress=done, **how
            )
        k1, b = found.best // len(B_S), found.best % len(B_S)
        specs[0] = ChannelSpec.of("bm25", **specs[0].options | {"k1": K1S[k1], "b": B_S[b]})
        tuned = TunedSearch(found)
    else:
        with progress("searching", 0):
            union = retrieve_union(retrievers, asked, depth, within=mask, missing=fusion.missing)
        with progress("tuning", 0):
            tuned, cut = _tune(union, fusion, qrels, measure, grid, asked if classes else None, how)
        depth = cut or depth
    return replace(tuned, spec=_spec(tuned, specs, depth, source.name))


def _tune(
    union: Union, fusion: Fusion, qrels: Qrels, measure: str, grid: TuneGrid, queries: Queries | None, how: Mapping[str, Any]
) -> tuple[TunedSearch, int | None]:
    """Weights, constants and classes of a union set; and the depth that was found, if depths were tried."""
    trials, usual = _trials(union, fusion, grid)
    weighed = grid.with_weights or usual is None
    if queries is not None and not weighed:
        raise ConfigError("classes of queries get separate weights, and eta is tuned at equal weights; add with_weights")
    if not trials:
        kinds = tune_classes(union, fusion, qrels, measure, classes_of(queries), **how) if queries is not None else ()
        return TunedSearch(tune_weights(union, fusion, qrels, measure, **how), kinds), None
    constants = tune_constants(trials, qrels, measure, with_weights=weighed, usual=usual, **how)
    best = trials[constants.best]
    kinds = tune_classes(best.union, best.fusion, qrels, measure, classes_of(queries), **how) if queries is not None else ()
    cut = grid.depths[constants.best // (len(trials) // len(grid.depths))] if grid.depths else None
    return TunedSearch(constants, kinds), cut


def _trials(union: Union, fusion: Fusion, grid: TuneGrid) -> tuple[list[ConstantTrial], ConstantTrial | None]:
    """What is tried, nothing if only weights are tuned; and where eta or beta is, the fusion with its usual ones."""
    cuts = list(depth_trials(union, fusion, grid.depths))
    if not isinstance(fusion, ReciprocalRank | SmoothReciprocalRank) or not (grid.etas or grid.betas):
        return cuts, None
    usual = next(eta_trials(union, fusion, []))
    if not cuts:
        return list(eta_trials(union, fusion, grid.etas, grid.betas, each=grid.eta_each)), usual
    return [
        replace(trial, name=f"{cut.name}, {trial.name}")
        for cut in cuts
        for trial in eta_trials(cut.union, fusion, grid.etas, grid.betas, each=grid.eta_each)
    ], usual


def _spec(tuned: TunedSearch, channels: Sequence[ChannelSpec], depth: int, collection: str) -> SearchSpec:
    """The tuned search of an index, with the weights of the classes that support them."""
    own = {
        one.name: ClassSpec(fusion=weighted(tuned.fusion, one.weights))
        for one in tuned.classes
        if one.supported and one.weights is not None
    }
    evidence: dict[str, str | int | float] = {
        "measure": tuned.best.measure,
        "held_out": round(tuned.held_out.mean, 4),
        "queries": len(tuned.held_out.queries),
        "words": str(tuned).replace("\n", " "),
    }
    return SearchSpec(
        name=f"tuned for {collection}",
        depth=depth,
        channels=tuple(channels),
        fusion=tuned.fusion,
        classes=own,
        evidence=evidence,
    )
