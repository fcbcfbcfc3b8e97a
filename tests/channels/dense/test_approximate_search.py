"""Clusters of rows, and searches that look at some of them: exact scores, true filters, exact when all are looked at."""

import numpy as np
import pytest

from lexfuse.channels.dense.approximate_search import ApproximateSearch
from lexfuse.channels.dense.clusters import Clusters
from lexfuse.channels.dense.flat_search import EVERYTHING, FlatSearch, PassagePooling
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.errors import ConfigError, DataError
from lexfuse.kernels import compilation
from lexfuse.storage.array_file import save_array

every_storage = pytest.mark.parametrize("storage", VectorStorage, ids=lambda storage: storage.value)
every_pool = pytest.mark.parametrize(
    "pool", [PassagePooling.BEST, PassagePooling.MEAN, PassagePooling(2)], ids=["best", "mean", "top-2"]
)
COUNT = 40


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setattr(compilation._Waiting, "steps", compilation.PATIENCE)


def rows_of(count=4000, dimension=16, seed=0):
    """Rows around 100 centres."""
    random = np.random.default_rng(seed)
    centres = 2 * random.standard_normal((100, dimension))
    rows = centres[random.integers(0, 100, count)] + random.standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def searches(storage=VectorStorage.FP32, probes=8, starts=None):
    """The same documents searched approximately and exactly; the second of two parts has no clusters."""
    rows = rows_of()
    starts = np.arange(len(rows) + 1) if starts is None else starts
    cut = int(np.searchsorted(starts, 3000))
    parts = [
        VectorPart.of(rows[: starts[cut]], starts[: cut + 1], storage=storage),
        VectorPart.of(rows[starts[cut] :], starts[cut:] - starts[cut], storage=storage),
    ]
    order = np.random.default_rng(1).permutation(len(starts) - 1).astype(np.int32)
    return ApproximateSearch(parts, order, [Clusters.of(parts[0], COUNT), None], probes), FlatSearch(parts, order)


def asked(count=10):
    return rows_of(count, seed=5)


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_row_is_in_the_cluster_of_its_nearest_centre():
    part = VectorPart.of(rows_of())
    clusters = Clusters.of(part, COUNT)
    assert sorted(clusters.rows.tolist()) == list(range(4000))
    distances = ((part.block(0, 4000)[:, None].astype(np.float64) - clusters.centres[None]) ** 2).sum(axis=2)
    given = np.empty(4000, dtype=int)
    given[clusters.rows] = np.repeat(np.arange(COUNT), np.diff(clusters.bounds))
    np.testing.assert_allclose(distances[np.arange(4000), given], distances.min(axis=1), atol=1e-5)


def test_clusters_are_tighter_than_drawn_ones():
    part = VectorPart.of(rows_of())
    clusters = Clusters.of(part, COUNT)
    drawn = part.taken(np.random.default_rng(0).permutation(4000)[:COUNT])

    def spread(centres):
        return ((part.block(0, 4000)[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1).mean()

    assert spread(clusters.centres) < 0.8 * spread(drawn)


def test_the_same_rows_give_the_same_bytes(tmp_path):
    part = VectorPart.of(rows_of())
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        list(Clusters.of(part, COUNT).save(tmp_path / name))
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_round_trip(tmp_path):
    part = VectorPart.of(rows_of())
    clusters = Clusters.of(part)
    assert len(clusters.centres) == 126
    list(clusters.save(tmp_path))
    loaded = Clusters.load(tmp_path, part)
    same([loaded.centres, loaded.bounds, loaded.rows], [clusters.centres, clusters.bounds, clusters.rows])


def test_no_rows_have_no_clusters(tmp_path):
    part = VectorPart.of(np.empty((0, 4), np.float32))
    list(Clusters.of(part).save(tmp_path))
    assert Clusters.load(tmp_path, part).bounds.tolist() == [0]


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("centres", np.zeros(5, np.float32)),
        ("centres", np.full(6 * 16, np.nan, np.float32)),
        ("bounds", np.array([0, 5, 4, 20, 25, 28, 30], np.int64)),
        ("rows", np.zeros(30, np.int32)),
        ("rows", np.arange(1, 31, dtype=np.int32)),
        ("rows", np.arange(29, dtype=np.int32)),
    ],
)
def test_clusters_that_are_not_those_of_the_part(tmp_path, name, array):
    part = VectorPart.of(rows_of(30))
    list(Clusters.of(part, 6).save(tmp_path))
    save_array(tmp_path / f"clusters.{name}.npy", array)
    with pytest.raises(DataError, match=tmp_path.name):
        Clusters.load(tmp_path, part)


