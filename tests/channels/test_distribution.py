"""Distributions of scores: estimated from all documents, kept with the index, asked for by percentile fusion."""

import numpy as np
import pytest

from lexfuse.channels.citation import CitationLookup
from lexfuse.channels.distribution import SHARES, ChannelDistribution, SampleOrigin, drawn_queries, estimate, levels_of
from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError
from lexfuse.fusion.normalisation import Percentile
from lexfuse.search.candidates import retrieve_union
from lexfuse.search.pipeline import FusedRetriever
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings

WORDS = ["loi", "droit", "juge", "contrat", "bail", "congé", "salaire", "préavis"]
QUERIES = Queries.of([Query(f"q{number}", f"{word} et {WORDS[number - 1]}", "fr") for number, word in enumerate(WORDS)])


def documents(count=40):
    chance = np.random.default_rng(0)
    return [
        Document(f"d{number:02}", number=f"L{number}", text=" ".join(chance.choice(WORDS, size=3)), language="fr")
        for number in range(count)
    ]


@pytest.fixture
def index(tmp_path):
    with IndexFolder.create(tmp_path / "i", documents=documents()) as index:
        yield index


def kept(index, *retrievers):
    found = [estimate(retriever, QUERIES) for retriever in retrievers]
    index.keep_distributions({one.key: one.as_json() for one in found})
    return found


def test_every_document_counts_also_those_without_a_word_of_the_query(index):
    with index.snapshot() as snapshot:
        found = estimate(BM25(snapshot), QUERIES)
        every = [row.get(doc, 0.0) for row in BM25(snapshot).retrieve(QUERIES, 40).as_dict().values() for doc in snapshot.ids]
    assert (found.scores, found.queries, found.documents) == (len(every), 8, 40) == (320, 8, 40)
    assert found.levels[0] == 0.0
    assert found.levels[-1] == max(every)
    assert found.levels[500] == sorted(every)[160]
    shares = found.as_levels().below(np.array(every))
    assert shares == pytest.approx([(np.array(every) < score).mean() for score in every], abs=1.1e-3)


def test_large_indexes_are_sampled_always_the_same_way(index):
    with index.snapshot() as snapshot:
        found, again = (estimate(TfIdf(snapshot), QUERIES, most=80) for _ in range(2))
    assert found == again
    assert found.scores == 80


def test_a_citation_lookup_that_names_hardly_anything_tells_named_from_not_named(index):
    with index.snapshot() as snapshot:
        for queries in (QUERIES, Queries.of([Query("q", "les articles L. 3 et L. 5")])):
            levels = estimate(CitationLookup(snapshot), queries).as_levels()
            unnamed, second, first = levels.below(np.array([0.0, 0.5, 1.0])).tolist()
            assert unnamed == 0.0
            assert 0.9 < second <= first <= 1.0


def test_what_was_kept_is_there_after_reopening_and_for_its_parameters_only(index, tmp_path):
    with index.snapshot() as snapshot:
        found = kept(index, BM25(snapshot), BM25(snapshot, k1=0.9, b=0.4), TfIdf(snapshot))
    with IndexFolder(tmp_path / "i") as again, again.snapshot() as snapshot:
        assert [ChannelDistribution.from_json(values) for values in snapshot.distributions.values()] == sorted(
            found, key=lambda one: one.key
        )
        assert levels_of(BM25(snapshot, k1=0.9, b=0.4))().scores.tolist() == list(found[1].levels)
        assert levels_of(BM25(snapshot, name="other"))().scores.tolist() == list(found[0].levels)
        for retriever, words in (
            (
                BM25(snapshot, k1=2),
                "'bm25' with k1=2, b=0.75; estimate it with lexfuse index INDEX --distributions --k1 2 --b 0.75",
            ),
            (BM25(snapshot, idf=IdfForm.ROBERTSON), "idf=robertson"),
            (CitationLookup(snapshot), "'citation'; estimate it with lexfuse index INDEX --distributions"),
            (FusedRetriever([BM25(snapshot)]), "'hybrid' is not a channel of an index and has no distribution"),
        ):
            asked = levels_of(retriever)
            with pytest.raises(ConfigError, match=words):
                asked()


def test_it_stays_frozen_when_documents_come_and_go(index):
    with index.snapshot() as snapshot:
        [found] = kept(index, TfIdf(snapshot))
    index.add([Document("new", text="loi loi loi", language="fr")])
    index.delete(["d01"])
    index.compact()
    with index.snapshot() as snapshot:
        assert levels_of(TfIdf(snapshot))().scores.tolist() == list(found.levels)


def test_a_dropped_channel_takes_its_distributions_along_and_no_others(index):
    for name in ("dense", "dense-two"):
        index.channels.make(name, ChannelSettings("dense", "model", "00"))
        index.keep_distributions({f"{name}:{{}}": {"scores": 1}})
    index.channels.drop("dense")
    with index.snapshot() as snapshot:
        assert list(snapshot.distributions) == ["dense-two:{}"]


def test_an_index_that_is_built_anew_has_none(index, tmp_path):
    with index.snapshot() as snapshot:
        kept(index, TfIdf(snapshot))
    with IndexFolder.create(tmp_path / "i", documents=documents(3), replace=True) as anew, anew.snapshot() as snapshot:
        assert snapshot.distributions == {}


def test_the_union_of_retrievers_carries_the_frozen_levels(index):
    with index.snapshot() as snapshot:
        found = kept(index, BM25(snapshot), TfIdf(snapshot))
    with index.snapshot() as snapshot:
        union = retrieve_union([BM25(snapshot), TfIdf(snapshot)], QUERIES, 5)
    for source, one in enumerate(found):
        assert Percentile().of(union, source).tolist() == one.as_levels().below(union.scores[source]).tolist()
    with index.snapshot() as snapshot:
        union = retrieve_union([BM25(snapshot), CitationLookup(snapshot)], QUERIES, 5)
    with pytest.raises(ConfigError, match="no distribution of the scores of 'citation'"):
        Percentile().of(union, 1)


def test_queries_are_drawn_from_the_documents_always_the_same(index):
    with index.snapshot() as snapshot:
        drawn = drawn_queries(snapshot, 10)
        assert drawn.text == drawn_queries(snapshot, 10).text
        assert len(drawn) == 10
        assert all(snapshot.document(query.id).text.startswith(query.text) for query in drawn)


def test_nothing_to_estimate_from_is_told(index, tmp_path):
    with index.snapshot() as snapshot, pytest.raises(DataError, match="at least one query"):
        estimate(BM25(snapshot), Queries.of([]))
    with (
        IndexFolder.create(tmp_path / "e") as empty,
        empty.snapshot() as snapshot,
        pytest.raises(DataError, match="needs documents"),
    ):
        estimate(BM25(snapshot), QUERIES)
    with index.snapshot() as snapshot, pytest.raises(ConfigError, match="is not a channel"):
        estimate(FusedRetriever([BM25(snapshot)]), QUERIES)


def test_a_damaged_one_is_told():
    good = ChannelDistribution("tfidf", {}, (0.0,) * len(SHARES), 1, 1, 1, SampleOrigin.GIVEN).as_json()
    for change in ({"levels": [1.0]}, {"levels": [1.0] + [0.0] * (len(SHARES) - 1)}, {"origin": "?"}, {"colour": 1}):
        with pytest.raises(DataError, match="damaged; estimate it again"):
            ChannelDistribution.from_json(good | change)
