"""The table of contents of an index: codes with their headings, courts with their years, as one tree.

It is made of the columns of the catalog, without texts, once for each version of the index. Sections and documents are in the
order of codes and articles; years begin with the newest.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lexfuse.data.document import DocumentKind
from lexfuse.errors import NotFoundError
from lexfuse.search.contents.heading_order import in_order
from lexfuse.search.index_version import IndexVersion
from lexfuse.storage.document_rows import texts_of
from lexfuse.storage.snapshot import Snapshot

_YEAR = re.compile(r"\d{4}")


@dataclass(slots=True)
class ContentsSection:
    """A section: its title, its path from the root, its subsections, and its own documents by their numbers."""

    title: str
    path: tuple[str, ...]
    sections: dict[str, ContentsSection] = field(default_factory=dict)
    documents: list[int] = field(default_factory=list)
    count: int = 0  # documents here and below

    def section(self, path: Sequence[str]) -> ContentsSection:
        """A section below this one; `NotFoundError` names the part of the path that is not there."""
        found = self
        for title in path:
            if title not in found.sections:
                raise NotFoundError(f"there is no section {title[:200]!r} in {' > '.join(found.path) or 'the table of contents'}")
            found = found.sections[title]
        return found

    def all_documents(self) -> Iterator[int]:
        """The documents of this section and of those below, in order."""
        yield from self.documents
        for section in self.sections.values():
            yield from section.all_documents()


def table_of_contents(version: IndexVersion) -> ContentsSection:
    """The root of the table of contents; its sections are codes, then courts, in the order of their documents.

    >>> root = table_of_contents(IndexVersion(snapshot))
    >>> [(section.title, section.count) for section in root.sections.values()]
    [('Code des bibliothèques', 6)]
    """
    return version.cached("table of contents", lambda: _made(version))


def section_path(code: str, headings: Sequence[str], court: str = "", year: str = "", judgment: str = "") -> tuple[str, ...]:
    """Where a document is: an article below its code and headings, a decision below its court and year.

    >>> section_path("Code du travail", ["Livre II"]), section_path("", [], "CJEU", "2017")
    (('Code du travail', 'Livre II'), ('CJEU', '2017'))
    """
    if code or headings:
        return tuple(part for part in (code, *headings) if part)
    return tuple(part for part in (court, year, judgment) if part)


def _made(version: IndexVersion) -> ContentsSection:
    snapshot, root = version.snapshot, ContentsSection("", ())
    paths, places = _paths(snapshot), defaultdict[tuple[str, ...], list[int]](list)
    for place, doc in enumerate(version.citations.order.tolist()):
        section = root
        section.count += 1
        for title in paths[doc]:
            if title not in section.sections:
                section.sections[title] = ContentsSection(title, (*section.path, title))
            section = section.sections[title]
            section.count += 1
            places[section.path].append(place)
        section.documents.append(doc)
    _order(root, {path: found[len(found) // 2] for path, found in places.items()}, [day or "" for day in snapshot.column("date")])
    return root


def _order(section: ContentsSection, middles: Mapping[tuple[str, ...], int], days: Sequence[str]) -> None:
    """Order the sections below one by their numbers, others by their middle documents: a first one may be out of order."""
    if section.sections and all(_YEAR.fullmatch(title) for title in section.sections):
        titles = sorted(section.sections, reverse=True)
        for year in section.sections.values():
            year.documents.sort(key=days.__getitem__, reverse=True)
    else:
        titles = in_order(sorted(section.sections, key=lambda title: middles[section.sections[title].path]))
    section.sections = {title: section.sections[title] for title in titles}
    for below in section.sections.values():
        _order(below, middles, days)


def _paths(snapshot: Snapshot) -> list[tuple[str, ...]]:
    """The path of every document."""
    names = ("code", "headings", "court", "date", "kind", "identifiers")
    columns = [snapshot.coded(name) for name in names]
    made: dict[tuple[int, ...], tuple[str, ...]] = {}
    rows = zip(*(codes.tolist() for codes, _ in columns), strict=True)
    return [made[row] if row in made else made.setdefault(row, _path([of[at] for at, (_, of) in zip(row, columns, strict=True)]))
            for row in rows]  # fmt: skip


def _path(values: Sequence[str | None]) -> tuple[str, ...]:
    code, headings, court, date, kind, identifiers = values
    judgment = next(iter(texts_of(identifiers)), "") if kind == DocumentKind.PARAGRAPH.value else ""
    return section_path(code or "", texts_of(headings), court or "", (date or "")[:4], judgment)
