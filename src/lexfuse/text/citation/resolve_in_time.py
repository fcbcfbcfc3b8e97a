"""Resolve citations in the versions of documents: a text cites the articles that were in force while it was.

Article 1382 of a code may be one document until 2016 and another after it, and a document may change its number. Each name that
a document had is looked up, and counts on the days on which the document had it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.document_history import is_absence, versions_of
from lexfuse.text.citation.resolve import CitationResolver

_FIRST, _LAST = datetime.date.min, datetime.date.max
_Days = tuple[datetime.date, datetime.date]


class TimeResolver:
    """Looks up what versions of documents cite.

    >>> old = Document("a", number="1382", code="Code civil", valid_to=datetime.date(2016, 10, 1))
    >>> new = Document("b", number="1382", code="Code civil", valid_from=datetime.date(2016, 10, 1))
    >>> text = Document("c", text="l'article 1382 du code civil", valid_from=datetime.date(1990, 1, 1),
    ...                 valid_to=datetime.date(2000, 1, 1))
    >>> list(TimeResolver(Corpus.of([old, new, text])).cited_ids(text))
    ['a']
    """

    def __init__(self, corpus: Corpus) -> None:
        """Number the names of all versions; the names of a document follow each other in the order of the corpus."""
        self._ids: list[str] = []
        self._days: list[list[_Days]] = []
        rows: list[Document] = []
        for document in corpus:
            named: dict[tuple[object, ...], int] = {}
            for version in versions_of(document) if document.history else (document,):
                if document.history and is_absence(version):
                    continue
                name = (version.kind, version.code, version.number, version.identifiers)
                if name not in named:
                    named[name] = len(rows)
                    kind, code, number, identifiers = version.kind, version.code, version.number, version.identifiers
                    rows.append(Document(str(len(rows)), kind=kind, code=code, number=number, identifiers=identifiers))
                    self._ids.append(document.id)
                    self._days.append([])
                self._days[named[name]].append(_days(version))
        self._resolver = CitationResolver(Corpus.of(rows))

    def cited_ids(self, version: Document) -> Iterator[str]:
        """Ids of the documents that the text of a version cites, without its own, each once."""
        first, last = _days(version)
        seen = {version.id}
        for row in self._resolver.resolve_text(version.text, own_code=version.code):
            id = self._ids[row]
            if id not in seen and any(start < last and first < end for start, end in self._days[row]):
                seen.add(id)
                yield id


def _days(version: Document) -> _Days:
    return version.valid_from or _FIRST, version.valid_to or _LAST
