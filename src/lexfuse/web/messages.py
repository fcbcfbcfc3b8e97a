"""The texts of the interface, French and English, from ``messages*_fr.toml`` and ``messages*_en.toml``.

The key of a text is ``section.name``. A text that depends on a number is a table of ``one`` and ``other``, and the number is
`count`: French has "0 résultat", English "0 results". Texts are plain; templates escape them together with their values.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from lexfuse.errors import ConfigError
from lexfuse.text.note import Note
from lexfuse.web.locale_format import number

FOLDER = Path(__file__).parent


class InterfaceLocale(StrEnum):
    """A language of the interface, independent of that of documents."""

    FRENCH = "fr"
    ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Messages:
    """The texts of one language.

    >>> messages = Messages(InterfaceLocale.FRENCH, {"a.results": {"one": "{count} résultat", "other": "{count} résultats"}})
    >>> messages.text("a.results", count=0), messages.text("a.results", count=1200)
    ('0 résultat', '1\u202f200 résultats')
    """

    language: InterfaceLocale
    texts: Mapping[str, str | Mapping[str, str]]

    def text(self, key: str, **values: object) -> str:
        """The text of a key with its values; integers are formatted for the language."""
        found = self.texts.get(key)
        if found is None:
            raise ConfigError(f"there is no text {key!r} in {self.language.value}; add it to messages_{self.language.value}.toml")
        if not isinstance(found, str):
            count = values["count"]
            few = 0 <= count < 2 if self.language is InterfaceLocale.FRENCH else count == 1  # type: ignore[operator]
            found = found["one" if few else "other"]
        written = {name: number(value, self.language) if type(value) is int else value for name, value in values.items()}
        return found.format(**written) if written else found

    def said(self, note: str) -> str:
        r"""A remark of a search in this language; one that has no code stays as it is.

        >>> messages_of(InterfaceLocale.FRENCH).said(Note("not-closed", "…", at=10))
        'Lu comme un texte simple\xa0: la parenthèse du caractère 10 n’est pas fermée.'
        """
        return self.text(f"notes.{note.code}", **note.values) if isinstance(note, Note) else note

    def has(self, key: str) -> bool:
        """Whether a text exists: keys made from data (a state, a kind) may not."""
        return key in self.texts


@cache
def messages_of(language: InterfaceLocale) -> Messages:
    """All texts of a language, read once.

    >>> messages_of(InterfaceLocale.ENGLISH).text("search.submit")
    'Search'
    """
    texts: dict[str, str | Mapping[str, str]] = {}
    for path in sorted(FOLDER.glob(f"messages*_{language.value}.toml")):
        for section, table in tomllib.loads(path.read_text("utf-8")).items():
            for name, text in _entries(table):
                key = f"{section}.{name}"
                if key in texts:
                    raise ConfigError(f"{path.name}: the text {key!r} is there twice")
                texts[key] = text
    return Messages(language, texts)


def _entries(table: Mapping[str, Any], above: str = "") -> list[tuple[str, str | Mapping[str, str]]]:
    """Names and texts of a table; a table of `one` and `other` is a text, any other a subsection."""
    entries: list[tuple[str, str | Mapping[str, str]]] = []
    for name, value in table.items():
        if isinstance(value, str) or set(value) == {"one", "other"}:
            entries.append((above + name, value))
        else:
            entries += _entries(value, f"{above}{name}.")
    return entries
