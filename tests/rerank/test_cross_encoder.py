"""A cross-encoder after a retriever, and beside retrievers in a fusion."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.pair_encoder import PairEncoder, WindowAggregate
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.fusion.convex import Convex
from lexfuse.fusion.normalisation import TheoreticalMinMax
from lexfuse.rerank.cross_encoder import CrossEncoder, CrossEncoderRetriever
from lexfuse.search.pipeline import FusedRetriever
from lexfuse.storage.index_folder import IndexFolder

specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parent.parent / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

WORDS = [word for word in tiny.WORDS if not word.startswith("#")]
QUERIES = Queries.of(
    [Query("q1", "rompre le contrat de travail", "fr"), Query("q2", "préavis du salarié", "fr"), Query("q3", "zzz", "fr")]
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    root = tmp_path_factory.mktemp("m")
    path = tiny.cross_encoder(root / "model")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        yield PairEncoder.load(path, threads=1)


def library():
    chance = np.random.default_rng(0)
    texts = [" ".join(chance.choice(WORDS, size=chance.integers(5, 60))) for _ in range(29)]
    texts.append(" ".join(chance.choice(WORDS, size=500)))
    return [
        Document(f"d{number:02}", title=f"article {number % 3}", text=text, headings=("loi", "travail"), language="fr")
        for number, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    with IndexFolder.create(tmp_path_factory.mktemp("i") / "i", documents=library()) as index, index.snapshot() as snapshot:
        yield snapshot


def truth(snapshot, encoder, query, aggregate=WindowAggregate.MAX, headings=True):
    """The score of every document, one at a time."""
    found = {}
    for doc in snapshot.ids:
        document = snapshot.document(doc)
        head = " ".join([document.title, *(document.headings if headings else ())])
        found[doc] = encoder.scores(query, [f"{head} {document.text}"], aggregate, heads=[head]).item()
    return found


def test_the_first_are_by_the_scores_of_the_model(snapshot, encoder):
    before = BM25(snapshot).retrieve(QUERIES, 30)
    found = (BM25(snapshot) >> CrossEncoder(snapshot, encoder, 8)).retrieve(QUERIES, 30)
    for query in ("q1", "q2"):
        known = truth(snapshot, encoder, QUERIES.query(query).text)
        old = [hit.doc for hit in before.hits(query)]
        head = sorted(old[:8], key=lambda doc: (-known[doc], doc))
        hits = found.hits(query)
        assert head != old[:8]
        assert [hit.doc for hit in hits] == head + old[8:]
        assert [hit.score for hit in hits[:8]] == [known[doc] for doc in head]
        assert [hit.parts.get("cross-encoder") for hit in hits[:8]] == [known[doc] for doc in head]
    assert found.hits("q3") == []


def test_depth_may_be_as_deep_as_the_index_and_documents_are_read_in_blocks(snapshot, encoder, monkeypatch):
    monkeypatch.setattr("lexfuse.rerank.cross_encoder.TEXTS", 4)
    run = (BM25(snapshot) >> CrossEncoder(snapshot, encoder, 1000)).retrieve(QUERIES, 1000)
    known = truth(snapshot, encoder, QUERIES.query("q1").text)
    assert len(run.hits("q1")) > 20
    assert all(hit.score == known[hit.doc] for hit in run.hits("q1"))


@pytest.mark.parametrize(
    ("aggregate", "headings"), [(WindowAggregate.MEAN, True), (WindowAggregate.FIRST, True), (WindowAggregate.MAX, False)]
)
def test_aggregation_and_headings_are_the_callers(snapshot, encoder, aggregate, headings):
    reader = CrossEncoder(snapshot, encoder, aggregate=aggregate, headings=headings)
    known = truth(snapshot, encoder, QUERIES.query("q1").text, aggregate, headings)
    pairs = Run.of("x", {"q1": {"d29": 2.0, "d03": 1.0}})
    assert reader.score(QUERIES, pairs).tolist() == [known["d29"], known["d03"]]
    assert known["d29"] != truth(snapshot, encoder, QUERIES.query("q1").text)["d29"]


def test_scores_do_not_depend_on_k_and_filters_count_before_the_depth(snapshot, encoder):
    pipeline = BM25(snapshot) >> CrossEncoder(snapshot, encoder, 6)
    most = pipeline.retrieve(QUERIES, 30)
    for k in (1, 5, 9):
        assert pipeline.retrieve(QUERIES, k).hits("q1") == most.hits("q1")[:k]
    within = np.arange(30) % 2 == 0
    few = pipeline.retrieve(QUERIES, 30, within=within)
    assert len(few.hits("q1")) > 6
    assert within[few.doc].all()


def test_a_run_from_a_file_is_reranked_and_unknown_documents_are_named(snapshot, encoder):
    reader = CrossEncoder(snapshot, encoder)
    run = Run.of("file", {"q2": {"d01": 1.0, "d02": 2.0}})
    found = reader.rerank(QUERIES, run, depth=10)
    known = truth(snapshot, encoder, QUERIES.query("q2").text)
    assert found.as_dict()["q2"] == {doc: known[doc] for doc in sorted(("d01", "d02"), key=lambda doc: -known[doc])}
    with pytest.raises(NotFoundError, match="nowhere"):
        reader.rerank(QUERIES, Run.of("file", {"q2": {"nowhere": 1.0}}), depth=10)


def test_explanations_tell_the_new_score_and_what_was_before(snapshot, encoder):
    pipeline = BM25(snapshot) >> CrossEncoder(snapshot, encoder, 5)
    hit = pipeline.retrieve(QUERIES, 5).hits("q1")[0]
    why = pipeline.explain(QUERIES.query("q1"), [hit.doc])[0]
    assert (why.score, why.rank, why.parts[0].source) == (hit.score, 1, "cross-encoder")
    assert why.before.parts[0].source == "bm25"


def test_as_a_source_it_ranks_the_candidates_of_another_and_scores_any(snapshot, encoder):
    source = CrossEncoderRetriever(BM25(snapshot), CrossEncoder(snapshot, encoder, 8))
    known = truth(snapshot, encoder, QUERIES.query("q1").text)
    candidates = [hit.doc for hit in BM25(snapshot).retrieve(QUERIES, 8).hits("q1")]
    hits = source.retrieve(QUERIES, 20).hits("q1")
    assert [hit.doc for hit in hits] == sorted(candidates, key=lambda doc: (-known[doc], doc))
    assert source.retrieve(QUERIES, 3).hits("q1") == hits[:3]
    other = next(doc for doc in snapshot.ids if doc not in candidates)
    assert source.score(QUERIES, Run.of("x", {"q1": {other: 1.0}})).tolist() == [known[other]]
    assert (source.bounds.low, source.bounds.high, source.snapshot) == (0.0, 1.0, snapshot)


def test_a_fusion_takes_it_beside_retrievers(snapshot, encoder):
    source = CrossEncoderRetriever(BM25(snapshot), CrossEncoder(snapshot, encoder, 5))
    hybrid = FusedRetriever([BM25(snapshot), TfIdf(snapshot), source], Convex((0.2, 0.2, 0.6), TheoreticalMinMax()), 10)
    hits = hybrid.retrieve(QUERIES, 10).hits("q1")
    known = truth(snapshot, encoder, QUERIES.query("q1").text)
    assert all(hit.parts["cross-encoder"] == known[hit.doc] for hit in hits)
    alone = FusedRetriever([BM25(snapshot), source], Convex((0.0, 1.0)), 10).retrieve(QUERIES, 10).hits("q1")
    assert [hit.doc for hit in alone] == sorted((hit.doc for hit in alone), key=lambda doc: (-known[doc], doc))
    why = hybrid.explain(QUERIES.query("q1"), [hits[0].doc])[0]
    assert why.parts[2].score == known[hits[0].doc]


def test_what_does_not_belong_together_is_refused(snapshot, encoder, tmp_path):
    with pytest.raises(ConfigError, match="must be at least 1, got 0"):
        CrossEncoder(snapshot, encoder, 0)
    with (
        IndexFolder.create(tmp_path / "i") as index,
        index.snapshot() as other,
        pytest.raises(ConfigError, match="same snapshot"),
    ):
        CrossEncoderRetriever(BM25(other), CrossEncoder(snapshot, encoder))
