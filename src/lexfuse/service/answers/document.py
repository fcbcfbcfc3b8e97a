"""A whole document, paragraph by paragraph, and what stands around it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from lexfuse.service.answers.card import Card
from lexfuse.service.answers.citation import Cited
from lexfuse.service.answers.value import Span, Value


class TextParagraph(Value):
    """A paragraph of a document, with the citations in it.

    >>> TextParagraph(anchor="p3", number="3", span=(0, 9), text="…").anchor
    'p3'
    """

    anchor: str
    number: str | None
    span: Span
    text: str
    citations: list[Cited] = Field(default=[])


class WholeDocument(Card):
    """A document with its text and what stands around it.

    >>> WholeDocument(id="a", text="la loi", etag="1").etag
    '1'
    """

    text: str
    extra: dict[str, Any] = Field(default={})
    etag: str
    paragraphs: list[TextParagraph] = Field(default=[])
    cites: list[Card] = Field(default=[])
    cited_by: list[Card] = Field(default=[])
    cited_by_count: int = 0  # of which the list may be the beginning
    previous: Card | None = None  # in the code, or in the judgment
    next: Card | None = None
    versions: list[Card] = Field(default=[])  # other versions of the same article


class DocumentAnswer(Value):
    """A document, and which version of which index holds it.

    >>> DocumentAnswer.model_fields["document"].is_required()
    True
    """

    index: str
    generation: int
    document: WholeDocument
