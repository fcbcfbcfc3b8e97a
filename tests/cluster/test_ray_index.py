"""``lexfuse cluster index`` on a real Ray cluster."""

import json

from lexfuse import Document
from lexfuse.cluster.cluster_build import ClusterBuilder
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import write_corpus


def test_a_cluster_is_built_changed_and_described(ray_nodes, articles, tmp_path):
    uri, on_ray = str(tmp_path / "law"), ("--address", ray_nodes.address, "--json")
    built = json.loads(ray_nodes.lexfuse("cluster", "index", articles, uri, "--shards", "3", *on_ray).stdout)
    assert (built["documents"], built["shards"], built["added"]) == (6, 3, 6)
    write_corpus(Corpus.of([Document("lib-7", text="Le silence est de règle.", language="fr")]), tmp_path / "new.jsonl")
    updated = json.loads(ray_nodes.lexfuse("cluster", "index", tmp_path / "new.jsonl", uri, "--update", *on_ray).stdout)
    assert (updated["documents"], updated["added"], updated["generation"][:7]) == (7, 1, "000002-")
    deleted = json.loads(ray_nodes.lexfuse("cluster", "index", uri, "--delete", "lib-7", "--delete", "x", *on_ray).stdout)
    assert (deleted["documents"], deleted["deleted"], deleted["missing"]) == (6, 1, ["x"])
    status = json.loads(ray_nodes.lexfuse("cluster", "status", uri, "--json").stdout)
    assert (status["generation"], status["documents"], status["unfinished_builds"]) == (deleted["generation"], 6, [])
    local = ClusterBuilder(store=ClusterStore(str(tmp_path / "local")), work=tmp_path / "work").build(articles, shards=3)
    assert [shard["documents"] for shard in status["shards"]] == [shard.documents for shard in local.manifest.shards]


def test_an_error_of_a_worker_is_that_of_the_command(ray_nodes, articles, tmp_path):
    words = ("cluster", "index", articles, tmp_path / "law", "--shards", "2", "--address", ray_nodes.address)
    done = ray_nodes.lexfuse(*words, "--channels", "dense", "--model", "no-such-model", check=False)
    assert done.returncode == 4
    assert "no model 'no-such-model'" in done.stderr
    assert ClusterStore(str(tmp_path / "law")).current() == ""
