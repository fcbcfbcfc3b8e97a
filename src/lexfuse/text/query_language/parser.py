"""Questions as expressions: what filters, what ranks, and what is plain text after all.

    question  = { clause }                       words that no operator touches only rank
    clause    = both { OR both }
    both      = single { AND single }            AND binds more than OR
    single    = { NOT | - } near
    near      = primary { /s | /p | /n primary } near binds most
    primary   = operand | ( question )           inside parentheses all clauses must hold

A question without an operator is plain: nothing of it changes. So is one whose operators make no expression (``bail AND``, a
parenthesis that is not closed); a note says why. Expressions that are too large are an `OperatorError`.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from itertools import groupby

from lexfuse.errors import OperatorError
from lexfuse.text.note import Note
from lexfuse.text.query_language.expression import (
    TEXT_FIELDS,
    Conjunction,
    Disjunction,
    Expression,
    Negation,
    Operand,
    OperandKind,
    Proximity,
    operands_of,
)
from lexfuse.text.query_language.lexer import MAYBE, QueryToken, TokenKind, lex

MAX_CHARACTERS = 2000  # of an expression; a longer question is a text
MAX_OPERANDS = 50
MAX_DEPTH = 20


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """What a question says: what documents must satisfy, and the words that rank them.

    >>> found = parse('peine "abus de confiance" -vol', {"title"})
    >>> str(found.condition), [operand.text for operand in found.ranked]
    ('"abus de confiance" AND NOT vol', ['peine', 'abus de confiance'])
    >>> parse("qu'est-ce que l'« abus de confiance » ?", {"title"}).condition is None
    True
    """

    condition: Expression | None = None  # None: the question is plain
    ranked: tuple[Operand, ...] = ()
    note: str = ""  # why a question that has operators is read as plain text


class _MalformedError(Exception):
    """The operators make no expression."""

    def __init__(self, code: str, reason: str, **values: str | int) -> None:
        self.note = Note(code, f"read as plain text: {reason}", **values)


def parse(text: str, fields: Container[str]) -> ParsedQuestion:
    """The expression of a question about an index with these fields.

    >>> parse("bail AND (loyer", set()).note
    'read as plain text: the parenthesis at character 10 is not closed'
    >>> parse("bail AND loyer -rural", set()).condition
    Conjunction(parts=(Conjunction(parts=(Operand(text='bail', ...
    """
    if not MAYBE.search(text):
        return ParsedQuestion()
    if len(text) > MAX_CHARACTERS:
        found = lex(text[:MAX_CHARACTERS], fields).has_operators
        reason = "read as plain text: operators are read in questions of up to {most} characters"
        return ParsedQuestion(note=Note("long-question", reason, most=MAX_CHARACTERS) if found else "")
    tokens, note = lexed = lex(text, fields)
    if not lexed.has_operators:
        return ParsedQuestion(note=note)
    try:
        clauses = _Parser(tokens).question()
    except _MalformedError as error:
        return ParsedQuestion(note=error.note)
    conditions = tuple(one for one in clauses if not _is_free(one))
    if (count := sum(1 for one in conditions for _ in operands_of(one))) > MAX_OPERANDS:
        raise OperatorError(f"the expression has {count:,} words and phrases, {MAX_OPERANDS} are allowed; ask with fewer")
    condition = conditions[0] if len(conditions) == 1 else Conjunction(conditions)
    ranked = [operand for clause in clauses for operand in operands_of(clause, positive=True)]
    return ParsedQuestion(condition, tuple(one for one in ranked if one.field in ("", *TEXT_FIELDS)), note)


def _is_free(clause: Expression) -> bool:
    """Whether it is a word that only ranks."""
    return isinstance(clause, Operand) and clause.kind is OperandKind.WORD and not clause.field


class _Parser:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[QueryToken]) -> None:
        self._tokens, self._at, self._depth = tokens, 0, 0

    def question(self) -> list[Expression]:
        """All clauses."""
        clauses = self._clauses()
        if (left := self._next) is not None:
            raise _MalformedError("not-opened", "the parenthesis at character {at} is not opened", at=left.start + 1)
        return clauses

    @property
    def _next(self) -> QueryToken | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _taken(self, *kinds: TokenKind) -> QueryToken | None:
        """The next token if it is of these kinds."""
        token = self._next
        if token is None or token.kind not in kinds:
            return None
        self._at += 1
        return token

    def _clauses(self) -> list[Expression]:
        clauses = []
        while self._next is not None and self._next.kind is not TokenKind.CLOSE:
            clauses.append(self._clause())
        return clauses

    def _clause(self) -> Expression:
        return self._chain(TokenKind.OR, Disjunction, lambda: self._chain(TokenKind.AND, Conjunction, self._single))

    def _chain(self, kind: TokenKind, made: type[Conjunction] | type[Disjunction], part: Callable[[], Expression]) -> Expression:
        parts = [part()]
        while self._taken(kind):
            parts.append(part())
        return parts[0] if len(parts) == 1 else made(tuple(parts))

    def _single(self) -> Expression:
        if self._taken(TokenKind.NOT, TokenKind.MINUS) is None:
            return self._near()
        self._deeper()
        part = self._single()
        self._depth -= 1
        return Negation(part)

    def _near(self) -> Expression:
        first, links = self._primary(), []
        while link := self._taken(TokenKind.NEAR):
            links.append((link, self._primary()))
        if not links:
            return first
        found, left = [], first
        for (unit, distance), some in groupby(links, lambda one: (one[0].unit, one[0].distance)):
            operands = [left, *(part for _, part in some)]
            found.append(Proximity(tuple(map(_close, operands)), unit, distance))
            left = operands[-1]
        return found[0] if len(found) == 1 else Conjunction(tuple(found))

    def _primary(self) -> Expression:
        if opened := self._taken(TokenKind.OPEN):
            self._deeper()
            clauses = self._clauses()
            if not self._taken(TokenKind.CLOSE):
                raise _MalformedError("not-closed", "the parenthesis at character {at} is not closed", at=opened.start + 1)
            if not clauses:
                reason = "there is nothing in the parentheses at character {at}"
                raise _MalformedError("empty-parentheses", reason, at=opened.start + 1)
            self._depth -= 1
            return clauses[0] if len(clauses) == 1 else Conjunction(tuple(clauses))
        token = self._taken(TokenKind.OPERAND)
        if token is None or token.operand is None:
            reason = "a word, a phrase or a parenthesis is missing"
            if self._next is None:
                raise _MalformedError("incomplete", f"{reason} at the end")
            raise _MalformedError("missing-operand", f"{reason} at character {{at}}", at=self._next.start + 1)
        return token.operand

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise OperatorError(f"parentheses and negations may be {MAX_DEPTH} deep, here they are deeper; ask with fewer")


def _close(part: Expression) -> Operand | Disjunction:
    """An operand of a proximity."""
    if isinstance(part, Disjunction) and all(isinstance(one, Operand) and not one.field for one in part.parts):
        return part
    if isinstance(part, Operand) and not part.field:
        return part
    reason = "only words, phrases and their alternatives with OR can be near something, not {part}"
    raise _MalformedError("not-near", reason, part=str(part))
