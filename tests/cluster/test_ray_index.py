"""``lexfuse cluster index`` on a real Ray cluster."""

import json

from lexfuse.cluster.cluster_build import ClusterBuilder
from lexfuse.cluster.store import ClusterStore


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
