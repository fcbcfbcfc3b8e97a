"""Section reranking: the better a section answers a question, the likelier each of its articles belongs to the answer.

A section divides one rule into articles. Where a question matches one of them, those around it often answer it too, although they
do not repeat the words or the topic. The new score of a candidate is

    (1 - best - mean - above) x its own score
    + best  x the highest score in its section
    + mean  x the mean score of its section
    + above x the highest score in its section and those next to it, which have the same heading above them

Scores are scaled to the interval from 0 (the last candidate) to 1 (the first). A document that is no candidate counts as 0. A
document without a code or headings is a section alone and keeps its own score. So is a paragraph of a judgment: judgments as
sections gained nothing for paragraphs that cite one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lexfuse.channels.explanation import Evidence, SectionEvidence
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.arrays import F32, F64, I32
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.rerank.document_sections import DocumentSections
from lexfuse.rerank.reranker import Reranker, check_depth, first_documents, reorder
from lexfuse.storage.snapshot import Snapshot

DEPTH = 1000


@dataclass(frozen=True, slots=True)
class SectionWeights:
    """What the scores of a section and of its neighbours count; the rest is the weight of a document's own score.

    >>> SectionWeights(best=0.3, mean=0.2, above=0.2).own
    0.3
    """

    best: float = 0.25
    mean: float = 0.15
    above: float = 0.15

    def __post_init__(self) -> None:
        """Refuse weights that leave nothing to a document's own score."""
        for name in self.__slots__:
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 0 and less than 1, got {getattr(self, name)}")
        if self.own <= 0:
            raise ConfigError(
                f"best, mean and above add up to {1 - self.own:g}; they must leave something to a document's own score"
            )

    @property
    def own(self) -> float:
        """The weight of a document's own score."""
        return round(1 - self.best - self.mean - self.above, 12)


@dataclass(frozen=True, slots=True, eq=False)
class SectionScores:
    """The scores of the candidates of one query, between 0 and 1, and those of their sections."""

    own: F64
    best: F64
    mean: F64
    above: F64

    @classmethod
    def of(cls, sections: DocumentSections, docs: I32, scores: F32) -> SectionScores:
        """Those of candidates, given by their numbers and their scores, the first one first."""
        own = scaled(scores)
        section, member = np.unique(sections.own[docs], return_inverse=True)
        best = np.zeros(len(section))
        np.maximum.at(best, member, own)
        mean = np.bincount(member, own, len(section)) / sections.size[section]
        upper, child = np.unique(sections.above[section], return_inverse=True)
        above = np.zeros(len(upper))
        np.maximum.at(above, child, best)
        return cls(own, best[member], mean[member], above[child][member])

    def total(self, weights: SectionWeights) -> F64:
        """The new scores."""
        return weights.own * self.own + weights.best * self.best + weights.mean * self.mean + weights.above * self.above


def scaled(scores: F32) -> F64:
    """Scores between 0 and 1; equal ones become 1.

    >>> scaled(np.array([5, 3, 1], np.float32)).tolist()
    [1.0, 0.5, 0.0]
    """
    low, high = (float(scores[at]) for at in (-1, 0)) if len(scores) else (0.0, 0.0)
    return (scores.astype(np.float64) - low) / (high - low) if high > low else np.ones(len(scores))


@dataclass(frozen=True)
class Section(Reranker):
    """The first `depth` documents of a ranking, each with the support of its section.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> pipeline = BM25(snapshot) >> Section(snapshot)
    >>> [hit.doc for hit in pipeline.retrieve(Queries.of([Query("q", "retard de prêt", "fr")]), 2).hits("q")]
    ['lib-4', 'lib-3']
    """

    snapshot: Snapshot
    weights: SectionWeights = SectionWeights()
    depth: int = DEPTH

    def __post_init__(self) -> None:
        """Refuse an invalid depth."""
        check_depth(self.depth)

    @property
    def name(self) -> str:
        """Constant: the name of its part in runs."""
        return "section"

    @cached_property
    def sections(self) -> DocumentSections:
        """The sections of the index."""
        return DocumentSections.of(self.snapshot)

    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with its first documents reranked."""
        pairs = first_documents(run, depth)
        scores = np.empty(len(pairs), dtype=np.float32)
        for start, stop in zip(pairs.offsets[:-1].tolist(), pairs.offsets[1:].tolist(), strict=True):
            scores[start:stop] = self.scores(pairs.doc[start:stop], pairs.score[start:stop]).total(self.weights)
        return reorder(run, self.name, scores, depth)

    def scores(self, docs: I32, scores: F32) -> SectionScores:
        """The parts of the new scores of the candidates of one query, given by their numbers and scores, the first one first."""
        return SectionScores.of(self.sections, docs, scores)

    def evidence_of(self, query: Query, docs: Sequence[str], first: Retriever, *, within: Mask | None = None) -> list[Evidence]:
        """The section of each document that is reranked, what each part adds to its score, and the best article there."""
        run = first_documents(first.retrieve(Queries.of([query]), self.depth, within=within), self.depth)
        found = self.scores(run.doc, run.score)
        places = {int(doc): at for at, doc in enumerate(run.doc)}
        own = self.sections.own[run.doc]
        evidence = []
        for doc in docs:
            at = places.get(self.snapshot.ids.ordinal(doc))
            if at is None or not (path := self.sections.path(int(run.doc[at]))):
                evidence.append(Evidence())
                continue
            members = np.flatnonzero(own == own[at])
            section = SectionEvidence(
                path=path,
                candidates=len(members),
                documents=int(self.sections.size[own[at]]),
                best_document=self.snapshot.ids[int(run.doc[members[0]])],
                own=self.weights.own * float(found.own[at]),
                best=self.weights.best * float(found.best[at]),
                mean=self.weights.mean * float(found.mean[at]),
                above=self.weights.above * float(found.above[at]),
            )
            evidence.append(Evidence(section=section))
        return evidence
