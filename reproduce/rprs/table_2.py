"""RPRS, table 2: sentences by models that were adapted to the judgments, and by the model that they come from.

`recipes/english_judgments.py` makes the adapted models; ``--models`` names their folder. Parameters of RPRS are tuned on train
for every model.
"""

from __future__ import annotations

from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.significance import adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.rerank.rprs import Rprs
from reproduce.experiment import Experiment
from reproduce.result import Measured
from reproduce.rprs.judgments import FIRST_STAGE, GRID, PLAN, judgments
from reproduce.rprs.table_3 import MEASURES

BASE = "all-MiniLM-L6-v2"
ADAPTED = {f"{BASE}-SDR": "minilm-sdr", f"{BASE}-TSDAE": "minilm-tsdae"}  # folders of --models


def measure(experiment: Experiment) -> Measured:
    """The first stage, then RPRS w/freq by every model that is at hand."""
    found = judgments(experiment)
    first = found.system(FIRST_STAGE).run
    plans = {BASE: PLAN} | {
        name: PLAN.with_model(experiment.model(model)) for name, model in ADAPTED.items() if experiment.has_model(model)
    }
    runs, chosen = {FIRST_STAGE: first}, []
    for name, plan in plans.items():
        if name == BASE:
            sentences, point = found.sentences, found.point(frequency=True)
        else:
            channel = f"sentences-{ADAPTED[name]}"
            sentences = found.cached(channel, experiment.snapshot(plans={channel: plan}))
            point = rprs_surface(Rprs(sentences), found.queries, first, found.qrels("train"), "AP", GRID).best
        runs[name] = point.reranker(sentences).rerank(found.queries, first, depth=point.depth)
        chosen.append(f"{name}: n={point.n} k1={point.k1:g} b={point.b:g} depth={point.depth}")
    rows = {}
    for name, run in runs.items():
        values = evaluate(found.test, run, " ".join(MEASURES.values()))
        rows[name] = {column: values.mean(measure) for column, measure in MEASURES.items()}
        rows[name] |= {f"AP {split}": evaluate(found.qrels(split), run, "AP").mean("AP") for split in ("train", "dev", "test")}
    base = evaluate(found.test, runs[BASE], "AP").values("AP")
    adapted = [name for name in plans if name != BASE]
    tests = [paired_test(PairedTest.T, base, evaluate(found.test, runs[name], "AP").values("AP")).p for name in adapted]
    for name, p in zip(adapted, adjust_p_values(tests, Correction.HOLM).tolist() if tests else [], strict=True):
        rows[name]["p"] = p
    return Measured(rows, notes=(f"Parameters: {'; '.join(chosen)}. p: against {BASE}, AP on test.",))
