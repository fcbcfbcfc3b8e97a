"""SDR over all documents: the scores of the reranker with every document as a candidate, whatever k and the filter."""

import numpy as np
import pytest

from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.rerank import sdr_retriever
from lexfuse.rerank.sdr import Sdr
from lexfuse.rerank.sdr_retriever import SdrRetriever
from lexfuse.storage.index_folder import IndexFolder

TEXTS = {
    "c": "1. Le loyer est dû.\n\n2. Le bail est nul. Le juge le dit.",
    "a": "Le congé est dû.\nLe salaire est dû. Le préavis aussi.",
    "b": "Le juge dit le droit.",
    "d": "Il pleut. Il fait beau.\n\nLe bail est nul.",
    "e": "Le juge dit le droit.",
}
QUERIES = Queries.of(
    [Query("q", "1. Le loyer et le bail. Le juge.\n\n2. Le congé est dû.", "fr"), Query("empty", " ", "fr"),
     Query("p", "Le juge dit le droit.", "fr")]
)  # fmt: skip


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    documents = [Document(id, text=text, language="fr") for id, text in TEXTS.items()]
    with IndexFolder.create(tmp_path_factory.mktemp("sdr") / "i", documents=documents) as index:
        index.channels.make("sentences", plan_channel("sentences", language="fr"))
        fill_channel(index, "sentences")
        index.add([Document("late", text="Pas encore encodé.", language="fr")])  # the channel does not have it
        with index.snapshot() as snapshot:
            yield snapshot


@pytest.fixture(params=[1, 2, 16])
def sdr(snapshot, request, monkeypatch):
    monkeypatch.setattr(sdr_retriever, "BLOCK", request.param)
    return SdrRetriever(open_retriever(snapshot, "sentences"))


def test_scores_are_those_of_the_reranker_over_all_documents(snapshot, sdr):
    everything = np.array([snapshot.ids.ordinal(id) for id in TEXTS], dtype=np.int32)
    for query in (QUERIES.query("q"), QUERIES.query("p")):
        expected = Sdr(sdr.sentences).document_scores(query, everything)
        np.testing.assert_allclose(sdr.document_scores(query)[everything], expected, atol=1e-6)


def test_every_document_is_ranked_ties_by_id_and_an_empty_query_finds_nothing(sdr):
    run = sdr.retrieve(QUERIES, 10)
    assert run.name == "sdr"
    assert [len(run.hits(query)) for query in ("q", "empty", "p")] == [5, 0, 5]
    first = [hit.doc for hit in run.hits("p")]
    assert first[:2] == ["b", "e"]  # the same text
    assert [hit.score for hit in run.hits("q")] == sorted((hit.score for hit in run.hits("q")), reverse=True)


def test_scores_depend_neither_on_k_nor_on_the_filter(snapshot, sdr):
    whole = sdr.retrieve(QUERIES, 10).as_dict()["q"]
    assert list(sdr.retrieve(QUERIES, 2).as_dict()["q"].items()) == list(whole.items())[:2]
    within = np.array([id != "c" for id in snapshot.ids])
    assert sdr.retrieve(QUERIES, 10, within=within).as_dict()["q"] == {doc: score for doc, score in whole.items() if doc != "c"}


def test_score_gives_the_bits_of_retrieve(sdr):
    whole = sdr.retrieve(QUERIES, 10).as_dict()["q"]
    pairs = Run.of("x", {"q": {"late": 3.0, "d": 2.0, "a": 1.0}})
    missing, *found = sdr.score(QUERIES, pairs).tolist()
    assert np.isnan(missing)
    assert found == [whole["d"], whole["a"]]
