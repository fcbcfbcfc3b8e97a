"""Ids of old article versions: a LEGI id names one version, and links mostly name versions that no longer exist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lexfuse.data.corpus import Corpus


@dataclass(frozen=True, slots=True)
class ArticleVersions:
    """Maps the id of any version of an article (or its constant ``cid``) to the document of the corpus."""

    documents: Mapping[str, str]

    @classmethod
    def of(cls, corpus: Corpus) -> ArticleVersions:
        """The versions listed in the ``extra`` of a LEGI corpus.

        A document's id always means that document. If two documents share an older version, the first one gets it.

        >>> from lexfuse.data.document import Document
        >>> ArticleVersions.of(Corpus.of([Document("b", extra={"cid": "a", "versions": ["a"]})])).current("a")
        'b'
        """
        documents: dict[str, str] = {}
        for id, extra in zip(corpus.ids, corpus.extra, strict=True):
            for older in (extra.get("cid"), *extra.get("versions", ())):
                if older:
                    documents.setdefault(older, id)
        documents.update((id, id) for id in corpus.ids)
        return cls(documents)

    def current(self, id: str) -> str | None:
        """The document that a version belongs to now, ``None`` if the corpus has none."""
        return self.documents.get(id)
