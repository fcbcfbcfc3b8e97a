"""The context of a document in its index: who cites it, what comes before and after it, its other versions.

Everything is read from the columns of the catalog, no text; what costs more than a look is derived once for each version of the
index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lexfuse.channels.citation import article_order
from lexfuse.data.arrays import I32, I64, offsets_of
from lexfuse.data.document import Document, DocumentKind
from lexfuse.rerank.citation_graph import CitationGraph
from lexfuse.search.index_version import IndexVersion
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.citation.resolve import number_key

_BEGINNING, _END = "", "9999"  # of a validity that is open


class _Citing(NamedTuple):
    """The citations between documents: the documents that cite document n are ``citing[starts[n]:starts[n + 1]]``."""

    starts: I64
    citing: I32


def citing_documents(version: IndexVersion, doc: int) -> list[int]:
    """The documents that cite one, by their numbers, in the order of codes and articles.

    >>> version = IndexVersion(snapshot)
    >>> [snapshot.ids[one] for one in citing_documents(version, snapshot.ids.ordinal("lib-3"))]
    []
    """
    table = version.cached("cited by", lambda: _citing(version))
    found: list[int] = table.citing[int(table.starts[doc]) : int(table.starts[doc + 1])].tolist()
    return found


def neighbours(version: IndexVersion, document: Document) -> tuple[int | None, int | None]:
    """The articles before and after one in its code, or the paragraphs of its judgment; None at the ends, and for others.

    Of an article that has several versions, the one is taken that was in force with the document.
    """
    doc = version.snapshot.ids.ordinal(document.id)
    if document.kind is DocumentKind.PARAGRAPH:
        return _around(version.snapshot, document, doc)
    if not document.code or not document.number:
        return None, None
    return _siblings(version, document, doc, -1), _siblings(version, document, doc, 1)


def versions(version: IndexVersion, document: Document) -> list[int]:
    """The other versions of an article: same code, number and language, other days; the oldest first."""
    if not document.code or not document.number or document.kind is DocumentKind.PARAGRAPH:
        return []
    snapshot = version.snapshot
    doc = snapshot.ids.ordinal(document.id)
    around = [*_same_article(version, doc, -1), *_same_article(version, doc, 1)]
    own, language = _validity(snapshot, doc), _value(snapshot, "language", doc)
    others = [one for one in around if _validity(snapshot, one) != own and _value(snapshot, "language", one) == language]
    return sorted(others, key=lambda one: (_validity(snapshot, one), snapshot.ids[one]))


def _citing(version: IndexVersion) -> _Citing:
    graph, place = CitationGraph.of(version.snapshot), _places(version)
    citing, cited = graph.citing, graph.cited
    order = np.lexsort((place[citing], cited))
    return _Citing(offsets_of(np.bincount(cited, minlength=len(place)).astype(np.int64)), citing[order])


def _places(version: IndexVersion) -> I64:
    """The position of each document in the order of codes and articles."""

    def made() -> I64:
        order = version.citations.order
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place

    return version.cached("places in the codes", made)


def _value(snapshot: Snapshot, column: str, doc: int) -> str:
    codes, values = snapshot.coded(column)
    return values[int(codes[doc])] or ""


def _validity(snapshot: Snapshot, doc: int) -> tuple[str, str]:
    return _value(snapshot, "valid_from", doc) or _BEGINNING, _value(snapshot, "valid_to", doc) or _END


def _siblings(version: IndexVersion, document: Document, doc: int, step: int) -> int | None:
    """The next article in one direction, in the version that was in force with this one, else its newest."""
    snapshot = version.snapshot
    last = ([doc, *_same_article(version, doc, step)])[-1]
    beyond = next(_walk(version, last, step), None)
    if beyond is None:
        return None
    found = [beyond, *_same_article(version, beyond, step)]
    start, end = _validity(snapshot, doc)

    def fits(one: int) -> tuple[bool, bool, str]:
        begins, ends = _validity(snapshot, one)
        return _value(snapshot, "language", one) == document.language, begins < end and start < ends, begins

    return max(found, key=fits)


def _same_article(version: IndexVersion, doc: int, step: int) -> list[int]:
    """The documents after one, in one direction, that have its code and number."""
    number = number_key(_value(version.snapshot, "number", doc))
    found = []
    for one in _walk(version, doc, step):
        if number_key(_value(version.snapshot, "number", one)) != number:
            break
        found.append(one)
    return found


def _walk(version: IndexVersion, doc: int, step: int) -> Iterator[int]:
    """The documents of the same code after one, in one direction; those without a number are no articles."""
    snapshot, order = version.snapshot, version.citations.order
    code, at = _value(snapshot, "code", doc), int(_places(version)[doc]) + step
    while 0 <= at < len(order) and _value(snapshot, "code", one := int(order[at])) == code:
        if _value(snapshot, "number", one):
            yield one
        at += step


def _around(snapshot: Snapshot, document: Document, doc: int) -> tuple[int | None, int | None]:
    """The paragraphs before and after one in its judgment: those with the same identifiers, by number."""
    if not document.identifiers or not document.number:
        return None, None
    codes, _ = snapshot.coded("identifiers")
    kinds, names = snapshot.coded("kind")
    same = np.flatnonzero((codes == codes[doc]) & (kinds == names.index(DocumentKind.PARAGRAPH.value))).tolist()
    numbered = [one for one in same if _value(snapshot, "number", one)]
    ordered = sorted(numbered, key=lambda one: (article_order(_value(snapshot, "number", one)), snapshot.ids[one]))
    at = ordered.index(doc)
    return ordered[at - 1] if at else None, ordered[at + 1] if at + 1 < len(ordered) else None
