"""A remark for readers of results: English text, with what a page needs to say it in another language."""

from __future__ import annotations

from collections.abc import Mapping


class Note(str):
    """A remark in English that has a stable code, and the values that are in it.

    >>> note = Note("not-closed", "the parenthesis at character {at} is not closed", at=10)
    >>> note, note.code, note.values
    ('the parenthesis at character 10 is not closed', 'not-closed', {'at': 10})
    """

    code: str
    values: Mapping[str, str | int]

    def __new__(cls, code: str, text: str, /, **values: str | int) -> Note:
        """Put the values into the text."""
        written = {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
        made = super().__new__(cls, text.format(**written))
        made.code, made.values = code, values
        return made
