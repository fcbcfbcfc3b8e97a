"""A lexicon of everyday words: how the law calls what people write in questions, as a TOML file that users extend.

    fr = [
      { words = ["patron", "boss"], law = ["employeur"] },
      { words = ["paperasse"], law = [] },     # removes the word from the lexicon that this one extends
    ]

The keys are languages. Words are compared as they are written, without case and accents, so every form is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, TypeAdapter

from lexfuse.data.formats.toml_text import read_settings, toml_values
from lexfuse.data.validation import Model, Texts, expect, validated
from lexfuse.errors import ConfigError
from lexfuse.text.analysis.analyser import Analyser

FILE_NAME = "lexicon.toml"  # in an index folder: entries for that index


class LexiconEntry(Model):
    """Words that mean the same, as people write them and as the law writes it."""

    words: Texts = Field(description="texts, as people write them")
    law: Texts = Field(description="texts, as the law writes them; none removes the words")


def _entries(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        expect("a list of tables with words and law")
    return tuple(value)


_TABLES: TypeAdapter[dict[str, tuple[LexiconEntry, ...]]] = TypeAdapter(
    dict[str, Annotated[tuple[LexiconEntry, ...], BeforeValidator(_entries)]]
)


class Phrase(NamedTuple):
    """Words in a row, in lower case and without accents, and what the law calls them."""

    words: tuple[str, ...]
    law: tuple[str, ...]


class FoundPhrase(NamedTuple):
    """A phrase of the lexicon in a text: its place, and what the law calls it."""

    start: int
    end: int
    law: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Everyday words by language.

    >>> lexicon = Lexicon.parse('fr = [{ words = ["heures sup"], law = ["heures supplémentaires"] }]')
    >>> lexicon.find("Mes heures sup sont-elles payées ?", Analyser("fr"))
    [FoundPhrase(start=4, end=14, law=('heures supplémentaires',))]
    """

    entries: Mapping[str, tuple[LexiconEntry, ...]] = field(default_factory=dict)
    _phrases: dict[str, dict[str, list[Phrase]]] = field(default_factory=dict, repr=False)

    @classmethod
    def parse(cls, text: str) -> Lexicon:
        """The lexicon of a TOML text; what it cannot say is a `ConfigError`.

        >>> Lexicon.parse('fr = [{ word = "patron" }]')
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: fr 1: there is no 'word'; there are words, law
        """
        entries = validated(_TABLES, toml_values(text))
        for language, some in entries.items():
            analyser = Analyser(language)  # refuses what is no language
            for number, entry in enumerate(some, start=1):
                empty = [one for one in (*entry.words, *entry.law) if not analyser.written_words(one)]
                if empty or not entry.words:
                    raise ConfigError(f"{language} {number}: a word was expected, got {empty[0] if empty else []!r}")
        return cls(entries)

    @classmethod
    def read(cls, path: str | Path) -> Lexicon:
        """The lexicon of a file; an error names the file.

        >>> Lexicon.read("nowhere.toml")
        Traceback (most recent call last):
        ...
        lexfuse.errors.NotFoundError: no file or folder 'nowhere.toml'; check the path
        """
        return read_settings(path, cls.parse)

    def extended(self, other: Lexicon) -> Lexicon:
        """The lexicon with another, whose entries replace those of the same words.

        >>> usual = Lexicon.parse('fr = [{ words = ["patron"], law = ["employeur"] }]')
        >>> usual.extended(Lexicon.parse('fr = [{ words = ["patron"], law = [] }]')).find("mon patron", Analyser("fr"))
        []
        """
        languages = dict.fromkeys((*self.entries, *other.entries))
        return Lexicon({one: (*self.entries.get(one, ()), *other.entries.get(one, ())) for one in languages})

    def find(self, text: str, analyser: Analyser) -> list[FoundPhrase]:
        """The phrases of a text, the longest at each place; none overlap.

        >>> [text[one.start : one.end] for text in ["Boss !"] for one in everyday_lexicon().find(text, Analyser("en"))]
        ['Boss']
        """
        phrases = self._of_language(analyser.language)
        if not phrases:
            return []
        words = list(written_tokens(text, analyser))
        found, at = [], 0
        while at < len(words):
            known = (one for one in phrases.get(words[at].word, ()) if _continues(one.words, words, at))
            best = max(known, key=lambda one: len(one.words), default=None)
            if best is not None and best.law:
                found.append(FoundPhrase(words[at].start, words[at + len(best.words) - 1].end, best.law))
            at += 1 if best is None else len(best.words)
        return found

    def _of_language(self, language: str) -> dict[str, list[Phrase]]:
        if language not in self._phrases:
            every: dict[tuple[str, ...], Phrase] = {}
            analyser = Analyser(language)
            for entry in self.entries.get(language, ()):
                for written in entry.words:
                    words = tuple(one.word for one in written_tokens(written, analyser))
                    every[words] = Phrase(words, entry.law)
            firsts: dict[str, list[Phrase]] = {}
            for phrase in every.values():
                firsts.setdefault(phrase.words[0], []).append(phrase)
            self._phrases[language] = firsts
        return self._phrases[language]


class WrittenToken(NamedTuple):
    """A word of a text, in lower case and without accents, and its place."""

    word: str
    start: int
    end: int


def written_tokens(text: str, analyser: Analyser) -> Iterator[WrittenToken]:
    """The words of a text as they are written, single letters and stop words included.

    >>> [token.word for token in written_tokens("L'été", Analyser("fr"))]
    ['l', 'ete']
    """
    from lexfuse.text.letters import fold

    for token in analyser.tokens(text):
        yield WrittenToken(fold(token.exact), token.start, token.end)


def _continues(phrase: tuple[str, ...], words: list[WrittenToken], at: int) -> bool:
    return phrase == tuple(one.word for one in words[at : at + len(phrase)])


@cache
def everyday_lexicon() -> Lexicon:
    """The lexicon that LexFuse ships, for French and English.

    >>> sorted(everyday_lexicon().entries)
    ['en', 'fr']
    """
    return Lexicon.parse((files("lexfuse.text.everyday") / "everyday.toml").read_text("utf-8"))
