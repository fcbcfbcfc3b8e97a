"""What of a document is encoded: the whole, windows of tokens (BSARD, section 5: 200 that share 20), paragraphs or sentences.

Every passage is read as "title headings passage", so that each window knows where in the code it stands. Sentences, and units of
so many words, are for comparing texts piece by piece (RPRS, section 5.6): they stand alone, as a title before each would make
all sentences of a document alike.
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
    """What passages are counted in: the tokens of a model with a window, or `WordUnits` without one.

    >>> hasattr(WordUnits(), "offsets")
    True
    """

    @property
    def window(self) -> int:
        """How many fit into the window, special ones included."""

    @property
    def room(self) -> int:
        """How many of a text's fit into the window."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each starts and ends, in characters."""


class WordUnits:
    """Words as units, for encoders that read texts of any length.

    >>> WordUnits().offsets("la loi")
    [(0, 2), (3, 6)]
    """

    window = room = 1 << 30

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each word starts and ends."""
        return word_offsets(text)


class PassageScheme(StrEnum):
    """How a document is divided.

    >>> PassageScheme("windows")
    <PassageScheme.WINDOWS: 'windows'>
    """

    WHOLE = "whole"  # one passage, divided only where the model's window is exceeded
    WINDOWS = "windows"  # of so many tokens
    PARAGRAPHS = "paragraphs"  # numbered ones; those beyond the model's window are divided
    SENTENCES = "sentences"  # longer ones cut after so many words
    WORDS = "words"  # so many at a time, wherever sentences end (RPRS, section 6.3)
    BEGINNING = "beginning"  # what fits into the model's window, and no more: as published figures were often measured

    @property
    def alone(self) -> bool:
        """Whether pieces stand alone, without title and headings.

        >>> PassageScheme.SENTENCES.alone, PassageScheme.WINDOWS.alone
        (True, False)
        """
        return self in (PassageScheme.SENTENCES, PassageScheme.WORDS)


SENTENCE = 25  # words at most (RPRS, section 5.6)
WINDOW, SHARED = 200, 20  # tokens


@dataclass(frozen=True, slots=True)
class PassagePlan:
    """How documents become passages; part of what two sides of an index must share.

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
        """A plan with the usual numbers where none are given: 200 tokens that share 20, or 25 words that share none.

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
        """The texts to encode with the piece of the document's text that each stands for; at least one.

        ``reserved`` tokens are left free for a prompt. The prefix takes at most half of the window: outer headings are
        left out first, as the inner ones tell more. Sentences and words are read without it, and without a limit: encoders
        read what is beyond a window in several.
        """
        if self.scheme.alone:
            return self._alone(document)
        room = tokens.room - reserved
        if room < 2:
            raise ConfigError(f"a window of {tokens.window} tokens has no room beside {reserved} tokens of a prompt")
        prefix, used = self._prefix(document, tokens, room // 2)
        found = self._divided(document.text, tokens, room - used) or [Passage(0, 0)]
        return [(f"{prefix} {passage.of(document.text)}".strip(), passage) for passage in found]

    def _alone(self, document: Document) -> list[tuple[str, Passage]]:
        """The pieces by themselves; a document without text is known by its title and headings."""
        text = document.text
        if self.scheme is PassageScheme.WORDS:
            found = passages(text, size=self.size, overlap=0)
        else:
            spans = cut_long(split_sentences(text, document.language), text, self.size)
            found = [Passage(span.start, span.end) for span in spans]
        return [(one.of(text), one) for one in found] or [(whole_text(document, self.headings), Passage(0, 0))]

    def _divided(self, text: str, tokens: LengthUnit, room: int) -> list[Passage]:
        size = min(self.size, room) if self.scheme is PassageScheme.WINDOWS else room
        overlap = min(self.overlap, size - 1)
        divide = numbered_passages if self.scheme is PassageScheme.PARAGRAPHS else passages
        found = divide(text, size=size, overlap=overlap, unit=tokens.offsets)
        return found[:1] if self.scheme is PassageScheme.BEGINNING else found

    def _prefix(self, document: Document, tokens: LengthUnit, most: int) -> tuple[str, int]:
        """What stands before every passage, and how many tokens it has."""
        headings = document.headings if self.headings else ()
        for first in range(len(headings) + 1):
            prefix = " ".join(filter(None, (document.title, *headings[first:])))
            places = tokens.offsets(prefix)
            if len(places) <= most:
                return prefix, len(places)
        return document.title[: places[most - 1][1]], most  # the title alone is too long


def whole_text(document: Document, headings: bool = True) -> str:
    """What is encoded of a document where a model reads it as a whole: "title headings text".

    >>> whole_text(Document("a", title="Article 1", text="La loi.", headings=("Livre I",)))
    'Article 1 Livre I La loi.'
    """
    return " ".join(filter(None, (document.title, *(document.headings if headings else ()), document.text)))
