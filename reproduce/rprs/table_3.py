"""RPRS, table 3: precision, recall and F1 of first stages and rerankers, with whole judgments as queries."""

from __future__ import annotations

from lexfuse.evaluation.comparison import compare
from lexfuse.evaluation.evaluation import evaluate
from reproduce.experiment import Experiment
from reproduce.result import Measured
from reproduce.rprs.judgments import Judgments, judgments

CUTOFF = 5
MEASURES = {"precision": f"microP@{CUTOFF}", "recall": f"microR@{CUTOFF}", "F1": f"microF1@{CUTOFF}"}
BASELINE = "BM25 optimized"
SPLITS = ("train", "dev", "test", "all")
OTHERS = "P@10 R@50 R@100 RR"


def measure(experiment: Experiment) -> Measured:
    """One row a system; AP over whole rankings of every split, and measures on the largest, are ours."""
    found = judgments(experiment)
    splits = [split for split in SPLITS if split in experiment.dataset.collection.qrels]
    rows, chosen = {}, []
    for name, system in found.systems().items():
        values = evaluate(found.test, system.run, " ".join(MEASURES.values()))
        rows[name] = {column: values.mean(measure) for column, measure in MEASURES.items()}
        rows[name] |= {f"AP {split}": evaluate(found.qrels(split), system.run, "AP").mean("AP") for split in splits}
        others = evaluate(found.qrels(splits[-1]), system.run, OTHERS)
        rows[name] |= {f"{measure} {splits[-1]}": value for measure, value in others.means.items()}
        if system.chosen:
            chosen.append(f"{name}: {system.chosen}")
    counted = f"{len(found.test.queries)} judgments of {experiment.dataset.test}, {len(found.lengths):,} documents."
    return Measured(rows, notes=(counted, f"Parameters: {'; '.join(chosen)}.", differences(found)))


def differences(found: Judgments) -> str:
    """AP of every system against BM25 with the paper's parameters, by paired t-tests corrected by Holm."""
    runs = [system.run for system in found.systems().values()]
    compared = compare(found.test, runs, "AP", baseline=BASELINE)
    shown = []
    for run in runs:
        row = compared.row(run.name, "AP")
        if row.paired is not None:
            shown.append(f"{run.name} {row.difference:+.3f} (p = {row.paired.adjusted_p:.2g})")
    return f"AP against {BASELINE}, paired t-tests corrected by Holm: {', '.join(shown)}."
