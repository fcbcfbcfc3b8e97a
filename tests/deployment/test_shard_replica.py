"""A replica of a shard answers for two generations, and closes older ones when nobody asks them any more."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.shard_requests import DocumentCount, WholeDocuments
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import read_corpus, write_corpus
from lexfuse.deployment.shard_replica import ShardReplica
from lexfuse.errors import NotFoundError

ID = "lib-4"


@pytest.fixture(scope="module")
def generations(tmp_path_factory):
    """A cluster of one shard whose document was changed twice: what was published, in order."""
    folder = tmp_path_factory.mktemp("cluster")
    builder = ClusterBuilder(store=ClusterStore(str(folder / "law")), work=folder / "work")
    published = []
    builder.build("examples/articles.csv", shards=1)
    published.append(builder.store.published())
    document = read_corpus("examples/articles.csv").document(ID)
    for number in (2, 3):
        write_corpus(Corpus.of([replace(document, text=f"état {number}")]), folder / f"{number}.jsonl")
        builder.update(folder / f"{number}.jsonl")
        published.append(builder.store.published())
    return builder.store, published


def text(replica, published):
    answer = asyncio.run(replica.answer(published, WholeDocuments((ID,)), 600))
    return answer.code or answer.value[0].text


def test_a_replica_answers_for_the_generation_that_is_asked(generations, tmp_path):
    store, (first, second, third) = generations
    replica = ShardReplica(store.uri, 0, cache=tmp_path / "cache")
    assert replica.generations() == [3]
    assert text(replica, third) == "état 3"
    asyncio.run(replica.prepare(second))
    assert (text(replica, second), text(replica, third)) == ("état 2", "état 3")
    assert text(replica, first).startswith("En cas de retard")
    assert replica.generations() == [3, 1]
    copies = [path for path in (tmp_path / "cache").glob("*/shard-0/*") if path.is_dir()]
    assert len(copies) == 4  # two shards and two statistics
    replica.check_health()
    replica.close()


def test_replicas_of_one_machine_share_copies_and_keep_those_in_use(generations, tmp_path):
    store, (first, second, third) = generations
    with ThreadPoolExecutor() as threads:  # they fetch the same copy at the same time
        one, other = threads.map(lambda _: ShardReplica(store.uri, 0, cache=tmp_path / "cache"), range(2))
    asyncio.run(other.prepare(first))
    for published in (first, second, third, second):
        text(one, published)
    assert one.generations() == [3, 2]
    other.check_health()
    assert text(other, first).startswith("En cas de retard")
    one.close()
    other.close()


def test_an_unknown_generation_and_a_late_answer_are_errors_of_their_own(generations, tmp_path):
    store, (first, _, _) = generations
    replica = ShardReplica(store.uri, 0, cache=tmp_path / "cache")
    assert text(replica, first._replace(generation="000009-0f3a5c7e9b2d")) == "not-found"
    assert asyncio.run(replica.answer(first, DocumentCount(), 0)).code == "timeout"
    replica.close()


def test_a_replica_needs_a_cluster(tmp_path):
    with pytest.raises(NotFoundError, match="there is no cluster"):
        ShardReplica(str(tmp_path / "nothing"), 0, cache=tmp_path / "cache")


def test_a_request_that_is_cancelled_before_it_begins_is_not_answered(generations, tmp_path):
    """Its router has the answer of another replica; else what nobody waits for would be served before what somebody does."""
    store, published = generations
    replica, begun, answered = ShardReplica(store.uri, 0, threads=1, cache=tmp_path / "cache"), threading.Event(), []

    class First:
        def answer(self, shard):
            assert begun.wait(60)

    class Second:
        def answer(self, shard):
            answered.append(shard)

    async def ask():
        first = asyncio.create_task(replica.answer(published[-1], First(), 600))
        second = asyncio.create_task(replica.answer(published[-1], Second(), 600))
        await asyncio.sleep(0)  # both are in the queue of the one thread
        second.cancel()
        await asyncio.wait([second])
        begun.set()
        await first

    asyncio.run(ask())
    replica.close()
    assert answered == []
