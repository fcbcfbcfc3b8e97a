"""Which documents make up a section: the articles below one heading, or the paragraphs of one judgment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import I32
from lexfuse.data.document import DocumentKind
from lexfuse.storage.document_rows import texts_of
from lexfuse.storage.snapshot import Snapshot

SectionPath = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DocumentSections:
    """The section of every document, and the one above it. A document without headings or a judgment is a section alone.

    >>> sections = DocumentSections.of(snapshot)
    >>> sections.paths[sections.own[0]], sections.size[sections.own[0]].item()
    (('Code des bibliothèques', 'Titre I : Des prêts'), 3)
    """

    paths: list[SectionPath]
    own: I32  # the section of each document
    above: I32  # the section above each section; at the top, the section itself
    size: I32  # how many documents each section has, without those of the sections below it

    @classmethod
    def of(cls, snapshot: Snapshot) -> DocumentSections:
        """Those of an index."""
        numbers: dict[SectionPath, int] = {}
        ids = snapshot.ids
        own = np.fromiter(
            (
                numbers.setdefault(path or (ids[doc],), len(numbers))
                for doc, path in enumerate(snapshot.derived_column(("code", "headings", "kind", "identifiers"), _path))
            ),
            dtype=np.int32,
            count=len(snapshot),
        )
        paths = list(numbers)
        for path in paths:  # grows on the way
            upper = _upper(path)
            if upper not in numbers:
                numbers[upper] = len(paths)
                paths.append(upper)
        above = np.array([numbers[_upper(path)] for path in paths], dtype=np.int32)
        return cls(paths, own, above, np.bincount(own, minlength=len(paths)).astype(np.int32))

    def __len__(self) -> int:
        """The number of sections."""
        return len(self.paths)


def _path(values: Sequence[str | None]) -> SectionPath:
    """The code and headings of an article, or the judgment of a paragraph; empty for other documents."""
    code, headings, kind, identifiers = values
    if found := texts_of(headings):
        return (code or "", *found)
    return texts_of(identifiers)[:1] if kind == DocumentKind.PARAGRAPH.value else ()


def _upper(path: SectionPath) -> SectionPath:
    """The section above one; the parts of a code, which are as different as codes are, have none above them."""
    return path[:-1] if len(path) > 2 else path
