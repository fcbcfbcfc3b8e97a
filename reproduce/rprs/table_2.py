"""RPRS, table 2: sentences by models that were adapted to the judgments, and by the model that they come from.

`recipes/english_judgments.py` makes the adapted models; ``--models`` names their folder. Parameters of RPRS are tuned on train
for every model.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.significance import adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsPoint
from lexfuse.rerank.rprs import Rprs
from reproduce.experiment import Experiment
from reproduce.result import Measured
from reproduce.rprs.judgments import FIRST_STAGE, GRID, PLAN, judgments
from reproduce.rprs.table_3 import MEASURES

BASE = "all-MiniLM-L6-v2"
ADAPTED = {f"{BASE}-SDR": "minilm-sdr", f"{BASE}-TSDAE": "minilm-tsdae"}  # folders of --models


@dataclass(frozen=True, slots=True)
class RankedByModel:
    """The test queries reranked with the sentences of one model, the parameters, and their AP on train."""

    run: Run
    point: RprsPoint
    train: float


def measure(experiment: Experiment) -> Measured:
    """The first stage, then RPRS w/freq by every model that is at hand."""
    found = judgments(experiment)
    models = [BASE, *(name for name, model in ADAPTED.items() if experiment.has_model(model))]
    ranked = {name: ranked_by_model(experiment, name) for name in models}
    first = found.system(FIRST_STAGE).run
    train = {FIRST_STAGE: evaluate(found.qrels("train"), first, "AP").mean("AP")} | {
        name: one.train for name, one in ranked.items()
    }
    rows, ap = {}, {}
    for name, run in ({FIRST_STAGE: first} | {name: one.run for name, one in ranked.items()}).items():
        values = evaluate(found.test, run, " ".join([*MEASURES.values(), "AP"]))
        rows[name] = {column: values.mean(measure) for column, measure in MEASURES.items()}
        rows[name] |= {"AP train": train[name], "AP test": values.mean("AP")}
        ap[name] = values.values("AP")
    tests = [paired_test(PairedTest.T, ap[BASE], ap[name]).p for name in models[1:]]
    for name, p in zip(models[1:], adjust_p_values(tests, Correction.HOLM).tolist() if tests else [], strict=True):
        rows[name]["p"] = p
    points = {name: one.point for name, one in ranked.items()}
    chosen = [f"{name}: n={one.n} k1={one.k1:g} b={one.b:g} depth={one.depth}" for name, one in points.items()]
    return Measured(rows, notes=(f"Parameters: {'; '.join(chosen)}. p: against {BASE}, AP on test.",))


def ranked_by_model(experiment: Experiment, name: str) -> RankedByModel:
    """RPRS w/freq with the sentences of a model: a channel for each, parameters tuned on train, test reranked."""
    found = judgments(experiment)
    first = found.system(FIRST_STAGE).run
    if name == BASE:
        sentences, surface = found.sentences, found.surface("train")
    else:
        channel, plan = f"sentences-{ADAPTED[name]}", PLAN.with_model(experiment.model(ADAPTED[name]))
        sentences = found.cached(channel, experiment.snapshot(plans={channel: plan}))
        surface = rprs_surface(Rprs(sentences), found.queries, first, found.qrels("train"), "AP", GRID)
    asked = set(found.test.queries)
    rest = Run.of(FIRST_STAGE, {id: docs for id, docs in first.as_dict().items() if id in asked})
    run = surface.best.reranker(sentences).rerank(found.queries, rest, depth=surface.best.depth)
    return RankedByModel(run, surface.best, surface.mean(surface.best))
