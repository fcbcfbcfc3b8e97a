"""A cluster gives the answers of one index of all documents: rankings, scores, facets, explanations, also after changes."""

import datetime
import random
from dataclasses import replace

import numpy as np
import pytest

from lexfuse import TM2C2, Convex, Document, Index, Queries, Query
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import plan_channel, stored_kind
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.partition import owner, partition
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import write_corpus
from lexfuse.errors import ConfigError, DataError, NotFoundError, UnknownChannelError
from lexfuse.fusion.normalisation import Percentile
from lexfuse.search.hits import SortOrder
from lexfuse.storage.index_folder import IndexFolder

WORDS = """bail loyer locataire bailleur préavis congé délai mois juge tribunal contrat travail salarié employeur licenciement
indemnité prime salaire durée heure repos jour faute grave cause réelle sérieuse preuve demande recours appel""".split()  # noqa: SIM905
CODES = ("Code civil", "Code du travail", "Code de commerce")
QUESTIONS = (
    "le bailleur donne congé au locataire", "indemnité de licenciement du salarié", "article L. 4 du code du travail",
    "préavis", "faute grave, cause réelle et sérieuse", "bail bail loyer", "tribunal",
    "mon patron me vire", "le bayeur et le locatair", "indemnitee de licensiement",
)  # fmt: skip


def made(seed, count, first=0):
    """Documents of drawn words; some have the same text, so that scores tie."""
    draw, found = random.Random(seed), []  # noqa: S311
    for number in range(first, first + count):
        text = ". ".join(" ".join(draw.choices(WORDS, k=draw.randint(4, 14))).capitalize() for _ in range(draw.randint(1, 5)))
        if number % 9 == 4 and found:
            text = found[-1].text
        found.append(
            Document(
                f"d{(number * 37) % 1000:03}", title=f"Titre {draw.choice(WORDS)}", text=text + ".", language="fr",
                code=CODES[number % 3], number=f"L{number}", headings=("Livre I", draw.choice(WORDS)),
                date=datetime.date(2000 + draw.randint(0, 20), 5, 1),
                valid_from=datetime.date(2010, 1, 1) if number % 4 else None,
                valid_to=datetime.date(2015, 1, 1) if number % 8 == 1 else None,
            )
        )  # fmt: skip
    return found


def built(folder, documents, plans, everything=None):
    """An index of documents with channels; as a shard it shares with others what was made of all documents."""
    Index.build(folder, documents).close()
    if everything is not None:
        ordered = sorted(everything, key=lambda document: document.id)
        with IndexFolder(folder) as files:
            for name, plan in plans.items():
                settings = plan_channel(name, plan)
                part = stored_kind(name).shared_part(settings, len(ordered), lambda at: [ordered[place] for place in at])
                files.channels.make(name, settings)
                if part is not None:
                    files.channels.begin(name, part)
    with Index(folder) as index:
        index.add_channels(plans)
        assert index.verify() == []
    return folder


@pytest.fixture(scope="module")
def plans(tmp_path_factory, tiny):
    models = tmp_path_factory.mktemp("models")
    dense, sparse = str(tiny.folder(models / "dense")), str(tiny.folder(models / "splade", head="mlm"))
    return {
        "dense": ChannelPlan(dense), "splade": ChannelPlan(sparse), "sentences": ChannelPlan(dense), "colbert": ChannelPlan(dense)
    }  # fmt: skip


@pytest.fixture(scope="module")
def cross(tmp_path_factory, tiny):
    return str(tiny.cross_encoder(tmp_path_factory.mktemp("models") / "cross"))


@pytest.fixture(scope="module")
def single(tmp_path_factory, plans):
    folder = built(tmp_path_factory.mktemp("single") / "index", made(1, 60), plans)
    with Index(folder) as index:
        index.estimate_distributions()
        yield index


