"""``lexfuse cluster index`` on a real Ray cluster."""

import json

import pytest

from lexfuse import Convex, Index
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.fusion.normalisation import Percentile


def test_a_cluster_is_built_and_changed(ray_nodes, articles, tmp_path):
    uri, on_ray = str(tmp_path / "law"), ("--address", ray_nodes.address, "--json")
    built = json.loads(ray_nodes.lexfuse("cluster", "index", articles, uri, "--shards", "3", *on_ray).stdout)
    assert (built["documents"], built["shards"], built["added"]) == (6, 3, 6)
    deleted = json.loads(ray_nodes.lexfuse("cluster", "index", uri, "--delete", "lib-6", "--delete", "x", *on_ray).stdout)
    assert (deleted["documents"], deleted["deleted"], deleted["missing"]) == (5, 1, ["x"])
    store = ClusterStore(uri)
    assert (store.current(), store.names("builds")) == (deleted["generation"], [])
    local = ClusterBuilder(store=ClusterStore(str(tmp_path / "local")), work=tmp_path / "work")
    local.build(articles, shards=3)
    expected = local.delete(["lib-6"]).manifest
    assert [shard.documents for shard in store.manifest().shards] == [shard.documents for shard in expected.shards]


def test_an_error_of_a_worker_is_that_of_the_command(ray_nodes, articles, tmp_path):
    words = ("cluster", "index", articles, tmp_path / "law", "--shards", "2", "--address", ray_nodes.address)
    done = ray_nodes.lexfuse(*words, "--channels", "dense", "--model", "no-such-model", check=False)
    assert done.returncode == 4
    assert "no model 'no-such-model'" in done.stderr
    assert ClusterStore(str(tmp_path / "law")).current() == ""


def test_an_index_is_divided_and_its_scores_are_estimated(ray_nodes, articles, tmp_path):
    Index.build(tmp_path / "law.index", read_corpus(articles), channels=["dense"]).close()
    words = ("cluster", "index", tmp_path / "law.index", tmp_path / "law", "--shards", "2", "--distributions", "--json")
    built = json.loads(ray_nodes.lexfuse(*words, "--address", ray_nodes.address).stdout)
    assert (built["documents"], built["channels"]["dense"]["encoded"]) == (6, 0)
    with (
        Index(tmp_path / "law.index") as single,
        ClusterIndex.published(ClusterStore(str(tmp_path / "law")), tmp_path / "cache") as cluster,
    ):
        single.estimate_distributions()
        assert cluster.snapshot.distributions.keys() == single.snapshot.distributions.keys()
        percentiles = {"channels": ["bm25", "dense"], "fusion": Convex(None, Percentile())}
        ours, theirs = (one.search("retard de prêt", **percentiles) for one in (cluster, single))
    assert [(hit.id, hit.score) for hit in ours] == [(hit.id, pytest.approx(hit.score, rel=1e-6)) for hit in theirs]


def test_a_reserved_gpu_that_is_not_there_is_named(ray_nodes, articles, tmp_path):
    words = (
        "cluster",
        "index",
        articles,
        tmp_path / "law",
        "--shards",
        "1",
        "--channels",
        "dense",
        "--address",
        ray_nodes.address,
    )
    done = ray_nodes.lexfuse(*words, "--gpus", "0.5", check=False)
    assert done.returncode == 2
    assert "LEXFUSE_DEVICE is 'cuda', but" in done.stderr
    done = ray_nodes.lexfuse(*words, "--gpus", "2", check=False)
    assert done.returncode == 2
    assert "GPU 2, and no machine of the Ray cluster has that; the machines have CPU 8, GPU 1;" in done.stderr
    assert ClusterStore(str(tmp_path / "law")).current() == ""
