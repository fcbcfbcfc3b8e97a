"""``lexfuse tune weights`` and ``lexfuse tune runs``: weights of sources, chosen on judged queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from lexfuse.channels.registry import applicable_options, open_retriever
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.cli.fuse import MissingName, Normaliser
from lexfuse.cli.options.run_files import BoundOptions, bounds_by_run, read_runs
from lexfuse.cli.options.search_flags import K1, B, fusion_from_flags, masked, values_of
from lexfuse.cli.output.console import AsJson, SkipBad, line, note, print_json, progress_bar, spinner, table, warnings_noted
from lexfuse.cli.search import AsOf, Channel, Filters
from lexfuse.data.files import written_file
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError
from lexfuse.fusion.fusion import Fusion
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.run_fusion import bounded_runs
from lexfuse.fusion.union import Union, union_of
from lexfuse.optimisation.bm25_and_weights import tune_bm25_and_weights
from lexfuse.optimisation.bm25_parameters import B_S, K1S
from lexfuse.optimisation.fusion_constants import ConstantTrial, TunedConstants, depth_trials, eta_trials, tune_constants
from lexfuse.optimisation.fusion_weights import TunedWeights, tune_weights
from lexfuse.optimisation.query_class_weights import ClassWeights, classes_of, tune_classes
from lexfuse.search.candidates import retrieve_union
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot

QrelsFile = Annotated[Path, typer.Argument(metavar="QRELS", help="Judgements of a train or dev split.")]
Tuned = Annotated[str, typer.Option("--fusion", help="A fusion with weights: tm2c2, convex, rrf or srrf.")]
MeasureName = Annotated[str, typer.Option("--measure", "-m", help="What to make as high as possible.")]
Step = Annotated[float, typer.Option("--step", help="Step of the first grid of weights.")]
Folds = Annotated[int, typer.Option("--folds", help="Folds of the cross-validation.")]
Etas = Annotated[str, typer.Option("--eta", help="rrf, srrf: values of the constant to try: 5,20,60")]
EtaEach = Annotated[bool, typer.Option("--eta-each", help="Try every combination of one eta a source.")]
WithWeights = Annotated[
    bool, typer.Option("--with-weights", help="Tune the weights together with --eta and --beta; else they are equal.")
]
Betas = Annotated[str, typer.Option("--beta", help="srrf: values of beta to try: 20,40,100")]
Depths = Annotated[str, typer.Option("--depths", help="Depths of the lists to try: 100,1000")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Save everything that was found as JSON.")]


def weights(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="The index folder.")],
    queries: Annotated[
        Path, typer.Argument(metavar="QUERIES", help="Queries: a BEIR folder or a .jsonl, .csv or .parquet file.")
    ],
    qrels: QrelsFile,
    channel: Channel = "bm25,dense",
    fusion: Tuned = "tm2c2",
    normaliser: Normaliser = "",
    missing: MissingName = "",
    measure: MeasureName = "nDCG@10",
    depth: Annotated[int, typer.Option(help="How many documents a query each channel ranks.")] = 1000,
    step: Step = 0.05,
    folds: Folds = 5,
    eta: Etas = "",
    eta_each: EtaEach = False,
    with_weights: WithWeights = False,
    beta: Betas = "",
    depths: Depths = "",
    bm25: Annotated[bool, typer.Option("--bm25", help="Tune k1 and b together with the weights.")] = False,
    classes: Annotated[bool, typer.Option("--classes", help="See whether kinds of queries need weights of their own.")] = False,
    k1: K1 = 1.2,
    b: B = 0.75,
    filters: Filters = None,
    as_of: AsOf = None,
    out: Out = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """Weights of several channels: the best, what they are worth on other queries, and whether equal ones do as well.

    lexfuse tune weights legi.index data/legi data/legi/qrels/dev.tsv --channel bm25,dense -m R@100

    With --eta or --beta these are tuned, at equal weights:

    lexfuse tune weights legi.index data/legi data/legi/qrels/dev.tsv --fusion rrf --eta 4,10,60 --eta-each
    """
    method = fusion_from_flags(fusion, "", None, "", None, normaliser, missing)
    report = ReadReport(skip_bad=skip_bad)
    asked = read_queries(queries, report)
    judged = read_qrels(qrels, report, queries=asked.ids)
    for remark in report.lines():
        note(remark)
    asked = asked.select([asked.ids.ordinal(query) for query in judged.queries])
    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        names = list(dict.fromkeys(one.strip() for one in channel.split(",")))
        options = {"k1": k1, "b": b}
        retrievers = [open_retriever(snapshot, one, **applicable_options(snapshot, one, options)) for one in names]
        within = masked(snapshot, filters, as_of)
        if bm25:
            _refuse_with_bm25(names, eta, beta, depths, classes or with_weights)
            found = _tune_with_bm25(snapshot, asked, judged, measure, retrievers, method, depth, within, (step, folds))
            _tell(found.tuned, found, (), out, json)
            return
        with spinner("searching"):
            union = retrieve_union(retrievers, asked, depth, within=within, missing=method.missing)
    tried = _Constants(eta, eta_each, with_weights, beta, depths)
    _tune(union, method, judged, measure, (step, folds), tried, asked if classes else None, out, json)


def runs(
    qrels: QrelsFile,
    files: Annotated[list[Path], typer.Argument(metavar="RUN...", help="TREC runs of the same queries, plain or .gz.")],
    fusion: Tuned = "tm2c2",
    normaliser: Normaliser = "",
    missing: MissingName = "",
    measure: MeasureName = "nDCG@10",
    step: Step = 0.05,
    folds: Folds = 5,
    eta: Etas = "",
    eta_each: EtaEach = False,
    with_weights: WithWeights = False,
    beta: Betas = "",
    depths: Depths = "",
    bounds: BoundOptions = None,
    queries: Annotated[
        Path | None, typer.Option("--queries", help="Queries, to see whether kinds of them need weights of their own.")
    ] = None,
    out: Out = None,
    skip_bad: SkipBad = False,
    json: AsJson = False,
) -> None:
    """The same for runs of any systems; a score that a run does not hold is the lowest of its list.

    lexfuse tune runs qrels/dev.tsv bm25.trec dense.trec --bound bm25=0 --bound dense=-1

    lexfuse tune runs qrels/dev.tsv bm25.trec dense.trec --fusion rrf --eta 5,20,60
    """
    method = fusion_from_flags(fusion, "", None, "", None, normaliser, missing)
    report = ReadReport(skip_bad=skip_bad)
    with spinner("reading"):
        judged = read_qrels(qrels, report)
        union = union_of(bounded_runs(read_runs(files, report), bounds_by_run(bounds, files)))
        asked = read_queries(queries, report) if queries is not None else None
    for remark in report.lines():
        note(remark)
    _tune(union, method, judged, measure, (step, folds), _Constants(eta, eta_each, with_weights, beta, depths), asked, out, json)


def _tune(
    union: Union,
    fusion: Fusion,
    qrels: Qrels,
    measure: str,
    how: tuple[float, int],
    tried: _Constants,
    queries: Queries | None,
    out: Path | None,
    json: bool,
) -> None:
    step, folds = how
    trials, usual = _trials(union, fusion, tried)
    weighed = tried.with_weights or usual is None
    if queries is not None and not weighed:
        raise ConfigError("classes of queries get weights of their own, and --eta is tuned at equal weights; add --with-weights")
    with spinner("tuning"), warnings_noted():
        constants = (
            tune_constants(trials, qrels, measure, with_weights=weighed, usual=usual, step=step, folds=folds) if trials else None
        )
        tuned = constants.tuned if constants else tune_weights(union, fusion, qrels, measure, step=step, folds=folds)
        kinds: tuple[ClassWeights, ...] = ()
        if queries is not None:
            best = trials[constants.best] if constants else None
            over, method = (best.union, best.fusion) if best else (union, fusion)
            kinds = tune_classes(over, method, qrels, measure, classes_of(queries), step=step, folds=folds)
    _tell(tuned, constants, kinds, out, json)


@dataclass(frozen=True)
class _Constants:
    """What is to be tried besides or in place of weights, as the options say it."""

    eta: str
    eta_each: bool
    with_weights: bool
    beta: str
    depths: str


def _trials(union: Union, fusion: Fusion, tried: _Constants) -> tuple[list[ConstantTrial], ConstantTrial | None]:
    """What is to be tried, nothing if no list was given; and where eta or beta is, the fusion with its usual ones."""
    etas, betas = values_of(tried.eta or None, "eta") or [], values_of(tried.beta or None, "beta") or []
    if (etas or betas) and not isinstance(fusion, ReciprocalRank | SmoothReciprocalRank):
        raise ConfigError(f"--eta and --beta are for rrf and srrf; the fusion is {fusion.name}")
    if tried.eta_each and not etas:
        raise ConfigError("--eta-each needs values to combine; give --eta 5,20,60")
    if tried.with_weights and not etas and not betas:
        raise ConfigError("--with-weights goes with --eta or --beta; without them the weights are tuned anyway")
    wanted = values_of(tried.depths or None, "depths") or []
    if any(one != int(one) for one in wanted):
        raise ConfigError(f"--depths takes whole numbers, got {tried.depths!r}")
    cuts = list(depth_trials(union, fusion, [int(one) for one in wanted]))
    if not isinstance(fusion, ReciprocalRank | SmoothReciprocalRank) or not (etas or betas):
        return cuts, None
    usual = next(eta_trials(union, fusion, []))
    if not cuts:
        return list(eta_trials(union, fusion, etas, betas, each=tried.eta_each)), usual
    return [
        replace(trial, name=f"{deep.name}, {trial.name}")
        for deep in cuts
        for trial in eta_trials(deep.union, fusion, etas, betas, each=tried.eta_each)
    ], usual


def _tune_with_bm25(
    snapshot: Snapshot,
    queries: Queries,
    qrels: Qrels,
    measure: str,
    retrievers: Sequence[Retriever],
    fusion: Fusion,
    depth: int,
    within: Any,
    how: tuple[float, int],
) -> TunedConstants:
    others = [one for one in retrievers if one.name != "bm25"]
    with progress_bar("trying k1 and b", len(K1S) * len(B_S)) as progress:
        return tune_bm25_and_weights(
            snapshot,
            queries,
            qrels,
            measure,
            others,
            fusion,
            depth=depth,
            within=within,
            step=how[0],
            folds=how[1],
            progress=progress,
        )


def _refuse_with_bm25(names: list[str], eta: str, beta: str, depths: str, classes: bool) -> None:
    if names[0] != "bm25" or len(names) < 2:
        raise ConfigError(f"--bm25 needs bm25 as the first of several channels, got {', '.join(names)}")
    if eta or beta or depths or classes:
        raise ConfigError("--bm25 tries k1 and b only; leave out --eta, --beta, --depths and --classes")


def _tell(
    tuned: TunedWeights | None, constants: TunedConstants | None, kinds: tuple[ClassWeights, ...], out: Path | None, json: bool
) -> None:
    told = constants or tuned
    if told is None:
        return
    found = told.as_json()
    if kinds:
        found |= {"classes": [one.as_json() for one in kinds]}
    if out is not None:
        with written_file(out) as file:
            file.write(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    if json:
        print_json(found)
        return
    if constants is not None:
        rows = list(zip(constants.trials, constants.values, strict=True))
        table(
            constants.measure, [f"tried, {'at equal weights' if tuned is None else 'each with its best weights'}", "mean"], rows
        )
    if tuned is not None and len(tuned.sources) == 2:
        band = tuned.surface.band()
        shown = zip(tuned.surface.weights[::-1], tuned.surface.means[::-1].tolist(), band[::-1], strict=True)
        table(
            f"{tuned.measure} on {len(tuned.queries):,} queries",
            [f"weight of {tuned.sources[1]}", "mean", "95 % low", "high"],
            [(f"{pair[1]:g}", mean, one.low, one.high) for pair, mean, one in shown],
        )
    line(told.words())
    for one in kinds:
        line(one.words)