@pytest.fixture(scope="module", params=["1 divided", "2 divided", "5 divided", "2 encoded"])
def cluster(request, tmp_path_factory, plans, single):
    """Shards that divide the rows of the single index, or that encode their documents."""
    root, count = tmp_path_factory.mktemp("shards"), int(request.param.split()[0])
    if request.param.endswith("divided"):
        store = ClusterStore(str(root / "law"))
        change = ClusterBuilder(store=store, work=root / "work").build(single.folder, shards=count)
        assert {name: one.encoded for name, one in change.channels.items()} == dict.fromkeys(plans, 0)
        with ClusterIndex.published(store, root / "cache") as opened:
            yield opened
        return
    folders = [
        built(root / str(number), documents, plans, made(1, 60)) for number, documents in enumerate(partition(made(1, 60), count))
    ]
    with ClusterIndex.of(folders, distributions=single.snapshot.distributions) as opened:
        yield opened


def queries():
    return Queries.of(
        Query(f"q{at}", text, "fr" if at % 2 else "", datetime.date(2012, 1, 1)) for at, text in enumerate(QUESTIONS)
    )


def assert_same_runs(ours, theirs):
    assert list(ours.queries) == list(theirs.queries)
    for query in ours.queries:
        one, other = ours.hits(query), theirs.hits(query)
        assert [hit.doc for hit in one] == [hit.doc for hit in other], query
        np.testing.assert_allclose([hit.score for hit in one], [hit.score for hit in other], rtol=1e-6, atol=1e-6)
        assert [sorted(hit.parts) for hit in one] == [sorted(hit.parts) for hit in other]
    if theirs.low is not None:
        np.testing.assert_allclose(ours.low, theirs.low, rtol=1e-6)


SEARCHES = {
    "words": {"channels": ["bm25"]},
    "words by Robertson": {"channels": ["bm25"], "idf": "robertson", "k1": 0.9},
    "TF-IDF": {"channels": ["tfidf"]},
    "n-grams": {"channels": ["tfidf-2gram"]},
    "citations": {"channels": ["citation"]},
    "dense": {"channels": ["dense"]},
    "dense over all passages": {"channels": ["sentences"], "pool": "all"},
    "learned terms": {"channels": ["splade"]},
    "late interaction": {"channels": ["colbert"]},
    "late interaction with every document": {"channels": ["colbert"], "exact": True},
    "RRF": {"channels": ["bm25", "dense", "splade"], "fusion": "rrf"},
    "TM2C2": {"channels": ["bm25", "dense"], "fusion": TM2C2(alpha=0.7)},
    "percentiles": {"channels": ["bm25", "dense"], "fusion": Convex(None, Percentile())},
    "percentiles of learned terms": {"channels": ["bm25", "splade"], "fusion": Convex(None, Percentile())},
    "Borda": {"channels": ["bm25", "tfidf", "citation", "splade", "colbert"], "fusion": "borda"},
}


@pytest.mark.parametrize("name", SEARCHES)
def test_runs_are_those_of_one_index(single, cluster, name):
    ours, theirs = (one.run(queries(), depth=20, **SEARCHES[name]) for one in (cluster, single))
    assert len(theirs)
    assert_same_runs(ours, theirs)


@pytest.mark.parametrize(
    "limits", [{"filters": ["code=Code du travail", "date>=2005-01-01"]}, {"as_of": "2012-06-01"}, {"filters": ["number=L999"]}]
)
@pytest.mark.parametrize("name", ["words", "dense", "RRF"])
def test_filters_and_days_are_those_of_one_index(single, cluster, name, limits):
    assert_same_runs(*(one.run(queries(), depth=20, **SEARCHES[name], **limits) for one in (cluster, single)))


def test_runs_before_the_day_of_a_query(single, cluster):
    assert_same_runs(*(one.run(queries(), depth=20, before_query_date=True) for one in (cluster, single)))


