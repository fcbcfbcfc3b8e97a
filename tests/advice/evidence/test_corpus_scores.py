"""Scores of all documents, beside a plain computation of what FUSE draws in its figures 2, 3 and 6."""

import datetime

import numpy as np
import pytest

from lexfuse.advice.evidence import corpus_scores
from lexfuse.advice.evidence.complementarity import complementarity
from lexfuse.advice.evidence.corpus_scores import corpus_union
from lexfuse.advice.evidence.score_distribution import RAW, score_distributions
from lexfuse.advice.findings import ScoreScope
from lexfuse.advice.inputs import CollectionFacts, channels_of, judged_by, judged_runs
from lexfuse.advice.judged_advice import advise_judged
from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.normalisation import MinMax
from lexfuse.storage.index_folder import IndexFolder

WORDS = ["appeal", "bond", "court", "duty", "equity", "fraud", "grant", "heir", "idle", "jury"]
DOCUMENTS, QUERIES, DEPTH = 60, 12, 5


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Sources that list 5 of 60 documents, two of which are relevant to each query at random."""
    chance = np.random.default_rng(5)
    documents = [
        Document(
            f"d{at:02}", text=" ".join(chance.choice(WORDS, int(chance.integers(3, 15)))), language="en",
            date=datetime.date(2000 + at % 20, 1, 1),
        )
        for at in range(DOCUMENTS)
    ]  # fmt: skip
    queries = Queries.of(
        Query(f"q{at:02}", " ".join(chance.choice(WORDS, 3, replace=False)), "en", date=datetime.date(2005 + at, 6, 1))
        for at in range(QUERIES)
    )
    qrels = Qrels.of([(query.id, f"d{doc:02}", 1) for query in queries for doc in chance.choice(DOCUMENTS, 2, replace=False)])
    with IndexFolder.create(tmp_path_factory.mktemp("corpus") / "i", documents=documents) as index, index.snapshot() as snapshot:
        sources = [channel.open(snapshot) for channel in channels_of(snapshot, ["bm25", "tfidf"])]
        yield sources, queries, qrels, judged_by(sources, queries, qrels, DEPTH)


def plain_scores(source, queries, docs):
    """Every score on its own: one query, one document."""
    return np.array(
        [[float(source.score(queries, Run.of("one", {query.id: {doc: 0.0}}))[0]) for doc in docs] for query in queries]
    )


@pytest.mark.parametrize("at_once", [1, 5 * DOCUMENTS, 1_000_000])
def test_every_source_scores_every_document(made, monkeypatch, at_once):
    monkeypatch.setattr(corpus_scores, "_AT_ONCE", at_once)
    sources, queries, _, judged = made
    every = corpus_union(sources, judged)
    docs = list(sources[0].snapshot.ids)
    assert len(judged.union) < len(every) == DOCUMENTS * QUERIES
    assert every.doc_names() == docs * QUERIES
    for source, row in zip(sources, every.scores, strict=True):
        np.testing.assert_array_equal(row.reshape(QUERIES, DOCUMENTS), plain_scores(source, queries, docs))


def test_places_are_those_of_the_lists(made):
    sources, _, _, judged = made

    def listed(union, source):
        there = union.places[source] > 0
        return list(zip(union.query[there], union.doc[there], union.places[source][there], strict=True))

    every = corpus_union(sources, judged)
    for source in range(len(sources)):
        assert sorted(listed(every, source)) == sorted(listed(judged.union, source))


def test_distributions_are_those_of_all_documents(made):
    sources, queries, _, judged = made
    found = {
        (each.source, each.scale): each for each in score_distributions(corpus_union(sources, judged), {"min-max": MinMax()})
    }
    for source in sources:
        scores = plain_scores(source, queries, sources[0].snapshot.ids)
        low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
        for scale, values in ((RAW, scores), ("min-max", (scores - low) / (high - low))):
            assert found[source.name, scale].quantiles == pytest.approx(
                np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
            )
    candidates = {(each.source, each.scale): each for each in score_distributions(judged.union, {})}
    assert candidates["bm25", RAW].quantiles[2] > found["bm25", RAW].quantiles[2]  # who is listed scores high


def test_corners_are_those_of_the_corpus(made):
    """Quartiles of all scores, relevant documents whoever lists them, and as many others from all documents."""
    sources, queries, qrels, judged = made
    docs = list(sources[0].snapshot.ids)
    (found,) = complementarity(judged.union, qrels, every=corpus_union(sources, judged), cutoff=3)
    (of_candidates,) = complementarity(judged.union, qrels, cutoff=3)
    scaled = []
    for source in sources:
        scores = plain_scores(source, queries, docs)
        low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
        scaled.append((scores - low) / (high - low))
    for quartiles, values in zip(found.quartiles, scaled, strict=True):
        assert quartiles == pytest.approx(np.quantile(values, (0.25, 0.75)).tolist())
    relevant = np.array([[doc in qrels.judged(query.id) for doc in docs] for query in queries])
    points = sorted((round(a, 4), round(b, 4)) for a, b in zip(scaled[0][relevant], scaled[1][relevant], strict=True))
    assert sorted(point[:2] for point in found.points if point[2]) == pytest.approx(np.array(points))
    assert len(found.points) == 4 * QUERIES  # two relevant ones and two others for every query
    assert sum(point[2] for point in of_candidates.points) < 2 * QUERIES  # some relevant documents are in no list
    finders = ("only_first", "only_second", "both", "neither")
    assert [getattr(found, name) for name in finders] == [getattr(of_candidates, name) for name in finders]
    high_low = (scaled[0] >= found.quartiles[0][1]) & (scaled[1] <= found.quartiles[1][0]) & (scaled[0] > found.quartiles[0][0])
    assert {region.name: region.relevant for region in found.regions}["A"] == int((high_low & relevant).sum())


def test_only_documents_that_a_query_may_rank(made):
    sources, queries, qrels, _ = made
    within = np.arange(DOCUMENTS) % 2 == 0
    judged = judged_by(sources, queries, qrels, DEPTH, within=within, before_query_date=True)
    every = corpus_union(sources, judged, within=within, before_query_date=True)
    for row, query in enumerate(queries):
        allowed = [f"d{at:02}" for at in range(0, DOCUMENTS, 2) if datetime.date(2000 + at % 20, 1, 1) < query.date]
        assert every.of_query(row).doc_names() == allowed


def test_too_many_scores_leave_out_queries_and_the_advice_says_so(made):
    sources, _, _, judged = made
    every = corpus_union(sources, judged, most=4 * DOCUMENTS)
    assert list(every.queries) == ["q00", "q03", "q07", "q11"]
    told = {
        scores: advise_judged(
            judged, None, CollectionFacts("i", DOCUMENTS, every=scores), ["R@5"], recipes=["rrf"], folds=2
        ).score_basis
        for scores in (None, every, corpus_union(sources, judged))
    }
    assert [basis.words for basis in told.values()] == [
        "candidates, the documents that some source lists, 12 dev queries",
        "all documents, 4 of 12 dev queries",
        "all documents, 12 dev queries",
    ]
    assert [basis.scope for basis in told.values()] == [ScoreScope.CANDIDATES, ScoreScope.CORPUS, ScoreScope.CORPUS]


def test_rankings_without_texts_have_nobody_to_ask(made):
    sources, _, qrels, judged = made
    with pytest.raises(ConfigError, match="only where the texts of the queries are known"):
        corpus_union(sources, judged_runs(judged.singles(), qrels))