@every_storage
@every_pool
@pytest.mark.parametrize("share", [None, 0.5, 0.02])
def test_with_all_clusters_it_is_exact(storage, pool, share):
    starts = np.unique(np.concatenate(([0], np.random.default_rng(2).integers(0, 4000, 1500), [4000])))
    near, exact = searches(storage, COUNT, starts)
    mask = EVERYTHING if share is None else np.random.default_rng(3).random(len(exact)) < share
    same(near.best(asked(), 30, pool, mask), exact.best(asked(), 30, pool, mask))


@every_pool
def test_what_is_found_has_exact_scores_and_most_of_the_best_are_found(pool):
    starts = np.arange(0, 4001, 2)
    near, exact = searches(probes=6, starts=starts)
    offsets, docs, scores = near.best(asked(), 10, pool)
    assert offsets.tolist() == list(range(0, 101, 10))
    query = np.repeat(np.arange(10), 10)
    same([scores], [exact.pair_scores(asked(), query, docs, pool)])
    same([scores], [near.pair_scores(asked(), query, docs, pool)])
    best = exact.best(asked(), 10, pool)[1].reshape(10, 10)
    shared = [len(set(some) & set(all_)) for some, all_ in zip(docs.reshape(10, 10).tolist(), best.tolist(), strict=True)]
    assert np.mean(shared) > 8


def test_one_cluster_is_not_enough_for_all():
    """The test above could not fail if searches were exact whatever the number of clusters."""
    near, exact = searches(probes=1)
    assert near.best(asked(), 10)[1].tolist() != exact.best(asked(), 10)[1].tolist()


@pytest.mark.parametrize("share", [0.3, 0.05])
def test_filters_are_true_filters(share):
    near, _ = searches(probes=1)
    mask = np.random.default_rng(4).random(4000) < share
    offsets, docs, _ = near.best(asked(), 20, mask=mask)
    assert offsets.tolist() == list(range(0, 201, 20))
    assert mask[docs].all()


def test_as_many_as_asked_for_are_found():
    near, exact = searches(probes=1)
    same(near.best(asked(2), 4000), exact.best(asked(2), 4000))
    assert np.diff(near.best(asked(2), 900)[0]).tolist() == [900, 900]


def test_a_document_of_many_passages_does_not_crowd_out_others():
    """Its passages fill the nearest cluster, so that there are rows enough, but of one document."""
    rows = np.concatenate((np.tile(asked(1), (500, 1)), rows_of(500)))
    part = VectorPart.of(rows, starts=[0, *range(500, 1001)])
    near = ApproximateSearch([part], np.arange(501, dtype=np.int32), [Clusters.of(part, 20)], probes=1)
    _, docs, _ = near.best(asked(1), 10)
    assert (docs[0], len(docs)) == (0, 10)


@every_storage
@pytest.mark.parametrize("share", [None, 0.5])
def test_one_part_of_single_rows_is_exact_with_all_clusters(storage, share):
    """Its candidates go from the compiled loop to the ranking without another choice; equal rows are ranked by the order."""
    rows = np.concatenate((rows_of(1500), rows_of(1500)))
    part, order = VectorPart.of(rows, storage=storage), np.random.default_rng(1).permutation(3000).astype(np.int32)
    near, exact = ApproximateSearch([part], order, [Clusters.of(part, COUNT)], COUNT), FlatSearch([part], order)
    mask = EVERYTHING if share is None else np.random.default_rng(3).random(3000) < share
    for query in asked():
        for k in (1, 7, 200):
            same(near.best(query[None], k, mask=mask), exact.best(query[None], k, mask=mask))


def test_the_scan_leaves_few_rows():
    part = VectorPart.of(rows_of())
    near = ApproximateSearch([part], np.arange(4000, dtype=np.int32), [Clusters.of(part, COUNT)], COUNT)
    assert 10 <= len(near._screen.rows(asked(1), 10, EVERYTHING)[1]) < 100
    floor = np.sort(part.block(0, 4000) @ asked(1)[0])[-500].astype(np.float64)[None]
    assert 500 <= len(near._screen.rows(asked(1), 10, EVERYTHING, floor)[1]) < 1000  # all that may reach it, not the best 10


def test_single_queries_are_those_of_the_batch():
    near, _ = searches(probes=3)
    offsets, docs, scores = near.best(asked(), 10)
    for number in range(10):
        span = slice(offsets[number], offsets[number + 1])
        same(near.best(asked()[number : number + 1], 10)[1:], (docs[span], scores[span]))


def test_settings_that_cannot_be():
    part = VectorPart.of(rows_of(30))
    order = np.arange(30, dtype=np.int32)
    with pytest.raises(ConfigError, match=r"1 parts need as many clusters .*, got 0"):
        ApproximateSearch([part], order, [])
    with pytest.raises(ConfigError, match=r"at least 1 cluster must be searched, got 0"):
        ApproximateSearch([part], order, [None], probes=0)
    with pytest.raises(ConfigError, match=r"30 rows cannot make 0 clusters"):
        Clusters.of(part, 0)
