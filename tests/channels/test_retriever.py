"""Every retriever explains documents by the same type, ranked or not, with the evidence of its channels."""

from dataclasses import replace

import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.explanation import Evidence, Explanation
from lexfuse.channels.lexical.bm25_kli import with_terms
from lexfuse.channels.lexical.chosen_terms import choice_of, terms_of
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import NotFoundError
from lexfuse.fusion.borda import Borda
from lexfuse.rerank.reranker import Rescore
from lexfuse.search.pipeline import FusedRetriever, RoutedRetriever
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.kli import TermChoice
from lexfuse.text.query_class import QueryClass

QUERY = Query("q", "préavis du salarié", "fr")
TEXTS = {"a": "Le préavis du salarié.", "b": "Le salarié.", "c": "Le bail est nul.", "new": "Un préavis."}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    documents = [Document(id, text=text, language="fr") for id, text in TEXTS.items()]
    with IndexFolder.create(tmp_path_factory.mktemp("base") / "i", documents=documents[:3]) as index:
        for name, model in (("dense", "fr-legal-dense"), ("splade", "fr-legal-splade")):
            index.channels.make(name, plan_channel(name, ChannelPlan(model)))
            fill_channel(index, name)
        index.add(documents[3:])  # no vectors yet
        with index.snapshot() as snapshot:
            yield snapshot


def pipelines(snapshot):
    bm25, dense, splade, citation = (open_retriever(snapshot, name) for name in ("bm25", "dense", "splade", "citation"))
    fused = FusedRetriever([bm25, dense, splade], depth=2)
    reranked = FusedRetriever([bm25, dense], depth=3) >> Rescore(splade, depth=2)
    return {
        one.name: one
        for one in (bm25, dense, splade, citation, fused, reranked, RoutedRetriever(reranked, {QueryClass.CITATION: citation}))
    }


@pytest.mark.parametrize("name", ["bm25", "dense", "splade", "citation", "hybrid", "hybrid>>splade", "routed"])
def test_all_explain_by_one_type_and_agree_with_their_rankings(snapshot, name):
    retriever = pipelines(snapshot)[name]
    ranks = {hit.doc: hit for hit in retriever.retrieve(Queries.of([QUERY]), 10).hits("q")}
    found = retriever.explain(QUERY, list(TEXTS))
    assert [one.doc for one in found] == list(TEXTS)
    for one in found:
        assert isinstance(one, Explanation)
        assert list(one.evidence) == [member.name for member in retriever.members(QUERY)]
        assert all(isinstance(evidence, Evidence) for evidence in one.evidence.values())
        if one.doc in ranks:
            assert (one.rank, one.score) == (ranks[one.doc].rank, ranks[one.doc].score)
    assert [replace(one, evidence={}) for one in found] == retriever.stages(QUERY, list(TEXTS))
    assert found[0].as_json().keys() == {"query", "doc", "score", "rank", "listed", "parts", "others", "before"}
    with pytest.raises(NotFoundError):
        retriever.explain(QUERY, ["nowhere"])


def test_the_evidence_is_that_of_the_channels(snapshot):
    [first, *_, new] = pipelines(snapshot)["hybrid"].explain(QUERY, list(TEXTS), others=[Borda()])
    bm25, dense, splade = first.evidence.values()
    assert sum(part.contribution for part in bm25.terms) == pytest.approx(first.parts[0].score, rel=1e-6)
    assert sum(part.contribution for part in splade.terms) == pytest.approx(first.parts[2].score, rel=1e-5)
    assert (bm25.passage, bm25.tokens, dense.terms, dense.tokens) == (None,) * 4
    assert dense.passage.of(TEXTS["a"]) == TEXTS["a"]
    assert new.evidence["dense"].passage is None
    assert first.others == {"borda": 1}


def test_a_choice_of_terms_reaches_bm25_wherever_it_is(snapshot):
    for name, retriever in pipelines(snapshot).items():
        assert choice_of(retriever, QUERY) is None
        assert terms_of(retriever, QUERY) is None
        changed = with_terms(retriever, TermChoice(1))
        assert changed.name == name
        assert choice_of(changed, QUERY) == (TermChoice(1) if any(one.marks_words for one in retriever.members(QUERY)) else None)
