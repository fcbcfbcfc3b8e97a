"""Reranking by the structure of the law: the sections that hold an article, and the articles that cite it.

A section divides one rule into articles. Where a question matches one of them, those around it often answer it too, although they
do not repeat the words or the topic. And articles that match a question cite the one that sets the rule: the sanction names the
duty, the decree names the statute. The new score of a candidate is

    (1 - section - cited) x its own score
    + section x the highest score in its section
    + cited   x the highest score of the candidates that cite it

Scores are scaled to the interval from 0 (the last candidate) to 1 (the first). A document without a code or headings is a section
alone: its own score counts for those of its section. So is a paragraph of a judgment, since judgments as sections gained nothing
for paragraphs that cite one another. Citations are those that ``lexfuse import`` recorded. The mean score of a section, and the
sections next to it, were tried as further parts and added nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from lexfuse.channels.explanation import Evidence, StructureEvidence
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.rerank.citation_graph import CitationGraph
from lexfuse.rerank.document_sections import DocumentSections
from lexfuse.rerank.reranker import Reranker, check_depth, first_documents, reorder
from lexfuse.storage.snapshot import Snapshot

DEPTH = 1000


@dataclass(frozen=True, slots=True)
class StructureWeights:
    """How much the section and citing documents count; the rest is the weight of a document's own score.

    >>> StructureWeights(section=0.3, cited=0.2).own
    0.5
    """

    section: float = 0.35
    cited: float = 0.2

    def __post_init__(self) -> None:
        """Refuse weights that leave nothing to a document's own score."""
        for name in self.__slots__:
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 0 and less than 1, got {getattr(self, name)}")
        if self.own <= 0:
            raise ConfigError(
                f"section and cited add up to {1 - self.own:g}; they must leave something to a document's own score"
            )

    @property
    def own(self) -> float:
        """The weight of a document's own score."""
        return round(1 - self.section - self.cited, 12)


PARTS = ("own", *(field.name for field in fields(StructureWeights)))  # of a new score


@dataclass(frozen=True, slots=True, eq=False)
class StructureScores:
    """The scores of the candidates of one query, between 0 and 1, and those of what surrounds them."""

    own: F64
    section: F64
    cited: F64
    citing: I64  # the position of the candidate that gives `cited`; -1 where none cites the document

    @classmethod
    def of(cls, sections: DocumentSections, graph: CitationGraph, docs: I32, scores: F32) -> StructureScores:
        """Those of candidates, given by their numbers and their scores, the first one first."""
        own = scaled(scores)
        section, member = np.unique(sections.own[docs], return_inverse=True)
        best = np.zeros(len(section))
        np.maximum.at(best, member, own)
        nearest = np.full(len(docs), len(docs), dtype=np.int64)
        citing, cited = graph.among(docs)
        np.minimum.at(nearest, cited, citing)  # the candidate that ranks highest
        support = np.append(own, 0.0)[nearest]
        return cls(own, best[member], support, np.where(nearest < len(docs), nearest, -1))

    def total(self, weights: StructureWeights) -> F64:
        """The new scores."""
        total = np.zeros(len(self.own))
        for part in PARTS:
            total += getattr(weights, part) * getattr(self, part)
        return total


def scaled(scores: F32) -> F64:
    """Scores between 0 and 1; equal ones become 1.

    >>> scaled(np.array([5, 3, 1], np.float32)).tolist()
    [1.0, 0.5, 0.0]
    """
    low, high = (float(scores[at]) for at in (-1, 0)) if len(scores) else (0.0, 0.0)
    return (scores.astype(np.float64) - low) / (high - low) if high > low else np.ones(len(scores))


@dataclass(frozen=True)
class Structure(Reranker):
    """The first `depth` documents of a ranking, each with the support of its section and of those that cite it.

    >>> from lexfuse.channels.lexical.bm25 import BM25
    >>> pipeline = BM25(snapshot) >> Structure(snapshot)
    >>> [hit.doc for hit in pipeline.retrieve(Queries.of([Query("q", "retard de prêt", "fr")]), 2).hits("q")]
    ['lib-4', 'lib-3']
    """

    snapshot: Snapshot
    weights: StructureWeights = StructureWeights()
    depth: int = DEPTH

    def __post_init__(self) -> None:
        """Refuse an invalid depth."""
        check_depth(self.depth)

    @property
    def name(self) -> str:
        """Constant: the name of its part in runs."""
        return "structure"

    @property
    def sections(self) -> DocumentSections:
        """The sections of the index."""
        return DocumentSections.of(self.snapshot)

    @property
    def graph(self) -> CitationGraph:
        """The citations between the documents of the index."""
        return CitationGraph.of(self.snapshot)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts of a score that this index can give: all of `PARTS` where it has sections and citations."""
        sections, citations = bool(self.sections.paths), len(self.graph.cited) > 0
        return tuple(part for part in PARTS if part == "own" or (citations if part == "cited" else sections))

    def rerank(self, queries: Queries, run: Run, *, depth: int) -> Run:
        """The run with its first documents reranked."""
        pairs = first_documents(run, depth)
        scores = np.empty(len(pairs), dtype=np.float32)
        for start, stop in zip(pairs.offsets[:-1].tolist(), pairs.offsets[1:].tolist(), strict=True):
            scores[start:stop] = self.scores(pairs.doc[start:stop], pairs.score[start:stop]).total(self.weights)
        return reorder(run, self.name, scores, depth)

    def scores(self, docs: I32, scores: F32) -> StructureScores:
        """The parts of the new scores of the candidates of one query, given by their numbers and scores, the first one first."""
        return StructureScores.of(self.sections, self.graph, docs, scores)

    def evidence_of(self, query: Query, docs: Sequence[str], first: Retriever, *, within: Mask | None = None) -> list[Evidence]:
        """What each part adds to the score of each document that is reranked, its section, and who supports it."""
        run = first_documents(first.retrieve(Queries.of([query]), self.depth, within=within), self.depth)
        found = self.scores(run.doc, run.score)
        places = {int(doc): at for at, doc in enumerate(run.doc)}
        own = self.sections.own[run.doc]
        evidence = []
        for doc in docs:
            at = places.get(self.snapshot.ids.ordinal(doc))
            if at is None:
                evidence.append(Evidence())
                continue
            members = np.flatnonzero(own == own[at])
            citing = int(found.citing[at])
            structure = StructureEvidence(
                path=self.sections.path(int(run.doc[at])),
                candidates=len(members),
                documents=int(self.sections.size[own[at]]),
                best_document=self.snapshot.ids[int(run.doc[members[0]])],
                citing_document=self.snapshot.ids[int(run.doc[citing])] if citing >= 0 else None,
                **{part: getattr(self.weights, part) * float(getattr(found, part)[at]) for part in PARTS},
            )
            evidence.append(Evidence(structure=structure))
        return evidence
