"""Which paragraphs of a query and of a document met."""

from __future__ import annotations

from lexfuse.service.answers.value import Span, Value


class AlignedParagraph(Value):
    """A paragraph of a text: its number, if it has one, and its words.

    >>> AlignedParagraph(number="3", text="…", span=(0, 1)).number
    '3'
    """

    number: str | None
    text: str
    span: Span


class AlignedPair(Value):
    """A paragraph of the query and one of the document whose sentences met.

    >>> AlignedPair.model_fields["meetings"].is_required()
    True
    """

    query: AlignedParagraph
    document: AlignedParagraph
    meetings: int
    cosine: float


class Alignment(Value):
    """How much of a query a document covers, and the reverse (RPRS), with the paragraphs that met most.

    >>> Alignment(query_proportion=0.5, document_proportion=0.25, pairs=[]).more
    0
    """

    query_proportion: float | None
    document_proportion: float | None
    pairs: list[AlignedPair]
    more: int = 0
