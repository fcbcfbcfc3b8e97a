"""The grid of RPRS in one pass says what reranking and evaluating point by point says."""

from itertools import product

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.evaluation.evaluation import evaluate
from lexfuse.evaluation.measure_names import parse_measure
from lexfuse.optimisation.rprs_parameters import rprs_surface
from lexfuse.optimisation.rprs_surface import RprsGrid, RprsPoint, cross_validated_rprs, tuned_rprs
from lexfuse.rerank.rprs import Rprs
from lexfuse.storage.index_folder import IndexFolder

WORDS = ["loi", "droit", "juge", "contrat", "bail", "congé", "salaire", "préavis"]
MEASURE = parse_measure("nDCG@10")
GRID = RprsGrid(n=(1, 3, 4), k1=(0.0, 0.4, 2.8), b=(0.0, 0.3, 1.0), depth=(4, 9, 60))


def judgment(chance, sentences):
    return " ".join(f"Le {' '.join(chance.choice(WORDS, size=chance.integers(2, 9)))} est dû." for _ in range(sentences))


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder, chance = tmp_path_factory.mktemp("rprs"), np.random.default_rng(0)
    rows = [f"{word} {' '.join(f'{value:.3f}' for value in chance.normal(size=6))}" for word in WORDS]
    (folder / "words.vec").write_text("\n".join([f"{len(WORDS)} 6", *rows]) + "\n")
    documents = [Document(f"d{number:02}", text=judgment(chance, number % 7 + 1), language="fr") for number in range(30)]
    late = [Document(f"late{number}", text=judgment(chance, 3), language="fr") for number in range(4)]
    queries = [Query(f"q{number}", judgment(chance, 4), "fr") for number in range(8)] + [Query("q8", "?", "fr")]
    judged = [(f"q{number}", str(doc), int(chance.integers(1, 3))) for number in range(9)
              for doc in chance.choice([f"d{one:02}" for one in range(30)] + ["late0", "late1"], 5, replace=False)]  # fmt: skip
    with IndexFolder.create(folder / "i", documents=documents) as index:
        plan = ChannelPlan(str(folder / "words.vec"), storage="fp32")
        index.channels.make("sentences", plan_channel("sentences", plan))
        fill_channel(index, "sentences")
        index.add(late)
        with index.snapshot() as snapshot:
            yield snapshot, Queries.of(queries), Qrels.of(judged)


@pytest.fixture(scope="module")
def surface(collection):
    snapshot, queries, qrels = collection
    run = BM25(snapshot).retrieve(queries, 25)
    return rprs_surface(Rprs(open_retriever(snapshot, "sentences")), queries, run, qrels, "nDCG@10", GRID)


def test_every_point_is_what_reranking_gives(collection, surface):
    snapshot, queries, qrels = collection
    run, sentences = BM25(snapshot).retrieve(queries, 25), open_retriever(snapshot, "sentences")
    assert surface.values.shape == (3, 3, 3, 3, 9)
    for depth, n, k1, b in product(GRID.depth, GRID.n, GRID.k1, GRID.b):
        point = RprsPoint(n, k1, b, depth)
        found = evaluate(qrels, point.reranker(sentences).rerank(queries, run, depth=depth), [MEASURE])
        assert dict(zip(surface.queries, surface.of_queries(point).tolist(), strict=True)) == pytest.approx(
            dict(zip(found.queries, found.values(MEASURE).tolist(), strict=True)), abs=1e-12
        )
    assert len(np.unique(surface.means.round(9))) > 20


def test_without_frequency_is_the_plane_without_saturation(collection, surface):
    snapshot, queries, qrels = collection
    point = surface.best_without_frequency
    assert (point.frequency, point.k1, point.b) == (False, 0.0, 0.0)
    run, sentences = BM25(snapshot).retrieve(queries, 25), open_retriever(snapshot, "sentences")
    plain = Rprs(sentences, point.n, frequency=False, depth=point.depth)
    found = evaluate(qrels, plain.rerank(queries, run, depth=point.depth), [MEASURE])
    assert found.mean(MEASURE) == pytest.approx(surface.mean(point), abs=1e-12)
    assert surface.mean(point) <= surface.mean(surface.best)


def test_what_is_chosen_on_some_queries_is_reported_on_others(surface):
    train, dev = surface.on(["q0", "q1", "q2", "q3"]), surface.on(["q7", "q5", "not judged"])
    tuned = tuned_rprs(train, dev)
    assert tuned.train == train.means.max()
    assert tuned.dev == pytest.approx(np.mean([surface.of_queries(tuned.point)[surface.queries.index(q)] for q in ("q5", "q7")]))
    assert tuned.as_json()["n"] == tuned.point.n
    with pytest.raises(NotFoundError, match="none of these queries"):
        surface.on(["nobody"])
    with pytest.raises(NotFoundError, match="not a point of the grid"):
        surface.mean(RprsPoint(2, 0.0, 0.0, 4))


def test_every_query_is_measured_without_itself(surface):
    found = cross_validated_rprs(surface, 3)
    assert found.queries == surface.queries
    for fold in range(3):
        rest = [query for query, own in zip(surface.queries, found.fold.tolist(), strict=True) if own != fold]
        point = surface.on(rest).best
        assert found.weights[fold].tolist() == [point.n, point.k1, point.b, point.depth]
        assert found.values[found.fold == fold].tolist() == surface.of_queries(point)[found.fold == fold].tolist()
    plain = cross_validated_rprs(surface, 3, frequency=False)
    assert (plain.weights[:, 1] == 0).all()


def test_grids_and_measures_that_cannot_be(collection):
    snapshot, queries, qrels = collection
    rprs = Rprs(open_retriever(snapshot, "sentences"))
    with pytest.raises(ConfigError, match="has no value per query"):
        rprs_surface(rprs, queries, BM25(snapshot).retrieve(queries, 5), qrels, "microF1@5")
    for wrong, told in [
        ({"n": ()}, "n must be given"),
        ({"b": (0.5, 2.0)}, "b must be from 0 to 1"),
        ({"depth": (20, 10)}, "depth must be given and ascend"),
        ({"n": (0, 1)}, "n must be from 1"),
    ]:
        with pytest.raises(ConfigError, match=told):
            RprsGrid(**wrong)
