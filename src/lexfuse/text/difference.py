"""The difference of two texts, word by word.

Paragraphs are compared first, then the words of those that changed, so a long text costs little more than its changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

_PARAGRAPH = re.compile(r"[^\n]*\n+|[^\n]+")
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class ChangeKind(StrEnum):
    """What happened to a part of a text."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class TextChange(NamedTuple):
    """A part of two texts that is in both, only in the first, or only in the second."""

    kind: ChangeKind
    text: str


def word_changes(before: str, after: str) -> tuple[TextChange, ...]:
    """The parts of two texts in order; those of the first text, and those of the second, are the whole texts.

    >>> [f"{change.kind.value}: {change.text}" for change in word_changes("Le bail dure trois ans.", "Le bail dure six ans.")]
    ['same: Le bail dure ', 'removed: trois', 'added: six', 'same:  ans.']
    """
    joined: list[TextChange] = []
    for kind, words in _differences(_PARAGRAPH.findall(before), _PARAGRAPH.findall(after), _word_differences):
        if joined and joined[-1].kind is kind:
            joined[-1] = TextChange(kind, joined[-1].text + words)
        elif words:
            joined.append(TextChange(kind, words))
    return tuple(joined)


Replaced = Callable[[Sequence[str], Sequence[str]], Iterator[tuple[ChangeKind, str]]]


def _word_differences(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[ChangeKind, str]]:
    first, second = _WORD.findall("".join(before)), _WORD.findall("".join(after))
    return _differences(first, second, _replaced)


def _replaced(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[ChangeKind, str]]:
    yield ChangeKind.REMOVED, "".join(before)
    yield ChangeKind.ADDED, "".join(after)


def _differences(before: Sequence[str], after: Sequence[str], replaced: Replaced) -> Iterator[tuple[ChangeKind, str]]:
    for operation, start, end, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if operation == "equal":
            yield ChangeKind.SAME, "".join(before[start:end])
        else:
            yield from replaced(before[start:end], after[first:last])
