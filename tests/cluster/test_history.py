"""Documents with versions in a cluster: every day is answered as by one index, also after changes."""

import datetime
import random
from dataclasses import replace

import numpy as np
import pytest

from lexfuse import Document, Index, Queries, Query
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.statistics import gather_statistics
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.document_history import join_versions
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.errors import UnknownDocumentError
from lexfuse.storage.folder_snapshot import open_snapshot

WORDS = "bail loyer preneur bailleur terme congé dépôt garantie caution état lieux meuble".split()  # noqa: SIM905
QUERIES = Queries.of(Query(f"q{at}", f"{word} du terme", "fr") for at, word in enumerate(WORDS))
DAYS = ("1975-03-01", "1991-03-01", "2001-01-01", "2010-07-01", None, "2028-03-01")
SEARCHES = (
    {"channels": ["bm25"]},
    {"channels": ["bm25"], "fields": ["title=2:0.5", "text"]},
    {"channels": ["tfidf", "splade", "citation"], "fusion": "rrf"},
    {"channels": ["dense", "colbert", "bm25"], "fusion": "tm2c2", "filters": ["code=Code civil"]},
)


def law(seed, count, first=0, versions=4):
    """Documents with versions that return, end, or say that there was no such document; some without dates."""
    draw, found = random.Random(seed), []  # noqa: S311
    for number in range(first, first + count):
        id, years = f"a{number * 7 % 100:02}", sorted(draw.sample(range(1990, 2030), draw.randint(1, versions)))
        texts = [" ".join(draw.choices(WORDS, k=draw.randint(2, 12))) for _ in range(2)]
        head = {"language": "fr", "number": f"L{number}", "code": ("Code civil", "Code rural")[number % 2]}
        every = [Document(id, text=draw.choice(texts), valid_from=datetime.date(year, 1, 1), **head) for year in years]
        every = [replace(one, title=draw.choice(WORDS)) for one in every]
        if number % 4 == 1:
            every[-1] = replace(every[-1], valid_to=datetime.date(years[-1], 6, 1))
        if number % 3 == 1 and versions > 1:
            every.append(Document(id, valid_from=datetime.date(1980, 1, 1), valid_to=datetime.date(years[0], 1, 1), **head))
        if number % 8 == 5:
            every = [replace(every[0], valid_from=None, valid_to=None)]
        found += join_versions(every)
    return found


def written(path, documents):
    write_corpus(Corpus.of(documents), path)
    return path


def assert_same_answers(ours, theirs, searches=SEARCHES, days=DAYS):
    for day in days:
        for search in searches:
            one, other = (index.run(QUERIES, depth=30, as_of=day, **search) for index in (ours, theirs))
            for query in QUERIES.ids:
                assert [hit.doc for hit in one.hits(query)] == [hit.doc for hit in other.hits(query)], (day, search, query)
            np.testing.assert_allclose(one.score, other.score, rtol=1e-6, atol=1e-6)
        asked = day or datetime.date.today()
        assert ours.coverage(asked) == theirs.coverage(asked)


@pytest.fixture(scope="module")
def single(tmp_path_factory, tiny):
    root = tmp_path_factory.mktemp("law")
    dense, sparse = str(tiny.folder(root / "dense")), str(tiny.folder(root / "splade", head="mlm"))
    plans = {"dense": ChannelPlan(dense), "splade": ChannelPlan(sparse), "colbert": ChannelPlan(dense)}
    with Index.build(root / "index", law(1, 40), channels=plans) as index:
        yield index


