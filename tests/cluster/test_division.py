"""An index becomes a cluster: its documents and the rows of its channels are divided, and nothing is encoded again."""

import shutil

import pytest

from lexfuse import Document, Index
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.storage.index_settings import IndexSettings


@pytest.fixture
def builder(tmp_path):
    return ClusterBuilder(store=ClusterStore(str(tmp_path / "law")), work=tmp_path / "work")


@pytest.fixture
def index(articles, tmp_path, tiny):
    """An index with a channel, whose model is gone."""
    model = tiny.folder(tmp_path / "model")
    with Index.build(tmp_path / "law.index", read_corpus(articles), channels={"dense": str(model)}) as built:
        built.delete(["lib-6"])
        yield built
    shutil.rmtree(model, ignore_errors=True)


def test_the_model_is_not_needed(builder, index, tmp_path):
    shutil.rmtree(tmp_path / "model")
    change = builder.build(index.folder, shards=3)
    named = index.snapshot.channel("dense").named
    (channel,) = change.manifest.channels
    assert (channel.model, channel.fingerprint) == (named.settings.model, named.settings.fingerprint)
    assert (change.manifest.documents, change.channels["dense"].encoded) == (5, 0)
    assert change.channels["dense"].passages == named.passages


def test_what_a_channel_lacks_is_encoded(builder, index, tmp_path):
    index.add([Document("lib-7", text="Le silence est de règle.", language="fr")])
    assert builder.build(index.folder, shards=2).channels["dense"].encoded == 1
    index.add_channels()
    with ClusterIndex.published(builder.store, tmp_path / "cache") as cluster:
        ours, theirs = (one.search("silence", 6, channels=["dense"]) for one in (cluster, index))
    assert [(hit.id, hit.score) for hit in ours] == [(hit.id, pytest.approx(hit.score)) for hit in theirs]
    assert len(ours) == 6


def test_the_analysis_is_that_of_the_index(builder, articles, tmp_path):
    Index.build(tmp_path / "plain.index", read_corpus(articles), settings=IndexSettings(stems=False)).close()
    with pytest.raises(ConfigError, match="analysed like it"):
        builder.build(tmp_path / "plain.index", shards=2, settings=IndexSettings())
    assert builder.build(tmp_path / "plain.index", shards=2).manifest.settings == IndexSettings(stems=False).as_json()


def test_a_channel_of_the_index_is_not_made_again(builder, index):
    with pytest.raises(ConfigError, match="the index has a channel 'dense', which the cluster takes over"):
        builder.build(index.folder, shards=2, channels=["dense"])


def test_a_changed_index_is_another_build(builder, index):
    first = builder.build(index.folder, shards=2).manifest
    assert builder.build(index.folder, shards=2).manifest == first
    index.update([Document("lib-4", text="Le retard ne coûte plus rien.", language="fr")])
    with pytest.raises(StorageError, match=r"there is a cluster at .* already"):
        builder.build(index.folder, shards=2)


def test_a_damaged_index_is_refused(builder, index):
    vectors = next(index.folder.glob("channels/dense/*/fp16.npy"))
    raw = bytearray(vectors.read_bytes())
    raw[-1] ^= 1
    vectors.write_bytes(raw)
    with pytest.raises(DataError, match=r"the index is damaged: .*fp16\.npy.*lexfuse index INDEX --rebuild"):
        builder.build(index.folder, shards=2)
    assert builder.store.current() == ""


def test_an_index_without_documents_is_divided(builder, tmp_path):
    Index.build(tmp_path / "empty.index", []).close()
    manifest = builder.build(tmp_path / "empty.index", shards=2).manifest
    assert [shard.documents for shard in manifest.shards] == [0, 0]
    with ClusterIndex.published(builder.store, tmp_path / "cache") as cluster:
        assert list(cluster.search("prêt")) == []


def test_a_cluster_is_not_divided(builder, articles, tmp_path):
    builder.build(articles, shards=2)
    other = ClusterBuilder(store=ClusterStore(str(tmp_path / "other")), work=tmp_path / "work")
    with pytest.raises(ConfigError, match="is a cluster; give the corpus or the index that it was made of"):
        other.build(tmp_path / "law", shards=3)
