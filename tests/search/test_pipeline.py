"""Hybrid search: what is fused, explained and scored, on a real index."""

import numpy as np
import pytest

from lexfuse.channels.citation import CitationLookup
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.channels.retriever import ScoreBounds
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.fusion.union import Missing
from lexfuse.rerank.reranker import Rescore
from lexfuse.search.pipeline import FusedRetriever, RoutedRetriever, fuse_retrievers
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.query_class import QueryClass

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


def hybrid(snapshot, fusion=None, depth=5):
    return FusedRetriever([BM25(snapshot), TfIdf(snapshot)], fusion or Convex((0.4, 0.6)), depth)


def test_it_fuses_the_true_scores_of_the_union(snapshot):
    run = hybrid(snapshot).retrieve(QUERIES, 100)
    bm25, tfidf = (one.retrieve(QUERIES, 5) for one in (BM25(snapshot), TfIdf(snapshot)))
    for query in ("q1", "q2"):
        union = {hit.doc for one in (bm25, tfidf) for hit in one.hits(query)}
        every = {one.name: one.retrieve(QUERIES, 40).as_dict()[query] for one in (BM25(snapshot), TfIdf(snapshot))}
        fused = {}
        for doc in union:
            parts = []
            for weight, scores in zip((0.4, 0.6), every.values(), strict=True):
                known = [scores.get(one, 0.0) for one in union]
                parts.append(weight * (scores.get(doc, 0.0) - min(known)) / (max(known) - min(known)))
            fused[doc] = sum(parts)
        expected = sorted(fused, key=lambda doc: (-np.float32(fused[doc]), doc))
        assert [hit.doc for hit in run.hits(query)] == expected
        assert [hit.score for hit in run.hits(query)] == pytest.approx([fused[doc] for doc in expected], abs=1e-6)
        assert all(hit.parts["bm25"] == pytest.approx(every["bm25"].get(hit.doc, 0.0)) for hit in run.hits(query))
    assert run.hits("q3") == []


def test_scores_do_not_depend_on_k(snapshot):
    few, many = (hybrid(snapshot, depth=20).retrieve(QUERIES, k) for k in (3, 20))
    for query in QUERIES.ids:
        assert few.hits(query) == many.hits(query)[:3]


def test_a_filter_counts_before_the_depth(snapshot):
    within = np.zeros(len(snapshot), dtype=bool)
    within[::4] = True
    run = hybrid(snapshot).retrieve(QUERIES, 10, within=within)
    assert run.hits("q1")
    assert all(within[snapshot.ids.ordinal(hit.doc)] for hit in run.hits("q1"))


@pytest.mark.parametrize("fusion", [Convex((0.4, 0.6)), TM2C2(), ReciprocalRank(), Borda(), Convex(missing=Missing.ZERO)])
def test_explanations_add_up_and_agree_with_the_ranking(snapshot, fusion):
    fused = hybrid(snapshot, fusion)
    query = QUERIES.query("q1")
    for hit in fused.retrieve(QUERIES, 100).hits("q1"):
        found = fused.explain(query, [hit.doc], others=[Borda()])[0]
        assert (found.rank, found.listed) == (hit.rank, True)
        assert found.score == hit.score
        assert sum(part.contribution for part in found.parts) == pytest.approx(hit.score, abs=1e-6)
        assert found.others["borda"] >= 1


def test_a_document_that_nobody_lists_is_explained_and_changes_nothing(snapshot):
    fused, query = hybrid(snapshot), QUERIES.query("q1")
    listed = {hit.doc for hit in fused.retrieve(QUERIES, 100).hits("q1")}
    absent = next(id for id in snapshot.ids if id not in listed)
    found = fused.explain(query, [absent])[0]
    assert not found.listed
    assert found.rank > 1
    assert [part.score for part in found.parts] == [
        pytest.approx(float(one.score(QUERIES, _pair(snapshot, absent))[0])) for one in fused.retrievers
    ]
    with pytest.raises(NotFoundError):
        fused.explain(query, ["nowhere"])


def _pair(snapshot, doc):
    from lexfuse.data.ids import Ids

    return Run(
        "pair",
        Ids(["q1"]),
        snapshot.ids,
        np.array([0, 1]),
        np.array([snapshot.ids.ordinal(doc)], np.int32),
        np.zeros(1, np.float32),
    )


def test_score_gives_what_retrieve_gives(snapshot):
    fused = hybrid(snapshot)
    run = fused.retrieve(QUERIES, 100)
    assert fused.score(QUERIES, run).tolist() == run.score.tolist()


def test_retrievers_must_belong_together(snapshot, tmp_path):
    with pytest.raises(ConfigError, match="at least one retriever"):
        FusedRetriever([])
    with pytest.raises(ConfigError, match="need different names"):
        FusedRetriever([BM25(snapshot), BM25(snapshot)])
    with (
        IndexFolder.create(tmp_path / "i") as index,
        index.snapshot() as other,
        pytest.raises(ConfigError, match="same snapshot"),
    ):
        FusedRetriever([BM25(snapshot), TfIdf(other)])


def test_tm2c2_counts_the_channels_of_words_as_lexical(snapshot):
    pipeline = fuse_retrievers([BM25(snapshot), TfIdf(snapshot)], TM2C2(0.7), lexical=["bm25", "tfidf"])
    assert (pipeline.name, pipeline.fusion) == ("bm25+tfidf", TM2C2(0.7, lexical=2))
    assert fuse_retrievers([BM25(snapshot)]).name == "bm25"


