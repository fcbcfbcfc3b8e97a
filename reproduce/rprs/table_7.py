"""RPRS, table 7: what each part of the method is worth."""

from __future__ import annotations

from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.rerank.rprs import Ablation, Rprs
from reproduce.experiment import Experiment
from reproduce.result import Measured
from reproduce.rprs.judgments import FIRST_STAGE, judgments
from reproduce.rprs.table_3 import MEASURES

VARIANTS = {  # whether frequencies count, and what is left out
    "RPRS w/freq": (True, Ablation.NOTHING),
    "no query proportion": (True, Ablation.NO_QUERY_PROPORTION),
    "no document proportion": (True, Ablation.NO_DOCUMENT_PROPORTION),
    "no b and k1": (True, Ablation.NO_PARAMETERS),
    "RPRS": (False, Ablation.NOTHING),
    "RPRS, no minimum": (False, Ablation.NO_MINIMUM),
}


def measure(experiment: Experiment) -> Measured:
    """One row a variant; MAP over whole rankings is ours."""
    found = judgments(experiment)
    asked = set(found.test.queries)
    first = Run.of(FIRST_STAGE, {id: docs for id, docs in found.system(FIRST_STAGE).run.as_dict().items() if id in asked})
    rows = {}
    for name, (frequency, ablation) in VARIANTS.items():
        point = found.point(frequency=frequency)
        reranker = Rprs(found.sentences, point.n, point.k1, point.b, frequency, ablation)
        run = reranker.rerank(found.queries, first, depth=point.depth)
        values = evaluate(found.test, run, " ".join([*MEASURES.values(), "AP"]))
        rows[name] = {column: values.mean(measure) for column, measure in (MEASURES | {"MAP": "AP"}).items()}
    points = [found.point(frequency=frequency) for frequency in (True, False)]
    chosen = [f"n={point.n} depth={point.depth}" + (f" k1={point.k1:g} b={point.b:g}" if point.k1 else "") for point in points]
    return Measured(rows, notes=(f"Parameters: RPRS w/freq {chosen[0]}; RPRS {chosen[1]}.",))
