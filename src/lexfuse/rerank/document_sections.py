"""Which documents make up a section: the articles of a code below one heading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import I32, I64
from lexfuse.storage.document_rows import texts_of
from lexfuse.storage.snapshot import Snapshot

SectionPath = tuple[str, ...]  # a code and its headings


@dataclass(frozen=True, slots=True, eq=False)
class DocumentSections:
    """The section of every document. A document without a code or headings is a section alone.

    >>> sections = DocumentSections.of(snapshot)
    >>> sections.path(0), sections.size[sections.own[0]].item()
    (('Code des bibliothèques', 'Partie législative', 'Titre Ier : Accès'), 2)
    """

    paths: list[SectionPath]
    own: I32  # the section of each document; the numbers after those of the paths are documents that are sections alone
    size: I32  # how many documents each section has, without those of the sections below it

    @classmethod
    def of(cls, snapshot: Snapshot) -> DocumentSections:
        """Those of an index."""
        return snapshot.derived("sections", lambda: cls._read(snapshot))

    @classmethod
    def _read(cls, snapshot: Snapshot) -> DocumentSections:
        (code_of, codes), (headings_of, headings) = snapshot.coded("code"), snapshot.coded("headings")
        pairs, member = np.unique(code_of.astype(np.int64) * max(len(headings), 1) + headings_of, return_inverse=True)
        numbers: dict[SectionPath, int] = {}
        of_pair = np.full(len(pairs), -1, np.int64)
        for at, pair in enumerate(pairs.tolist()):
            code, below = codes[pair // len(headings)], texts_of(headings[pair % len(headings)])
            if code and below:
                of_pair[at] = numbers.setdefault((code, *below), len(numbers))
        own: I64 = of_pair[member]
        alone = np.flatnonzero(own < 0)
        own[alone] = len(numbers) + np.arange(len(alone))
        return cls(list(numbers), own.astype(np.int32), np.bincount(own).astype(np.int32))

    def path(self, doc: int) -> SectionPath:
        """The code and headings of a document's section; empty for a document that is a section alone."""
        section = int(self.own[doc])
        return self.paths[section] if section < len(self.paths) else ()


def has_sections(snapshot: Snapshot) -> bool:
    """Whether an index has articles of codes below headings.

    >>> has_sections(snapshot)
    True
    """
    return bool(DocumentSections.of(snapshot).paths)
