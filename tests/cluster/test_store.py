"""A store keeps generations: whole or not at all, on a folder, in memory and in an S3-compatible object store."""

import os
import uuid

import numpy as np
import pytest

from lexfuse import Document
from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.cluster.build.channel_blocks import ChannelBlocks, serials_by_id
from lexfuse.cluster.cluster_manifest import ClusterManifest, StoredFile, StoredShard
from lexfuse.cluster.local_copy import LocalCopies
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.files import checksum
from lexfuse.errors import ConfigError, ConflictError, DataError, FetchError, MissingDependencyError, NotFoundError, StorageError
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings

FIRST, SECOND = "000001-0f3a5c7e9b2d", "000002-1f3a5c7e9b2d"


@pytest.fixture(scope="module")
def object_store():
    """The address of an S3-compatible server on this machine, and keys for it."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    given = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    import s3fs

    s3fs.S3FileSystem().makedirs("law", exist_ok=True)  # moto keeps it when the fixture is made again
    yield
    s3fs.S3FileSystem.clear_instance_cache()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    server.stop()


@pytest.fixture(params=["folder", "memory", "s3"])
def store(request, tmp_path):
    if request.param == "s3":
        request.getfixturevalue("object_store")
    uris = {"folder": tmp_path / "law", "memory": f"memory://{uuid.uuid4()}", "s3": f"s3://law/{uuid.uuid4()}"}
    return ClusterStore(str(uris[request.param]))


def generation(store, folder, name=FIRST, content=b"articles", parent="", shared=None):
    """A generation of one shard with a catalog and a segment; the segment may be that of an older one."""
    files = {}
    for path, raw in {"catalog.sqlite": content, "segments/000001/ids.npy": b"ids of articles"}.items():
        if shared and path in shared:
            files[path] = shared[path]
            continue
        local = folder / path.replace("/", "-")
        local.write_bytes(raw)
        store.upload(local, f"generations/{name}/shards/0/{path}")
        files[path] = StoredFile(bytes=len(raw), sha256=checksum(local), generation=name)
    shard = StoredShard(documents=1, files=files, statistics={})
    return ClusterManifest(generation=name, parent=parent, settings={}, shards=(shard,), statistics={})


def test_a_generation_is_published_and_copied(store, tmp_path):
    assert store.current() == ""
    with pytest.raises(NotFoundError, match="there is no cluster at"):
        store.manifest()
    first = generation(store, tmp_path)
    store.publish(first)
    assert store.manifest() == first
    copy = LocalCopies(store, tmp_path / "cache").shard(first, 0)
    assert (copy / "catalog.sqlite").read_bytes() == b"articles"
    assert (copy / "segments/000001/ids.npy").read_bytes() == b"ids of articles"
    assert store.names("generations") == [FIRST]


def test_a_newer_generation_refers_to_what_did_not_change(store, tmp_path):
    first = generation(store, tmp_path)
    store.publish(first)
    kept = {"segments/000001/ids.npy": first.shards[0].files["segments/000001/ids.npy"]}
    second = generation(store, tmp_path, SECOND, b"more articles", FIRST, kept)
    store.publish(second)
    copies = LocalCopies(store, tmp_path / "cache")
    old, new = copies.shard(first, 0), copies.shard(second, 0)
    assert [(path / "catalog.sqlite").read_bytes() for path in (old, new)] == [b"articles", b"more articles"]
    assert (old / "segments/000001/ids.npy").samefile(new / "segments/000001/ids.npy")
    assert not store.exists(f"generations/{SECOND}/shards/0/segments")
    copies.keep_only([second], [0])
    assert (old.exists(), new.exists()) == (False, True)


def test_a_second_publisher_is_refused(store, tmp_path):
    store.publish(generation(store, tmp_path))
    with pytest.raises(ConflictError, match="another process has published; nothing was changed"):
        store.publish(generation(store, tmp_path, SECOND, parent=""))
    assert store.current() == FIRST


def test_other_bytes_than_were_published_are_noticed(store, tmp_path):
    first = generation(store, tmp_path)
    store.publish(first)
    store.write_bytes(f"generations/{FIRST}/shards/0/catalog.sqlite", b"articleS")
    with pytest.raises(DataError, match="were published"):
        LocalCopies(store, tmp_path / "cache").shard(first, 0)
    store.write_bytes(f"generations/{FIRST}/cluster.json", first.raw() + b" ")
    with pytest.raises(DataError, match="other bytes than were published"):
        store.manifest()


def test_an_interrupted_copy_is_resumed(store, tmp_path):
    first = generation(store, tmp_path)
    copies = LocalCopies(store, tmp_path / "cache")
    half = copies.folder / f"fetch-{first.shards[0].digest}"
    half.mkdir(parents=True)
    (half / "catalog.sqlite.part").write_bytes(b"arti")
    assert (copies.shard(first, 0) / "catalog.sqlite").read_bytes() == b"articles"


@pytest.mark.parametrize("wrong", [b"XXXX", b"longer than the file"])
def test_a_half_of_other_bytes_is_fetched_again(store, tmp_path, wrong):
    first = generation(store, tmp_path)
    copies = LocalCopies(store, tmp_path / "cache")
    half = copies.folder / f"fetch-{first.shards[0].digest}"
    half.mkdir(parents=True)
    (half / "catalog.sqlite.part").write_bytes(wrong)
    assert (copies.shard(first, 0) / "catalog.sqlite").read_bytes() == b"articles"


def test_a_missing_file_is_named(store, tmp_path):
    first = generation(store, tmp_path)
    store.remove(f"generations/{FIRST}/shards/0/catalog.sqlite")
    with pytest.raises(NotFoundError, match=f"generations/{FIRST}/shards/0/catalog.sqlite"):
        LocalCopies(store, tmp_path / "cache").shard(first, 0)


@pytest.mark.parametrize("name", ["../catalog.sqlite", "/etc/passwd", "a/../../b", "a\\b", "", "a//b"])
def test_a_manifest_names_nothing_outside(name):
    raw = ClusterManifest(generation=FIRST, settings={}, shards=(), statistics={}).raw()
    file = f'{{"bytes": 1, "sha256": "{"0" * 64}", "generation": "{FIRST}"}}'
    shown = name.replace("\\", "\\\\")
    wrong = raw.replace(b'"statistics": {}', f'"statistics": {{"{shown}": {file}}}'.encode())
    assert wrong != raw
    with pytest.raises(DataError, match="names of files below their folder"):
        ClusterManifest.parse(wrong, "cluster.json")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "no manifest"),
        (b"[]", "no manifest"),
        (b'{"format": 9}', "use a newer LexFuse"),
        (b'{"format": 1, "generation": "../x"}', "settings is missing"),
        (b'{"generation": "../x", "settings": {}, "shards": [], "statistics": {}}', "the name of a generation like"),
        (b'{"generation": "000001-0f3a5c7e9b2d", "settings": {}, "shards": [], "statistics": {}, "x": 1}', "there is no 'x'"),
    ],
)
def test_a_wrong_manifest_is_refused(raw, reason):
    with pytest.raises(DataError, match=reason):
        ClusterManifest.parse(raw, "cluster.json")


def test_wrong_uris_are_explained(monkeypatch):
    with pytest.raises(ConfigError, match="Protocol not known"):
        ClusterStore("law://bucket")
    with pytest.raises(ConfigError, match="a cluster needs a URI"):
        ClusterStore("")
    with pytest.raises(MissingDependencyError, match="fsspec for gs://"):
        ClusterStore("gs://bucket/law")


def test_a_pointer_to_nothing_is_refused(tmp_path):
    (tmp_path / "current.json").write_text("{}")
    with pytest.raises(DataError, match="names no generation"):
        ClusterStore(str(tmp_path)).current()


def test_a_store_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        ClusterStore(str(tmp_path / "file" / "law")).write_bytes("a", b"")


def test_an_object_store_without_its_bucket_is_named(object_store):
    with pytest.raises((FetchError, StorageError), match="nowhere"):
        ClusterStore("s3://nowhere/law").write_bytes("a", b"")
    assert ClusterStore("s3://nowhere/law").current() == ""


def test_blocks_of_a_channel_are_restored_from_any_store(store, tmp_path):
    """In an index that was made in another order, so that serial numbers differ."""
    blocks = ChannelBlocks(store, "b1", FIRST, 0, "dense")
    assert list(blocks.stored()) == []
    vectors = np.eye(3, dtype=np.float32)
    blocks.upload(["a", "b"], EncodedBlock(VectorPart.of(vectors[:2]), 2), 1.5)
    blocks.upload(["a", "b"], EncodedBlock(VectorPart.of(vectors[:2]), 2), 1.5)  # again
    blocks.upload(["c"], EncodedBlock(VectorPart.of(vectors[2:]), 1, cut=1), 0.5)
    with IndexFolder.create(tmp_path / "index", documents=[Document("c"), Document("b"), Document("d"), Document("a")]) as index:
        index.channels.make("dense", ChannelSettings("dense", "model", "00"))
        assert blocks.restore(index, serials_by_id(index)) == 3
        assert blocks.restore(index, serials_by_id(index)) == 0
        named, ids = index.channels.named("dense"), {serial: id for id, serial in serials_by_id(index).items()}
        pairs = [zip(part.serials.tolist(), part.content.matrix.tolist(), strict=True) for part in index.channels.parts("dense")]
        rows = {ids[serial]: row for some in pairs for serial, row in some}
        assert rows == {"a": [1, 0, 0], "b": [0, 1, 0], "c": [0, 0, 1]}
        assert (named.passages, named.cut, named.seconds) == (3, 1, 2.0)
        assert [ids[serial] for serial in index.channels.pending("dense").tolist()] == ["d"]
    with IndexFolder.create(tmp_path / "other", documents=[Document("a")]) as index:
        index.channels.make("dense", ChannelSettings("dense", "model", "00"))
        with pytest.raises(DataError, match=r"names the document '[bc]', which the shard does not have"):
            blocks.restore(index, serials_by_id(index))
