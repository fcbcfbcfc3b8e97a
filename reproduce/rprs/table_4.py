"""RPRS, table 4: parameters that were tuned on other collections (RQ3)."""

from __future__ import annotations

from lexfuse.data.run import Run
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.significance import adjust_p_values, paired_test
from lexfuse.evaluation.significance_options import Correction, PairedTest
from lexfuse.optimisation.rprs_surface import RprsPoint
from reproduce.experiment import Experiment
from reproduce.result import Measured
from reproduce.rprs.judgments import FIRST_STAGE, judgments

MEASURES = {"P@1": "P@1", "R@1": "R@1", "MAP@5": "AP@5", "NDCG@5": "nDCG@5", "MRR": "RR", "AP": "AP"}
PAPER_STAGE = "BM25 optimized + KLI"
COLIEE = RprsPoint(4, 2.8, 1.0, 50)  # what the paper found best elsewhere (5.4, 5.5)
TRANSFERRED = {
    "RPRS": RprsPoint(4, 0.0, 0.0, 50),
    "RPRS w/freq": COLIEE,
    "RPRS w/freq, parameters of Wikipedia": RprsPoint(4, 3.0, 0.9, 100),
    "RPRS w/freq, parameters of CLEF-IP": RprsPoint(5, 2.4, 0.8, 20),
}
TUNED, UNTUNED = "RPRS w/freq, tuned here", "RPRS w/freq, nothing tuned here"


def measure(experiment: Experiment) -> Measured:
    """One row a system, on test; what RPRS reaches with parameters of other collections, and with those of this one."""
    found = judgments(experiment)
    names = ("BM25", "BM25 + KLI", PAPER_STAGE, FIRST_STAGE)
    runs = {name: found.system(name).run for name in names}
    if experiment.slow:
        asked = set(found.test.queries)
        first, plain = (
            Run.of(name, {id: docs for id, docs in runs[name].as_dict().items() if id in asked})
            for name in (FIRST_STAGE, PAPER_STAGE)
        )  # fmt: skip
        points = TRANSFERRED | {TUNED: found.point(frequency=True)}
        for name, point in points.items():
            runs[name] = point.reranker(found.sentences).rerank(found.queries, first, depth=point.depth)
        runs[UNTUNED] = COLIEE.reranker(found.sentences).rerank(found.queries, plain, depth=COLIEE.depth)
    rows = {}
    for name, run in runs.items():
        values = evaluate(found.test, run, " ".join(MEASURES.values()))
        rows[name] = {column: values.mean(measure) for column, measure in MEASURES.items()}
    if TUNED not in runs:
        return Measured(rows)
    others = [name for name in runs if name != TUNED]
    ap = {name: evaluate(found.test, run, "AP").values("AP") for name, run in runs.items()}
    tests = [paired_test(PairedTest.T, ap[TUNED], ap[name]).p for name in others]
    for name, p in zip(others, adjust_p_values(tests, Correction.HOLM).tolist(), strict=True):
        rows[name]["p"] = p
    best = found.point(frequency=True)
    tuned = f"Tuned here: n={best.n} k1={best.k1:g} b={best.b:g} depth={best.depth}."
    return Measured(rows, notes=(f"{tuned} p: AP against {TUNED!r}.",))
