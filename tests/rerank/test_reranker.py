"""``>>``: the first documents in a new order, the others after them, on one scale, whatever k is."""

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import Convex
from lexfuse.rerank.reranker import RerankedRetriever, Rescore, reorder
from lexfuse.search.pipeline import FusedRetriever
from lexfuse.storage.index_folder import IndexFolder

WORDS = ["loi", "droit", "juge", "contrat", "bail", "congé", "salaire", "préavis"]
QUERIES = Queries.of(
    [Query("q1", "loi du contrat de bail", "fr"), Query("q2", "salaire et congé", "fr"), Query("q3", "zzz", "fr")]
)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    chance = np.random.default_rng(0)
    documents = [
        Document(f"d{number:02}", text=" ".join(chance.choice(WORDS, size=chance.integers(3, 30))), language="fr")
        for number in range(40)
    ]
    with IndexFolder.create(tmp_path_factory.mktemp("p") / "i", documents=documents) as index, index.snapshot() as snapshot:
        yield snapshot


def test_the_first_are_by_the_other_scores_and_the_rest_as_before(snapshot):
    before, truth = BM25(snapshot).retrieve(QUERIES, 40), TfIdf(snapshot).retrieve(QUERIES, 40).as_dict()
    found = (BM25(snapshot) >> Rescore(TfIdf(snapshot), depth=6)).retrieve(QUERIES, 40)
    for query in ("q1", "q2"):
        old = [hit.doc for hit in before.hits(query)]
        head = sorted(old[:6], key=lambda doc: (-truth[query][doc], doc))
        hits = found.hits(query)
        assert head != old[:6]
        assert [hit.doc for hit in hits] == head + old[6:]
        assert [hit.score for hit in hits[:6]] == [truth[query][doc] for doc in head]
        last = hits[5].score
        assert [hit.score for hit in hits[6:]] == pytest.approx([last - number for number in range(1, len(old) - 5)], rel=1e-6)
        assert all(hit.parts["bm25"] == pytest.approx(before.as_dict()[query][hit.doc]) for hit in hits)
        assert ["tfidf" in hit.parts for hit in hits] == [True] * 6 + [False] * (len(old) - 6)
    assert found.hits("q3") == []


def test_scores_do_not_depend_on_k(snapshot):
    pipeline = BM25(snapshot) >> Rescore(TfIdf(snapshot), depth=6)
    most = pipeline.retrieve(QUERIES, 40)
    for k in (1, 3, 6, 7, 20):
        few = pipeline.retrieve(QUERIES, k)
        for query in QUERIES.ids:
            assert few.hits(query) == most.hits(query)[:k]


def test_score_gives_what_retrieve_gives(snapshot):
    pipeline = BM25(snapshot) >> Rescore(TfIdf(snapshot), depth=6)
    run = pipeline.retrieve(QUERIES, 15)
    assert pipeline.score(QUERIES, run).tolist() == run.score.tolist()
    assert np.isnan(pipeline.score(QUERIES, Run.of("x", {"q3": {"d01": 1.0}}))).all()


def test_a_filter_counts_before_the_depth(snapshot):
    within = np.arange(40) % 4 == 0
    run = (BM25(snapshot) >> Rescore(TfIdf(snapshot), depth=3)).retrieve(QUERIES, 40, within=within)
    assert run.hits("q1")
    assert within[run.doc].all()


def test_chains_and_hybrids(snapshot):
    hybrid = FusedRetriever([BM25(snapshot), TfIdf(snapshot)], Convex((0.4, 0.6)), 10)
    chain = hybrid >> Rescore(TfIdf(snapshot), 8) >> Rescore(BM25(snapshot, name="again"), 2)
    assert chain.name == "hybrid>>tfidf>>again"
    assert [one.name for one in chain.members(QUERIES.query("q1"))] == ["again", "tfidf", "bm25", "tfidf"]
    hits = chain.retrieve(QUERIES, 10).hits("q1")
    middle = (hybrid >> Rescore(TfIdf(snapshot), 8)).retrieve(QUERIES, 10).hits("q1")
    assert {hit.doc for hit in hits[:2]} == {hit.doc for hit in middle[:2]}
    assert [hit.doc for hit in hits[2:]] == [hit.doc for hit in middle[2:]]
    assert set(hits[0].parts) == {"bm25", "tfidf", "again"}


def test_explanations_agree_with_the_ranking_and_keep_what_was_before(snapshot):
    hybrid = FusedRetriever([BM25(snapshot), TfIdf(snapshot)], Convex((0.4, 0.6)), 10)
    pipeline, query = hybrid >> Rescore(TfIdf(snapshot), 4), QUERIES.query("q1")
    hits, old = pipeline.retrieve(QUERIES, 40).hits("q1"), {hit.doc: hit for hit in hybrid.retrieve(QUERIES, 40).hits("q1")}
    found = pipeline.explain(query, [hit.doc for hit in hits])
    for hit, why in zip(hits, found, strict=True):
        assert (why.rank, why.score, why.listed) == (hit.rank, hit.score, True)
        assert (why.before.rank, why.before.score) == (old[hit.doc].rank, old[hit.doc].score)
        assert sum(part.contribution for part in why.parts) == hit.score
        assert (why.parts[0].score is None) == (old[hit.doc].rank > 4)
    absent = next(doc for doc in snapshot.ids if doc not in old)
    why = pipeline.explain(query, [absent])[0]
    assert (why.listed, why.rank, why.score) == (False, len(hits) + 1, hits[-1].score - 1)


def test_what_has_no_score_comes_after_what_has_one():
    run = Run.of("a", {"q": {"w": 4.0, "x": 3.0, "y": 2.0, "z": 1.0}, "p": {"w": 2.0, "x": 1.0}, "o": {}})
    nan = np.nan
    found = reorder(run, "b", np.array([nan, -5.0, 7.0, nan, nan], np.float32), 3)
    assert found.as_dict() == {"q": {"y": 7.0, "x": -5.0, "w": -6.0, "z": -7.0}, "p": {"w": -1.0, "x": -2.0}, "o": {}}


def test_equal_new_scores_go_by_document_id():
    run = Run.of("a", {"q": {"z": 4.0, "x": 3.0}})
    assert [hit.doc for hit in reorder(run, "b", np.ones(2, np.float32), 2).hits("q")] == ["x", "z"]


def test_what_does_not_belong_together_is_refused(snapshot, tmp_path):
    with (
        IndexFolder.create(tmp_path / "i") as index,
        index.snapshot() as other,
        pytest.raises(ConfigError, match="same snapshot"),
    ):
        BM25(snapshot) >> Rescore(TfIdf(other))
    with pytest.raises(ConfigError, match="a reranker follows a retriever"):
        RerankedRetriever(Rescore(TfIdf(snapshot)), Rescore(BM25(snapshot)))
    with pytest.raises(ConfigError, match="must be at least 1, got 0"):
        Rescore(TfIdf(snapshot), 0)
