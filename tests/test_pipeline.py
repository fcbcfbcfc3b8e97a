"""Hybrid search: what is fused, explained and scored, on a real index."""

import numpy as np
import pytest

from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.fuse.ranks import Borda, ReciprocalRank
from lexfuse.fuse.scores import TM2C2, Convex
from lexfuse.fuse.union import Missing
from lexfuse.index.index import Index
from lexfuse.pipeline import Hybrid, open_pipeline
from lexfuse.retrieve.bm25 import BM25
from lexfuse.retrieve.tfidf import TfIdf

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
    with Index.create(tmp_path_factory.mktemp("p") / "i", documents=documents) as index, index.snapshot() as snapshot:
        yield snapshot


def hybrid(snapshot, fusion=None, depth=5):
    return Hybrid([BM25(snapshot), TfIdf(snapshot)], fusion or Convex((0.4, 0.6)), depth)


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
        found = fused.explain(query, hit.doc, others=[Borda()])
        assert (found.rank, found.listed) == (hit.rank, True)
        assert found.score == hit.score
        assert sum(part.contribution for part in found.parts) == pytest.approx(hit.score, abs=1e-6)
        assert found.others["borda"] >= 1


def test_a_document_that_nobody_lists_is_explained_and_changes_nothing(snapshot):
    fused, query = hybrid(snapshot), QUERIES.query("q1")
    listed = {hit.doc for hit in fused.retrieve(QUERIES, 100).hits("q1")}
    absent = next(id for id in snapshot.ids if id not in listed)
    found = fused.explain(query, absent)
    assert not found.listed
    assert found.rank > 1
    assert [part.score for part in found.parts] == [
        pytest.approx(float(one.score(QUERIES, _pair(snapshot, absent))[0])) for one in fused.retrievers
    ]
    with pytest.raises(NotFoundError):
        fused.explain(query, "nowhere")


def _pair(snapshot, doc):
    from lexfuse.data.ids import Ids
    from lexfuse.data.run import Run

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
        Hybrid([])
    with pytest.raises(ConfigError, match="names of their own"):
        Hybrid([BM25(snapshot), BM25(snapshot)])
    with Index.create(tmp_path / "i") as index, index.snapshot() as other, pytest.raises(ConfigError, match="same snapshot"):
        Hybrid([BM25(snapshot), TfIdf(other)])


def test_tm2c2_counts_the_channels_of_words_as_lexical(snapshot):
    pipeline = open_pipeline(snapshot, ["bm25", "tfidf"], TM2C2(0.7))
    assert pipeline.fusion == TM2C2(0.7, lexical=2)
    assert open_pipeline(snapshot, ["bm25"]).name == "bm25"
    assert open_pipeline(snapshot, []).name == "bm25"
