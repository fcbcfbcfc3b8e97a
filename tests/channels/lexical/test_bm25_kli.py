"""BM25 on the most informative terms: which they are, what the caller changes, the same in any segments."""

import math
from collections import Counter

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.bm25_kli import BM25Kli
from lexfuse.channels.lexical.chosen_terms import notes_of
from lexfuse.channels.registry import open_retriever
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.kli import TermChoice, TermWeight, WeightedWord

TEXTS = {
    "a": "The tenant paid rent to the landlord, and the landlord kept the deposit.",
    "b": "The landlord may end the lease by notice; notice must be in writing.",
    "c": "The court heard the appeal and dismissed the appeal with costs.",
    "d": "Salvage of a vessel: the owner of the vessel owes a reward to the salvor.",
    "e": "The court allowed costs to the tenant.",
}
QUERY = Query(
    "q",
    "The court heard the tenant. The landlord gave notice, the tenant left the lease, and the court held that notice was void. "
    "Costs of the court follow.",
    "en",
)


def documents(names="abcde"):
    return [Document(name, text=TEXTS[name], language="en") for name in names]


@pytest.fixture
def snapshot(tmp_path):
    with IndexFolder.create(tmp_path / "index", documents=documents()) as index, index.snapshot() as snapshot:
        yield snapshot


def by_hand(snapshot, query):
    """KLI of every term that documents hold, from the texts."""
    analyser = snapshot.settings.analyser("en")
    collection = Counter(term for text in TEXTS.values() for term in analyser.terms(text))
    own = Counter(term for term in analyser.terms(query.text) if term in collection)
    share = {term: count / own.total() for term, count in own.items()}
    return {term: p * math.log(p / (collection[term] / collection.total())) for term, p in share.items()}


def weights(retriever, query):
    encoded = retriever.read(Queries.of([query]))
    names = [retriever.postings.vocabulary[number] for number in encoded.terms.tolist()]
    return dict(zip(names, encoded.weights.tolist(), strict=True))


def test_the_best_terms_are_those_of_the_definition(snapshot):
    slow = by_hand(snapshot, QUERY)
    expected = sorted(slow, key=lambda term: (-slow[term], term))
    for amount in (1, 3, 0.5, 1.0):
        retriever = BM25Kli(snapshot, choice=TermChoice(amount))
        taken = len(expected) if amount == 1 else retriever.choice.number(len(expected))
        shown = retriever.terms(QUERY)
        assert [term.term for term in shown.terms] == expected[:taken]
        assert [term.informativeness for term in shown.terms] == pytest.approx([slow[term] for term in expected[:taken]])
        assert set(weights(retriever, QUERY)) == set(expected[:taken])
        assert shown.distinct == len(slow)


def test_all_terms_as_often_as_they_occur_are_plain_bm25(snapshot):
    queries = Queries.of([QUERY, Query("none", "xyzzy", "en"), Query("empty", "", "en")])
    every = BM25Kli(snapshot, 2.8, 1.0, choice=TermChoice(1.0, TermWeight.COUNT))
    plain, found = BM25(snapshot, 2.8, 1.0).retrieve(queries, 10), every.retrieve(queries, 10)
    assert found.as_dict() == {query: pytest.approx(hits) for query, hits in plain.as_dict().items()}
    assert len(found.hits("none")) == len(found.hits("empty")) == 0


def test_scores_of_pairs_and_explanations_speak_of_the_same_terms(snapshot):
    retriever = BM25Kli(snapshot, choice=TermChoice(3))
    queries = Queries.of([QUERY])
    ranking = retriever.retrieve(queries, 10)
    np.testing.assert_array_equal(retriever.score(queries, ranking), ranking.score)
    best = ranking.hits("q")[0]
    parts = retriever.evidence(QUERY, [best.doc])[0].terms
    assert {part.term for part in parts} == {term.term for term in retriever.terms(QUERY).terms}
    assert sum(part.contribution for part in parts) == pytest.approx(best.score, rel=1e-5)


