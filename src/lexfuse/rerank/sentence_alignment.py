"""The matching sentences of a query and a document, and the resulting map of their paragraphs."""

from __future__ import annotations

from collections.abc import Sequence

from lexfuse.channels.explanation import ParagraphPair, SentencePair
from lexfuse.rerank.nearest_sentences import NearestSentences
from lexfuse.rerank.sentence_vectors import CandidateSentences, QuerySentences
from lexfuse.text.paragraph_map import ParagraphMap
from lexfuse.text.passages import Passage


def sentence_pairs(
    query: QuerySentences, candidates: CandidateSentences, found: NearestSentences, doc: int
) -> tuple[SentencePair, ...]:
    """The matches of one candidate, given by its position among the candidates.

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
    r"""The matching paragraphs of two texts, by number of matches, then by best cosine.

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
