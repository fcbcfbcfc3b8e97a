"""Responses about the table of contents."""

from __future__ import annotations

from pydantic import Field

from lexfuse.service.schemas.document import DocumentCard, DocumentParagraph, ResponseModel


class SectionCard(ResponseModel):
    """A section of the table of contents."""

    title: str
    path: list[str] = Field(description="Code and headings, from the root to this section.")
    count: int = Field(description="Documents in it and below.")
    sections: list[SectionCard] = Field(default=[], description="Sections below it, where they are listed.")


class SectionText(ResponseModel):
    """A document of a section with its text."""

    document: DocumentCard
    paragraphs: list[DocumentParagraph]


class ContentsPage(ResponseModel):
    """A section with what is below it."""

    index: str
    generation: int = Field(description="State of the index that answered.")
    path: list[str] = Field(description="Code and headings; empty for the root.")
    count: int = Field(description="Documents in it and below.")
    sections: list[SectionCard] = Field(default=[])
    documents: list[DocumentCard] = Field(default=[], description="The section's own documents, in order.")
    more: int = Field(default=0, description="Own documents that are not listed.")
    can_be_whole: bool = Field(default=False, description="Whether its texts can be shown on one page.")
    texts: list[SectionText] = Field(default=[], description="With whole: the documents of it and below.")
    previous: SectionCard | None = Field(default=None, description="The section before it on its level.")
    next: SectionCard | None = None
