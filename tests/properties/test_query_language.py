"""The query language: any text is read, expressions obey the laws of logic and agree with a plain evaluator, in any division."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lexfuse.channels.lexical.expression_match import ExpressionMatcher
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.partition import partition
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError
from lexfuse.index import Index
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.segments.segment import Segment
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.letters import fold
from lexfuse.text.paragraphs import ParagraphMap
from lexfuse.text.query_language.expression import (
    Conjunction,
    Disjunction,
    Negation,
    Operand,
    OperandKind,
    Proximity,
    ProximityUnit,
)
from lexfuse.text.query_language.parser import ParsedQuestion, parse
from lexfuse.text.sentences.splitter import split_sentences

WORDS = ["bail", "baux", "loyer", "loyers", "congé", "conge", "de", "le", "employeur", "employé", "L. 1234-5", "juge"]
PIECES = [
    *WORDS, '"', "-", "AND", "OR", "NOT", "(", ")", "/s", "/p", "/3", "/0", "*", "bail*", "title:", "code:", "title:bail",
    '"bail de', 'loyer"', "-bail", '-"', "-(", "e-mail", "and/or", "2/3", "L1237-19", "«", "»", "?", "licencié(e)", " ", "\n",
]  # fmt: skip
QUESTIONS = st.lists(st.sampled_from(PIECES)).map(" ".join) | st.lists(st.sampled_from(PIECES)).map("".join) | st.text()
FIELDS = frozenset(("title", "text", "headings", "code", "number"))
ANALYSER = Analyser("fr")

SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(lambda words: " ".join(words).capitalize() + ". ")
TEXTS = st.lists(SENTENCES | st.just("\n\n"), max_size=5).map("".join)
DOCUMENTS = st.lists(
    st.builds(
        lambda title, text, headings, code: Document("", title, text, "fr", headings=tuple(headings), code=code),
        st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join),
        TEXTS,
        st.lists(st.sampled_from(WORDS), max_size=2),
        st.sampled_from(["", "Code du bail", "Code civil"]),
    ),
    min_size=1,
    max_size=5,
).map(
    lambda some: [
        Document(f"d{at}", one.title, one.text, "fr", headings=one.headings, code=one.code) for at, one in enumerate(some)
    ]
)
NEAR = st.sampled_from(WORDS).map(Operand) | st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(
    lambda words: Operand(" ".join(words), OperandKind.PHRASE)
) | st.sampled_from(["ba", "emp", "lo", "conge", "l1234", "zz"]).map(lambda text: Operand(text, OperandKind.PREFIX))  # fmt: skip
SCOPED = st.builds(
    lambda one, name: Operand(one.text, one.kind, name), NEAR, st.sampled_from(["", "title", "headings", "text", "code"])
)
PROXIMITIES = st.builds(
    lambda operands, unit, distance: Proximity(tuple(operands), unit, distance if unit is ProximityUnit.WORDS else 0),
    st.lists(NEAR | st.lists(NEAR, min_size=2, max_size=2).map(lambda some: Disjunction(tuple(some))), min_size=2, max_size=3),
    st.sampled_from(ProximityUnit),
    st.integers(1, 4),
)
EXPRESSIONS = st.recursive(
    SCOPED | PROXIMITIES,
    lambda inner: (
        inner.map(Negation)
        | st.lists(inner, min_size=2, max_size=3).map(lambda some: Conjunction(tuple(some)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda some: Disjunction(tuple(some)))
    ),
    max_leaves=4,
)


# A plain evaluator, written from the documentation: documents are lists of tokens, and everything is tried.


def tokens_of(text):
    """Each word with its form without case and accents, its terms, and its place in the text."""
    return [
        (token.terms[0] if token.citation else fold(token.exact), token.terms[:1] if token.citation else token.terms, token.start)
        for token in ANALYSER.tokens(text)
    ]


def stretches_of(document):
    """Field, tokens, and the sentence and the paragraph of each token, for every text that no phrase leaves."""
    found = [("title", document.title), *(("headings", one) for one in document.headings), ("text", document.text)]
    for name, text in found:
        tokens, starts, layout = tokens_of(text), [], ParagraphMap(text)
        if name == "text":
            starts = [one.start for one in split_sentences(text, "fr")]
        sentences = [sum(start <= token[2] for start in starts) for token in tokens]
        paragraphs = layout.of([token[2] for token in tokens]).tolist() if name == "text" else [0] * len(tokens)
        yield name, tokens, sentences, paragraphs


def is_same(token, wanted, kind):
    if kind is OperandKind.WORD and wanted[1]:
        return bool(set(token[1]) & set(wanted[1]))
    return token[0] == wanted[0]


def occurrences(tokens, operand):
    if operand.kind is OperandKind.PREFIX:
        return [(at, at) for at, token in enumerate(tokens) if token[0].startswith(fold(operand.text.lower()))]
    wanted = tokens_of(operand.text)
    last = len(wanted) - 1
    places = range(len(tokens) - last)
    return [(at, at + last) for at in places if all(is_same(tokens[at + i], one, operand.kind) for i, one in enumerate(wanted))]


def near(expression, tokens, sentences, paragraphs):
    every = [
        [
            place
            for one in (operand.parts if isinstance(operand, Disjunction) else (operand,))
            for place in occurrences(tokens, one)
        ]
        for operand in expression.operands
    ]
    units = sentences if expression.unit is ProximityUnit.SENTENCE else paragraphs
    return [{units[first] for first, last in places if units[first] == units[last]} for places in every], every


def holds(expression, document):
    if isinstance(expression, Negation):
        return not holds(expression.part, document)
    if isinstance(expression, Conjunction):
        return all(holds(part, document) for part in expression.parts)
    if isinstance(expression, Disjunction):
        return any(holds(part, document) for part in expression.parts)
    if isinstance(expression, Operand):
        if expression.field == "code":
            words = [fold(word) for word in document.code.lower().split()]
            return in_value(words, expression)
        wanted = expression.field or ("title", "headings", "text")
        return any(occurrences(tokens, expression) for name, tokens, _, _ in stretches_of(document) if name in wanted)
    pairs = [False] * (len(expression.operands) - 1)
    for _, tokens, sentences, paragraphs in stretches_of(document):
        units, every = near(expression, tokens, sentences, paragraphs)
        if expression.unit is not ProximityUnit.WORDS:
            if set.intersection(*units):
                return True
            continue
        for at, (one, other) in enumerate(pairwise(every)):
            gaps = [b[0] - a[1] for a in one for b in other] + [a[0] - b[1] for a in one for b in other]
            pairs[at] |= any(0 < gap <= expression.distance for gap in gaps)
    return expression.unit is ProximityUnit.WORDS and all(pairs)


def in_value(words, operand):
    """The words of a field that is no text."""
    tokens = [token for word in words for token in tokens_of(word)]
    if operand.kind is OperandKind.WORD:
        wanted = tokens_of(operand.text)
        fits = [
            all(t[0] == w[0] or set(t[1]) & set(w[1]) for t, w in zip(tokens[at:], wanted, strict=False))
            for at in range(len(tokens) - len(wanted) + 1)
        ]
        return any(fits)
    return bool(occurrences(tokens, operand))


@pytest.fixture(scope="module")
def folders():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def opened(folder, documents, deleted=()):
    with IndexFolder.create(folder, documents=documents, replace=folder.exists()) as index:
        index.delete(list(deleted))
    return open_snapshot(folder)


@given(QUESTIONS)
@settings(max_examples=400, deadline=None)
@example("(" * 500 + "bail AND loyer" + ")" * 500)
@example("NOT " * 300 + "bail")
@example('" ' * 900)
@example("bail AND " * 200 + "bail")
def test_any_text_is_plain_or_an_expression(text):
    found = outcome(text)
    assert isinstance(found, ParsedQuestion) or "deep" in found or "are allowed" in found
    if isinstance(found, ParsedQuestion):
        assert found.condition is not None or found.ranked == ()
        assert found.condition is None or any(mark in text for mark in '"-*:/ANO')


def outcome(text):
    """How a text is read, or the message of the limit that it exceeds."""
    try:
        return parse(text, FIELDS)
    except ConfigError as error:
        return str(error)


@given(DOCUMENTS, EXPRESSIONS, st.booleans())
@settings(max_examples=75, deadline=None)
def test_an_expression_finds_what_a_plain_evaluator_finds(folders, documents, expression, old):
    deleted = [documents[0].id] if len(documents) > 2 else []
    with opened(folders / "one", documents, deleted) as snapshot:
        if old:  # as an index of an older version: without positions
            snapshot.segments = [Segment(segment.ids, segment.channels) for segment in snapshot.segments]
        found = ExpressionMatcher(snapshot).mask(expression, "fr")
        expected = [holds(expression, snapshot.document(id)) for id in snapshot.ids]
    assert found.tolist() == expected, str(expression)


@given(DOCUMENTS, EXPRESSIONS, EXPRESSIONS)
@settings(max_examples=40, deadline=None)
def test_expressions_obey_the_laws_of_logic(folders, documents, a, b):
    with opened(folders / "laws", documents) as snapshot:
        mask = lambda one: ExpressionMatcher(snapshot).mask(one, "fr")  # noqa: E731
        np.testing.assert_array_equal(mask(Conjunction((a, b))), mask(Conjunction((b, a))))
        np.testing.assert_array_equal(mask(Disjunction((a, b))), mask(Disjunction((b, a))))
        np.testing.assert_array_equal(mask(Negation(Negation(a))), mask(a))
        np.testing.assert_array_equal(mask(Negation(Disjunction((a, b)))), mask(Conjunction((Negation(a), Negation(b)))))
        np.testing.assert_array_equal(mask(Conjunction((a, Disjunction((a, b))))), mask(a))


@given(DOCUMENTS, EXPRESSIONS)
@settings(max_examples=15, deadline=None)
def test_two_shards_find_what_one_index_finds(folders, documents, expression):
    shards = [some for some in partition(documents, 2) if some]
    places = []
    for number, some in enumerate(shards):
        places.append(folders / f"shard-{number}")
        opened(places[-1], some).close()
    with opened(folders / "whole", documents) as snapshot, ClusterIndex.of(places) as cluster:
        ours, theirs = ExpressionMatcher(cluster.snapshot), ExpressionMatcher(snapshot)
        found = dict(zip(cluster.snapshot.ids, ours.mask(expression, "fr").tolist(), strict=True))
        assert found == dict(zip(snapshot.ids, theirs.mask(expression, "fr").tolist(), strict=True))
        assert ours.prefix_words("ba") == theirs.prefix_words("ba")


@given(DOCUMENTS, st.sampled_from(["loyer", "bail", "conge", "juge"]), st.sampled_from(["bail", "employeur", "loyers", "e-mail"]))
@settings(max_examples=30, deadline=None)
def test_an_excluded_word_takes_away_the_documents_that_have_it_and_no_others(folders, documents, ranked, excluded):
    with Index.build(folders / "index", documents, replace=True) as index:
        plain = [hit.id for hit in index.search(ranked, 10)]
        kept = [hit.id for hit in index.search(f"{ranked} -{excluded}", 10)]
    having = {document.id for document in documents if holds(Operand(excluded), document)}
    assert kept == [id for id in plain if id not in having]
