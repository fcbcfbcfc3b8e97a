"""Why a document stands where it stands: what sources, terms and tokens add to its score."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.answers.alignment import Alignment
from lexfuse.service.answers.card import Card
from lexfuse.service.answers.search import Mark
from lexfuse.service.answers.value import Value


class SourceShare(Value):
    """What one retriever adds to the score of a document.

    >>> SourceShare(source="bm25", score=1.0, rank=1, value=1.0, imputed=False, weight=0.5, contribution=0.5).weight
    0.5
    """

    source: str
    score: float | None  # raw; null where the source does not know it
    rank: int | None  # among the candidates
    value: float  # normalised
    imputed: bool
    weight: float
    contribution: float


class TermShare(Value):
    """What one term adds to a score that terms make.

    >>> TermShare(source="bm25", term="loi", in_query=1, in_document=2, idf=0.5, contribution=0.7).term
    'loi'
    """

    source: str
    term: str
    in_query: float
    in_document: float
    idf: float
    contribution: float


class TokenShare(Value):
    """Which token of the document a token of the query met, where tokens make the score.

    >>> TokenShare(source="colbert", in_query="loi", in_document="lois", similarity=0.9).similarity
    0.9
    """

    source: str
    in_query: str
    in_document: str
    similarity: float


class Why(Value):
    """Why a document stands where it stands, or would stand.

    >>> Why(document=Card(id="a"), rank=3, listed=False, score=0.1, sources=[]).listed
    False
    """

    document: Card
    rank: int
    listed: bool  # whether it is among the candidates
    allowed: bool = True  # whether the filters and the day let it through
    cited: bool = False  # whether the query names it, so that it stands first whatever its score
    score: float
    sources: list[SourceShare]
    terms: list[TermShare] = Field(default=[])  # of lexical and learned sparse retrievers, those that add most first
    tokens: list[TokenShare] = Field(default=[])
    snippet: Mark | None = None
    other_ranks: dict[str, int] = Field(default={})  # under other fusions
    before: Why | None = None  # before it was reranked
    alignment: Alignment | None = None


class Explained(Value):
    """The answer to why, or why not.

    >>> Explained.model_fields["why"].annotation
    <class 'lexfuse.service.answers.explanation.Why'>
    """

    index: str
    generation: int
    profile: str
    query: str
    why: Why