class Counting:
    """A retriever that counts how often it is asked for a ranking."""

    def __init__(self, retriever):
        self.retriever, self.asked = retriever, 0
        self.name, self.bounds, self.snapshot, self.score = retriever.name, retriever.bounds, retriever.snapshot, retriever.score
        self.is_quick = retriever.is_quick

    def retrieve(self, queries, k, *, within=None):
        self.asked += 1
        return self.retriever.retrieve(queries, k, within=within)


def test_scores_of_many_documents_take_one_union(snapshot):
    counting = [Counting(BM25(snapshot)), Counting(TfIdf(snapshot))]
    fused = FusedRetriever(counting, Convex((0.4, 0.6)), 5)
    pairs = Run.of("pairs", {"q2": {f"d{number:02}": 1.0 for number in range(40)}, "q1": {"d03": 1.0, "d30": 0.5}})
    scores = fused.score(QUERIES, pairs)
    assert [one.asked for one in counting] == [1, 1]
    fused = hybrid(snapshot)
    expected = [fused.explain(QUERIES.query(query), [hit.doc])[0].score for query in ("q2", "q1") for hit in pairs.hits(query)]
    assert scores.tolist() == expected


def test_explanations_under_a_filter_agree_with_the_filtered_ranking(snapshot):
    within = np.arange(40) % 3 == 0
    fused, query = hybrid(snapshot), QUERIES.query("q1")
    hits = fused.retrieve(QUERIES, 10, within=within).hits("q1")
    found = fused.explain(query, [hit.doc for hit in hits], within=within)
    assert [(why.rank, why.score) for why in found] == [(hit.rank, hit.score) for hit in hits]
    assert [why.score for why in fused.explain(query, [hit.doc for hit in hits])] != [hit.score for hit in hits]


MIXED = Queries.of(
    [
        Query("words", "loi contrat", "fr"),
        Query("question", "quel est le préavis du bail ?", "fr"),
        Query("cited", "article L. 7", "fr"),
        Query("more", "salaire congé", "fr"),
    ]
)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    chance = np.random.default_rng(1)
    documents = [
        Document(f"d{at:02}", text=" ".join(chance.choice(WORDS, size=8)), number=f"L{at}", code="Code", language="fr")
        for at in range(20)
    ]
    with IndexFolder.create(tmp_path_factory.mktemp("n") / "i", documents=documents) as index, index.snapshot() as snapshot:
        yield snapshot


def routed(snapshot):
    routes = {QueryClass.CITATION: CitationLookup(snapshot), QueryClass.QUESTION: hybrid(snapshot)}
    return RoutedRetriever(BM25(snapshot), routes, name="mine")


def test_every_query_goes_to_the_pipeline_of_its_class(numbered):
    run = routed(numbered).retrieve(MIXED, 5)
    assert run.name == "mine"
    assert list(run.queries) == ["words", "question", "cited", "more"]
    apart = {"words": BM25(numbered), "question": hybrid(numbered), "cited": CitationLookup(numbered), "more": BM25(numbered)}
    for query, retriever in apart.items():
        assert run.hits(query) == retriever.retrieve(MIXED, 5).hits(query)
        assert run.hits(query)
    assert [hit.doc for hit in run.hits("cited")] == ["d07"]
    assert set(run.hits("question")[0].parts) == {"bm25", "tfidf"}
    assert run.hits("words")[0].parts == {}


def test_a_routed_pipeline_scores_and_explains_by_the_pipeline_of_the_query(numbered):
    pipeline = routed(numbered)
    run = pipeline.retrieve(MIXED, 5)
    assert pipeline.score(MIXED, run).tolist() == run.score.tolist()
    backwards = Run.of("x", {"cited": {"d07": 1.0, "d01": 0.5}, "words": {"d01": 1.0}})
    assert pipeline.score(MIXED, backwards).tolist() == [1.0, 0.0, BM25(numbered).score(MIXED, backwards)[2]]
    for query in MIXED:
        for hit in run.hits(query.id):
            found = pipeline.explain(query, [hit.doc])[0]
            assert (found.rank, found.score, found.listed) == (hit.rank, hit.score, True)
    assert [one.name for one in pipeline.members(MIXED.query("question"))] == ["bm25", "tfidf"]
    assert [one.name for one in pipeline.members(MIXED.query("cited"))] == ["citation"]


def test_a_routed_pipeline_is_reranked_like_any_other(numbered):
    pipeline = routed(numbered) >> Rescore(TfIdf(numbered), 3)
    assert pipeline.retrieve(MIXED, 5).hits("words")[0].score == TfIdf(numbered).score(MIXED, pipeline.retrieve(MIXED, 1))[0]


def test_a_routed_pipeline_without_queries_and_of_two_indexes(numbered, snapshot):
    assert len(routed(numbered).retrieve(Queries.of([]), 5)) == 0
    assert routed(numbered).bounds.low == -np.inf
    assert RoutedRetriever(BM25(numbered), {QueryClass.CITATION: CitationLookup(numbered)}).bounds == ScoreBounds(0.0)
    with pytest.raises(ConfigError, match="same snapshot"):
        RoutedRetriever(BM25(numbered), {QueryClass.CITATION: CitationLookup(snapshot)})
