"""A document as the query: what of it is asked, which documents are the same, and which are too late to be candidates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.dates import parse_date
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError
from lexfuse.search.temporal_filter import document_dates
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations as hidden
from lexfuse.text.kli import TermChoice

ID = "q"  # of a query that is a document
_LOOKED_AT = 100  # documents that may be the same as a text
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, eq=False)
class EligibleDocuments:
    """The documents that may answer, and how many were put aside for which reason."""

    within: Mask | None
    own: tuple[str, ...] = ()  # left out as the query's own document
    later: int = 0  # left out for their date
    undated: int = 0  # left out for having none


@dataclass(frozen=True, slots=True)
class SimilarQuery:
    """A text or a document of the index as the query."""

    query: Query  # with citations of decisions hidden, if that is wanted
    document: str | None  # its id, if it is one of the index
    text: str  # before anything was hidden


def query_from_text(text: str, language: str = "", *, mask: bool = False) -> SimilarQuery:
    """A text that is not of the index as the query; with ``mask`` without its citations of decisions.

    >>> query_from_text("As held in C-60/22, the lease ended.", mask=True).query.text
    'As held in, the lease ended.'
    """
    return SimilarQuery(Query(ID, hidden(text, DECISIONS) if mask else text, language), None, text)


def query_from_document(snapshot: Snapshot, id: str, language: str = "", *, mask: bool = False) -> SimilarQuery:
    """A document of the index as the query, in its own language unless one is given; `NotFoundError` for an unknown id.

    >>> query_from_document(snapshot, "lib-5").query.language
    'fr'
    """
    query = query_of(snapshot, snapshot.document(id))
    text = hidden(query.text, DECISIONS) if mask else query.text
    return SimilarQuery(replace(query, text=text, language=language or query.language), id, query.text)


def own_documents(snapshot: Snapshot, asked: SimilarQuery, names: Sequence[str] = ()) -> tuple[str, ...]:
    """The documents of the index that are the query: by id, by a name that it goes by, or by their text.

    >>> own_documents(snapshot, query_from_text(f"  {snapshot.document('lib-5').text} "), names=["lib-2", "lib-2.txt"])
    ('lib-2', 'lib-5')
    """
    if asked.document is not None:
        return (asked.document,)
    named = {name for name in names if name in snapshot.ids}
    return tuple(sorted(named.union(same_documents(snapshot, replace(asked.query, text=asked.text)))))


def known_day(value: str | datetime.date | None, called: str) -> datetime.date | None:
    """The day that a caller names, None if none is; `ConfigError`, with what the value is called, for one that is no known day.

    >>> known_day("2999-01-01", "before")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: before: a known day was expected, got '2999-01-01'
    """
    try:
        day = parse_date(value)
    except DataError as error:
        raise ConfigError(f"{called}: {error}") from None
    if value and day is None:
        raise ConfigError(f"{called}: a known day was expected, got {value!r}")
    return day


def last_day(asked: SimilarQuery, before: datetime.date | None, own: bool) -> datetime.date | None:
    """The day before which documents must be dated; of the day given and, if wanted, the query's own, the earlier.

    >>> day = datetime.date(2020, 1, 1)
    >>> last_day(SimilarQuery(Query("q", "…", date=day), "a", "…"), datetime.date(2021, 1, 1), own=True) == day
    True
    """
    if not own:
        return before
    if asked.document is None:
        raise ConfigError("a file has no date; give the day before which documents must be dated")
    if asked.query.date is None:
        raise DataError(f"document {asked.document!r} has no date; give the day before which documents must be dated")
    return min(before or asked.query.date, asked.query.date)


def query_of(snapshot: Snapshot, document: Document) -> Query:
    r"""A document of the index as a query: all that its words are indexed by.

    >>> query_of(snapshot, Document("a", title="Appeal", text="It is dismissed.", language="en")).text
    'Appeal\nIt is dismissed.'
    """
    text = "\n".join(text for text, _ in snapshot.settings.texts(document))
    if not text.strip():
        raise DataError(f"document {document.id!r} has no words that are indexed, so nothing can be like it")
    return Query(ID, text, document.language, document.date)


def same_documents(snapshot: Snapshot, query: Query) -> tuple[str, ...]:
    r"""The documents whose text is that of the query, however it is spaced.

    They are looked for among the 100 best matches, where the same text is, if the index has it.

    >>> same_documents(snapshot, Query("q", snapshot.document("lib-5").text.replace(" ", "\n")))
    ('lib-5',)
    """
    wanted = _SPACE.sub(" ", query.text).strip()
    near = open_retriever(snapshot, LEXICAL).retrieve(Queries.of([query]), _LOOKED_AT).hits(query.id)
    found = (snapshot.document(hit.doc) for hit in near)
    return tuple(sorted(document.id for document in found if _SPACE.sub(" ", document.text).strip() == wanted))


def candidates(
    snapshot: Snapshot, within: Mask | None, *, own: tuple[str, ...] = (), before: datetime.date | None = None
) -> EligibleDocuments:
    """The documents of a mask without the query's own and, if a day is given, without those that are not dated before it.

    >>> found = candidates(snapshot, None, own=("lib-5",), before=datetime.date(2020, 6, 1))
    >>> int(found.within.sum()), found.own, found.undated
    (0, ('lib-5',), 5)
    """
    if not own and before is None:
        return EligibleDocuments(within)
    allowed = np.ones(len(snapshot), dtype=np.bool_) if within is None else within.copy()
    allowed[[snapshot.ids.ordinal(id) for id in own if id in snapshot.ids]] = False  # it may be in force on another day
    if before is None:
        return EligibleDocuments(allowed, own)
    dates = document_dates(snapshot)
    undated = allowed & np.isnat(dates)
    early = dates < np.datetime64(before)  # never true for NaT
    later = allowed & ~early & ~undated
    return EligibleDocuments(allowed & early, own, int(later.sum()), int(undated.sum()))


SENTENCES = "sentences"  # the channel that whole judgments are compared by
SIMILAR_DEPTH = 100  # documents that are compared sentence by sentence with a whole judgment


def open_similar(snapshot: Snapshot, terms: TermChoice | None = None, *, k1: float = 2.8, b: float = 1.0) -> Retriever:
    """What finds documents like a whole judgment: BM25 on its most informative terms, and RPRS where there are sentences.

    The parameters are those that RPRS takes for judgments; the index has sentences if it has a dense channel of that name.

    >>> open_similar(snapshot).name
    'bm25'
    """
    first = open_retriever(snapshot, "bm25", k1=k1, b=b, terms=terms or TermChoice())
    if SENTENCES not in snapshot.channels:
        return first
    from lexfuse.rerank.rprs import Rprs

    sentences = open_retriever(snapshot, SENTENCES)
    return first >> Rprs(sentences, depth=SIMILAR_DEPTH) if isinstance(sentences, PassageRetriever) else first
