"""Which sentence of a query met which sentence of a document, and the map of their paragraphs that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lexfuse.rerank.nearest_sentences import NearestSentences
from lexfuse.rerank.sentence_vectors import CandidateSentences, QuerySentences
from lexfuse.text.paragraph_map import ParagraphMap, TextParagraph
from lexfuse.text.passages import Passage


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A sentence of the document that is among the most similar ones of a sentence of the query.

    >>> SentencePair(Passage(0, 8), Passage(9, 20), 0.75, 1).rank
    1
    """

    query: Passage
    doc: Passage
    cosine: float
    rank: int  # among the candidate sentences for that sentence of the query


@dataclass(frozen=True, slots=True)
class ParagraphPair:
    """A paragraph of the query and one of the document, how often their sentences met, and their best cosine.

    >>> ParagraphPair(TextParagraph(0, 0, 9, None), TextParagraph(4, 50, 99, "3"), 2, 0.75).doc.number
    '3'
    """

    query: TextParagraph
    doc: TextParagraph
    meetings: int
    cosine: float


@dataclass(frozen=True, slots=True)
class ProportionalRelevance:
    """Why RPRS gives a document its score; None where it gives none.

    >>> ProportionalRelevance("d1", 0.125, 0.5, 0.25, (), ()).as_json()["query_proportion"]
    0.5
    """

    doc: str
    score: float | None
    query_proportion: float | None
    document_proportion: float | None
    meetings: tuple[SentencePair, ...]  # by where they stand in the query, then by rank
    paragraphs: tuple[ParagraphPair, ...]  # those that met most often first

    def as_json(self) -> dict[str, Any]:
        """Plain values: spans are characters of the texts, paragraphs their places and numbers."""
        return {
            "doc": self.doc,
            "score": self.score,
            "query_proportion": self.query_proportion,
            "document_proportion": self.document_proportion,
            "meetings": [
                {
                    "query": [one.query.start, one.query.end],
                    "doc": [one.doc.start, one.doc.end],
                    "cosine": one.cosine,
                    "rank": one.rank,
                }
                for one in self.meetings
            ],
            "paragraphs": [
                {
                    "query": _paragraph(pair.query),
                    "doc": _paragraph(pair.doc),
                    "meetings": pair.meetings,
                    "cosine": pair.cosine,
                }
                for pair in self.paragraphs
            ],
        }


def sentence_pairs(
    query: QuerySentences, candidates: CandidateSentences, found: NearestSentences, doc: int
) -> tuple[SentencePair, ...]:
    """The meetings of one candidate, given by its place among the candidates.

    >>> import numpy as np
    >>> from lexfuse.rerank.nearest_sentences import nearest
    >>> query = QuerySentences((Passage(0, 5),), np.eye(2, dtype=np.float32)[:1])
    >>> candidates = CandidateSentences.of([np.eye(2, dtype=np.float32)])
    >>> sentence_pairs(query, candidates, nearest(query.vectors, candidates, 1), 0)
    (SentencePair(query=Passage(start=0, end=5, number=None), doc=Passage(start=0, end=0, number=None), cosine=1.0, rank=1),)
    """
    first, last = int(candidates.starts[doc]), int(candidates.starts[doc + 1])
    places = ((found.rows >= first) & (found.rows < last)).nonzero()
    return tuple(
        SentencePair(
            query.spans[sentence],
            Passage(*candidates.spans[int(found.rows[sentence, at])].tolist()),
            float(found.cosines[sentence, at]),
            at + 1,
        )
        for sentence, at in zip(*(place.tolist() for place in places), strict=True)
    )


def paragraph_pairs(query: ParagraphMap, doc: ParagraphMap, meetings: Sequence[SentencePair]) -> tuple[ParagraphPair, ...]:
    r"""The map of paragraphs between two texts, those that met most often first, then by their best cosine.

    >>> query, doc = ParagraphMap("1. Rent.\n2. Costs."), ParagraphMap("1. All.\n2. Lease.")
    >>> [pair] = paragraph_pairs(query, doc, [SentencePair(Passage(9, 18), Passage(0, 7), 0.5, 1)])
    >>> pair.query.number, pair.doc.number, pair.meetings
    ('2', '1', 1)
    """
    groups: dict[tuple[int, int], list[float]] = {}
    own = zip(query.of([one.query.start for one in meetings]), doc.of([one.doc.start for one in meetings]), strict=True)
    for (left, right), meeting in zip(own, meetings, strict=True):
        groups.setdefault((int(left), int(right)), []).append(meeting.cosine)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), -max(group[1]), group[0]))
    return tuple(
        ParagraphPair(query.paragraphs[left], doc.paragraphs[right], len(cosines), max(cosines))
        for (left, right), cosines in ordered
    )


def _paragraph(paragraph: TextParagraph) -> dict[str, Any]:
    return {"at": paragraph.at, "number": paragraph.number, "start": paragraph.start, "end": paragraph.end}
