"""The retriever of LangChain, with the real package."""

import asyncio

import pytest

from lexfuse.errors import ConfigError


@pytest.fixture(scope="module")
def retriever_class(bridge):
    return bridge("langchain", "langchain_core").LangChainRetriever


@pytest.mark.parametrize("options", [{}, {"profile": "bm25"}, {"options": {"channels": ["bm25", "dense"], "fusion": "rrf"}}])
def test_ranking_scores_and_metadata_are_those_of_the_index(retriever_class, index, questions, options):
    retriever = retriever_class(index=index, k=4, **options)
    given = {"profile": options.get("profile", ""), **options.get("options", {})}
    for question, found in zip(questions, retriever.batch(list(questions)), strict=True):
        hits = index.search(question, 4, **given)
        assert [(one.id, one.metadata["score"]) for one in found] == [(hit.id, hit.score) for hit in hits]
        assert [one.page_content for one in found] == [hit.document.text for hit in hits]
        assert [one.metadata["rank"] for one in found] == list(range(1, len(hits) + 1))
        assert [one.metadata["sources"] for one in found] == [dict(hit.sources) for hit in hits]


def test_options_of_the_retriever_and_of_a_call(retriever_class, index):
    retriever = retriever_class(index=index, filters=["code=Code des bibliothèques"], as_of="2022-01-01")
    hits = index.search("prêt", filters=["code=Code des bibliothèques"], as_of="2022-01-01")
    assert [one.id for one in retriever.invoke("prêt")] == [hit.id for hit in hits]
    call = {"k": 3, "filters": [], "as_of": "2019-01-01"}
    expected = [hit.id for hit in index.search("prêt", **call)]
    assert "lib-0" in expected
    assert [one.id for one in retriever.invoke("prêt", **call)] == expected
    assert [one.id for one in asyncio.run(retriever.ainvoke("prêt", **call))] == expected


def test_a_field_of_the_corpus_with_the_name_of_another(retriever_class, index):
    [found] = retriever_class(index=index, filters=["fee=3"]).invoke("prêt")
    assert (found.metadata["fee"], found.metadata["rank"], found.metadata["metadata.rank"]) == (3, 1, "first")


def test_in_a_chain(retriever_class, index):
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnablePassthrough

    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    texts = retriever_class(index=index, k=1) | (lambda found: found[0].page_content)
    asked = ({"context": texts, "question": RunnablePassthrough()} | prompt).invoke("retard de prêt")
    assert asked.messages[0].content == f"{index.document('lib-4').text}\n\nQuestion: retard de prêt"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"options": {"k": 3}}, "options must not repeat k"),
    ],
)
def test_what_no_search_can_have_is_refused(retriever_class, index, arguments, message):
    with pytest.raises(ConfigError, match=message):
        retriever_class(index=index, **arguments)


def test_one_filter_in_place_of_a_list(retriever_class, index):
    with pytest.raises(ConfigError, match="filters must be a list"):
        retriever_class(index=index).invoke("prêt", filters="code=Code civil")
