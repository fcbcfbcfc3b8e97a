"""Old ids of articles: a LEGI id names one version of an article, so links and sheets mostly name versions long gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lexfuse.data.corpus import Corpus


@dataclass(frozen=True, slots=True)
class ArticleVersions:
    """From the id of any version of an article (or its ``cid``, which never changes) to the document of the corpus.

    >>> ArticleVersions({"LEGIARTI1": "LEGIARTI9"}).current("LEGIARTI1")
    'LEGIARTI9'
    """

    documents: Mapping[str, str]

    @classmethod
    def of(cls, corpus: Corpus) -> ArticleVersions:
        """The versions that the documents of a LEGI corpus carry in ``extra``.

        A document's own id always stands for itself. Of two documents that share an older version, the first has it.

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
        """The document that a version belongs to now, ``None`` when the corpus has none.

        >>> ArticleVersions({}).current("LEGIARTI1") is None
        True
        """
        return self.documents.get(id)
