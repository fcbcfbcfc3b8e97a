"""Words in PostgreSQL: BM25 by its index and from its lexemes, filters, explanations, and questions that are SQL."""

import math

import numpy as np
import pytest

from lexfuse import Queries, Query
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import pairs_of
from lexfuse.storage.filters import Condition, within

QUESTION = Query("q", "la durée du préavis de démission du salarié", "fr")
QUERIES = Queries.of([QUESTION])
ATTACKS = [
    "'; DROP SCHEMA law CASCADE; --",
    '") FROM documents; DELETE FROM law.documents; --',
    "%s %(name)s {documents} $1 \\",
    "préavis\0démission",
    "préavis & ! | ( <-> :*",
    "\ud800 préavis",
    "",
]


@pytest.fixture(scope="session")
def counted(exported):
    """How often every document has every lexeme, as PostgreSQL says."""
    snapshot, counts = exported.snapshot, {}
    read = snapshot.sql(
        "SELECT id, lexeme, cardinality(positions) FROM {documents}, unnest(to_tsvector(%s::regconfig, words))",
        documents="documents",
    )
    for id, lexeme, count in snapshot.rows(read, [snapshot.exported.words.config]):
        counts.setdefault(id, {})[lexeme] = count
    return counts


def words(index, **options):
    return open_retriever(index.snapshot, "bm25", **options)


def scores(retriever, k=60, mask=None):
    return {hit.doc: hit.score for hit in retriever.retrieve(QUERIES, k, within=mask).hits("q")}


def test_the_index_of_pg_textsearch_answers_unless_other_scores_are_asked_for(exported):
    assert words(exported).by_index
    assert not words(exported, exact=True).by_index
    assert not words(exported, k1=0.9).by_index
    assert not words(exported, idf="robertson").by_index


def test_exact_scores_are_the_equation_over_the_lexemes(exported, counted):
    snapshot, counts, lengths = exported.snapshot, counted, {id: sum(held.values()) for id, held in counted.items()}
    mean = sum(lengths.values()) / len(snapshot)
    asked = {"dur": 1, "préav": 1, "démiss": 1, "salari": 1}
    expected = {}
    for id, held in counts.items():
        for lexeme in asked.keys() & held.keys():
            frequency = sum(lexeme in other for other in counts.values())
            idf = math.log1p((len(snapshot) - frequency + 0.5) / (frequency + 0.5))
            norm = 0.9 * (1 - 0.4 + 0.4 * lengths[id] / mean)
            expected[id] = expected.get(id, 0.0) + idf * held[lexeme] / (held[lexeme] + norm)
    assert scores(words(exported, k1=0.9, b=0.4)) == pytest.approx(expected, rel=1e-5)


def test_the_index_and_the_lexemes_agree_up_to_the_rounding_of_lengths(exported):
    quick, exact = scores(words(exported)), scores(words(exported, exact=True))
    assert quick.keys() == exact.keys()
    assert [quick[doc] / exact[doc] for doc in quick] == pytest.approx([1.0] * len(quick), abs=0.05)


def test_the_folder_ranks_the_same_documents_where_words_are_read_alike(law, exported):
    ours, theirs = scores(words(law)), scores(words(exported, exact=True))
    assert len(ours.keys() & theirs.keys()) >= 0.9 * len(ours)
    common = sorted(ours.keys() & theirs.keys())
    assert np.corrcoef([ours[doc] for doc in common], [theirs[doc] for doc in common])[0, 1] > 0.9


@pytest.mark.parametrize("options", [{}, {"exact": True}])
@pytest.mark.parametrize("filters", [["number^=L1"], ["code!=Code du travail"], ["id=art-003"], ["id=nowhere"]])
def test_a_filter_changes_no_score(exported, options, filters):
    retriever = words(exported, **options)
    mask = within(exported.snapshot, [Condition.parse(text) for text in filters])
    allowed = {exported.snapshot.ids[at] for at in np.flatnonzero(mask).tolist()}
    expected = {doc: score for doc, score in scores(retriever).items() if doc in allowed}
    assert scores(retriever, mask=mask) == expected
    assert list(scores(retriever, 3, mask)) == list(expected)[:3]


@pytest.mark.parametrize("options", [{}, {"exact": True}, {"idf": "robertson"}])
def test_scores_of_pairs_are_those_of_the_ranking(exported, options):
    retriever = words(exported, **options)
    known = scores(retriever)
    docs = list(exported.snapshot.ids)
    found = retriever.score(QUERIES, pairs_of(retriever, QUESTION, docs)).tolist()
    assert dict(zip(docs, found, strict=True)) == pytest.approx({doc: known.get(doc, 0.0) for doc in docs}, rel=1e-6)


@pytest.mark.parametrize("options", [{}, {"exact": True}])
def test_the_parts_of_an_explanation_add_up(exported, options):
    retriever = words(exported, **options)
    best = list(scores(retriever))[:3]
    for one in retriever.explain(QUESTION, best):
        parts = one.evidence["bm25"].terms
        assert sum(part.contribution for part in parts) == pytest.approx(one.score, rel=1e-5)
        assert {part.term for part in parts} == {"dure", "preavis", "demission", "salarie"} or len(parts) == 4


