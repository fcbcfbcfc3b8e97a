"""What a question names without the grammar of citations: a bare number, or an identifier that a document declares."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from lexfuse.data.corpus import Corpus
from lexfuse.deadline import check
from lexfuse.text.letters import fold

_BARE = re.compile(
    r"\W*+(?:(?:articles?|artikels?|arts?|sections?|secs?|ss?|n[°ºo]|paragraph)\b\.?\s*)?"
    r"(?P<number>[0-9]+(?:[-.:][0-9]+)*(?:-?[A-Za-z])?)(?:\s(?P<latin>bis|ter|quater))?"
    r"(?:\s?,?\s(?:(?:du|des|de\sla|of\sthe|of|des|der|van\shet)\s)?(?P<code>[^\W\d](?:.*[^\s.?!])?))?[\s.?!]*",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^[A-Z]+")
_TOKEN = re.compile(r"[^\W\d_]+|[0-9]+")
_SHORTEST = 4  # characters of an identifier that is looked for inside a text
_SHORTEST_NAME = 8  # letters of one without digits
_HEAD = 4
_NUMBER_SIGNS = frozenset({"no", "n", "nr"})  # "no. 7525/76" is also what "7525/76" names


class BareNumber(NamedTuple):
    """A question that is a number and, perhaps, the name of its code."""

    number: str
    code: str


def bare_number_of(text: str) -> BareNumber | None:
    """The number that a text is, or nothing.

    >>> bare_number_of("3141-3"), bare_number_of("art. 1234-9 code du travail"), bare_number_of("le 3141-3")
    (BareNumber(number='3141-3', code=''), BareNumber(number='1234-9', code='code du travail'), None)
    """
    match = _BARE.fullmatch(text)
    if match is None:
        return None
    number = f"{match['number']} {match['latin']}" if match["latin"] else match["number"]
    return BareNumber(number, (match["code"] or "").strip())


class BareNumbers:
    """Articles by their numbers without the letter in front (L, R, D)."""

    def __init__(self, corpus: Corpus, numbers: Mapping[str, Sequence[int]]) -> None:
        """Take the table of comparison forms of numbers."""
        self._corpus = corpus
        self._ordinals: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for key, ordinals in numbers.items():
            self._ordinals[_PREFIX.sub("", key)] += [(key, ordinal) for ordinal in ordinals]

    def unique(self, number: str, codes: Set[str] | None) -> list[int]:
        """The documents of this number, if they are one article; `codes` are those that the question names.

        >>> corpus = Corpus.of([Document("x", number="L3141-3"), Document("y", number="R3141-3")])
        >>> BareNumbers(corpus, {"L3141-3": [0], "R3141-3": [1]}).unique("3141-3", None)
        []
        """
        code = self._corpus.code
        plain = re.sub(r"(?<=[0-9])-(?=[A-Z])", "", re.sub(r"\s", "", number).upper())
        found = [one for one in self._ordinals.get(plain, ()) if codes is None or code[one[1]] in codes]
        return sorted(ordinal for _, ordinal in found) if len({(key, code[ordinal]) for key, ordinal in found}) == 1 else []


class LiteralIdentifiers:
    """Identifiers that documents declare, found in a text in any case and with any spaces, dots and hyphens.

    Inside a longer text an identifier counts if it has letters and digits, or several words; a plain number or a single word
    counts only if it is the whole text.
    """

    def __init__(self, identifiers: Sequence[Sequence[str]]) -> None:
        """Take the identifiers of every document."""
        self._ordinals: dict[str, list[int]] = defaultdict(list)
        self._inside: set[str] = set()
        for ordinal, own in enumerate(identifiers):
            for identifier in own:
                tokens = _tokens(identifier)
                if key := _joined(tokens):
                    self._ordinals[key].append(ordinal)
                    if _is_distinctive(tokens):
                        self._inside.add(key)
                if tokens[:1] and tokens[0] in _NUMBER_SIGNS and (bare := _joined(tokens[1:])):
                    self._ordinals[bare].append(ordinal)
        self._heads = {key[:_HEAD] for key in self._inside}
        self._longest = max(map(len, self._inside), default=0)

    def named_in(self, text: str, taken: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
        """The documents of each identifier in a text, in text order; places in `taken` do not count.

        >>> list(LiteralIdentifiers([("HR-2019-123-A",), ("2010/12",)]).named_in("voir HR 2019.123 a de 2010/12", []))
        [[0]]
        """
        if not taken and (whole := self._ordinals.get(_joined(_tokens(text)))):
            yield whole
            return
        tokens = [] if not self._inside else _tokens(_without(text, taken))
        at = 0
        while at < len(tokens):
            check()
            end = self._end_of_identifier(tokens, at)
            if end:
                yield self._ordinals[_joined(tokens[at:end])]
            at = end or at + 1

    def _end_of_identifier(self, tokens: list[str], start: int) -> int:
        """The place after the longest identifier that begins with this word, or 0."""
        joined, longest = "", 0
        for at in range(start, len(tokens)):
            joined = _append(joined, tokens[at])
            if len(joined) > self._longest or (len(joined) >= _HEAD and joined[:_HEAD] not in self._heads):
                break
            longest = at + 1 if joined in self._inside else longest
        return longest


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(fold(text.lower()))


def _joined(tokens: Sequence[str]) -> str:
    joined = ""
    for token in tokens:
        joined = _append(joined, token)
    return joined


def _append(joined: str, token: str) -> str:
    """Letters and digits written together; two numbers stay two."""
    return f"{joined}|{token}" if joined[-1:].isdigit() and token[0].isdigit() else joined + token


def _is_distinctive(tokens: list[str]) -> bool:
    joined = "".join(tokens)
    if any(token.isdigit() for token in tokens):
        return len(joined) >= _SHORTEST and not all(token.isdigit() for token in tokens)
    return len(tokens) > 1 and len(joined) >= _SHORTEST_NAME


def _without(text: str, taken: Sequence[tuple[int, int]]) -> str:
    """The text with a bar, which is in no identifier, for every place that is taken."""
    kept, at = [], 0
    for start, end in sorted(taken):
        kept.append(text[at:start])
        at = max(at, end)
    return " \u4e00 ".join([*kept, text[at:]])  # a letter of no identifier, so that words on both sides are not joined
