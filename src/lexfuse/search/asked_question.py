"""A question as it is asked: the words that rank, and what its operators require of every result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from lexfuse.channels.explanation import ConditionMatch, Explanation
from lexfuse.channels.lexical.expression_match import ExpressionMatcher, combined
from lexfuse.channels.query_terms import QueryLanguages
from lexfuse.channels.retriever import Mask
from lexfuse.data.arrays import Bools
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run, join_runs
from lexfuse.errors import ConfigError, EmptyQuestionError, OperatorError
from lexfuse.search.candidates import retrieve_blocks
from lexfuse.search.index_version import IndexVersion, OpenedSearch
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.search.words.correction import Spelling, SpellingCorrection, correct, corrected
from lexfuse.text.analysis.language_table import known_language
from lexfuse.text.note import Note
from lexfuse.text.query_language.expression import Expression, Operand, OperandKind, parts_of
from lexfuse.text.query_language.parser import parse

RANKED_PREFIX_WORDS = 16  # of the words that a prefix stands for, the most frequent rank


@dataclass(frozen=True, eq=False)
class AskedQuestion:
    """A question that was read; of a plain one nothing changes."""

    query: Query  # as asked
    ranked: Query  # the words that rank, without operators and excluded words
    condition: Expression | None = None
    parts: Mapping[Expression, Bools] = field(default_factory=dict)  # the documents in which each part of the condition holds
    notes: tuple[str, ...] = ()
    correction: SpellingCorrection | None = None  # of misspelt words, which may be searched instead

    @cached_property
    def within(self) -> Mask | None:
        """The documents that satisfy the condition; None without one."""
        return None if self.condition is None else combined(self.condition, self.parts)

    def restricted(self, opened: OpenedSearch) -> OpenedSearch:
        """A search that finds only what satisfies the condition."""
        return opened._replace(within=both(opened.within, self.within), satisfying=self.within)

    def explained(self, found: Explanation, ordinal: int) -> Explanation:
        """An explanation of a document with the parts of the condition that hold in it."""
        if self.condition is None:
            return found
        return replace(
            found, conditions=tuple(ConditionMatch(str(part), bool(mask[ordinal])) for part, mask in self.parts.items())
        )


def both(one: Mask | None, other: Mask | None) -> Mask | None:
    """The documents that two masks allow; None allows all.

    >>> both(None, np.array([True])), both(np.array([True, True]), np.array([True, False])).tolist()
    (array([ True]), [True, False])
    """
    if one is None or other is None:
        return other if one is None else one
    return np.logical_and(one, other)


def read_question(
    version: IndexVersion,
    question: str | Query,
    language: str = "",
    *,
    operators: bool = True,
    spelling: Spelling | str = Spelling.OFF,
    by_words: bool = True,
) -> AskedQuestion:
    """Read a question; with `operators` those of the query language count (docs/lexical.md), otherwise it is plain.

    `spelling` says what happens to misspelt words, in a search `by_words` alone or by vectors too; a question with operators is
    taken as it is written.

    A question without a letter or digit is an `EmptyQuestionError`; an expression without a word to rank by, or one that is too
    large, is a `ConfigError`.

    >>> found = read_question(IndexVersion(snapshot), 'prêt -"autre lecteur"')
    >>> found.ranked.text, found.within.tolist()
    ('prêt', [True, True, False, True, True, True])
    """
    query = Query("q", question, asked_language(version, language)) if isinstance(question, str) else question
    if not any(map(str.isalnum, query.text)):
        raise EmptyQuestionError("the question is empty; ask with at least one word")
    if not operators:
        return _corrected(version, AskedQuestion(query, query), spelling, by_words=by_words)
    matcher: ExpressionMatcher = version.cached("expressions", lambda: ExpressionMatcher(version.snapshot))
    parsed = parse(query.text, matcher.fields)
    notes = (parsed.note,) if parsed.note else ()
    if parsed.condition is None:
        return _corrected(version, AskedQuestion(query, query, notes=notes), spelling, by_words=by_words)
    if not parsed.ranked:
        raise OperatorError(f"the question only filters ({parsed.condition}); add a word that the results are ranked by")
    text = " ".join(_ranked_text(operand, matcher) for operand in parsed.ranked)
    languages: QueryLanguages = version.cached("query languages", lambda: QueryLanguages(version.snapshot))
    parts = list(parts_of(parsed.condition))
    spoken = languages.of(text, query.language)
    masks = matcher.masks(parts, spoken)
    notes = (*notes, Note("satisfies", "every result satisfies: {condition}", condition=str(parsed.condition)))
    return AskedQuestion(
        query, replace(query, text=text, language=spoken), parsed.condition, dict(zip(parts, masks, strict=True)), notes
    )


def _corrected(version: IndexVersion, asked: AskedQuestion, spelling: Spelling | str, *, by_words: bool) -> AskedQuestion:
    """A plain question with the correction of its words, if they need one."""
    if spelling not in set(Spelling):
        raise ConfigError(f"spelling must be one of {', '.join(Spelling)}; got {spelling!r}")
    found = correct(version, asked.query, Spelling(spelling), by_words=by_words)
    return asked if found is None else replace(asked, ranked=corrected(asked.query, found), correction=found)


def asked_language(version: IndexVersion, language: str) -> str:
    """The language that a caller asked for, one with stems or one of the documents; `ConfigError` for another, "" for none.

    >>> asked_language(IndexVersion(snapshot), "de")
    'de'
    """
    spoken: frozenset[str] = version.cached("spoken languages", lambda: frozenset(version.snapshot.column("language")))
    return known_language(language, spoken) if language else ""


def _ranked_text(operand: Operand, matcher: ExpressionMatcher) -> str:
    """The words of an operand; of a prefix one word for each of its most frequent stems."""
    if operand.kind is not OperandKind.PREFIX:
        return operand.text
    stems: dict[tuple[str, ...], Counter[str]] = {}
    for (word, terms), count in matcher.prefix_words(operand.text).items():
        stems.setdefault(terms or (word,), Counter())[word] += count
    ordered = sorted(stems.items(), key=lambda stem: (-stem[1].total(), stem[0]))
    words = [min(counts, key=lambda word: (-counts[word], word)) for _, counts in ordered[:RANKED_PREFIX_WORDS]]
    return " ".join(words) or operand.text


def run_questions(opened: OpenedSearch, queries: Queries, k: int, *, before_query_date: bool, operators: bool) -> Run:
    """The best k documents of every query; with `operators`, queries that have some are ranked one by one.

    >>> version = IndexVersion(snapshot)
    >>> queries = Queries.of([Query("q", "prêt -réservé", "fr"), Query("p", "prêt", "fr")])
    >>> run = run_questions(version.search_by(), queries, 10, before_query_date=False, operators=True)
    >>> {query: list(docs) for query, docs in run.as_dict().items()}
    {'q': ['lib-4'], 'p': ['lib-3', 'lib-4']}
    """
    retrieve: Any = retrieve_before if before_query_date else retrieve_blocks
    asked = [read_question(opened.version, query) for query in queries] if operators else []
    special = [at for at, one in enumerate(asked) if one.condition is not None]
    if not special:
        found: Run = retrieve(opened.retriever, queries, k, within=opened.within)
        return found
    plain = [at for at in range(len(queries)) if at not in set(special)]
    rows: list[Sequence[int]] = [plain, *([at] for at in special)] if plain else [[at] for at in special]
    runs = [retrieve(opened.retriever, queries.select(plain), k, within=opened.within)] if plain else []
    for at in special:
        own = asked[at].restricted(opened)
        runs.append(retrieve(opened.retriever, Queries.of([asked[at].ranked]), k, within=own.within))
    return join_runs(runs[0].name, queries, [np.array(some, dtype=np.int64) for some in rows], runs)
