"""Suggestions while a question is typed: articles, headings, frequent questions, and words of the index.

Nothing that users ask is stored or suggested. Frequent questions come from a file that whoever runs the index writes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from lexfuse.data.files import decode, read_bytes
from lexfuse.errors import ConfigError
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.words.correction import words_of
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.text.analysis.analyser import WORD
from lexfuse.text.letters import compose, fold

QUESTIONS_FILE = "questions.txt"  # in the index folder: frequent questions, one a line
MOST = 50  # suggestions of one call
LONGEST = 200  # characters that are completed
_LONGEST_HEADING = 90  # characters
_ARTICLES = 3  # of the suggestions, unless only articles match
_LAST = "\U0010ffff"
_NUMBERING = re.compile(
    r"^(?:partie|livre|titre|chapitre|(?:sous-)?section|(?:sous-)?paragraphe|part|book|title|chapter|(?:sub)?section|article|annexe)"
    r"\b[^:–—]{0,24}\s*[:–—]\s*",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^\s*(?:l['’])?(?:articles?|art)\b\.?\s*", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s.*_]+")


class SuggestionKind(StrEnum):
    """Where a suggestion comes from."""

    ARTICLE = "article"  # a document by its number or title
    QUESTION = "question"  # a frequent question
    HEADING = "heading"
    WORDS = "words"  # the question with its last word completed


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text that completes what was typed; of a document also its id."""

    text: str
    kind: SuggestionKind
    document: str = ""


class _Topic(NamedTuple):
    """A heading or a question, its words, and how many documents are below it."""

    text: str
    words: tuple[str, ...]
    weight: int
    kind: SuggestionKind


class Suggester:
    """Completes questions from one version of an index; what it looks up is made at the first call.

    >>> suggester = Suggester(IndexVersion(snapshot))
    >>> [one.text for one in suggester.suggest("les horai")]
    ['les horaires']
    """

    def __init__(self, version: IndexVersion) -> None:
        """Keep the version."""
        self._version = version
        self._words = words_of(version)

    def suggest(self, text: str, k: int = 8) -> list[Suggestion]:
        """The best k completions of a text, those of documents first; none of one that is longer than a question."""
        if not 1 <= k <= MOST:
            raise ConfigError(f"k must be between 1 and {MOST}, got {k}")
        if not text.strip() or len(text) > LONGEST:
            return []
        typed = _words(text)
        topics = list(self._topics_with(typed)) if typed else []
        words = list(self._completed(text)) if typed else []
        articles = list(self._articles(text))
        room = k if not topics and not words else min(_ARTICLES, k)
        found = [*articles[:room], *topics[: max(k - room, k - 2)], *words, *articles[room:]]
        distinct = {fold(one.text.lower()): one for one in reversed(found)}
        return sorted(distinct.values(), key=found.index)[:k]

    def _articles(self, text: str) -> Iterator[Suggestion]:
        """The documents whose number begins as the text does, without the words before it."""
        wanted = _SEPARATORS.sub("", _ARTICLE.sub("", text)).upper()
        if not any(letter.isdigit() for letter in wanted):
            return
        numbers = [number for number, _ in self._numbers]
        start = bisect_left(numbers, wanted)
        some = self._numbers[start : bisect_left(numbers, wanted + _LAST, start)]
        some = sorted(some, key=lambda one: (len(one[0]), one))[:MOST]
        ids = self._version.snapshot.ids
        for head in self._version.snapshot.heads([ids[at] for _, at in some]):
            yield Suggestion(head.title or head.id, SuggestionKind.ARTICLE, head.id)

    def _topics_with(self, typed: Sequence[str]) -> Iterator[Suggestion]:
        """Headings and questions that have every typed word, the last one as a beginning; those that begin so are first."""
        *whole, last = typed
        found = [
            topic
            for topic in self._topics
            if any(word.startswith(last) for word in topic.words) and all(word in topic.words for word in whole)
        ]
        found.sort(key=lambda one: (one.words[: len(whole)] != tuple(whole), not _begins(one, typed), -one.weight, one.text))
        for topic in found[:MOST]:
            yield Suggestion(topic.text, topic.kind)

    def _completed(self, text: str) -> Iterator[Suggestion]:
        """The text with its last word completed by words of the index; nothing after a space."""
        start = len(text)
        while start and text[start - 1].isalpha():
            start -= 1
        last = text[start:]
        if len(last) < 2:
            return
        for word in self._words.following(last, _words(text[:start])):
            if word != fold(last.lower()):
                yield Suggestion(text[:start].lstrip() + self._words.spelled(word), SuggestionKind.WORDS)

    @property
    def _numbers(self) -> list[tuple[str, int]]:
        """The numbers of articles without separators, in order, each with its document."""
        return self._version.snapshot.derived("sorted numbers", self._sorted_numbers)

    def _sorted_numbers(self) -> list[tuple[str, int]]:
        column = self._version.snapshot.column("number")
        return sorted((_SEPARATORS.sub("", number).upper(), at) for at, number in enumerate(column) if number)

    @cached_property
    def _topics(self) -> list[_Topic]:
        asked = {
            fold(question.lower()): _Topic(question, _words(question), 1 << 30, SuggestionKind.QUESTION)
            for question in self._questions()
        }
        headings = self._version.snapshot.derived("heading topics", self._heading_topics)
        return [*asked.values(), *(topic for key, topic in headings.items() if key not in asked)]

    def _heading_topics(self) -> dict[str, _Topic]:
        """The headings without their numbering, by their text without case and accents."""
        found: dict[str, _Topic] = {}
        for heading, weight in self._words.headings.items():
            text = _NUMBERING.sub("", heading).strip().rstrip(".")
            key = fold(text.lower())
            if text and len(text) <= _LONGEST_HEADING:
                weight += found[key].weight if key in found else 0
                found[key] = _Topic(text, _words(text), weight, SuggestionKind.HEADING)
        return found

    def _questions(self) -> Iterator[str]:
        """The lines of the file of frequent questions."""
        snapshot = self._version.snapshot
        path = snapshot.folder / QUESTIONS_FILE if isinstance(snapshot, FolderSnapshot) else None
        if path is not None and path.is_file():
            for line in decode(read_bytes(path), path=path).splitlines():
                if line.strip():
                    yield line.strip()


def suggester_of(version: IndexVersion) -> Suggester:
    """The suggester of a version of an index, made once.

    >>> version = IndexVersion(snapshot)
    >>> suggester_of(version) is suggester_of(version)
    True
    """
    return version.cached("suggester", lambda: Suggester(version))


def _words(text: str) -> tuple[str, ...]:
    return tuple(fold(compose(word).lower()) for word in WORD.findall(text))


def _begins(topic: _Topic, typed: Sequence[str]) -> bool:
    """Whether a topic begins with the typed words."""
    return len(topic.words) >= len(typed) and topic.words[len(typed) - 1].startswith(typed[-1])