def test_a_document_that_is_not_found_is_explained(exported):
    missing = next(doc for doc in exported.snapshot.ids if doc not in scores(words(exported)))
    [why] = words(exported).explain(QUESTION, [missing])
    assert not why.listed
    assert why.score == 0.0


@pytest.mark.parametrize("question", ATTACKS)
@pytest.mark.parametrize("options", [{}, {"exact": True}])
def test_a_question_is_never_sql(exported, question, options):
    asked = Queries.of([Query("attack", question, "fr")])
    words(exported, **options).retrieve(asked, 10)
    words(exported, **options).evidence(Query("attack", question, "fr"), ["art-001"])
    assert len(exported.snapshot.rows(exported.snapshot.sql("SELECT 1 FROM {documents}", documents="documents"))) == 59


def test_tfidf_is_the_equation_over_the_lexemes(exported, counted):
    expected = {}
    for lexeme in ("dur", "préav", "démiss", "salari"):
        holders = {id: held[lexeme] for id, held in counted.items() if lexeme in held}
        for id, count in holders.items():
            expected[id] = expected.get(id, 0.0) + count * math.log(len(counted) / len(holders))
    retriever = open_retriever(exported.snapshot, "tfidf")
    found = scores(retriever)
    assert found == pytest.approx(expected, rel=1e-5)
    pairs = pairs_of(retriever, QUESTION, list(found))
    assert retriever.score(QUERIES, pairs).tolist() == pytest.approx(list(found.values()), rel=1e-6)
    [why] = retriever.explain(QUESTION, [next(iter(found))])
    assert sum(part.contribution for part in why.evidence["tfidf"].terms) == pytest.approx(why.score, rel=1e-5)


def test_tfidf_does_not_rank_by_words_that_every_document_has(exported, counted):
    everywhere = set.intersection(*(set(held) for held in counted.values()))
    assert "articl" in everywhere
    asked = Queries.of([Query("q", "article", "fr")])
    assert not open_retriever(exported.snapshot, "tfidf").retrieve(asked, 10).hits("q")


@pytest.mark.parametrize("channel", ["tfidf-1gram", "tfidf-2gram", "tfidf-bigram"])
def test_ngrams_are_those_of_the_folder(law, exported, channel):
    ours, theirs = (scores(open_retriever(one.snapshot, channel)) for one in (law, exported))
    assert list(theirs) == list(ours)
    assert theirs == pytest.approx(ours, rel=1e-6)


def test_the_chosen_terms_are_the_most_informative_lexemes(exported, counted):
    total, collection = sum(sum(held.values()) for held in counted.values()), {}
    for held in counted.values():
        for lexeme, count in held.items():
            collection[lexeme] = collection.get(lexeme, 0) + count
    asked = {"dur": 1, "préav": 1, "démiss": 1, "salari": 1}
    values = {lexeme: math.log(total / 4 / collection[lexeme]) / 4 for lexeme in asked}
    best = sorted(values, key=lambda lexeme: (-values[lexeme], lexeme))[:2]
    retriever = words(exported, kli=2, k1=2.8, b=1.0)
    shown = retriever.terms(QUESTION)
    assert [term.term for term in shown.terms] == best
    assert [term.informativeness for term in shown.terms] == pytest.approx([values[lexeme] for lexeme in best])
    assert {term.word for term in shown.terms} <= {"durée", "préavis", "démission", "salarié"}
    assert (shown.distinct, [term.weight for term in shown.terms]) == (4, [1.0, 1.0])
    assert scores(retriever).keys() == {id for id, held in counted.items() if set(best) & held.keys()}


def test_terms_are_added_dropped_and_weighted(exported):
    choice = {"amount": 1.0, "added": ["apprentissage=3", "klingon"], "dropped": ["préavis", "vélo"]}
    shown = words(exported, terms=choice).terms(QUESTION)
    assert {term.word: (term.weight, term.added) for term in shown.terms} == {
        "durée": (1.0, False),
        "démission": (1.0, False),
        "salarié": (1.0, False),
        "apprentissage": (3.0, True),
    }
    assert (shown.unknown, shown.absent) == (("klingon",), ("vélo",))


def test_all_terms_as_often_as_they_occur_are_plain_bm25(exported):
    every = words(exported, terms={"amount": 1.0, "weight": "count"})
    assert scores(every) == pytest.approx(scores(words(exported, exact=True)), rel=1e-6)


@pytest.mark.parametrize("attack", ATTACKS[:5])
def test_chosen_words_are_never_sql(exported, attack):
    given = [text for text in (attack, f"{attack}=2") if any(map(str.isalnum, text))]
    retriever = words(exported, terms={"added": given, "dropped": [attack]})
    retriever.terms(QUESTION)
    assert len(scores(retriever)) > 0
    assert len(exported.snapshot.rows(exported.snapshot.sql("SELECT 1 FROM {documents}", documents="documents"))) == 59