def test_segments_and_what_was_deleted_change_nothing(tmp_path, snapshot):
    queries, choice = Queries.of([QUERY]), TermChoice(0.5, TermWeight.INFORMATIVENESS)
    with IndexFolder.create(tmp_path / "split") as split:
        split.add([*documents("ec"), Document("x", text="void void tenant left follow", language="en")])
        split.add(documents("dba"))
        split.delete(["x"])
        with split.snapshot() as parts:
            one, other = (BM25Kli(each, choice=choice) for each in (snapshot, parts))
            assert other.terms(QUERY) == one.terms(QUERY)
            assert other.retrieve(queries, 10).as_dict() == {
                "q": pytest.approx(one.retrieve(queries, 10).as_dict()["q"], rel=1e-6)
            }


def test_the_caller_adds_drops_and_weighs_terms(snapshot):
    before = weights(BM25Kli(snapshot, choice=TermChoice(3)), QUERY)
    choice = TermChoice(3, added=(WeightedWord("Vessels", 2.5), WeightedWord("leases")), dropped=("Tenants", "salvage"))
    retriever = BM25Kli(snapshot, choice=choice)
    assert weights(retriever, QUERY) == {term: 1.0 for term in before if term != "tenant"} | {"vessel": 2.5, "leas": 1.0}
    shown = retriever.terms(QUERY)
    assert {term.word for term in shown.terms if term.added} == {"vessels", "lease"}  # as the caller or the query spells them
    assert (shown.unknown, shown.absent) == ((), ("salvage",))
    assert retriever.retrieve(Queries.of([QUERY]), 10).hits("q")[0].doc == "d"


def test_words_that_nobody_holds_are_told(snapshot):
    choice = TermChoice(3, added=(WeightedWord("estoppel"), WeightedWord("the")))
    shown = BM25Kli(snapshot, choice=choice).terms(QUERY)
    assert shown.unknown == ("estoppel", "the")
    assert [note.split(";")[0] for note in notes_of(shown)] == ["no document holds 'estoppel'", "no document holds 'the'"]


def test_the_caller_names_all_terms(snapshot):
    choice = TermChoice(only=(WeightedWord("salvage of a vessel"), WeightedWord("notice", 4.0)))
    assert weights(BM25Kli(snapshot, choice=choice), QUERY) == {"salvag": 1.0, "vessel": 1.0, "notic": 4.0}


def test_an_added_word_counts_as_the_terms_do(snapshot):
    counted = TermChoice(2, TermWeight.COUNT, added=(WeightedWord("landlord"), WeightedWord("vessel")))
    found = weights(BM25Kli(snapshot, choice=counted), QUERY)
    assert found["landlord"] == 1.0  # as often as the query has it
    assert found["vessel"] == max(found.values()) > 1.0  # the query does not have it
    informative = TermChoice(1, TermWeight.INFORMATIVENESS, added=(WeightedWord("landlord"),))
    shown = {term.term: term for term in BM25Kli(snapshot, choice=informative).terms(QUERY).terms}
    values = by_hand(snapshot, QUERY)
    assert values["landlord"] < 0  # such a term would count nothing
    assert shown["landlord"].weight == pytest.approx(max(values.values()))


def test_terms_are_shown_as_the_query_spells_them(snapshot):
    query = Query("q", "Tenants, tenants and a tenant. Appeals!", "en")
    shown = BM25Kli(snapshot, choice=TermChoice(1.0)).terms(query).terms
    assert {(term.term, term.word, term.count) for term in shown} == {("tenant", "tenants", 3), ("appeal", "appeals", 1)}


def test_a_channel_opened_by_its_name_takes_the_choice(snapshot):
    opened = open_retriever(snapshot, "bm25", k1=2.8, b=1.0, terms=TermChoice(3), name="first")
    assert opened == BM25Kli(snapshot, 2.8, 1.0, choice=TermChoice(3), name="first")
    assert not isinstance(open_retriever(snapshot, "bm25"), BM25Kli)
