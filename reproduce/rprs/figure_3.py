"""RPRS, figure 3: how often documents of a length are relevant, and how often relevant ones are retrieved in the first five."""

from __future__ import annotations

import numpy as np

from lexfuse.data.arrays import I64
from lexfuse.data.qrels import Qrels
from lexfuse.data.run import Run
from reproduce.experiment import Experiment
from reproduce.plots import Curve, Labels, curves
from reproduce.result import Measured
from reproduce.rprs.judgments import FIRST_STAGE, judgments

CUTOFF = 5
DRAWN = ("BM25", FIRST_STAGE, "SDR", "Birch", "BERT", "RPRS w/freq")  # the rows have all systems
BOUNDS = (0, 1000, 2000, 3000, 4000, 6000, 8000, 10_000, 1_000_000)  # words


def measure(experiment: Experiment) -> Measured:
    """Shares of each class of lengths among relevant documents, and among those that each system retrieves."""
    found = judgments(experiment)
    lengths = dict(zip(found.snapshot.ids, found.lengths.tolist(), strict=True))
    relevant = [doc for judged in found.test.as_dict().values() for doc, grade in judged.items() if grade > 0]
    all_relevant = _shares([lengths[doc] for doc in relevant])
    shares = {
        name: _shares([lengths[doc] for doc in retrieved(system.run, found.test)]) for name, system in found.systems().items()
    }
    middles = [500, 1500, 2500, 3500, 5000, 7000, 9000, 12_000]
    names = [f"up to {high:,} words" for high in BOUNDS[1:-1]] + [f"above {BOUNDS[-2]:,} words"]
    rows = {"P(relevant | length)": dict(zip(names, all_relevant, strict=True))}
    rows |= {f"P(retrieved | length), {name}": dict(zip(names, values, strict=True)) for name, values in shares.items()}
    lines = {"relevant": Curve(middles, all_relevant)}
    lines |= {f"retrieved by {name}": Curve(middles, shares[name]) for name in DRAWN if name in shares}
    labels = Labels("words of a document", "share", experiment.dataset.name)
    return Measured(rows, (curves("RPRS-FIG3", "Relevance and retrieval over the length of documents", labels, lines),))


def retrieved(run: Run, qrels: Qrels) -> list[str]:
    """The relevant documents among the first five of every query."""
    judged = qrels.as_dict()
    return [
        hit.doc for query in run.queries for hit in run.hits(query)[:CUTOFF] if judged.get(query, {}).get(hit.doc, 0) > 0
    ]  # fmt: skip


def _shares(lengths: list[int]) -> list[float]:
    counted: I64 = np.histogram(lengths, BOUNDS)[0].astype(np.int64)
    return [count / max(1, sum(counted.tolist())) for count in counted.tolist()]
