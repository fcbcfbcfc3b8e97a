"""The transformer of PyTerrier, with the real package and without Java."""

import pytest

import lexfuse


@pytest.fixture(scope="module")
def retriever_class(bridge):
    return bridge("pyterrier", "pyterrier").PyTerrierRetriever


@pytest.fixture(scope="module")
def topics(retriever_class):
    import pandas

    return pandas.DataFrame([{"qid": "q1", "query": "retard de prêt"}, {"qid": "q2", "query": "la cotisation annuelle"}])


@pytest.mark.parametrize("options", [{"profile": "bm25"}, {"options": {"channels": ["bm25", "dense"], "fusion": "rrf"}}])
def test_ranking_is_that_of_the_index(retriever_class, index, topics, options):
    found = retriever_class(index, 4, **options).transform(topics)
    given = {"profile": options.get("profile", ""), **options.get("options", {})}
    queries = lexfuse.Queries.of(lexfuse.Query(*row) for row in topics.values)
    run = index.run(queries, depth=4, **given)
    for query in queries:
        ranked = found[found["qid"] == query.id]
        assert list(zip(ranked["docno"], ranked["score"], strict=True)) == [(hit.doc, hit.score) for hit in run.hits(query.id)]
        hits = index.search(query.text, 4, everyday=False, spelling="off", **given)
        assert ranked[["docno", "rank", "text", "query"]].values.tolist() == [
            [hit.id, hit.rank - 1, hit.document.text, query.text] for hit in hits
        ]


def test_a_cutoff_is_searched_with(retriever_class, index, topics):
    pipeline = (retriever_class(index, profile="bm25") % 1).compile()
    assert isinstance(pipeline, retriever_class)
    assert pipeline(topics)["docno"].tolist() == ["lib-4", "lib-2"]
    assert (retriever_class(index, 1) % 5).compile()(topics).groupby("qid").size().tolist() == [1, 1]


def test_filters_and_the_day(retriever_class, index, topics):
    assert set(retriever_class(index, filters=["fee=3"])(topics)["docno"]) == {"lib-9"}
    assert "Le prêt coûte dix francs." in set(retriever_class(index, as_of="2019-01-01")(topics)["text"])


def test_an_experiment_and_no_results(retriever_class, index, topics):
    import pandas
    import pyterrier

    judged = pandas.DataFrame([{"qid": "q1", "docno": "lib-4", "label": 1}, {"qid": "q2", "docno": "lib-2", "label": 1}])
    words = retriever_class(index, 10, profile="bm25")
    assert pyterrier.Experiment([words], topics, judged, ["recip_rank"], names=["words"])["recip_rank"].tolist() == [1.0]
    empty = words.transform(pandas.DataFrame([{"qid": "q", "query": "xylophone"}]))
    assert len(empty) == 0
    assert {"qid", "query", "docno", "rank", "score", "text"} <= set(empty.columns)
