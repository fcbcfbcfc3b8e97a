"""The table of contents of an index: a section with what is below it, its documents, or all of its texts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from pydantic import Field

from lexfuse.data.document import Document, DocumentKind
from lexfuse.errors import TooLargeError
from lexfuse.search.contents.table_of_contents import ContentsSection, table_of_contents
from lexfuse.search.index_version import IndexVersion
from lexfuse.service.operations.documents import cited_documents, text_paragraphs
from lexfuse.service.parameters import IndexParameters
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.contents import ContentsPage, SectionCard, SectionText
from lexfuse.service.schemas.document import DocumentCard

LISTED = 500  # documents of one section
WHOLE = 300  # documents that are shown on one page
DECISION = 30  # articles that a whole decision counts for: it is that much longer
WHOLE_MEANS = f"With the texts of the section and of those below, {WHOLE} articles or {WHOLE // DECISION} decisions at most."


class ContentsParameters(IndexParameters):
    """A section by its path; the root without one."""

    path: list[str] = Field([], max_length=50, description="Code and headings, from the root.", examples=[["Code du travail"]])
    whole: bool = Field(False, description=WHOLE_MEANS)


def contents(registry: IndexRegistry, given: ContentsParameters) -> ContentsPage:
    """A section with two levels of sections below it, and its documents.

    >>> page = contents(registry, ContentsParameters(path=["Code des bibliothèques"]))
    >>> page.count, [(section.title, section.count) for section in page.sections]
    (6, [('Partie législative', 4), ('Partie réglementaire', 2)])
    """
    with registry.index(given.index).lease() as version:
        root = table_of_contents(version)
        section = root.section(given.path)
        fits = _fits(version, section)
        if given.whole and not fits:
            reason = f"this section has {section.count:,} documents; {WHOLE} articles or {WHOLE // DECISION} decisions"
            raise TooLargeError(f"{reason} can be shown on one page; choose a section below it")
        around = list(root.section(given.path[:-1]).sections.values()) if given.path else []
        at = next((at for at, one in enumerate(around) if one is section), 0)
        own = section.documents[:LISTED]
        texts = [_text(version, one) for one in _documents(version, section.all_documents())] if given.whole else []
        return ContentsPage(
            index=version.name,
            generation=version.generation,
            path=list(section.path),
            count=section.count,
            sections=[_card(one, 1) for one in section.sections.values()],
            documents=[DocumentCard.of(one) for one in version.snapshot.heads([version.snapshot.ids[doc] for doc in own])],
            more=len(section.documents) - len(own),
            can_be_whole=section.count > 0 and fits,
            texts=texts,
            previous=_card(around[at - 1], 0) if at else None,
            next=_card(around[at + 1], 0) if at + 1 < len(around) else None,
        )


def _card(section: ContentsSection, depth: int) -> SectionCard:
    below = [_card(one, depth - 1) for one in section.sections.values()] if depth else []
    return SectionCard(title=section.title, path=list(section.path), count=section.count, sections=below)


def _fits(version: IndexVersion, section: ContentsSection) -> bool:
    """Whether the texts of a section can be shown on one page."""
    if section.count > WHOLE:
        return False
    codes, kinds = version.snapshot.coded("kind")
    decisions = sum(bool(kinds[codes[doc]] == DocumentKind.DECISION.value) for doc in section.all_documents())
    return section.count + (DECISION - 1) * decisions <= WHOLE


def _documents(version: IndexVersion, numbers: Iterable[int]) -> list[Document]:
    return version.snapshot.documents([version.snapshot.ids[doc] for doc in islice(numbers, WHOLE)])


def _text(version: IndexVersion, document: Document) -> SectionText:
    found = version.citations.cited(document.text, own_code=document.code)
    citations = cited_documents(version, document.text, found, own=document.id)
    return SectionText(document=DocumentCard.of(document), paragraphs=text_paragraphs(document.text, citations))
