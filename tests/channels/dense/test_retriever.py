"""Dense retrieval against its definition in numpy, over parts, after changes, with every storage, division and pool."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.flat_search import PassagePooling
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.search.results import ResultBuilder, find_documents
from lexfuse.storage.index_folder import IndexFolder

_FILE = Path(__file__).parents[2] / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

WORDS = [word for word in tiny.WORDS if not word.startswith("#")]
CLOSE = {"fp32": 1e-5, "fp16": 2e-3, "int8": 3e-2}  # how far a score may be from that of the vectors before they are stored
QUERIES = Queries.of(
    Query(f"q{number}", text)
    for number, text in enumerate(["rompre le contrat de travail", "the lease ended", "congé", "", "東京 zzz"])
)


def hits_of(retriever, query, k):
    return ResultBuilder([retriever], query).answers(find_documents(retriever, query, k))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Makes model folders, each once; their graphs are kept for all tests."""
    root, made = tmp_path_factory.mktemp("models"), {}

    def folder(name="m", **options):
        if name not in made:
            made[name] = tiny.folder(root / name, **{"normalise": True} | options)
        return made[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        yield folder


def library(count=24, seed=0):
    """Documents of random words: one is empty, one exceeds the window of the model several times, two say the same."""
    chance = np.random.default_rng(seed)
    texts = [" ".join(chance.choice(WORDS, size=chance.integers(3, 50))) for _ in range(count)]
    texts[5], texts[7], texts[9] = "", " ".join(chance.choice(WORDS, size=400)), texts[4]
    headings = ("livre un", "the court")
    return [
        Document(
            f"d{number:02}", title=f"article {number // 10}" if number not in (4, 5, 9) else "", text=text, headings=headings
        )
        for number, text in enumerate(texts)
    ]


def made(folder, documents, model, name="dense", **choices):
    """An index with one filled channel."""
    index = IndexFolder.create(folder, documents=documents)
    index.channels.make(name, plan_channel(name, ChannelPlan(str(model), **choices), threads=1))
    fill_channel(index, name, threads=1)
    return index


def opened(index, **options):
    return open_retriever(index.snapshot(), "dense", threads=1, **options)


def options_of(plan):
    return {"passages": plan.scheme, "size": plan.size, "overlap": plan.overlap, "headings": plan.headings}


def by_definition(encoder, plan, documents, query, passages=1, query_encoder=None):
    """Document to score: passages encoded one by one, dot products, the mean over the best so many (None: all)."""
    [vector] = (query_encoder or encoder).encode([query], Side.QUERY).astype(np.float64)
    scores = {}
    for document in documents:
        texts = [text for text, _ in plan.of(document, encoder.tokens)]
        rows = np.concatenate([encoder.encode([text], Side.PASSAGE) for text in texts]).astype(np.float64)
        scores[document.id] = np.sort(rows @ vector)[::-1][:passages].mean()
    return scores


def check(run, expected, tolerance):
    """A run ranks these documents with these scores, by its own scores and then by id."""
    for query, scores in expected.items():
        hits = run.hits(query)
        assert {hit.doc for hit in hits} == scores.keys()
        assert [hit.doc for hit in hits] == [hit.doc for hit in sorted(hits, key=lambda hit: (-hit.score, hit.doc))]
        np.testing.assert_allclose([hit.score for hit in hits], [scores[hit.doc] for hit in hits], atol=tolerance)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_family_follows_the_definition(tmp_path, models, family):
    documents, model = library(12), models(family, family=family)
    with made(tmp_path / "i", documents, model, storage="fp32") as index:
        encoder = DenseEncoder.load(model, threads=1)
        run = opened(index).retrieve(QUERIES, 100)
        check(run, {one.id: by_definition(encoder, PassagePlan(), documents, one.text) for one in QUERIES}, 1e-5)


@pytest.mark.parametrize("storage", CLOSE)
@pytest.mark.parametrize("pool", [PassagePooling.BEST, PassagePooling.MEAN, PassagePooling(2)], ids=["best", "mean", "top 2"])
def test_every_storage_and_pool_follows_the_definition(tmp_path, models, storage, pool):
    documents, model = library(), models()
    plan = PassagePlan(PassageScheme.WINDOWS, size=20, overlap=5)
    with made(tmp_path / "i", documents, model, storage=storage, **options_of(plan)) as index:
        dense, encoder = opened(index, pool=pool), DenseEncoder.load(model, threads=1)
        run = dense.retrieve(QUERIES, 100)
        expected = {one.id: by_definition(encoder, plan, documents, one.text, pool.passages) for one in QUERIES}
        check(run, expected, CLOSE[storage])
        # Of the vectors as they are stored, scores are exact.
        [part] = dense.parts
        rows, vectors = part.block(0, part.rows).astype(np.float64), dense.read(QUERIES).astype(np.float64)
        products = np.split(rows @ vectors.T, part.starts[1:-1])
        exact = np.array([np.sort(table, axis=0)[::-1][: pool.passages].mean(axis=0) for table in products])
        for number, query in enumerate(QUERIES):
            ours = {hit.doc: hit.score for hit in run.hits(query.id)}
            np.testing.assert_allclose([ours[document.id] for document in documents], exact[:, number], rtol=1e-6, atol=1e-7)


def test_pools_differ(tmp_path, models):
    with made(tmp_path / "i", library(), models(), passages=PassageScheme.WINDOWS, size=20, overlap=5) as index:
        best, mean, two = (
            opened(index, pool=pool).retrieve(QUERIES, 100).as_dict()["q0"]["d07"]
            for pool in (PassagePooling.BEST, PassagePooling.MEAN, PassagePooling(2))
        )
    assert best > two > mean


@pytest.mark.parametrize("storage", CLOSE)
def test_score_has_the_bits_of_retrieve_and_ten_are_the_first_of_a_hundred(tmp_path, models, storage):
    documents = library(120)
    with made(tmp_path / "i", documents, models(), storage=storage) as index:
        dense = opened(index)
        hundred, ten = dense.retrieve(QUERIES, 100), dense.retrieve(QUERIES, 10)
        assert dense.score(QUERIES, hundred).tobytes() == hundred.score.tobytes()
        for query in QUERIES.ids:
            assert ten.hits(query) == hundred.hits(query)[:10]
        pairs = Run.of("other", {"q2": {"d50": 1.0, "d03": 2.0}, "q0": {"d50": 3.0}})
        known = dense.retrieve(QUERIES, 120).as_dict()
        expected = [known[query][hit.doc] for query in ("q2", "q0") for hit in pairs.hits(query)]
        assert dense.score(QUERIES, pairs).tolist() == expected


def test_equal_scores_are_ranked_by_id(tmp_path, models):
    documents = [Document(id, text="la loi") for id in ("d", "b", "e", "a", "c")]
    with made(tmp_path / "i", [*documents, Document("f", text="the court held")], models()) as index:
        found = opened(index).retrieve(Queries.of([Query("q", "la loi")]), 4).hits("q")
        assert [hit.doc for hit in found] == ["a", "b", "c", "d"]
        assert len({hit.score for hit in found}) == 1


def test_filters(tmp_path, models):
    with made(tmp_path / "i", library(), models()) as index:
        index.delete(["d02"])
        dense = opened(index)
        everything = dense.retrieve(QUERIES, 100)
        within = np.array([int(id[1:]) % 3 == 0 for id in dense.snapshot.ids])
        kept = dense.retrieve(QUERIES, 100, within=within)
        for query in QUERIES.ids:
            expected = [(hit.doc, hit.score) for hit in everything.hits(query) if int(hit.doc[1:]) % 3 == 0]
            assert [(hit.doc, hit.score) for hit in kept.hits(query)] == expected
            assert [hit.doc for hit in dense.retrieve(QUERIES, 3, within=within).hits(query)] == [id for id, _ in expected[:3]]
        assert len(dense.retrieve(QUERIES, 5, within=np.zeros(23, dtype=bool))) == 0
        with pytest.raises(ConfigError, match="one flag for each of the 23 documents, got 2"):
            dense.retrieve(QUERIES, 5, within=np.ones(2, dtype=bool))
        with pytest.raises(ConfigError, match="k must be at least 1, got 0"):
            dense.retrieve(QUERIES, 0)


def test_documents_that_are_not_encoded_yet(tmp_path, models):
    with made(tmp_path / "i", library()[:8], models()) as index:
        index.add([Document("new", text="la loi"), Document("d03", text="une autre loi")], update=True)
        dense = opened(index)
        pairs = Run.of("pairs", {"q0": {"new": 4.0, "d01": 3.0, "d03": 2.0, "d05": 1.0}})
        assert np.isnan(dense.score(QUERIES, pairs)).tolist() == [True, False, True, False]
        assert {hit.doc for hit in dense.retrieve(QUERIES, 100).hits("q0")} == {f"d0{n}" for n in range(8)} - {"d03"}
        assert [dense.holds(id) for id in ("new", "d01", "d03")] == [False, True, False]
        with pytest.raises(NotFoundError, match="'new' is not in the channel 'dense' yet"):
            dense.best_passages(dense.read(QUERIES)[0], ["new"])
        with pytest.raises(NotFoundError):
            dense.score(QUERIES, Run.of("pairs", {"q0": {"nobody": 1.0}}))
        assert {one.document.id for one in hits_of(dense, QUERIES.query("q0"), 20)} == {f"d0{n}" for n in range(8)} - {"d03"}
        fill_channel(index, "dense", threads=1)
        assert not np.isnan(opened(index).score(QUERIES, pairs)).any()


def same(one, other):
    """Two indexes answer alike: the same documents, scores but for the rounding of encoding in other company."""
    assert one.keys() == other.keys()
    for query, ranking in one.items():
        np.testing.assert_allclose([other[query][doc] for doc in ranking], list(ranking.values()), atol=1e-5)
        assert ranking.keys() == other[query].keys()


def test_changes_end_where_an_index_built_at_once_is(tmp_path, models):
    documents, plan = library(), PassagePlan(PassageScheme.WINDOWS, size=20, overlap=5)
    with made(tmp_path / "once", documents, models(), storage="fp32", **options_of(plan)) as once:
        expected = opened(once).retrieve(QUERIES, 100)
    before = [Document(one.id, text="an older text of " + one.id) for one in documents[8:12]] + [Document("x", text="la loi")]
    with made(tmp_path / "i", [*documents[:8], *before], models(), storage="fp32", **options_of(plan)) as index:
        index.delete(["x", "d03"])
        index.add(documents[12:16])
        fill_channel(index, "dense", threads=1)
        index.add([documents[3], *documents[8:12]], update=True)
        index.add(documents[16:])
        assert fill_channel(index, "dense", threads=1) == 13
        with index.snapshot() as snapshot:
            assert len(snapshot.channel("dense").parts) == 3
        several = opened(index).retrieve(QUERIES, 100)
        same(expected.as_dict(), several.as_dict())
        index.merge()
        with index.snapshot() as snapshot:
            assert len(snapshot.channel("dense").parts) == 1
        assert opened(index).retrieve(QUERIES, 100).as_dict() == several.as_dict()  # merging changes no bit
        assert opened(index).score(QUERIES, several).tobytes() == several.score.tobytes()
        assert fill_channel(index, "dense", threads=1) == 0


TEXT = (
    "1. le salarié peut rompre le contrat de travail.\n"
    "2. the court held that the lease ended.\n"
    "3. " + "une loi de congé " * 40 + "\n4. l'employeur ne peut pas."
)
PLANS = {
    "whole": PassagePlan(),
    "windows": PassagePlan(PassageScheme.WINDOWS, size=12, overlap=3),
    "paragraphs": PassagePlan(PassageScheme.PARAGRAPHS),
    "beginning": PassagePlan(PassageScheme.BEGINNING),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_best_passage_is_that_of_the_definition(tmp_path, models, name):
    plan, encoder = PLANS[name], DenseEncoder.load(models(), threads=1)
    long = Document("long", title="article 7", text=TEXT, headings=("livre un",))
    with made(tmp_path / "i", library(10), models(), **options_of(plan), storage="fp32") as index:
        index.add([Document("a", text="la loi"), long])
        index.delete(["d01"])
        fill_channel(index, "dense", threads=1)
        dense, passages = opened(index), plan.of(long, encoder.tokens)
        rows = encoder.encode([text for text, _ in passages], Side.PASSAGE)
        found = set()
        for text in ("the court held that the lease ended", "rompre le contrat de travail", "congé", "employeur"):
            [vector] = dense.read(Queries.of([Query("q", text)]))
            best = passages[int(np.argmax(rows @ vector))][1]
            [ours] = dense.best_passages(vector, ["long"])
            assert (ours.start, ours.end) == (best.start, best.end)
            found.add(ours.of(TEXT))
        assert len(passages) == {"whole": 2, "windows": 21, "paragraphs": 5, "beginning": 1}[name]
        if name == "paragraphs":
            assert "2. the court held that the lease ended." in found
        if name == "beginning":
            assert index.channels.named("dense").cut == 2  # this one and the longest of the library
        else:
            assert index.channels.named("dense").cut == 0
        assert dense.best_passages(dense.read(QUERIES)[0], ["d05"])[0].of("") == ""


def test_a_snippet_lies_in_the_best_passage(tmp_path, models):
    long = Document("long", text=TEXT, language="fr")
    with made(tmp_path / "i", [long, Document("b", text="x")], models(), **options_of(PLANS["paragraphs"])) as index:
        dense = opened(index)
        question = Query("q", "the court held that the lease ended", "en")
        [passage] = dense.best_passages(dense.read(Queries.of([question]))[0], ["long"])
        [answer] = [one for one in hits_of(dense, question, 5) if one.document.id == "long"]
    assert (passage.start, passage.end) == (TEXT.index("2."), TEXT.index("\n3."))
    assert passage.start <= answer.snippet.span.start < answer.snippet.span.end <= passage.end
    assert all(passage.start <= match.start < match.end <= passage.end for match in answer.snippet.matches)
    assert answer.found == "dense"
    assert answer.parts == ()


def test_two_towers(tmp_path, models):
    documents, passages, queries = library(10), models(), models("cls", pooling=["cls"])
    with made(tmp_path / "i", documents, passages, query_model=str(queries), storage="fp32") as index:
        settings = index.channels.named("dense").settings
        assert settings.two_towers
        with index.snapshot() as snapshot:
            model, _ = open_retriever(snapshot, "dense").query_vector(Query("q", "le congé", "fr"))
        assert model == settings.query_fingerprint
        assert settings.fingerprint != settings.query_fingerprint
        towers = DenseEncoder.load(passages, threads=1), DenseEncoder.load(queries, threads=1)
        run = opened(index).retrieve(QUERIES, 100)
        expected = {one.id: by_definition(towers[0], PassagePlan(), documents, one.text, 1, towers[1]) for one in QUERIES}
        check(run, expected, 1e-5)


def test_a_model_of_another_dimension_is_refused(tmp_path, models):
    with made(tmp_path / "i", library(10), models()) as index, index.snapshot() as snapshot:
        dense = DenseRetriever(snapshot, DenseEncoder.load(models("small", dense=8), threads=1))
        with pytest.raises(ConfigError, match="has vectors of 32 numbers, the encoder gives 8; open the channel with the model"):
            dense.retrieve(QUERIES, 10)


def test_a_model_that_was_changed_after_indexing_is_refused(tmp_path, models):
    model = tiny.folder(tmp_path / "m", normalise=True)
    with made(tmp_path / "i", library(10), model) as index:
        weights = tiny.tensors("bert", tiny.tokenizer("bert").get_vocab_size(with_added_tokens=True))
        weights["embeddings.LayerNorm.bias"][0] += 1
        tiny.safetensors(model / "model.safetensors", weights)
        with pytest.raises(DataError, match=r"made by another version of the model .*put the old one back, or drop the channel"):
            opened(index)
        index.add([Document("new", text="la loi")])
        with pytest.raises(DataError, match="another version of the model"):
            fill_channel(index, "dense", threads=1)
        with pytest.raises(ConfigError, match="with other settings or another version of the model"):
            index.channels.make("dense", plan_channel("dense", ChannelPlan(str(model)), threads=1))


def test_an_empty_index_and_one_with_nothing_but_deleted_documents(tmp_path, models):
    with made(tmp_path / "i", [], models()) as index:
        assert len(opened(index).retrieve(QUERIES, 10)) == 0
        index.add([Document("a", text="la loi")])
        assert len(opened(index).retrieve(QUERIES, 10)) == 0
        assert np.isnan(opened(index).score(QUERIES, Run.of("x", {"q0": {"a": 1.0}}))).all()
        fill_channel(index, "dense", threads=1)
        assert len(opened(index).retrieve(QUERIES, 10)) == len(QUERIES)
        assert len(opened(index).retrieve(Queries.of([]), 10)) == 0
        index.delete(["a"])
        assert len(opened(index).retrieve(QUERIES, 10)) == 0
        index.merge()
        assert len(opened(index).retrieve(QUERIES, 10)) == 0


def test_documents_without_any_text_are_encoded(tmp_path, models):
    with made(tmp_path / "i", [Document("a"), Document("b", text=" \n"), Document("c", text="la loi")], models()) as index:
        assert [hit.doc for hit in opened(index).retrieve(QUERIES, 10).hits("q3")][:2] == ["a", "b"]


def test_a_text_of_a_hundred_thousand_words(tmp_path, models):
    long = Document("long", title="article 1", text="la loi " * 50_000 + "the court held that the lease ended")
    with made(tmp_path / "i", [long, Document("b", text="congé")], models()) as index:
        dense = opened(index)
        named = index.channels.named("dense")
        assert named.passages > 700
        assert named.cut == 0
        queries = Queries.of([Query("q", "the court held that the lease ended")])
        [passage] = dense.best_passages(dense.read(queries)[0], ["long"])
        assert passage.end == len(long.text)
        assert len(dense.retrieve(QUERIES, 10)) == 2 * len(QUERIES)


def test_bounds(tmp_path, models):
    with made(tmp_path / "i", library(10), models()) as index:
        assert (opened(index).bounds.low, opened(index).bounds.high) == (-1.0, 1.0)
    with made(tmp_path / "j", library(10), models("plain", normalise=False)) as index:
        dense = opened(index)
        assert (dense.bounds.low, dense.bounds.high) == (-np.inf, np.inf)
        assert dense.retrieve(QUERIES, 1).score.max() > 1
    with made(tmp_path / "k", library(10), models("plain"), query_model=str(models())) as index:
        assert opened(index).bounds.high == np.inf  # only the vectors of queries have length one


def test_the_shipped_model_finds_what_other_words_say(tmp_path):
    texts = {
        "a": "Le salarié démissionnaire respecte un préavis.",
        "b": "Le bailleur délivre au locataire un logement décent.",
        "c": "La vitesse des véhicules est limitée en agglomération.",
    }
    documents = [Document(id, text=text, language="fr") for id, text in texts.items()]
    with made(tmp_path / "i", documents, "fr-legal-dense") as index:
        dense = opened(index)
        queries = Queries.of(
            [
                Query("1", "quitter son emploi"),
                Query("2", "mon propriétaire loue un taudis"),
                Query("3", "excès de rapidité au volant"),
            ]
        )
        run = dense.retrieve(queries, 3)
        assert [run.hits(query)[0].doc for query in queries.ids] == ["a", "b", "c"]
        assert dense.score(queries, run).tobytes() == run.score.tobytes()
        encoder = DenseEncoder.load("fr-legal-dense", threads=1)
        check(run, {one.id: by_definition(encoder, PassagePlan(), documents, one.text) for one in queries}, 2e-3)
