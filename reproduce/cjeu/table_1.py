"""CJEU, table 1: how many decisions, paragraphs and citations there are."""

from __future__ import annotations

from collections import Counter

from reproduce.cjeu.statistics import Citations, decision, mean_and_spread
from reproduce.experiment import Experiment
from reproduce.result import Measured


def measure(experiment: Experiment) -> Measured:
    """Counts, means and standard deviations."""
    citations = Citations.of(experiment.dataset)
    corpus, queries = experiment.dataset.collection.corpus, experiment.dataset.collection.queries
    texts = dict(zip(corpus.ids, corpus.text, strict=True))
    if queries is not None:
        texts = dict(zip(queries.ids, queries.text, strict=True)) | texts
    counts = {
        "paragraphs of a decision": Counter(map(decision, citations.paragraphs)),
        "words of a paragraph": Counter({id: len(texts[id].split()) for id in citations.paragraphs}),
        "inbound citations": Counter(cited for _, cited in citations.edges),
        "outbound citations": Counter(citing for citing, _ in citations.edges),
    }
    rows: dict[str, dict[str, float]] = {
        "unique decisions": {"number": len(counts["paragraphs of a decision"])},
        "unique paragraphs": {"number": len(citations.paragraphs)},
        "paragraph citations": {"number": len(citations.edges)},
    }
    rows |= {name: dict(zip(("mean", "standard deviation"), mean_and_spread(one), strict=True)) for name, one in counts.items()}
    return Measured(rows, notes=(f"The corpus has {len(corpus):,} paragraphs, with those that neither cite nor are cited.",))