@pytest.fixture(scope="module", params=["1 divided", "3 divided", "2 encoded"])
def cluster(request, tmp_path_factory, single):
    """Shards that divide the rows of the single index, or that encode the versions of a corpus."""
    root, count = tmp_path_factory.mktemp("shards"), int(request.param.split()[0])
    builder = ClusterBuilder(store=ClusterStore(str(root / "law")), work=root / "work")
    if request.param.endswith("divided"):
        change = builder.build(single.folder, shards=count)
        assert {one.encoded for one in change.channels.values()} == {0}
    else:
        models = {name: single.snapshot.channel(name).named.settings.model for name in single.channels}
        builder.build(written(root / "law.jsonl", law(1, 40)), shards=count, channels=models)
    with ClusterIndex.published(builder.store, root / "cache") as opened:
        yield opened


def test_every_day_is_answered_as_by_one_index(single, cluster):
    assert cluster.snapshot.has_history
    assert_same_answers(cluster, single)


def test_pages_documents_and_histories_are_those_of_one_index(single, cluster):
    for day in DAYS:
        for question in ("bail du preneur", '"loyer" OR cautio*', "article L. 3 du code rural"):
            ours, theirs = (index.search(question, 5, as_of=day, facets=True) for index in (cluster, single))
            assert [(hit.id, hit.document, hit.snippet) for hit in ours] == [
                (hit.id, hit.document, hit.snippet) for hit in theirs
            ]
            assert (ours.coverage, ours.facets) == (theirs.coverage, theirs.facets)
        ours, theirs = (index.similar(document="a00", k=5, as_of=day) for index in (cluster, single))
        assert [(hit.id, pytest.approx(hit.score)) for hit in ours] == [(hit.id, hit.score) for hit in theirs]
    for document in law(1, 40):
        assert cluster.document(document.id) == single.document(document.id)  # in force today or not
        assert cluster.history(document.id) == single.history(document.id)
    for day in ("1991-03-01", "1700-01-01"):
        assert cluster.diff("a00", day, "2025-01-01") == single.diff("a00", day, "2025-01-01")
    with pytest.raises(UnknownDocumentError, match="'nothing'"):
        cluster.history("nothing")


def test_changes_give_the_answers_of_one_index(tmp_path, single, own_cache):
    """A first version makes all days count in every shard; without the last one, no day does."""
    words, builder = SEARCHES[:2], ClusterBuilder(store=ClusterStore(str(tmp_path / "law")), work=tmp_path / "work")
    plain, more = law(2, 12, versions=1), law(3, 3, first=12)
    builder.build(written(tmp_path / "plain.jsonl", plain), shards=4)
    changed = [*more, *law(4, 2)]
    last = [document.id for document in changed if document.history]
    steps = (
        lambda index: index.update(changed),
        lambda index: index.delete(last[:1]),
        lambda index: index.delete(last[1:]),
    )
    actions = (
        lambda: builder.update(written(tmp_path / "more.jsonl", changed)),
        lambda: builder.delete(last[:1]),
        lambda: builder.delete(last[1:]),
    )
    with Index.build(tmp_path / "index", plain) as index:
        for at, (step, action) in enumerate(zip(steps, actions, strict=True)):
            assert action().counts == step(index)
            with ClusterIndex.published(builder.store, tmp_path / "cache") as opened:
                assert opened.snapshot.has_history == index.snapshot.has_history == (at < 2)
                assert_same_answers(opened, index, words)


def test_statistics_of_a_day_are_those_of_its_documents(single):
    with open_snapshot(single.folder) as snapshot:
        found = gather_statistics([snapshot])
        for day in map(datetime.date.fromisoformat, filter(None, DAYS)):
            shown = snapshot.on(day)
            for channel in ("bm25", "splade"):
                own, postings = found[channel].on(day), shown.postings(channel)
                at = own.terms.find_all(postings.vocabulary, len(postings.vocabulary))
                assert own.document_frequency[at].tolist() == postings.document_frequency.tolist()
                assert own.document_frequency.sum() == postings.document_frequency.sum()
                np.testing.assert_allclose(own.collection_frequency[at], postings.collection_frequency, atol=1e-9)
                assert (own.documents, own.mean_length) == (postings.documents, pytest.approx(postings.mean_length))
