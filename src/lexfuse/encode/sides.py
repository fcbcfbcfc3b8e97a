"""Which side of a search a text is on: models may read questions and documents differently."""

from __future__ import annotations

from enum import StrEnum


class Side(StrEnum):
    """What a text is to a search.

    >>> Side("query")
    <Side.QUERY: 'query'>
    """

    QUERY = "query"
    PASSAGE = "passage"
