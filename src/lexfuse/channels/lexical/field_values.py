"""Operands of an expression in a field that is not among the indexed texts: a code, a court, a date, an id."""

from __future__ import annotations

import numpy as np

from lexfuse.channels.lexical.occurrences import ReadOperand, WrittenWord
from lexfuse.data.arrays import I32, Bools
from lexfuse.storage.document_rows import LISTS, texts_of
from lexfuse.storage.filters import FIELDS
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.query_language.expression import OperandKind


class FieldValues:
    """The distinct values of the fields of a snapshot, as words; each field is read once.

    >>> from lexfuse.text.query_language.expression import Operand
    >>> values, analyser = FieldValues(snapshot), Analyser("fr")
    >>> values.mask(ReadOperand(Operand("R1", field="number"), tuple(analyser.written_words("R1"))), analyser).tolist()
    [False, False, False, False, True, False]
    """

    def __init__(self, snapshot: Snapshot) -> None:
        """Read nothing yet."""
        self._snapshot = snapshot
        self._words: dict[tuple[str, str], list[list[list[WrittenWord]]]] = {}  # by field and language

    def mask(self, part: ReadOperand, analyser: Analyser) -> Bools:
        """The documents whose value has the words of an operand next to each other."""
        operand, words = part
        if operand.field == "id":
            return self._ids(operand.text, prefix=operand.kind is OperandKind.PREFIX)
        places, codes, texts = self._values(operand.field)
        key = (operand.field, analyser.language)
        if key not in self._words:
            self._words[key] = [[analyser.written_words(text) for text in some] for some in texts]
        fits = [any(_holds(text, words, operand.kind) for text in some) for some in self._words[key]]
        found = np.zeros(len(self._snapshot), dtype=np.bool_)
        if fits:
            found[places] = np.array(fits, dtype=np.bool_)[codes]
        return found

    def _values(self, field: str) -> tuple[slice | I32, I32, list[tuple[str, ...]]]:
        """The documents that have a field, the number of each one's value, and the texts of the distinct values."""
        if field in FIELDS:
            codes, values = self._snapshot.coded(field)
            return slice(None), codes, [texts_of(value) if field in LISTS else (value or "",) for value in values]
        column = self._snapshot.metadata.get(field)
        if column is None:  # another shard has it
            return slice(None), np.empty(0, dtype=np.int32), []
        return column.documents, column.codes, [tuple(map(str, value)) for value in column.values]

    def _ids(self, text: str, *, prefix: bool) -> Bools:
        wanted, ids = text.casefold(), (id.casefold() for id in self._snapshot.ids)
        fits = (id.startswith(wanted) for id in ids) if prefix else (id == wanted for id in ids)
        return np.fromiter(fits, dtype=np.bool_, count=len(self._snapshot))


def _holds(value: list[WrittenWord], words: tuple[WrittenWord, ...], kind: OperandKind) -> bool:
    size = len(words)
    if not size:
        return False
    starts = range(len(value) - size + 1)
    return any(all(_same(value[at + place], word, kind) for place, word in enumerate(words)) for at in starts)


def _same(value: WrittenWord, word: WrittenWord, kind: OperandKind) -> bool:
    if kind is OperandKind.PREFIX:
        return value[0].startswith(word[0])
    return value[0] == word[0] or (kind is OperandKind.WORD and not set(word[1]).isdisjoint(value[1]))
