"""Expressions of the query language: what a document must satisfy to be a result.

`lexfuse.text.query_language.parser` makes them of questions; `lexfuse.channels.lexical.expression_match` finds the documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

TEXT_FIELDS = ("title", "headings", "text")  # whose words rank; the other fields only filter


class OperandKind(StrEnum):
    """How an operand matches."""

    WORD = "word"  # as a plain word does: by its stem
    PHRASE = "phrase"  # the words as written, in this order, without case and accents
    PREFIX = "prefix"  # every word as written that begins like this


class ProximityUnit(StrEnum):
    """What operands must share."""

    SENTENCE = "s"
    PARAGRAPH = "p"
    WORDS = "n"  # at most this many words from one to the next, in either order


@dataclass(frozen=True, slots=True)
class Operand:
    """A word, phrase or prefix, anywhere or in one field.

    >>> str(Operand("abus de confiance", OperandKind.PHRASE, "title")), str(Operand("licenci", OperandKind.PREFIX))
    ('title:"abus de confiance"', 'licenci*')
    """

    text: str
    kind: OperandKind = OperandKind.WORD
    field: str = ""

    def __str__(self) -> str:
        """As it is written."""
        shown = {OperandKind.WORD: "{}", OperandKind.PHRASE: '"{}"', OperandKind.PREFIX: "{}*"}[self.kind].format(self.text)
        return f"{self.field}:{shown}" if self.field else shown


@dataclass(frozen=True, slots=True)
class Proximity:
    """Operands, or alternatives of them, near each other.

    >>> str(Proximity((Operand("bail"), Operand("loyer")), ProximityUnit.WORDS, 5))
    'bail /5 loyer'
    """

    operands: tuple[Operand | Disjunction, ...]
    unit: ProximityUnit
    distance: int = 0  # of words

    def __str__(self) -> str:
        """As it is written."""
        mark = self.distance if self.unit is ProximityUnit.WORDS else self.unit.value
        return f" /{mark} ".join(_enclosed(one) for one in self.operands)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All parts hold.

    >>> str(Conjunction((Operand("bail"), Negation(Operand("rural")))))
    'bail AND NOT rural'
    """

    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        """As it is written."""
        return " AND ".join(_enclosed(one) for one in self.parts)


@dataclass(frozen=True, slots=True)
class Disjunction:
    """Some part holds.

    >>> str(Conjunction((Operand("bail"), Disjunction((Operand("loyer"), Operand("charges"))))))
    'bail AND (loyer OR charges)'
    """

    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        """As it is written."""
        return " OR ".join(_enclosed(one) for one in self.parts)


@dataclass(frozen=True, slots=True)
class Negation:
    """The part does not hold.

    >>> str(Negation(Operand("rural")))
    'NOT rural'
    """

    part: Expression

    def __str__(self) -> str:
        """As it is written."""
        return f"NOT {_enclosed(self.part)}"


Expression = Operand | Proximity | Conjunction | Disjunction | Negation


def _enclosed(part: Expression) -> str:
    """A part as an operand of another expression."""
    return f"({part})" if isinstance(part, Conjunction | Disjunction | Proximity) else str(part)


def parts_of(expression: Expression) -> Iterator[Expression]:
    """The smallest parts that hold or not: operands, and operands near each other; each once, in order.

    >>> one = Conjunction((Operand("bail"), Negation(Disjunction((Operand("rural"), Operand("bail"))))))
    >>> [str(part) for part in parts_of(one)]
    ['bail', 'rural']
    """
    yield from dict.fromkeys(_parts(expression))


def _parts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Operand | Proximity):
        yield expression
    elif isinstance(expression, Negation):
        yield from _parts(expression.part)
    else:
        for part in expression.parts:
            yield from _parts(part)


def operands_of(expression: Expression, *, positive: bool | None = None) -> Iterator[Operand]:
    """The operands in order; with `positive` those that are not excluded, or those that are.

    >>> one = Conjunction((Operand("bail"), Negation(Operand("rural"))))
    >>> [str(operand) for operand in operands_of(one, positive=True)]
    ['bail']
    """
    if isinstance(expression, Operand):
        if positive is not False:
            yield expression
    elif isinstance(expression, Negation):
        yield from operands_of(expression.part, positive=None if positive is None else not positive)
    else:
        for part in expression.operands if isinstance(expression, Proximity) else expression.parts:
            yield from operands_of(part, positive=positive)
