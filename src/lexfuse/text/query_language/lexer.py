"""Questions as tokens of the query language, with the rules that keep ordinary prose plain.

- A phrase is between straight quotes; the first comes after a space or a parenthesis, the second before one or punctuation. Other
  quotes (« », “ ”, an inch mark) are punctuation.
- ``-word`` excludes if a space or a parenthesis comes before the hyphen and a letter or a quote after it. In a question with a
  pair of dashes (``la loi -dite Macron- prévoit``) nothing is excluded.
- AND, OR and NOT are operators in capitals, unless the whole question is in capitals.
- ``/s``, ``/p`` and ``/5`` are operators between spaces, but not after a number (``12 /20``).
- ``word*`` has at least two letters before the asterisk. A field is one that the index has, followed by a colon and no space.
- Parentheses group only where there is AND, OR, NOT, a proximity or ``-(``; those inside a word (``licencié(e)``) never do.
"""

from __future__ import annotations

import re
from collections.abc import Container
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from lexfuse.text.note import Note
from lexfuse.text.query_language.expression import Operand, OperandKind, ProximityUnit

# Whether a question may have an operator at all; most have none, and are not looked at any further.
MAYBE = re.compile(
    r"""["*]|(?:^|[\s(])-[^\W\d_("]?|\b(?:AND|OR|NOT)\b|(?:^|\s)/(?:[sp]|\d{1,3})(?=\s|$)|\w:[^\s]""",
)
_PHRASE = re.compile(r"(?P<minus>-)?(?:(?P<field>\w+):)?\"(?=[^\"\w]*+\w)(?P<inside>[^\"]*+)\"(?=[\s).,;:?!…]|$)")
_OPEN = re.compile(r"(-)?\(")
_CHUNK = re.compile(r"(?:[^\s()]|\([^\s()]*\))++")
_PAIR_OF_DASHES = re.compile(r"\w-(?=[\s.,;:?!)]|$)")
_FIELD = re.compile(r"(\w+):(?=[^\s:])")
_PREFIX = re.compile(r"(?:\w+['’ʼ])?(\w{2,})\*")
_NEAR = re.compile(r"/([sp]|[1-9]\d{0,2})")
_SPACE = re.compile(r"\s*")
_END = ".,;:?!…"


class TokenKind(Enum):
    """What a token is for."""

    OPERAND = "operand"
    MINUS = "-"
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    NEAR = "/"
    OPEN = "("
    CLOSE = ")"


_WORDS = {"AND": TokenKind.AND, "OR": TokenKind.OR, "NOT": TokenKind.NOT}
_GROUPED = frozenset({TokenKind.AND, TokenKind.OR, TokenKind.NOT, TokenKind.NEAR})


class QueryToken(NamedTuple):
    """A token, and where it starts."""

    kind: TokenKind
    start: int
    operand: Operand | None = None
    unit: ProximityUnit = ProximityUnit.WORDS
    distance: int = 0


class LexedQuestion(NamedTuple):
    """The tokens of a question; `note` says why operators in it are read as words."""

    tokens: list[QueryToken]
    note: str = ""

    @property
    def has_operators(self) -> bool:
        """Whether anything but words without a meaning for the query language is in it."""
        return any(one.operand is None or one.operand.kind is not OperandKind.WORD or one.operand.field for one in self.tokens)


def lex(text: str, fields: Container[str]) -> LexedQuestion:
    """The tokens of a question about an index with these fields; what has no letter or digit is left out.

    >>> [str(token.operand or token.kind.value) for token in lex('"abus de confiance" -vol title:peine', {"title"}).tokens]
    ['"abus de confiance"', '-', 'vol', 'title:peine']
    >>> lex("qu'est-ce que l'« abus de confiance », and/or 2/3, L1237-19 ?", {"title"}).has_operators
    False
    """
    in_capitals = not any(letter.islower() for letter in text) and bool(set(text.split()) & _WORDS.keys())
    tokens = _scanned(text, fields, excludes=not _PAIR_OF_DASHES.search(text), capitals=in_capitals)
    grouped = any(one.kind in _GROUPED for one in tokens) or any(
        before.kind is TokenKind.MINUS and after.kind is TokenKind.OPEN for before, after in pairwise(tokens)
    )
    if not grouped:
        tokens = [one for one in tokens if one.kind not in (TokenKind.OPEN, TokenKind.CLOSE)]
    return LexedQuestion(tokens, _IN_CAPITALS if in_capitals else "")


_IN_CAPITALS = Note(
    "in-capitals", "the question is in capitals, so AND, OR and NOT are words; write the other words in lower case"
)


def _scanned(text: str, fields: Container[str], *, excludes: bool, capitals: bool) -> list[QueryToken]:
    tokens: list[QueryToken] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
            continue
        begins = at == 0 or text[at - 1].isspace() or text[at - 1] == "("
        phrase, opened = _PHRASE.match(text, at), _OPEN.match(text, at)
        if begins and phrase and (not phrase["field"] or phrase["field"] in fields) and (excludes or not phrase["minus"]):
            tokens += [QueryToken(TokenKind.MINUS, at)] if phrase["minus"] else []
            operand = Operand(" ".join(phrase["inside"].split()), OperandKind.PHRASE, phrase["field"] or "")
            tokens.append(QueryToken(TokenKind.OPERAND, at, operand))
            at = phrase.end()
        elif opened and (excludes or not opened[1]):
            tokens += [QueryToken(TokenKind.MINUS, at)] if opened[1] else []
            tokens.append(QueryToken(TokenKind.OPEN, at))
            at = opened.end()
        elif text[at] == ")":
            tokens.append(QueryToken(TokenKind.CLOSE, at))
            at += 1
        else:
            chunk = _CHUNK.match(text, at)
            found = chunk[0] if chunk else text[at]
            tokens += _of_chunk(found, at, fields, tokens, excludes=excludes and begins, capitals=capitals)
            at += len(found)
    return tokens


def _of_chunk(
    chunk: str, at: int, fields: Container[str], before: list[QueryToken], *, excludes: bool, capitals: bool
) -> list[QueryToken]:
    """The tokens of what has no space in it."""
    if chunk in _WORDS and not capitals:
        return [QueryToken(_WORDS[chunk], at)]
    near = _NEAR.fullmatch(chunk)
    if near and not _is_number(before):
        unit = ProximityUnit(near[1]) if near[1] in "sp" else ProximityUnit.WORDS
        return [QueryToken(TokenKind.NEAR, at, unit=unit, distance=int(near[1]) if unit is ProximityUnit.WORDS else 0)]
    tokens = []
    if excludes and chunk[0] == "-" and chunk[1:2].isalpha():
        tokens, chunk = [QueryToken(TokenKind.MINUS, at)], chunk[1:]
    field = _FIELD.match(chunk)
    name = field[1] if field and field[1] in fields else ""
    word = chunk[len(name) + 1 :].rstrip(_END) if name else chunk.rstrip(_END.replace(".", ""))  # L. 1234-5 needs its point
    prefix = _PREFIX.fullmatch(word.rstrip(_END))
    operand = Operand(prefix[1], OperandKind.PREFIX, name) if prefix else Operand(word, field=name)
    return [*tokens, QueryToken(TokenKind.OPERAND, at, operand)] if any(map(str.isalnum, word)) else []


def _is_number(before: list[QueryToken]) -> bool:
    last = before[-1].operand if before else None
    return last is not None and last.text.isdecimal()
