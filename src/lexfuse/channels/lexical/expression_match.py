"""The documents that satisfy an expression of the query language, as a mask that every retriever applies.

A word matches as it does in a plain question, by its stem. A phrase and a prefix match words as they are written, without case
and accents. Segments of an older LexFuse have no positions: there the texts of the documents that hold all words are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from lexfuse.channels.lexical.field_values import FieldValues
from lexfuse.channels.lexical.occurrences import ReadOperand, ReadPart, ReadProximity, SegmentWords, WrittenWord, is_plain_word
from lexfuse.data.arrays import I64, Bools
from lexfuse.deadline import check
from lexfuse.errors import ConfigError
from lexfuse.storage.filters import FIELDS
from lexfuse.storage.folder_snapshot import FolderSnapshot
from lexfuse.storage.segments.segment import LEXICAL, Segment, build_segment
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.analysis.analyser import Analyser, Folding
from lexfuse.text.letters import compose, fold
from lexfuse.text.query_language.expression import (
    Disjunction,
    Expression,
    Negation,
    Operand,
    OperandKind,
    Proximity,
    operands_of,
    parts_of,
)

MAX_PREFIX_WORDS = 2000  # that a prefix may stand for
_PREFIXES_KEPT = 100
_BLOCK = 2000  # documents that are read at once where there are no positions


class FieldNames(Container[str]):
    """The fields of documents, and those that only this corpus has; the latter are read when a name is not one of the former.

    >>> "title" in FieldNames(snapshot), "judge" in FieldNames(snapshot)
    (True, False)
    """

    def __init__(self, snapshot: Snapshot) -> None:
        """Read nothing yet."""
        self._snapshot = snapshot

    def __contains__(self, name: object) -> bool:
        """Whether there is a field of this name."""
        return name in FIELDS or name in self._snapshot.settings.fields or name in self._snapshot.metadata


class ExpressionMatcher:
    """Finds what satisfies expressions in one snapshot; safe for many threads.

    >>> matcher = ExpressionMatcher(snapshot)
    >>> matcher.mask(Operand("cotisation annuelle", OperandKind.PHRASE), "fr").tolist()
    [False, True, False, False, False, False]
    """

    def __new__(cls, snapshot: Snapshot) -> Self:
        """An object of the class that searches the snapshot."""
        return super().__new__(snapshot.retriever_class(cls))

    def __init__(self, snapshot: Snapshot) -> None:
        """Keep the snapshot; nothing is read yet."""
        self.snapshot = snapshot
        self._segments: dict[int, SegmentWords] = {}
        self._prefixes: dict[str, Counter[WrittenWord]] = {}

    @property
    def fields(self) -> Container[str]:
        """The fields that an expression may name."""
        return FieldNames(self.snapshot)

    def mask(self, expression: Expression, language: str) -> Bools:
        """One flag per document; words are read as those of a question in this language."""
        parts = list(parts_of(expression))
        return combined(expression, dict(zip(parts, self.masks(parts, language), strict=True)))

    def masks(self, parts: Sequence[Expression], language: str) -> list[Bools]:
        """One mask for each part (see `parts_of`)."""
        analyser = self._analyser(language)
        found = []
        for part in parts:
            check()
            self._check_prefixes(part)
            read = _read(part, analyser)
            if isinstance(read, ReadOperand) and read.operand.field not in ("", *self.snapshot.settings.fields):
                found.append(self._values.mask(read, analyser))
            else:
                found.append(self._mask(self._folder, read))
        return found

    def prefix_words(self, prefix: str) -> Counter[WrittenWord]:
        """The words that begin like this, with their terms and how often each occurs; a `ConfigError` if they are too many."""
        if prefix not in self._prefixes:
            if len(self._prefixes) >= _PREFIXES_KEPT:
                self._prefixes.clear()
            self._prefixes[prefix] = self._prefix_words(prefix)
        return self._prefixes[prefix]

    def _prefix_words(self, prefix: str) -> Counter[WrittenWord]:
        wanted, found = folded(prefix), Counter[WrittenWord]()
        for words in self._every_segment():
            entries = words.positions.entries(wanted, prefix=True)
            self._refuse_many(prefix, len(entries))
            edges, offsets = words.positions.term_offsets, words.positions.offsets
            for entry in entries:
                numbers = words.positions.terms[edges[entry] : edges[entry + 1]].tolist()
                terms = tuple(words.segment.channels[LEXICAL].terms[number] for number in numbers)
                found[words.positions.words[entry], terms] += int(offsets[entry + 1] - offsets[entry])
        self._refuse_many(prefix, len(found))
        return found

    @staticmethod
    def _refuse_many(prefix: str, words: int) -> None:
        if words > MAX_PREFIX_WORDS:
            raise ConfigError(f"{words:,} words begin with {prefix!r}, {MAX_PREFIX_WORDS:,} are allowed; write more letters")

    def _check_prefixes(self, part: Expression) -> None:
        for operand in operands_of(part):
            if operand.kind is OperandKind.PREFIX and operand.field in ("", *self.snapshot.settings.fields):
                self.prefix_words(operand.text)

    def _mask(self, snapshot: FolderSnapshot, part: ReadPart) -> Bools:
        """The documents of all segments in which a part holds."""
        raw = np.zeros(len(snapshot.numbering), dtype=np.bool_)
        for number, segment in enumerate(snapshot.segments):
            base = int(snapshot.bases[number])
            if segment.positions is not None or is_plain_word(part):
                raw[base + self._words(number, segment).documents(part)] = True
            else:
                for docs, words in self._read_texts(snapshot, number, self._candidates(segment, part)):
                    raw[base + docs[words.documents(part)]] = True
        return raw if snapshot.numbering.is_identity else raw[snapshot.numbering.raw]

    def _words(self, number: int, segment: Segment) -> SegmentWords:
        return self._segments.setdefault(number, SegmentWords(segment))

    # Segments without positions

    def _every_segment(self) -> Iterator[SegmentWords]:
        """All segments; where one has no positions, the texts of all its documents are read."""
        snapshot = self._folder
        for number, segment in enumerate(snapshot.segments):
            if segment.positions is not None:
                yield self._words(number, segment)
            else:
                every = np.ones(len(segment.ids), dtype=np.bool_)
                yield from (words for _, words in self._read_texts(snapshot, number, every))

    def _read_texts(self, snapshot: FolderSnapshot, number: int, candidates: Bools) -> Iterator[tuple[I64, SegmentWords]]:
        """The live documents among candidates, block by block, with their words and positions."""
        base, segment = int(snapshot.bases[number]), snapshot.segments[number]
        alive = snapshot.numbering.alive[base : base + len(segment.ids)]
        docs = np.flatnonzero(candidates & alive)
        for start in range(0, len(docs), _BLOCK):
            check()
            some = docs[start : start + _BLOCK]
            documents = snapshot.documents([segment.ids[at] for at in some.tolist()])
            yield some, SegmentWords(build_segment(documents, snapshot.settings))

    def _candidates(self, segment: Segment, part: ReadPart) -> Bools:
        """The documents of a segment that may satisfy a part, by the posting lists."""
        every = np.ones(len(segment.ids), dtype=np.bool_)
        if isinstance(part, ReadProximity):
            for some in part.operands:
                every &= np.logical_or.reduce([self._candidates(segment, one) for one in some])
            return every
        if part.operand.kind is OperandKind.PREFIX:
            return every
        inverted = segment.channels[LEXICAL]
        for word, terms in part.words:
            spellings = [terms] if part.operand.kind is OperandKind.WORD else self._terms_of(word)
            if all(spellings):  # else it is a stop word of a language
                holds = np.zeros(len(segment.ids), dtype=np.bool_)
                for term in {term for some in spellings for term in some}:
                    holds[inverted.postings(term)[0]] = True
                every &= holds
        return every

    def _terms_of(self, word: str) -> list[tuple[str, ...]]:
        """The terms of a word as it is written, by every language of the documents; none where accents make a difference."""
        if self.snapshot.settings.folding is Folding.KEEP:
            return [()]
        languages = {value or "" for value in self.snapshot.coded("language")[1]}
        return [terms for language in languages for _, terms in self._analyser(language).words_of_piece(word.encode())]

    @property
    def _folder(self) -> FolderSnapshot:
        if isinstance(self.snapshot, FolderSnapshot):
            return self.snapshot
        raise ConfigError("an index in PostgreSQL answers plain questions; ask without operators, or search the index folder")

    @cached_property
    def _values(self) -> FieldValues:
        return FieldValues(self.snapshot)

    @cached_property
    def _analysers(self) -> dict[str, Analyser]:
        return {}

    def _analyser(self, language: str) -> Analyser:
        return self._analysers.setdefault(language, self.snapshot.settings.analyser(language))


def folded(text: str) -> str:
    """A text as words are written in positions.

    >>> folded("Employé")
    'employe'
    """
    return fold(compose(text).lower())


def combined(expression: Expression, masks: Mapping[Expression, Bools]) -> Bools:
    """The mask of an expression, given those of its parts.

    >>> combined(Negation(Operand("a")), {Operand("a"): np.array([True, False])}).tolist()
    [False, True]
    """
    if isinstance(expression, Operand | Proximity):
        return masks[expression]
    if isinstance(expression, Negation):
        return ~combined(expression.part, masks)
    every = [combined(part, masks) for part in expression.parts]
    merge = np.logical_or if isinstance(expression, Disjunction) else np.logical_and
    return np.asarray(merge.reduce(every), dtype=np.bool_)


def _read(part: Expression, analyser: Analyser) -> ReadPart:
    if isinstance(part, Proximity):
        alternatives = [one.parts if isinstance(one, Disjunction) else (one,) for one in part.operands]
        operands = tuple(tuple(_read_operand(one, analyser) for one in some) for some in alternatives)
        return ReadProximity(operands, part.unit, part.distance)
    return _read_operand(part, analyser)


def _read_operand(operand: Expression, analyser: Analyser) -> ReadOperand:
    if not isinstance(operand, Operand):
        raise TypeError(f"an operand was expected, got {operand!r}")
    if operand.kind is OperandKind.PREFIX:
        return ReadOperand(operand, ((folded(operand.text), ()),))
    return ReadOperand(operand, tuple(analyser.written_words(operand.text)))
