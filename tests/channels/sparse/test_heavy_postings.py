"""Approximate search: candidates from the heaviest postings, true filters, exact scores, and exact search where it is as fast."""

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.channels.sparse import retriever
from lexfuse.channels.sparse.heavy_postings import HeavyPostings
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.text.analysis.vocabulary import Vocabulary

TERMS = 60


class FewTerms:
    """An encoder without a model: a text is its numbers, each a term, and the weights of a query fall."""

    terms = Vocabulary([f"t{number}" for number in range(TERMS)])
    fingerprint, cosine = "few", False

    def encode(self, texts, side, progress=None):
        rows = [np.array(sorted({int(word) for word in text.split()}), dtype=np.int32) for text in texts]
        return [(row, (1.0 / (1.0 + np.arange(len(row)))).astype(np.float32)) for row in rows]


@pytest.fixture
def channel(tmp_path, monkeypatch):
    """Makes a channel of random weights in several parts, with a deleted document."""
    monkeypatch.setattr(retriever, "heaviest", lambda documents: 40)
    monkeypatch.setattr(retriever, "CANDIDATES", 4)
    monkeypatch.setattr(retriever, "ROW", 0)
    monkeypatch.setattr(retriever, "CALL", 0)

    def made(cosine=False, documents=600):
        chance = np.random.default_rng(4)
        names = [f"d{number:04}" for number in chance.permutation(documents)]
        index = IndexFolder.create(tmp_path / "i", documents=[Document(name, text="x") for name in names])
        plan = plan_channel("splade", ChannelPlan("fr-legal-splade", approximate=True), threads=1)
        index.channels.make("splade", plan)
        common = chance.random(TERMS) < 0.4

        def encode(some):
            rows = []
            for _ in some:
                held = np.flatnonzero(chance.random(TERMS) < np.where(common, 0.7, 0.05)).astype(np.int32)
                rows.append((held, (chance.random(len(held)) ** 2 + 0.01).astype(np.float32)))
            return EncodedBlock(SparsePart.of(rows, FewTerms.terms), len(rows))

        index.channels.fill("splade", encode, block=250)
        index.delete(["d0007"])
        return SparseRetriever(index.snapshot(), encoder=FewTerms(), cosine=cosine, approximate=True)

    return made


QUERIES = Queries.of(Query(f"q{at}", " ".join(map(str, np.random.default_rng(at).permutation(TERMS)[:12]))) for at in range(30))


def recall(found, exact, k):
    shared = [len({hit.doc for hit in found.hits(one)} & {hit.doc for hit in exact.hits(one)}) for one in QUERIES.ids]
    return sum(shared) / (k * len(QUERIES))


@pytest.mark.parametrize("cosine", [False, True])
def test_most_of_the_best_are_found_with_their_exact_scores(channel, cosine):
    splade = channel(cosine)
    assert len(splade.snapshot.channel("splade").parts) > 1
    found, exact = splade.retrieve(QUERIES, 5), splade.exhaustive.retrieve(QUERIES, 5)
    assert 0.6 < recall(found, exact, 5) < 1.0  # forty postings a list are few
    everything = {one: splade.exhaustive.retrieve(QUERIES, 600).as_dict()[one] for one in QUERIES.ids}
    for query in QUERIES.ids:
        hits = found.hits(query)
        assert [hit.score for hit in hits] == [everything[query][hit.doc] for hit in hits]
        assert [hit.doc for hit in hits] == [hit.doc for hit in sorted(hits, key=lambda hit: (-hit.score, hit.doc))]
        assert len(hits) == 5
    assert splade.score(QUERIES, found).tobytes() == found.score.tobytes()


def test_filters_and_deletions_hold(channel):
    splade = channel()
    within = np.array([int(id[1:]) % 2 == 0 for id in splade.snapshot.ids])
    found = splade.retrieve(QUERIES, 5, within=within)
    assert all(int(hit.doc[1:]) % 2 == 0 for one in QUERIES.ids for hit in found.hits(one))
    assert all(hit.doc != "d0007" for one in QUERIES.ids for hit in splade.retrieve(QUERIES, 5).hits(one))


@pytest.mark.parametrize("case", ["narrow filter", "many results", "few postings"])
def test_an_exact_search_where_an_approximate_one_gains_nothing(channel, case, monkeypatch):
    splade, within, k = channel(), None, 5
    if case == "narrow filter":
        within = np.arange(len(splade.snapshot)) % 10 == 0
    if case == "many results":
        k = 300
    if case == "few postings":
        monkeypatch.setattr(retriever, "CALL", 150_000)
    found, exact = (one.retrieve(QUERIES, k, within=within) for one in (splade, splade.exhaustive))
    assert found.as_dict() == exact.as_dict()


def test_a_query_with_too_few_candidates_is_searched_exactly(channel):
    splade = channel()
    rare = Queries.of([Query("q", "3"), *QUERIES])
    assert splade.retrieve(rare, 5).as_dict()["q"] == splade.exhaustive.retrieve(rare, 5).as_dict()["q"]
    assert len(splade.retrieve(Queries.of([Query("q", "")]), 5)) == 0


def test_lists_keep_their_heaviest_postings():
    chance = np.random.default_rng(0)
    files = [
        InvertedFile.from_rows(
            [np.flatnonzero(chance.random(6) < 0.8).astype(np.int32) for _ in range(50)],
            Vocabulary([f"t{at}" for at in range(6)]),
        )
        for _ in range(2)
    ]
    postings = Postings(files, np.array([0, 50, 100]), np.ones(100, dtype=bool))
    impacts = chance.random(len(postings.docs)).astype(np.float32)
    heavy = HeavyPostings.of(postings, impacts, 12)
    for term in range(6):
        whole = [
            (start, end) for start, end in zip(*(edges[0].tolist() for edges in postings.ranges(np.array([term]))), strict=True)
        ]
        own = [(start, end) for start, end in zip(*(edges[0].tolist() for edges in heavy.ranges(np.array([term]))), strict=True)]
        expected = sorted(((impacts[at], postings.docs[at]) for start, end in whole for at in range(start, end)), reverse=True)[
            :12
        ]
        found = [(heavy.impacts[at], heavy.docs[at]) for start, end in own for at in range(start, end)]
        assert sorted(found, reverse=True) == expected
        assert all((np.diff(heavy.docs[start:end]) > 0).all() for start, end in own)


def test_a_channel_says_whether_it_is_approximate(tmp_path):
    for approximate in (False, True):
        index = IndexFolder.create(tmp_path / f"i{approximate}", documents=[Document("a", text="la loi", language="fr")])
        index.channels.make("splade", plan_channel("splade", ChannelPlan("fr-legal-splade", approximate=approximate), threads=1))
        fill_channel(index, "splade", threads=1)
        with index.snapshot() as snapshot:
            assert open_retriever(snapshot, "splade", threads=1).approximate is approximate
            assert not open_retriever(snapshot, "splade", exact=True, threads=1).approximate
