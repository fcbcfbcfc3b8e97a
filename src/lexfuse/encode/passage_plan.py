"""The passages of a document to encode: whole, windows (BSARD, section 5: 200 tokens that share 20), paragraphs or sentences.

Every passage is read as "title headings passage", so that each window has its context in the code. Sentences, and units of a
number of words, serve to compare texts piece by piece (RPRS, section 5.6). They have no title, which would make all sentences of
a document alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from lexfuse.data.document import Document
from lexfuse.errors import ConfigError
from lexfuse.text.passages import Passage, numbered_passages, passages, word_offsets
from lexfuse.text.sentences.splitter import cut_long, split_sentences


class LengthUnit(Protocol):
    """The unit of passage lengths: the tokens of a model with a window, or `WordUnits` without one."""

    @property
    def window(self) -> int:
        """The maximum number of units per window, including special tokens."""

    @property
    def room(self) -> int:
        """The maximum number of units of a text per window."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each unit, in characters."""


class WordUnits:
    """Words as units, for encoders without a window.

    >>> WordUnits().offsets("la loi")
    [(0, 2), (3, 6)]
    """

    window = room = 1 << 30

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each word starts and ends."""
        return word_offsets(text)


class PassageScheme(StrEnum):
    """How a document is split."""

    WHOLE = "whole"  # one passage, split only if it exceeds the model's window
    WINDOWS = "windows"  # of `size` tokens
    PARAGRAPHS = "paragraphs"  # numbered ones; those beyond the model's window are split
    SENTENCES = "sentences"  # longer ones are split after `size` words
    WORDS = "words"  # `size` at a time, ignoring sentences (RPRS, section 6.3)
    BEGINNING = "beginning"  # only what fits into the model's window: as published figures were often measured

    @property
    def alone(self) -> bool:
        """Whether pieces have no title and headings."""
        return self in (PassageScheme.SENTENCES, PassageScheme.WORDS)


SENTENCE = 25  # words at most (RPRS, section 5.6)
WINDOW, SHARED = 200, 20  # tokens


@dataclass(frozen=True, slots=True)
class PassagePlan:
    """How documents become passages; queries and documents of an index must share it.

    >>> PassagePlan(PassageScheme.WINDOWS, size=10, overlap=10)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the overlap must be at least 0 and below the size 10, got 10; 20 is usual for 200
    """

    scheme: PassageScheme = PassageScheme.WHOLE
    size: int = WINDOW  # tokens of a window; words of a sentence
    overlap: int = SHARED  # tokens that a window shares with the one before
    headings: bool = True  # whether the heading path is read with each passage, as the title is

    @classmethod
    def usual(
        cls, scheme: PassageScheme, size: int | None = None, overlap: int | None = None, *, headings: bool = True
    ) -> PassagePlan:
        """A plan with the usual numbers as defaults: 200 tokens that share 20, or 25 words that share none.

        >>> PassagePlan.usual(PassageScheme.SENTENCES)
        PassagePlan(scheme=<PassageScheme.SENTENCES: 'sentences'>, size=25, overlap=0, headings=True)
        """
        if scheme.alone:
            return cls(scheme, SENTENCE if size is None else size, overlap or 0, headings)
        size = WINDOW if size is None else size
        usual = SHARED if size > SHARED else size // 10
        return cls(scheme, size, usual if overlap is None else overlap, headings)

    def __post_init__(self) -> None:
        """Refuse windows that would be empty or never advance."""
        if self.size < 1:
            raise ConfigError(f"a passage needs a size of at least 1, got {self.size}; 200 is usual")
        if not 0 <= self.overlap < self.size:
            raise ConfigError(
                f"the overlap must be at least 0 and below the size {self.size}, got {self.overlap}; 20 is usual for 200"
            )
        if self.overlap and self.scheme.alone:
            raise ConfigError(f"{self.scheme.value} share nothing with those before; the overlap must be 0, got {self.overlap}")

    def of(self, document: Document, tokens: LengthUnit, reserved: int = 0) -> list[tuple[str, Passage]]:
        """The texts to encode, each with its span of the document's text; at least one.

        ``reserved`` tokens stay free for a prompt. The prefix takes at most half of the window: outer headings are removed first,
        as inner ones are more specific. Sentences and words have no prefix and no limit: encoders read long ones in several
        windows.
        """
        if self.scheme.alone:
            return self._alone(document)
        room = tokens.room - reserved
        if room < 2:
            raise ConfigError(f"a window of {tokens.window} tokens has no room after the {reserved} tokens of a prompt")
        prefix, used = self._prefix(document, tokens, room // 2)
        found = self._divided(document.text, tokens, room - used) or [Passage(0, 0)]
        return [(f"{prefix} {passage.of(document.text)}".strip(), passage) for passage in found]

    def _alone(self, document: Document) -> list[tuple[str, Passage]]:
        """The pieces alone; a document without text is represented by its title and headings."""
        text = document.text
        if self.scheme is PassageScheme.WORDS:
            found = passages(text, size=self.size, overlap=0)
        else:
            spans = cut_long(split_sentences(text, document.language), text, self.size)
            found = list(spans)
        return [(one.of(text), one) for one in found] or [(whole_text(document, self.headings), Passage(0, 0))]

    def _divided(self, text: str, tokens: LengthUnit, room: int) -> list[Passage]:
        size = min(self.size, room) if self.scheme is PassageScheme.WINDOWS else room
        overlap = min(self.overlap, size - 1)
        divide = numbered_passages if self.scheme is PassageScheme.PARAGRAPHS else passages
        found = divide(text, size=size, overlap=overlap, unit=tokens.offsets)
        return found[:1] if self.scheme is PassageScheme.BEGINNING else found

    def _prefix(self, document: Document, tokens: LengthUnit, most: int) -> tuple[str, int]:
        """The text before every passage, and its number of tokens."""
        headings = document.headings if self.headings else ()
        for first in range(len(headings) + 1):
            prefix = " ".join(filter(None, (document.title, *headings[first:])))
            places = tokens.offsets(prefix)
            if len(places) <= most:
                return prefix, len(places)
        return document.title[: places[most - 1][1]], most  # the title alone is too long


def whole_text(document: Document, headings: bool = True) -> str:
    """The text of a document that is encoded as a whole: "title headings text".

    >>> whole_text(Document("a", title="Article 1", text="La loi.", headings=("Livre I",)))
    'Article 1 Livre I La loi.'
    """
    return " ".join(filter(None, (document.title, *(document.headings if headings else ()), document.text)))
