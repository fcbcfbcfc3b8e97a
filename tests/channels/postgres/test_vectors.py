"""Dense and learned sparse channels in PostgreSQL give the ids and scores of the index folder."""

import numpy as np
import pytest

import lexfuse
from lexfuse import Queries, Query
from lexfuse.channels.postgres.export import ExportOptions, export_index
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import pairs_of
from lexfuse.encode.shared_encoders import SharedEncoders, sharing
from lexfuse.storage.filters import Condition, within
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.postgres.address import PostgresAddress

QUESTIONS = Queries.of(
    [
        Query("q1", "combien de temps dure le préavis quand je démissionne ?", "fr"),
        Query("q2", "apprentissage et congés payés", "fr"),
        Query("q3", "'; DROP TABLE documents; --", "fr"),
    ]
)
SEARCHES = [
    ("dense", {}),
    ("sentences", {}),
    ("sentences", {"pool": "all"}),
    ("sentences", {"pool": 2}),
    ("splade", {}),
    ("splade", {"cosine": True}),
    ("splade", {"cosine": False}),
]


ENCODERS = SharedEncoders()  # a model is loaded once for all tests


def both(law, exported, channel, options):
    with sharing(ENCODERS):
        return [open_retriever(one.snapshot, channel, **options) for one in (law, exported)]


def same(ours, theirs):
    assert list(ours.queries) == list(theirs.queries)
    for query in ours.queries:
        one, other = ours.hits(query), theirs.hits(query)
        assert [hit.doc for hit in one] == [hit.doc for hit in other]
        assert [hit.score for hit in other] == pytest.approx([hit.score for hit in one], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(("channel", "options"), SEARCHES)
def test_rankings_and_scores_are_those_of_the_folder(law, exported, channel, options):
    ours, theirs = both(law, exported, channel, options)
    same(ours.retrieve(QUESTIONS, 60), theirs.retrieve(QUESTIONS, 60))
    assert theirs.bounds == ours.bounds


@pytest.mark.parametrize(("channel", "options"), SEARCHES[:3] + SEARCHES[4:5])
@pytest.mark.parametrize("filters", [["number^=L1"], ["code=Code du travail"], ["id=art-003,art-030"], ["id=nowhere"]])
def test_filters_choose_the_same_documents(law, exported, channel, options, filters):
    ours, theirs = both(law, exported, channel, options)
    masks = [within(one.snapshot, [Condition.parse(text) for text in filters]) for one in (ours, theirs)]
    same(ours.retrieve(QUESTIONS, 20, within=masks[0]), theirs.retrieve(QUESTIONS, 20, within=masks[1]))


@pytest.mark.parametrize(("channel", "options"), SEARCHES)
def test_scores_of_given_pairs_are_those_of_the_ranking(law, exported, channel, options):
    ours, theirs = both(law, exported, channel, options)
    query, docs = QUESTIONS[0], ["art-030", "art-001", "art-059"]
    queries = Queries.of([query])
    expected = ours.score(queries, pairs_of(ours, query, docs))
    assert theirs.score(queries, pairs_of(theirs, query, docs)).tolist() == pytest.approx(expected.tolist(), rel=1e-5)


def test_the_nearest_passage_and_the_vectors_of_a_document(law, exported):
    ours, theirs = both(law, exported, "sentences", {})
    docs = ["art-003", "art-009"]
    assert theirs.evidence(QUESTIONS[0], docs) == ours.evidence(QUESTIONS[0], docs)
    assert theirs.passage_counts.tolist() == ours.passage_counts.tolist()
    [own], [other] = (one.passages_of([one.snapshot.ids.ordinal("art-003")]) for one in (ours, theirs))
    np.testing.assert_array_equal(other.vectors, own.vectors)
    np.testing.assert_array_equal(other.spans, own.spans)


@pytest.mark.parametrize("cosine", [False, True])
def test_the_terms_of_a_learned_sparse_score(law, exported, cosine):
    ours, theirs = both(law, exported, "splade", {"cosine": cosine})
    [one], [other] = (retriever.evidence(QUESTIONS[0], ["art-012"]) for retriever in (ours, theirs))
    weights = [{part.term: (part.in_query, part.in_document, part.contribution) for part in each.terms} for each in (one, other)]
    assert weights[0].keys() == weights[1].keys()
    for term, numbers in weights[0].items():
        assert weights[1][term] == pytest.approx(numbers, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("channel", ["dense", "sentences", "splade"])
def test_hnsw_finds_nearly_the_same_with_exact_scores(exported, approximate, channel):
    exact, near = both(exported, approximate, channel, {"cosine": False} if channel == "splade" else {})
    assert exact.exact
    assert not near.exact
    expected, found = exact.retrieve(QUESTIONS, 10), near.retrieve(QUESTIONS, 10)
    for query in QUESTIONS.ids:
        scores = {hit.doc: hit.score for hit in exact.retrieve(QUESTIONS, 60).hits(query)}
        assert [hit.score for hit in found.hits(query)] == pytest.approx([scores[hit.doc] for hit in found.hits(query)], rel=1e-5)
        shared = {hit.doc for hit in expected.hits(query)} & {hit.doc for hit in found.hits(query)}
        assert len(shared) >= 0.8 * len(expected.hits(query))
    same(near.exhaustive.retrieve(QUESTIONS, 10), expected)


@pytest.mark.parametrize("channel", ["dense", "sentences", "splade"])
@pytest.mark.parametrize("filters", [["number^=L1"], ["id=art-003,art-030"], ["id!=art-003"], ["id=nowhere"]])
def test_a_filter_loses_nothing_with_hnsw(exported, approximate, channel, filters):
    exact, near = both(exported, approximate, channel, {"cosine": False} if channel == "splade" else {})
    mask = within(exported.snapshot, [Condition.parse(text) for text in filters])
    same(exact.retrieve(QUESTIONS, 20, within=mask), near.retrieve(QUESTIONS, 20, within=mask))


def test_hnsw_finds_as_many_documents_as_are_asked_for(exported, approximate):
    exact, near = both(exported, approximate, "sentences", {})
    same(exact.retrieve(QUESTIONS, 59), near.retrieve(QUESTIONS, 59))


def test_a_vector_that_is_too_large_for_hnsw_is_searched_exactly(postgres_server, law_folder, exported, monkeypatch):
    monkeypatch.setattr("lexfuse.channels.postgres.vector_tables.INDEXED_TERMS", 1)
    address = PostgresAddress.parse(f"{postgres_server}&schema=large")
    with open_snapshot(law_folder) as snapshot:
        made = export_index(snapshot, law_folder.name, address, ExportOptions(hnsw=True))
        assert made.without_hnsw == ("splade",)
        assert export_index(snapshot, law_folder.name, address, ExportOptions(hnsw=True)).without_hnsw == ("splade",)  # as it is
    with lexfuse.Index.open(f"{postgres_server}&schema=large") as index:
        expected, found = both(exported, index, "splade", {"cosine": False})
        assert found.exact
        same(expected.retrieve(QUESTIONS, 10), found.retrieve(QUESTIONS, 10))
