"""RPRS, figure 2: sentences against units of a fixed number of words.

To keep it small only the judgments of dev ask, and only the documents among their first 50 are divided and encoded. Every kind of
unit is a channel of one more index. Vectors come from the cache of the workspace, and go there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.stored_part import VectorStorage
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.arrays import F64
from lexfuse.data.run import Run
from lexfuse.encode.passage_plan import PassageScheme
from lexfuse.evaluation.significance import adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsPoint, RprsSurface, cross_validated_rprs
from lexfuse.rerank.rprs import Rprs
from lexfuse.storage.index_folder import IndexFolder
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured
from reproduce.rprs.judgments import FIRST_STAGE, PLAN, Judgments, judgments

DEPTH, SIZES = 50, (25, 50, 100, 200)
GRID = RprsGrid(n=tuple(range(1, 11)), k1=(0.0, 0.4, 1.0, 2.0, 2.8), b=(0.0, 0.25, 0.5, 0.75, 1.0), depth=(15, 20, 30, 40, 50))
PAPER = RprsPoint(4, 2.8, 1.0, DEPTH)
FOLDS = 5


def plans() -> Mapping[str, ChannelPlan]:
    """How documents and judgments are divided, by what the units are called."""
    words = {
        f"{size} words": ChannelPlan(PLAN.model, passages=PassageScheme.WORDS, size=size, storage=VectorStorage.INT8)
        for size in SIZES
    }
    return {"sentences": PLAN} | words


def measure(experiment: Experiment) -> Measured:
    """AP with every kind of unit, sentences first."""
    found = judgments(replace(experiment, slow=False))  # whole texts need no sentences of all documents
    whole = found.system(FIRST_STAGE).run.as_dict()
    run = Run.of(FIRST_STAGE, {query: dict(list(whole[query].items())[:DEPTH]) for query in found.qrels("dev").queries})
    docs = sorted({run.docs[doc] for doc in run.doc.tolist()})
    folder = experiment.workspace.folder / f"{experiment.dataset.name}-units.index"
    documents = None if folder.exists() else [found.snapshot.document(doc) for doc in docs]
    rows: dict[str, dict[str, float]] = {}
    values: dict[str, F64] = {}
    with IndexFolder(folder) if documents is None else IndexFolder.create(folder, documents=documents) as index:
        for at, (name, plan) in enumerate(plans().items()):
            surface = _surface(found, index, f"sentences-{at}", plan, run)
            validated = cross_validated_rprs(surface, FOLDS)
            rows[name] = {"AP, cross-validated": validated.mean, "AP, the paper's parameters": surface.mean(PAPER)}
            values[name] = validated.values
    first = values.pop("sentences")
    p_values = adjust_p_values([paired_test(PairedTest.T, first, other).p for other in values.values()], Correction.HOLM)
    for name, p in zip(values, p_values.tolist(), strict=True):
        rows[name]["p"] = p
    lines = {column: Curve(SIZES, [rows[f"{size} words"][column] for size in SIZES]) for column in list(rows["sentences"])}
    levels = {f"sentences: {column}": rows["sentences"][column] for column in lines}
    labels = Labels("words of a unit", "AP", experiment.dataset.name)
    return Measured(rows, (curves("RPRS-FIG2", "AP over the length of units", labels, lines, levels=levels),))


def _surface(found: Judgments, index: IndexFolder, channel: str, plan: ChannelPlan, run: Run) -> RprsSurface:
    """AP over the parameters of RPRS with one kind of unit, which is encoded into a channel for it."""
    if channel not in index.channels.names:
        index.channels.make(channel, plan_channel(channel, plan))
    fill_channel(index, channel, cache=found.cache)
    with index.snapshot() as snapshot:
        rprs = Rprs(found.cached(channel, snapshot))
        return rprs_surface(rprs, found.queries, run, found.qrels("dev"), "AP", GRID).on(run.queries)
