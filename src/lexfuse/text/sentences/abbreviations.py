"""Abbreviations and sentence starters of a language, from text files in this folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lexfuse.errors import DataError

SECTIONS = ("never-final", "abbreviations", "starters")


@dataclass(frozen=True, slots=True)
class SentenceLexicon:
    """The abbreviations and sentence starters of one language, in lower case without the last period.

    >>> lexicon("fr").never_final & {"m", "mme", "art"} == {"m", "mme"}
    True
    """

    never_final: frozenset[str]  # "Mr.", "v.": another word always follows
    abbreviations: frozenset[str]  # "Ltd.", "art.": end a sentence only before a sentence starter
    starters: frozenset[str]

    @property
    def all_abbreviations(self) -> frozenset[str]:
        """Both kinds together."""
        return self.never_final | self.abbreviations


@cache
def lexicon(language: str) -> SentenceLexicon:
    """The lists of a language; empty if it has none.

    >>> "considérant" in lexicon("fr").starters
    True
    >>> lexicon("xx").all_abbreviations
    frozenset()
    """
    path = Path(__file__).with_name(f"abbreviations_{language}.txt")
    if not language.isalpha() or not path.is_file():
        return SentenceLexicon(frozenset(), frozenset(), frozenset())
    words = _sections(path)
    return SentenceLexicon(*(frozenset(words[name]) for name in SECTIONS))


def _sections(path: Path) -> dict[str, set[str]]:
    """The words under each ``[section]`` line of a list; ``#`` begins a comment line."""
    words: dict[str, set[str]] = {name: set() for name in SECTIONS}
    section = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("["):
            section = line.strip("[] ")
        elif line and not line.startswith("#"):
            if section not in words:
                raise DataError(f"a word before a section, or an unknown section {section!r}", path=path, line=number)
            words[section].update(line.split())
    return words
