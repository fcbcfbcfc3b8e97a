"""A document without its text, as every list of documents shows it."""

from __future__ import annotations

import datetime

from pydantic import Field

from lexfuse.service.answers.value import Value


class Card(Value):
    """A document without its text: what a list of documents shows.

    >>> Card(id="a", title="Article 1").title
    'Article 1'
    """

    id: str
    title: str = ""
    kind: str = "other"
    language: str = ""
    code: str = ""
    number: str = ""
    headings: list[str] = Field(default=[])
    court: str = ""
    date: datetime.date | None = None
    valid_from: datetime.date | None = None
    valid_to: datetime.date | None = None
    status: str = ""
    identifiers: list[str] = Field(default=[])
