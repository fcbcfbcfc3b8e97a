"""A cluster is built, changed and resumed: every document in the shard that owns it, and nothing lost or doubled."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lexfuse import Document, Queries, Query
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.build.shard_task import complete_shard
from lexfuse.cluster.build.task_runner import LocalTasks
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.local_copy import LocalCopies
from lexfuse.cluster.partition import owner
from lexfuse.cluster.statistics import gather_statistics, load_statistics
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.file_format import read_corpus, write_corpus
from lexfuse.errors import ConfigError, DataError, NotFoundError, StorageError
from lexfuse.index import Index
from lexfuse.storage.index_folder import ChangeCounts


@pytest.fixture
def builder(tmp_path):
    return ClusterBuilder(store=ClusterStore(str(tmp_path / "law")), work=tmp_path / "work")


def documents_of(builder, cache):
    """The ids of every shard."""
    manifest, copies, found = builder.store.manifest(), LocalCopies(builder.store, cache), []
    for number in range(len(manifest.shards)):
        with Index(copies.shard(manifest, number)) as index:
            assert index.verify() == []
            found.append(list(index.snapshot.ids.names))
    return found


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_every_document_is_in_the_shard_that_owns_it(builder, articles, tmp_path, shards):
    change = builder.build(articles, shards=shards)
    ids = read_corpus(articles).ids.names
    assert documents_of(builder, tmp_path / "cache") == [[id for id in ids if owner(id, shards) == at] for at in range(shards)]
    assert (change.manifest.documents, change.counts, change.skipped) == (6, ChangeCounts(added=6), 0)
    assert builder.store.names("builds") == []
    assert [path for path in (tmp_path / "work").iterdir() if path.suffix != ".lock"] == []


def test_statistics_are_those_of_one_index(builder, articles, tmp_path):
    manifest = builder.build(articles, shards=3).manifest
    found = load_statistics(LocalCopies(builder.store, tmp_path / "cache").statistics(manifest))["bm25"]
    with Index.build(tmp_path / "one.index", read_corpus(articles)) as index:
        expected = gather_statistics([index.snapshot])["bm25"]
    assert found.terms.strings() == expected.terms.strings()
    assert found.document_frequency.tolist() == expected.document_frequency.tolist()
    assert np.allclose(found.collection_frequency, expected.collection_frequency)
    assert (found.documents, found.mean_length) == pytest.approx((expected.documents, expected.mean_length))


def test_channels_have_the_model_for_the_language_of_most_documents(builder, tmp_path):
    """Also a shard of which all documents are in another language."""
    ids = [f"a{number}" for number in range(9)]
    english = Document(next(id for id in ids if owner(id, 2) == 0), text="The employer shall give notice.", language="en")
    french = [Document(id, text="L'employeur notifie le préavis.", language="fr") for id in ids if owner(id, 2) == 1]
    write_corpus(Corpus.of([english, *french]), tmp_path / "corpus.jsonl")
    change = builder.build(tmp_path / "corpus.jsonl", shards=2, channels=["dense"])
    assert [(channel.name, channel.model) for channel in change.manifest.channels] == [("dense", "fr-legal-dense")]
    assert change.channels["dense"].encoded == 1 + len(french)


def test_an_update_goes_to_the_owning_shard_alone(builder, articles, tmp_path):
    before = builder.build(articles, shards=3, channels={"dense": ChannelPlan("fr-legal-dense")}).manifest
    changed = Document("lib-4", text="Le retard ne coûte plus rien.", language="fr")
    write_corpus(Corpus.of([changed]), tmp_path / "changed.jsonl")
    change = builder.update(tmp_path / "changed.jsonl")
    at = owner("lib-4", 3)
    after = change.manifest
    assert [shard.digest == before.shards[number].digest for number, shard in enumerate(after.shards)] == [
        number != at for number in range(3)
    ]
    assert (change.counts, change.channels["dense"].encoded) == (ChangeCounts(updated=1), 1)
    assert (after.parent, after.channels) == (before.generation, before.channels)
    kept = {file.generation for file in after.shards[at].files.values()}
    assert kept == {before.generation, after.generation}
    with Index(LocalCopies(builder.store, tmp_path / "cache").shard(after, at)) as index:
        assert index.document("lib-4").text == changed.text


def test_deletions_name_what_is_not_there(builder, articles, tmp_path):
    builder.build(articles, shards=2)
    assert builder.delete(["lib-1", "lib-2", "lib-9"]).counts == ChangeCounts(deleted=2, missing=("lib-9",))
    assert sorted(id for some in documents_of(builder, tmp_path / "cache") for id in some) == ["lib-3", "lib-4", "lib-5", "lib-6"]


class Interrupted(LocalTasks):
    """Tasks that stop after the first, and count those that were begun."""

    def __init__(self):
        self.begun = []

    def run(self, function, items):
        for item in items:
            self.begun.append(item.shard)
            yield function(item)
            raise KeyboardInterrupt


def test_an_interrupted_build_keeps_complete_shards(tmp_path, articles):
    store = ClusterStore(str(tmp_path / "law"))
    tasks = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        ClusterBuilder(store=store, work=tmp_path / "work", tasks=tasks).build(articles, shards=2)
    assert (tasks.begun, store.current()) == ([0], "")
    (build,) = store.names("builds")
    assert store.names(f"builds/{build}/shards") == ["0.json"]
    before = store.read_bytes(f"builds/{build}/shards/0.json")
    manifest = ClusterBuilder(store=store, work=tmp_path / "other machine").build(articles, shards=2).manifest
    assert manifest.shards[0].model_dump(mode="json") == json.loads(before)["stored"]
    assert manifest.documents == 6


def test_a_build_that_is_killed_anywhere_is_resumed(tmp_path):
    command = [sys.executable, "-W", "error", str(Path(__file__).with_name("kills.py")), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 40


def test_what_another_model_encoded_is_refused(builder, articles):
    class OtherModel(LocalTasks):
        def run(self, function, items):
            for item in items:
                outcome = function(item)
                if item.shard == 1 and function is complete_shard:
                    other = outcome.channels[0].replace(fingerprint="00")
                    outcome = type(outcome)(outcome.shard, outcome.stored, outcome.counts, (other,), outcome.filled)
                yield outcome

    odd = ClusterBuilder(store=builder.store, work=builder.work, tasks=OtherModel())
    with pytest.raises(DataError, match="shard 1 has other channels or models than shard 0"):
        odd.build(articles, shards=2, channels={"dense": ChannelPlan("fr-legal-dense")})
    assert builder.store.current() == ""


def test_an_existing_cluster_is_replaced_only_on_demand(builder, articles, tmp_path):
    first = builder.build(articles, shards=2).manifest
    with pytest.raises(StorageError, match=r"there is a cluster at .* already"):
        builder.build(articles, shards=3)
    second = builder.build(articles, shards=3, replace_old=True).manifest
    assert (second.parent, len(second.shards)) == (first.generation, 3)
    assert second.generation.startswith("000002-")


def test_what_cannot_be_is_refused(builder, tmp_path):
    with pytest.raises(NotFoundError, match="no file or folder"):
        builder.build(tmp_path / "nowhere.jsonl", shards=2)
    with pytest.raises(ConfigError, match="at least 1 shard"):
        builder.build(tmp_path / "nowhere.jsonl", shards=0)
    with pytest.raises(NotFoundError, match="there is no cluster"):
        builder.delete(["a"])
    with pytest.raises(ConfigError, match="a list of ids"):
        builder.delete("a")
    (tmp_path / "twice.csv").write_text("id,text\na,un\nb,deux\na,trois\n")
    with pytest.raises(DataError, match=r"twice\.csv, line 4: id 'a' is already used"):
        builder.build(tmp_path / "twice.csv", shards=2)


def test_token_vectors_of_all_shards_are_compressed_alike(builder, articles, tmp_path, tiny):
    plan = {"colbert": ChannelPlan(str(tiny.folder(tmp_path / "model")))}
    manifest = builder.build(articles, shards=3, channels=plan).manifest
    folders = [LocalCopies(builder.store, tmp_path / "cache").shard(manifest, shard) for shard in range(3)]
    queries = Queries.of([Query("p", "retard de prêt"), Query("q", "cotisation")])
    with Index.build(tmp_path / "one.index", read_corpus(articles), channels=plan) as single, ClusterIndex.of(folders) as cluster:
        ours, theirs = (one.run(queries, channels=["colbert"]).as_dict() for one in (cluster, single))
    assert ours == {query: pytest.approx(hits) for query, hits in theirs.items()}
    assert [list(hits) for hits in ours.values()] == [list(hits) for hits in theirs.values()]
