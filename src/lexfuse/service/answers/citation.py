"""The citations of a text, and the documents that they mean."""

from __future__ import annotations

from lexfuse.service.answers.card import Card
from lexfuse.service.answers.value import Span, Value


class Cited(Value):
    """A citation that a text holds, and the documents of the index that it means.

    >>> Cited(text="L. 1", span=(0, 4), system="french article", key="L1", documents=[]).key
    'L1'
    """

    text: str
    span: Span
    system: str
    key: str
    documents: list[Card]
    more: int = 0  # documents that it means and that are not listed: a range of articles may have hundreds


class Resolved(Value):
    """Every citation of a text.

    >>> Resolved(index="i", generation=1, citations=[]).citations
    []
    """

    index: str
    generation: int
    citations: list[Cited]
    more: int = 0  # citations that the text holds after these, and that were not looked up
