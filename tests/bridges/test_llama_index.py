"""The retriever of LlamaIndex, with the real package."""

import asyncio

import pytest


@pytest.fixture(scope="module")
def retriever_class(bridge):
    return bridge("llama_index", "llama_index").LlamaIndexRetriever


@pytest.mark.parametrize("options", [{}, {"profile": "bm25"}, {"options": {"channels": ["bm25", "dense"], "fusion": "rrf"}}])
def test_ranking_scores_and_metadata_are_those_of_the_index(retriever_class, index, questions, options):
    retriever = retriever_class(index, 4, **options)
    given = {"profile": options.get("profile", ""), **options.get("options", {})}
    for question in questions:
        hits, found = index.search(question, 4, **given), retriever.retrieve(question)
        assert [(one.node_id, one.score, one.text) for one in found] == [(hit.id, hit.score, hit.document.text) for hit in hits]
        assert [one.metadata["found"] for one in found] == [hit.found for hit in hits]
        assert [one.node_id for one in asyncio.run(retriever.aretrieve(question))] == [hit.id for hit in hits]


def test_filters_and_the_day(retriever_class, index):
    found = retriever_class(index, filters=["fee=3"]).retrieve("prêt")
    assert [(one.node_id, one.metadata["fee"]) for one in found] == [("lib-9", 3)]
    old = [one.node_id for one in retriever_class(index, 3, as_of="2019-01-01").retrieve("prêt")]
    assert old == [hit.id for hit in index.search("prêt", 3, as_of="2019-01-01")]
    assert "lib-0" in old


def test_models_see_the_law_and_not_the_ranking(retriever_class, index):
    from llama_index.core.schema import MetadataMode

    [found] = retriever_class(index, 1).retrieve("retard de prêt")
    shown = found.get_content(MetadataMode.LLM)
    assert "number: L4" in shown
    assert "score" not in shown
    assert "snippet" not in shown
