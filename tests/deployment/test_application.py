"""The Serve application: its options are checked, and it has one deployment per shard and one of routers."""

import pytest

from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.store import ClusterStore
from lexfuse.deployment.application import ClusterOptions, application
from lexfuse.deployment.ray_shards import ShardLimits
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.service.settings import ServiceSettings


def test_the_defaults_are_those_of_the_limits():
    assert ClusterOptions(uri="law").limits == ShardLimits()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"uri": ""}, "uri must be a text"),
        ({"replicas": 0}, "replicas must be 1 or more"),
        ({"max_replicas": 1}, "max_replicas must be 2 or more"),
        ({"shard_seconds": 0.0}, "the seconds of a shard must be above 0"),
        ({"hedge_seconds": -1.0}, "must be 0 or more"),
        ({"replica": 3}, "there is no 'replica'"),
    ],
)
def test_wrong_options_are_refused(options, reason):
    with pytest.raises(ConfigError, match=reason):
        ClusterOptions(**{"uri": "law"} | options)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray, when it is imported
def test_every_shard_is_a_deployment(tmp_path):
    pytest.importorskip("ray")
    store = ClusterStore(str(tmp_path / "law"))
    with pytest.raises(NotFoundError, match="there is no cluster"):
        application(ClusterOptions(uri=store.uri), ServiceSettings())
    ClusterBuilder(store=store, work=tmp_path / "work").build("examples/articles.csv", shards=3)
    made = application(ClusterOptions(uri=store.uri, replicas=3, replicas_per_machine=1), ServiceSettings())
    router = made._bound_deployment
    shards = [one._bound_deployment for one in router.init_args[3]]
    assert [one.name for one in (router, *shards)] == ["router", "shard-0", "shard-1", "shard-2"]
    assert {one.num_replicas for one in shards} == {3}