@pytest.mark.parametrize("shards", [1, 3])
def test_candidates_of_late_interaction_are_those_of_one_index(tmp_path, plans, shards):
    """More than 1,000 documents, so that only some get their true score; equal texts tie."""
    draw = random.Random(6)  # noqa: S311
    documents = [
        Document(f"d{number:04}", text=" ".join(draw.choices(WORDS, k=draw.randint(2, 5))), code=CODES[number % 3], language="fr")
        for number in range(1180)
    ] + [Document(f"e{number}", title="Sans texte", language="fr") for number in range(20)]
    folder, store = tmp_path / "whole", ClusterStore(str(tmp_path / "law"))
    built(folder, documents, {"colbert": plans["colbert"]})
    ClusterBuilder(store=store, work=tmp_path / "work").build(folder, shards=shards)
    with Index(folder) as single, ClusterIndex.published(store, tmp_path / "cache") as cluster:
        for options in (
            {"depth": 20}, {"depth": 400}, {"depth": 1100}, {"depth": 20, "exact": True},
            {"depth": 20, "filters": ["code=Code civil"]}, {"depth": 20, "filters": ["code!=Code civil"]},
        ):  # fmt: skip
            ours, theirs = (one.run(queries(), channels=["colbert"], **options) for one in (cluster, single))
            assert len(theirs)
            assert_same_runs(ours, theirs)
        approximate, exact = (single.run(queries(), channels=["colbert"], depth=100, exact=mode) for mode in (False, True))
        assert list(approximate.doc) != list(exact.doc)  # or the test would show nothing


def shown(hits):
    """What a page shows of its results, without their scores."""
    return [
        (hit.rank, hit.id, hit.found, hit.document, hit.snippet, hit.passage, hit.parts, hit.matches, sorted(hit.sources))
        for hit in hits
    ]


def assert_same_pages(ours, theirs):
    assert shown(ours) == shown(theirs)
    assert (ours.profile, ours.more, ours.candidates, ours.facets) == (
        theirs.profile,
        theirs.more,
        theirs.candidates,
        theirs.facets,
    )
    np.testing.assert_allclose([hit.score for hit in ours], [hit.score for hit in theirs], rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"facets": True, "filters": ["code=Code du travail"]},
        {"sort": SortOrder.NEWEST},
        {"after": 3},
        {"profile": "dense"},
        {"channels": ["splade"]},
        {"channels": ["colbert"]},
    ],
)
def test_pages_are_those_of_one_index(single, cluster, options):
    for question in QUESTIONS:
        assert_same_pages(*(one.search(question, 5, **options) for one in (cluster, single)))


def test_pages_are_explained_alike(single, cluster):
    for question in QUESTIONS[:3]:
        for hit in single.search(question, 3, channels=["bm25", "dense", "splade"]):
            ours, theirs = (one.explain(question, hit.id, channels=["bm25", "dense", "splade"]) for one in (cluster, single))
            assert (ours.rank, ours.listed, ours.score) == (theirs.rank, theirs.listed, pytest.approx(theirs.score))
            assert ours.parts == theirs.parts
            assert ours.evidence["bm25"].terms == theirs.evidence["bm25"].terms
            assert ours.evidence["dense"].passage == theirs.evidence["dense"].passage


def test_misspelt_questions_are_corrected_and_completed_as_by_one_index(single, cluster):
    for question in ("le bayeur et le locatair", "indemnitee de licensiement", "trbunal"):
        ours, theirs = cluster.search(question), single.search(question)
        assert ours.correction == theirs.correction
        assert ours.correction.words
    for typed in ("loc", "bail et pré", "congé du sal", "trib"):
        assert cluster.suggest(typed) == single.suggest(typed) != []


def test_similar_documents_are_those_of_one_index(single, cluster):
    for options in ({"document": "d037"}, {"text": made(1, 60)[7].text}, {"document": "d074", "before": "2015-01-01"}):
        ours, theirs = (one.similar(k=5, **options) for one in (cluster, single))
        assert [hit.id for hit in ours] == [hit.id for hit in theirs]
        np.testing.assert_allclose([hit.score for hit in ours], [hit.score for hit in theirs], rtol=1e-6)


@pytest.mark.parametrize("method", ["cross-encoder", "rprs", "sdr", "birch", "structure"])
def test_rerankers_give_the_ranking_of_one_index(single, cluster, cross, method):
    rerank = {"method": method, "depth": 8} | ({"model": cross} if method == "cross-encoder" else {})
    assert_same_runs(*(one.run(queries(), depth=10, channels=["bm25"], rerank=[rerank]) for one in (cluster, single)))


