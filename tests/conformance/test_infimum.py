"""Theoretical min-max of every kind of source against BRUCH eq. 4, with the infimum that its definition gives the query."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.advice.grid import usable_recipes
from lexfuse.advice.inputs import facts_of, judged_by
from lexfuse.advice.judged_advice import advise_judged
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.citation import CitationLookup
from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.encoder import Side
from lexfuse.errors import ConfigError
from lexfuse.fusion.convex import TM2C2
from lexfuse.fusion.normalisation import TheoreticalMinMax
from lexfuse.fusion.registry import default_fusions
from lexfuse.optimisation.fusion_weights import tune_weights
from lexfuse.search.candidates import retrieve_union
from lexfuse.search.pipeline import FusedRetriever, RoutedRetriever
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.query_class import QueryClass

_FILE = Path(__file__).parent.parent / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)
WORDS = [word for word in tiny.WORDS if not word.startswith("#")]
CHANNELS = ("bm25", "dense", "products", "splade", "colbert")  # products: an encoder without a Normalize module


def texts(count, seed):
    chance = np.random.default_rng(seed)
    return [" ".join(chance.choice(WORDS, size=chance.integers(3, 30))) for _ in range(count)]


QUERIES = Queries.of(Query(f"q{at}", text, "fr") for at, text in enumerate([*texts(9, 1), "congé " * 40]))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = tmp_path_factory.mktemp("infimum")
    models = {
        "dense": tiny.folder(root / "dense", normalise=True),
        "products": tiny.folder(root / "products"),
        "splade": tiny.folder(root / "splade", head="mlm"),
        "colbert": tiny.folder(root / "colbert"),
    }
    documents = [Document(f"d{at:02}", text=text, language="fr") for at, text in enumerate(texts(40, 0))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        with IndexFolder.create(root / "i", documents=documents) as made:
            for name, model in models.items():
                kind = "dense" if name == "products" else name
                made.channels.make(name, plan_channel(kind, ChannelPlan(str(model)), threads=1))
                fill_channel(made, name, threads=1)
            yield made


@pytest.fixture(scope="module")
def snapshot(index):
    with index.snapshot() as opened:
        yield opened


def infimum(retriever):
    """The least that the scoring function of each kind can give for each query, from its definition."""
    if retriever.name == "dense":
        return [-1.0] * len(QUERIES)
    if retriever.name == "colbert":  # MaxSim: every token of the query meets its opposite
        return [-float(len(retriever.encoder.words(text, Side.QUERY))) for text in QUERIES.text]
    if retriever.name == "products":  # the longest document vector, pointing the other way
        longest = max(np.linalg.norm(part.matrix.astype(np.float64), axis=1).max() for part in retriever.parts)
        return [-longest * np.linalg.norm(vector.astype(np.float64)) for vector in retriever.read(QUERIES)]
    return [0.0] * len(QUERIES)


@pytest.mark.parametrize("name", CHANNELS)
def test_runs_state_the_infimum_of_every_query(snapshot, name):
    retriever = open_retriever(snapshot, name, threads=1)
    run = retriever.retrieve(QUERIES, 40)
    assert run.low.tolist() == pytest.approx(infimum(retriever), rel=1e-6)
    assert (run.score >= np.repeat(run.low, np.diff(run.offsets)) - 1e-5).all()
    if name in ("products", "colbert"):
        assert len(set(run.low.tolist())) > 1


def test_robertsons_idf_has_an_infimum_that_depends_on_the_query(tmp_path):
    texts = ["loi loi loi loi", "loi droit", "loi juge", "loi bail", "droit"]
    documents = [Document(f"d{at}", text=text, language="fr") for at, text in enumerate(texts)]
    asked = Queries.of([Query("common", "loi", "fr"), Query("twice", "loi loi", "fr"), Query("rare", "bail", "fr")])
    with IndexFolder.create(tmp_path / "i", documents=documents) as made, made.snapshot() as snapshot:
        run = BM25(snapshot, 1.2, 0.0, IdfForm.ROBERTSON).retrieve(asked, 10)
    idf = np.log((5 - 4 + 0.5) / (4 + 0.5))  # loi: 4 of 5 documents
    assert run.low.tolist() == pytest.approx([2.2 * idf, 4.4 * idf, 0.0])
    assert run.score[0] < 0
    assert (run.score > np.repeat(run.low, np.diff(run.offsets))).all()


def test_theoretical_min_max_is_equation_4(snapshot):
    retrievers = [open_retriever(snapshot, name, threads=1) for name in CHANNELS]
    union = retrieve_union(retrievers, QUERIES, 15)
    for row, retriever in enumerate(retrievers):
        found = TheoreticalMinMax().of(union, row)
        for query, low in enumerate(infimum(retriever)):
            here = slice(int(union.offsets[query]), int(union.offsets[query + 1]))
            scores = union.scores[row, here]
            highest = np.nanmax(scores)
            expected = (scores - low) / (highest - low) if highest > low else np.full(len(scores), 0.5)
            assert found[here] == pytest.approx(expected, rel=1e-5)


def test_the_default_hybrid_of_all_of_them_ranks_and_explains(snapshot):
    hybrid = SearchSpec.of(CHANNELS, depth=15).open(snapshot)
    assert isinstance(hybrid, FusedRetriever)
    assert isinstance(hybrid.fusion, TM2C2)
    ranking = hybrid.retrieve(QUERIES, 5)
    for query in QUERIES:
        hits = ranking.hits(query.id)
        for hit in hits:
            why = hybrid.explain(query, [hit.doc], others=default_fusions())[0]
            assert (why.rank, why.score) == (hit.rank, hit.score)
            assert sum(part.contribution for part in why.parts) == pytest.approx(hit.score, rel=1e-6)
            assert why.others["tm2c2"] >= 1


def test_a_document_that_is_gone_bounds_nothing(tmp_path, snapshot):
    """Added and deleted is as never added: the longest vector counts only while its document is there."""
    model = open_retriever(snapshot, "products", threads=1).encoder.folder.path
    documents = [Document(f"d{at}", text=text, language="fr") for at, text in enumerate(texts(12, 5))]
    lows = []
    for name, deleted in (("less", False), ("more", True)):
        with IndexFolder.create(tmp_path / name, documents=documents) as made:
            made.channels.make("dense", plan_channel("dense", ChannelPlan(str(model)), threads=1))
            fill_channel(made, "dense", threads=1)
            with made.snapshot() as before:
                dense = open_retriever(before, "dense", threads=1)
                norms = np.concatenate([part.norms for part in dense.parts])
                longest = before.ids[int(dense.numbering.places[int(norms.argmax())])]
                first = dense.retrieve(QUERIES, 3).low
            if deleted:
                made.delete([longest])
                with made.snapshot() as after:
                    lows.append(open_retriever(after, "dense", threads=1).retrieve(QUERIES, 3).low)
        lows.append(first)
    assert (lows[1] > lows[0]).all()
    assert lows[2].tolist() == lows[0].tolist()


QRELS = Qrels.of((query.id, f"d{(7 * at + 3 * grade) % 40:02}", grade) for at, query in enumerate(QUERIES) for grade in (1, 2))


def test_advice_and_weights_on_all_of_them(snapshot):
    sources = [open_retriever(snapshot, name, threads=1) for name in ("bm25", "dense", "splade", "colbert")]
    judged = judged_by(sources, QUERIES, QRELS, 15)
    recipes, left_out = usable_recipes(judged.union)
    facts = facts_of(snapshot, sources, QUERIES, "tiny")
    found = advise_judged(judged, None, facts, ["nDCG@10"], recipes=recipes, folds=2)
    assert {each.configuration.members for each in found.tried} >= {("bm25", "dense", "splade", "colbert"), ("dense", "colbert")}
    assert any(each.configuration.method == "tm2c2, tuned" for each in found.tried)
    assert not any("lowest" in note for note in left_out)
    tuned = tune_weights(judged.union, TM2C2(), QRELS, "nDCG@10", folds=2)
    assert tuned.sources == ("bm25", "dense", "splade", "colbert")
    pair = judged.union.only([1, 3])
    exact = tune_weights(pair, TM2C2(), QRELS, "nDCG@10", folds=2)  # two sources: the exact curve
    assert exact.plateau is not None
    assert exact.value >= max(tune.mean() for tune in exact.surface.values) - 1e-12


def test_classes_of_queries_and_days_keep_what_their_retrievers_state(snapshot):
    colbert, citations = open_retriever(snapshot, "colbert", threads=1), CitationLookup(snapshot)
    asked = Queries.of([Query("named", "article L. 2", "fr"), Query("free", "le contrat de travail ?", "fr")])
    run = RoutedRetriever(colbert, {QueryClass.CITATION: citations}).retrieve(asked, 5)
    assert run.low.tolist() == [0.0, colbert.retrieve(asked, 5).low[1]]
    assert TM2C2().fused(retrieve_union([BM25(snapshot), RoutedRetriever(colbert, {})], asked, 5), 5).hits("free")
    hybrid = FusedRetriever([BM25(snapshot), colbert])  # a fused score has no infimum that holds for every fusion
    mixed = RoutedRetriever(hybrid, {QueryClass.CITATION: citations})
    assert mixed.retrieve(asked, 5).low.tolist() == [0.0, -np.inf]
    with pytest.raises(ConfigError, match="'routed' has no lowest possible score; take min-max or z-score"):
        FusedRetriever([BM25(snapshot), mixed]).retrieve(asked, 5)
