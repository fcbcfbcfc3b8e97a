"""A document as the query: what of it is asked, which documents are the same, and which are too late to be candidates."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

import numpy as np

from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import DataError
from lexfuse.index.snapshot import Snapshot
from lexfuse.retrieve.bm25 import BM25
from lexfuse.retrieve.retriever import Mask
from lexfuse.retrieve.temporal import document_dates

ID = "q"  # of a query that is a document
_LOOKED_AT = 100  # documents that may be the same as a text
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The documents that may answer, and how many were put aside for which reason.

    >>> Candidates(None, ("a",)).own
    ('a',)
    """

    within: Mask | None
    own: tuple[str, ...] = ()  # left out as the query's own document
    later: int = 0  # left out for their date
    undated: int = 0  # left out for having none


def query_of(snapshot: Snapshot, document: Document) -> Query:
    r"""A document of the index as a query: all that its words are indexed by.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     query_of(snapshot, Document("a", title="Appeal", text="It is dismissed.", language="en")).text
    'Appeal\nIt is dismissed.'
    """
    text = "\n".join(text for text, _ in snapshot.settings.texts(document))
    if not text.strip():
        raise DataError(f"document {document.id!r} has no words that are indexed, so nothing can be like it")
    return Query(ID, text, document.language, document.date)


def same_documents(snapshot: Snapshot, query: Query) -> tuple[str, ...]:
    r"""The documents whose text is that of the query, however it is spaced.

    They are looked for among the 100 best matches, where the same text stands if any does.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> documents = [Document("a", text="The  appeal\nis dismissed."), Document("b", text="The appeal is allowed.")]
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         same_documents(snapshot, Query("q", "The appeal is dismissed."))
    ('a',)
    """
    wanted = _SPACE.sub(" ", query.text).strip()
    near = BM25(snapshot).retrieve(Queries.of([query]), _LOOKED_AT).hits(query.id)
    found = (snapshot.document(hit.doc) for hit in near)
    return tuple(sorted(document.id for document in found if _SPACE.sub(" ", document.text).strip() == wanted))


def candidates(
    snapshot: Snapshot, within: Mask | None, *, own: tuple[str, ...] = (), before: datetime.date | None = None
) -> Candidates:
    """The documents of a mask without the query's own and, if a day is given, without those that are not dated before it.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> documents = [Document("a"), Document("b", date=datetime.date(2020, 1, 1)), Document("c", date=datetime.date(2021, 1, 1))]
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i", documents=documents) as index:
    ...     with index.snapshot() as snapshot:
    ...         found = candidates(snapshot, None, before=datetime.date(2020, 6, 1))
    >>> found.within.tolist(), found.later, found.undated
    ([False, True, False], 1, 1)
    """
    if not own and before is None:
        return Candidates(within)
    allowed = np.ones(len(snapshot), dtype=np.bool_) if within is None else within.copy()
    allowed[[snapshot.ids.ordinal(id) for id in own]] = False
    if before is None:
        return Candidates(allowed, own)
    dates = document_dates(snapshot)
    undated = allowed & np.isnat(dates)
    early = dates < np.datetime64(before)  # never true for NaT
    later = allowed & ~early & ~undated
    return Candidates(allowed & early, own, int(later.sum()), int(undated.sum()))
