"""The retriever component of Haystack, with the real package."""

import pytest

import lexfuse
from lexfuse.errors import ConfigError


@pytest.fixture(scope="module")
def retriever_class(bridge):
    return bridge("haystack", "haystack").HaystackRetriever


@pytest.mark.parametrize("options", [{}, {"profile": "bm25"}, {"options": {"channels": ["bm25", "dense"], "fusion": "rrf"}}])
def test_ranking_scores_and_metadata_are_those_of_the_index(retriever_class, index, questions, options):
    retriever = retriever_class(index, 4, **options)
    given = {"profile": options.get("profile", ""), **options.get("options", {})}
    for question in questions:
        hits, found = index.search(question, 4, **given), retriever.run(question)["documents"]
        assert [(one.id, one.score, one.content) for one in found] == [(hit.id, hit.score, hit.document.text) for hit in hits]
        assert [one.meta["found"] for one in found] == [hit.found for hit in hits]


def test_inputs_of_a_run_replace_options(retriever_class, index):
    retriever = retriever_class(index, filters=["fee=3"])
    assert [one.id for one in retriever.run("prêt")["documents"]] == ["lib-9"]
    found = retriever.run("prêt", top_k=3, filters=[], as_of="2019-01-01", profile="bm25")["documents"]
    assert [one.id for one in found] == [hit.id for hit in index.search("prêt", 3, as_of="2019-01-01", profile="bm25")]
    assert "lib-0" in [one.id for one in found]


def test_a_pipeline_is_written_read_and_run(retriever_class, index):
    from haystack import Pipeline
    from haystack.components.builders import PromptBuilder

    pipeline = Pipeline()
    pipeline.add_component("law", retriever_class(index, 1, profile="bm25"))
    pipeline.add_component("prompt", PromptBuilder("{{ documents[0].content }}", required_variables="*"))
    pipeline.connect("law.documents", "prompt.documents")
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=[retriever_class.__module__])
    assert again.run({"law": {"query": "retard de prêt"}})["prompt"]["prompt"] == index.document("lib-4").text
    again.get_component("law").close()


def test_what_cannot_be_written_is_refused(retriever_class, index):
    with pytest.raises(ConfigError, match="plain options only"):
        retriever_class(index, options={"channels": ["bm25", "dense"], "fusion": lexfuse.TM2C2()}).to_dict()


def test_a_password_is_not_written(retriever_class):
    written = retriever_class("postgresql://reader:secret@localhost/law").to_dict()
    assert "secret" not in str(written)