def test_documents_and_what_is_there(single, cluster):
    assert len(cluster) == len(single)
    assert cluster.document("d037") == single.document("d037")
    assert (cluster.channels, cluster.languages, list(cluster.specs)) == (single.channels, single.languages, list(single.specs))
    assert "d037" in cluster
    assert "nothing" not in cluster
    with pytest.raises(NotFoundError, match="no document 'nothing'"):
        cluster.document("nothing")
    with pytest.raises(UnknownChannelError, match="'colbert-other'"):
        cluster.search("bail", channels=["colbert-other"])


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_changes_give_the_answers_of_one_index(tmp_path, own_cache, plans, shards):
    """Also by percentiles: a distribution stays as it is when documents change."""
    documents, more = made(2, 30), made(3, 10, first=30)
    gone, changed = [documents[3].id, documents[8].id], replace(documents[5], text="Préavis de congé du bail.")
    folder, store = built(tmp_path / "whole", documents, {"splade": plans["splade"]}), ClusterStore(str(tmp_path / "law"))
    builder = ClusterBuilder(store=store, work=tmp_path / "work")
    builder.build(folder, shards=shards)
    builder.estimate_distributions(queries())
    write_corpus(Corpus.of([*more, changed]), tmp_path / "more.jsonl")
    assert builder.update(tmp_path / "more.jsonl").channels["splade"].encoded == 11
    builder.delete(gone)
    with Index(folder) as single:
        single.estimate_distributions(queries())
        single.update([*more, changed])
        single.delete(gone)
        single.add_channels()
    with Index(folder) as single, ClusterIndex.published(store, tmp_path / "cache") as cluster:
        for name in ("words", "TF-IDF", "learned terms", "percentiles of learned terms"):
            assert_same_runs(*(one.run(queries(), depth=30, **SEARCHES[name]) for one in (cluster, single)))
        assert gone[0] not in cluster
        assert len(cluster) == len(single) == 38


@pytest.mark.parametrize("asked", [None, "questions"])
def test_distributions_are_those_of_one_index(single, tmp_path, own_cache, asked):
    """The queries are drawn from the ids of documents, so neither their order nor the shards matter."""
    given = None if asked is None else queries()
    reversed_order = list(reversed(made(1, 60)))
    write_corpus(Corpus.of(reversed_order), tmp_path / "corpus.jsonl")
    builder = ClusterBuilder(store=ClusterStore(str(tmp_path / "law")), work=tmp_path / "work")
    builder.build(tmp_path / "corpus.jsonl", shards=3)
    found = builder.estimate_distributions(given, k1=0.9).distributions
    expected = single.score_distributions(given, k1=0.9)
    assert found.keys() == {key for key in expected if key.split(":")[0] in ("bm25", "tfidf", "citation")}
    for key, one in found.items():
        assert one | {"levels": []} == expected[key] | {"levels": []}
        np.testing.assert_allclose(one["levels"], expected[key]["levels"], rtol=1e-6)


def test_percentiles_without_distributions_name_the_command(tmp_path, articles):
    store = ClusterStore(str(tmp_path / "law"))
    ClusterBuilder(store=store, work=tmp_path / "work").build(articles, shards=2)
    message = r"estimate it with lexfuse cluster index URI --distributions --k1 1\.2 --b 0\.75"
    with ClusterIndex.published(store, tmp_path / "cache") as cluster, pytest.raises(ConfigError, match=message):
        cluster.run(queries(), channels=["bm25", "tfidf"], fusion=Convex(None, Percentile()))


def test_shards_that_do_not_belong_together_are_refused(tmp_path, plans):
    one, two = made(4, 4), made(5, 4, first=4)
    folders = [built(tmp_path / "a", one, {}), built(tmp_path / "b", two, {"splade": plans["splade"]})]
    with pytest.raises(DataError, match="shard 1 has other settings or channels than shard 0"):
        ClusterIndex.of(folders)
    twice = [built(tmp_path / "c", one, {}), built(tmp_path / "d", one, {})]
    with pytest.raises(DataError, match="is repeated"):
        len(ClusterIndex.of(twice))


def test_every_document_has_one_owner():
    shards = partition(made(1, 60), 5)
    assert sorted(document.id for some in shards for document in some) == sorted(document.id for document in made(1, 60))
    assert all(owner(document.id, 5) == number for number, some in enumerate(shards) for document in some)
    assert all(shards)
