"""BM25 and what trained models say, zero-shot and in-domain: the sources of FUSE.

The models are trained and asked on a GPU (recipes/french_citizen.py, recipes/french_seeds.py, recipes/french_scores.py). What
they say about the candidates of every question is stored, one file for each setting and split, in a folder next to the
collection: ``fr-labour-scores``. BM25 is asked here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.channels.distribution import SHARES, ScoreLevels, estimate
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.run import Run
from lexfuse.errors import NotFoundError
from lexfuse.fusion.run_union import union_of
from lexfuse.fusion.union import RankedSource, Union
from reproduce.experiment import Experiment

DEPTH = 1000
LEXICAL, DENSE, CROSS = "BM25", "DPR", "monoBERT"
NAMES = {"splade": "SPLADE", "dense": DENSE, "colbert": "ColBERT", "cross": CROSS}  # of the files, and of the paper, in its order
COSINE = {"splade-cosine": "SPLADE by cosine"}  # a kind that is measured by its seeds alone
LOWEST = {"SPLADE": 0.0, "DPR": -1.0, "ColBERT": -48.0}  # possible scores: a product, a cosine, a cosine for each query token


@dataclass(frozen=True, eq=False)
class StoredScores:
    """What models say about the candidates of each question (CSR), and the distribution of all their scores."""

    queries: Ids
    docs: Ids
    offsets: I64
    doc: I32
    scores: dict[str, F32]  # NaN where a model was not asked
    levels: dict[str, F64]

    @classmethod
    def read(cls, path: Path) -> StoredScores:
        """A file of recipes/french_scores.py."""
        if not path.is_file():
            raise NotFoundError(f"no file {str(path)!r}; recipes/french_scores.py makes it on a GPU with: scores")
        with np.load(path, allow_pickle=False) as stored:
            parts: dict[str, dict[str, Any]] = {"scores": {}, "levels": {}}
            for name in stored.files:
                part, _, source = name.partition(" ")
                if source:
                    parts[part][NAMES[source]] = stored[name]
            queries, docs = (Ids(stored[name].tolist()) for name in ("queries", "docs"))
            return cls(queries, docs, stored["offsets"], stored["doc"], parts["scores"], parts["levels"])

    def run(self, source: str, first: Run | None = None) -> Run:
        """The ranking of a source, or how it orders the documents of another ranking."""
        score = self.scores[source]
        query = np.repeat(np.arange(len(self.queries), dtype=np.int32), np.diff(self.offsets))
        kept = ~np.isnan(score)
        if first is not None:
            listed = {name: set(docs) for name, docs in first.as_dict().items()}
            pairs = zip(query.tolist(), self.doc.tolist(), strict=True)
            kept &= [self.docs[doc] in listed.get(self.queries[at], ()) for at, doc in pairs]
        whole = Run.from_arrays(source, self.queries, self.docs, query[kept], self.doc[kept], score[kept])
        counts = np.diff(whole.offsets)
        best = np.arange(len(whole)) - np.repeat(whole.offsets[:-1], counts) < DEPTH
        rows = np.repeat(np.arange(len(self.queries), dtype=np.int32), counts)[best]
        return Run.from_arrays(source, self.queries, self.docs, rows, whole.doc[best], whole.score[best])


@dataclass(frozen=True, eq=False)
class StoredSource:
    """A source whose scores were computed before."""

    stored: StoredScores
    name: str

    @property
    def bounds(self) -> ScoreBounds:
        """The lowest score that it can give."""
        return ScoreBounds(LOWEST[self.name])

    def score(self, queries: Queries, pairs: Run) -> F32:
        """The score of every pair; NaN for what was not asked."""
        known = self.stored
        rows = np.repeat(known.queries.ordinals(pairs.queries), np.diff(pairs.offsets)).astype(np.int64)
        docs = known.docs.ordinals(pairs.docs)[pairs.doc]
        keys = np.repeat(np.arange(len(known.queries)), np.diff(known.offsets)) * len(known.docs) + known.doc
        asked = rows * len(known.docs) + docs
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        found: F32 = np.where((keys[at] == asked) & (docs >= 0), known.scores[self.name][at], np.float32(np.nan))
        return found


@dataclass(frozen=True, eq=False)
class AskedSources:
    """All sources of a setting, asked the questions of a split."""

    union: Union
    qrels: Qrels
    stored: StoredScores
    lexical: Run

    def systems(self) -> dict[str, Run]:
        """Each system alone; the cross-encoder reranks BM25."""
        found = {LEXICAL: self.lexical}
        found |= {name: self.stored.run(name) for name in self.union.names if name != LEXICAL}
        if CROSS in self.stored.scores:
            found[CROSS] = self.stored.run(CROSS, self.lexical)
        return found


def scores_of(experiment: Experiment) -> Path:
    """The folder of what the models say, next to the collection, whether it is there or not."""
    return experiment.dataset.folder.parent / f"{experiment.dataset.name}-scores"


def score_folder(experiment: Experiment) -> Path:
    """The folder of what the models say; `NotFoundError` where it is missing."""
    folder = scores_of(experiment)
    if not folder.is_dir():
        raise NotFoundError(f"no folder {str(folder)!r} with what trained models say; recipes/french_scores.py makes it on a GPU")
    return folder


def asked_sources(experiment: Experiment, setting: str, split: str) -> AskedSources:
    """The sources of a setting on a split, read once."""
    return experiment.once(("fuse", setting, split), lambda: _asked(experiment, setting, split))


def _asked(experiment: Experiment, setting: str, split: str) -> AskedSources:
    stored = StoredScores.read(score_folder(experiment) / f"{setting}.{split}.npz")
    queries, qrels = experiment.dataset.judged(split)
    retriever = BM25(experiment.snapshot(), 1.2, 0.75)
    lexical = replace(retriever.retrieve(queries, DEPTH), name=LEXICAL)
    names = [name for name in NAMES.values() if name in stored.scores and name in LOWEST]
    sources: list[RankedSource] = [retriever, *(StoredSource(stored, name) for name in names)]
    union = union_of([lexical, *(stored.run(name) for name in names)], sources, queries)
    dev, _ = experiment.dataset.judged("dev")
    of_words = experiment.once("BM25 levels", lambda: np.array(estimate(retriever, dev).levels))
    levels = [ScoreLevels(values, SHARES) for values in (of_words, *(stored.levels[name] for name in names))]
    given = replace(union, levels=tuple(partial(_same, one) for one in levels))
    return AskedSources(given, qrels, stored, lexical)


def _same(levels: ScoreLevels) -> ScoreLevels:
    return levels
