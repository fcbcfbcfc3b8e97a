"""What the service answers, as values: one shape for JSON, for the page and for assistants.

All are frozen; spans count characters of the text that stands beside them, from 0, with the end left out.
"""

from __future__ import annotations

import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Span = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]


class Value(BaseModel):
    """The root of all answers: frozen, and with no field that is not told.

    >>> Value().model_dump()
    {}
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


class Mark(Value):
    """A part of the text of a document that is shown, with what to mark in it.

    >>> Mark(text="la loi", matches=[(3, 6)]).matches[0]
    (3, 6)
    """

    text: str
    matches: list[Span] = []  # words and citations of the query
    best: Span | None = None  # the sentence that answers best
    cut_before: bool = False  # whether the document's text goes on before it
    cut_after: bool = False


class Card(Value):
    """A document without its text: what a list of documents shows.

    >>> Card(id="a", title="Article 1").title
    'Article 1'
    """

    id: str
    title: str = ""
    kind: str = "other"
    language: str = ""
    code: str = ""
    number: str = ""
    headings: list[str] = []
    court: str = ""
    date: datetime.date | None = None
    valid_from: datetime.date | None = None
    valid_to: datetime.date | None = None
    status: str = ""
    identifiers: list[str] = []


class Result(Card):
    """A document that was found.

    >>> Result(id="a", rank=1, found="bm25", score=2.0, snippet=Mark(text="")).rank
    1
    """

    rank: int
    found: str  # "citation" for a document that the query names, else the retriever
    score: float
    snippet: Mark
    sources: dict[str, float | None] = {}  # raw score of each source that was fused; null where it has none


class FacetValue(Value):
    """A value of a field, and how many candidates have it.

    >>> FacetValue(value="Code du travail", count=12).chosen
    False
    """

    value: str
    count: int
    chosen: bool = False  # whether a filter of the request asks for it
    filters: list[str] = []  # those of the request after this value is chosen, or let go


class Facet(Value):
    """The values of one field among the candidates, most frequent first; the field's own filter is not applied to it.

    >>> Facet(field="code", values=[]).more
    0
    """

    field: str  # code, court, kind, year or language
    values: list[FacetValue]
    more: int = 0  # values that are not listed


class Timing(Value):
    """How long each stage took, in milliseconds.

    >>> Timing(total=3.5, stages={"search": 3.0}).total
    3.5
    """

    total: float
    stages: dict[str, float] = {}


class SearchPage(Value):
    """One page of results.

    >>> SearchPage(index="i", generation=1, profile="bm25", query="loi", results=[], timing=Timing(total=0.0)).next_cursor
    """

    index: str
    generation: int  # the version of the index that answered
    profile: str
    query: str
    results: list[Result]
    facets: list[Facet] = []
    candidates: int | None = None  # how many documents were ranked; the facets count these
    next_cursor: str | None = None
    notes: list[str] = []  # what the reader should know: documents left out, words without effect
    timing: Timing


class Term(Value):
    """A term of a whole document that is searched for, which the caller may edit.

    >>> Term(word="licenciement", term="licenci", count=4, informativeness=0.5, weight=1.0).count
    4
    """

    word: str
    term: str
    count: int
    informativeness: float
    weight: float


class AlignedParagraph(Value):
    """A paragraph of a text: its number, if it has one, and its words.

    >>> AlignedParagraph(number="3", text="…", span=(0, 1)).number
    '3'
    """

    number: str | None
    text: str
    span: Span


class AlignedPair(Value):
    """A paragraph of the query and one of the document whose sentences met.

    >>> AlignedPair.model_fields["meetings"].is_required()
    True
    """

    query: AlignedParagraph
    document: AlignedParagraph
    meetings: int
    cosine: float


class Alignment(Value):
    """How much of a query a document covers, and the reverse (RPRS), with the paragraphs that met most.

    >>> Alignment(query_proportion=0.5, document_proportion=0.25, pairs=[]).more
    0
    """

    query_proportion: float | None
    document_proportion: float | None
    pairs: list[AlignedPair]
    more: int = 0


class SimilarResult(Result):
    """A document that is like the query.

    >>> SimilarResult(id="a", rank=1, found="bm25", score=2.0, snippet=Mark(text="")).alignment
    """

    alignment: Alignment | None = None


class SimilarPage(Value):
    """Documents like a whole document.

    >>> SimilarPage.model_fields["words"].annotation
    <class 'int'>
    """

    index: str
    generation: int
    profile: str
    words: int  # of the query
    document: str | None = None  # the id of the document that is the query, if it is one of the index
    terms: list[Term] = []
    distinct: int = 0  # terms of the query before the most informative were chosen
    results: list[SimilarResult]
    left_out: dict[str, int] = {}  # later and undated documents, the document itself
    notes: list[str] = []
    timing: Timing


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
    terms: list[TermShare] = []  # of lexical and learned sparse retrievers, those that add most first
    tokens: list[TokenShare] = []
    snippet: Mark | None = None
    other_ranks: dict[str, int] = {}  # under other fusions
    before: Why | None = None  # before it was reranked
    alignment: Alignment | None = None


class Explained(Value):
    """The answer to why, or why not.

    >>> Explained.model_fields["why"].annotation
    <class 'lexfuse.service.models.Why'>
    """

    index: str
    generation: int
    profile: str
    query: str
    why: Why


class Move(Value):
    """Where a result of one profile stands beside the first profile: moved, new, or the same.

    >>> Move(result=Result(id="a", rank=1, found="bm25", score=2.0, snippet=Mark(text="")), before=3).before
    3
    """

    result: Result
    before: int | None  # its rank under the first profile; null if that does not list it: it is new


class Ranking(Value):
    """The results of one profile, with moves, and what was lost.

    >>> Ranking(profile="bm25", results=[], lost=[], timing=Timing(total=1.0)).lost
    []
    """

    profile: str
    results: list[Move]
    lost: list[Result]  # results of the first profile that this one does not list
    timing: Timing


class Comparison(Value):
    """Two or three profiles side by side; moves are told beside the first.

    >>> Comparison.model_fields["rankings"].is_required()
    True
    """

    index: str
    generation: int
    query: str
    rankings: list[Ranking]


class Cited(Value):
    """A citation that a text holds, and the documents of the index that it means.

    >>> Cited(text="L. 1", span=(0, 4), system="french article", key="L1", documents=[]).key
    'L1'
    """

    text: str
    span: Span
    system: str
    key: str
    documents: list[Card]
    more: int = 0  # documents that it means and that are not listed: a range of articles may have hundreds


class Resolved(Value):
    """Every citation of a text.

    >>> Resolved(index="i", generation=1, citations=[]).citations
    []
    """

    index: str
    generation: int
    citations: list[Cited]


class TextParagraph(Value):
    """A paragraph of a document, with the citations in it.

    >>> TextParagraph(anchor="p3", number="3", span=(0, 9), text="…").anchor
    'p3'
    """

    anchor: str
    number: str | None
    span: Span
    text: str
    citations: list[Cited] = []


class WholeDocument(Card):
    """A document with its text and what stands around it.

    >>> WholeDocument(id="a", text="la loi", etag="1").etag
    '1'
    """

    text: str
    extra: dict[str, Any] = {}
    etag: str
    paragraphs: list[TextParagraph] = []
    cites: list[Card] = []
    cited_by: list[Card] = []
    cited_by_count: int = 0  # of which the list may be the beginning
    previous: Card | None = None  # in the code, or in the judgment
    next: Card | None = None
    versions: list[Card] = []  # other versions of the same article


class DocumentAnswer(Value):
    """A document, and which version of which index holds it.

    >>> DocumentAnswer.model_fields["document"].is_required()
    True
    """

    index: str
    generation: int
    document: WholeDocument


class Change(StrEnum):
    """What became of a document.

    >>> Change("created")
    <Change.CREATED: 'created'>
    """

    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    DELETED = "deleted"


class Written(Value):
    """What became of a document that was written, and from which version of the index on.

    >>> Written(index="i", generation=2, id="a", change=Change.DELETED).etag
    """

    index: str
    generation: int
    id: str
    change: Change
    etag: str | None = None  # of the document as it is now; null for one that is gone
    notes: list[str] = []  # what is left to do: channels that do not hold it yet


class Judgement(Value):
    """How well a document answers a question, as somebody found.

    >>> Judgement.model_fields["grade"].is_required()
    True
    """

    query: str
    query_id: str  # as the qrels call it
    document: str
    grade: int  # above 0: relevant
    rank: int | None = None  # among the results that were shown
    profile: str = ""
    moment: datetime.datetime
    generation: int  # of the index that was searched


class Judgements(Value):
    """What was judged on an index, in the order in which it was said; of two on one document and question the last counts.

    >>> Judgements(index="i", judgements=[]).judgements
    []
    """

    index: str
    judgements: list[Judgement]


class ProfileCard(Value):
    """A way to search that the service offers.

    >>> ProfileCard(name="bm25", channels=["bm25"]).usable
    True
    """

    name: str
    description: str = ""
    channels: list[str]
    evidence: dict[str, str | int | float] = {}
    usable: bool = True
    reason: str = ""  # why it is not


class IndexCard(Value):
    """An index that the service offers, and how it can be searched.

    >>> IndexCard.model_fields["documents"].annotation
    <class 'int'>
    """

    name: str
    title: str
    documents: int
    generation: int
    languages: dict[str, int]
    default_profile: str
    profiles: list[ProfileCard]


class Profiles(Value):
    """Everything that can be searched, and how.

    >>> Profiles(indexes=[]).indexes
    []
    """

    indexes: list[IndexCard]
