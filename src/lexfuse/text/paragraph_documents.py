"""A judgment as documents: one for each of its numbered paragraphs, and one for the text before them."""

from __future__ import annotations

from dataclasses import replace

from lexfuse.data.document import Document, DocumentKind
from lexfuse.text.paragraphs import paragraphs

FEWEST = 5  # numbered paragraphs; fewer may be a list
_FIRST = 2  # the largest number of a first paragraph; years in a table are no paragraphs
_MOST_BEFORE = 0.5  # share of the text before the first number


def paragraph_documents(document: Document) -> list[Document]:
    r"""The numbered paragraphs of a document, or the document itself if it has no sequence of them.

    >>> text = "Judgment\n" + "\n".join(f"{number}. The Court held so." for number in range(1, 6))
    >>> [(one.id, one.number, one.text) for one in paragraph_documents(Document("a.pdf", text=text))][:2]
    [('a.pdf#preamble', '', 'Judgment'), ('a.pdf#1', '1', 'The Court held so.')]
    >>> len(paragraph_documents(Document("a.pdf", text="1. One.\n2. Two.")))
    1
    """
    found = paragraphs(document.text)
    numbered = [one for one in found if one.number is not None]
    if len(numbered) < FEWEST or int(numbered[0].number or 0) > _FIRST or numbered[0].start > _MOST_BEFORE * len(document.text):
        return [document]
    return [
        replace(
            document,
            id=f"{document.id}#{'preamble' if one.number is None else one.number}",
            title=document.title if one.number is None else f"{document.title}, {one.number}",
            text=one.of(document.text),
            number=one.number or "",
            kind=document.kind if one.number is None else DocumentKind.PARAGRAPH,
        )
        for one in found
    ]
