"""Channels: filled in blocks, kept exact by serial numbers, merged, verified and dropped."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, DataError, NotFoundError, StorageError
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings

SETTINGS = ChannelSettings("dense", "lengths", "0001")


def encode(documents):
    """A vector of two numbers that tells which text it was made from."""
    vectors = np.array([[len(document.text), len(document.id)] for document in documents], dtype=np.float32)
    return EncodedBlock(VectorPart.of(vectors), len(documents))


@pytest.fixture
def index(tmp_path):
    documents = [Document(f"d{number}", text="x" * number, language="en") for number in range(10)]
    with IndexFolder.create(tmp_path / "i", documents=documents) as index:
        index.channels.make("dense", SETTINGS)
        yield index


def held(index):
    """Document to the first number of its vector, as a snapshot sees the channel."""
    with index.snapshot() as snapshot:
        numbering, state = snapshot.channel_numbering("dense"), snapshot.channel("dense")
        rows = np.concatenate([part.content.block(0, len(part.content)) for part in state.parts])[:, 0]
        return {snapshot.ids[int(place)]: int(row) for place, row in zip(numbering.places, rows, strict=True) if place >= 0}


def texts(index):
    with index.snapshot() as snapshot:
        return {id: len(snapshot.document(id).text) for id in snapshot.ids}


def test_a_channel_is_filled_block_by_block(index):
    told = []
    assert index.channels.fill("dense", encode, block=3, progress=told.append) == 10
    assert told == [3, 6, 9, 10]
    assert held(index) == texts(index)
    named = index.channels.named("dense")
    assert named.passages == 10
    assert named.seconds > 0
    assert index.verify() == []


def test_filling_goes_on_where_it_stopped(index):
    seen = []

    def stopping(documents):
        seen.extend(document.id for document in documents)
        if len(seen) > 6:
            raise KeyboardInterrupt
        return encode(documents)

    with pytest.raises(KeyboardInterrupt):
        index.channels.fill("dense", stopping, block=3)
    with index.snapshot() as snapshot:
        assert not snapshot.channel_numbering("dense").complete
    assert len(index.channels.pending("dense")) == 4
    assert index.channels.fill("dense", encode, block=3) == 4
    assert held(index) == texts(index)


def test_changed_and_deleted_documents_leave_the_channel(index):
    index.channels.fill("dense", encode)
    index.delete(["d1"])
    index.add([Document("d2", text="y" * 50), Document("new", text="z" * 60)], update=True)
    assert held(index) == {id: size for id, size in texts(index).items() if id not in ("d2", "new")}
    index.channels.fill("dense", encode)
    assert held(index) == texts(index)
    index.merge()
    assert held(index) == texts(index)
    with index.snapshot() as snapshot:
        [part] = snapshot.channel("dense").parts
        assert len(part.serials) == 10
        assert snapshot.channel_numbering("dense").complete


@pytest.mark.parametrize("block", [3, 512])
def test_documents_whose_text_stays_keep_their_vectors(index, block):
    index.channels.fill("dense", encode, block=block)
    changed = {"d3": {"text": "y" * 50}, "d4": {"title": "Four"}, "d5": {"headings": ("Five",)}, "d6": {"language": "fr"}}
    documents = [
        Document(
            f"d{number}", **{"text": "x" * number, "language": "en", "extra": {"fee": number}, **changed.get(f"d{number}", {})}
        )
        for number in range(10)
    ]
    index.add(documents, update=True)
    assert held(index) == {id: size for id, size in texts(index).items() if id not in changed}
    assert index.channels.fill("dense", encode) == len(changed)
    assert index.channels.named("dense").passages == 10 + len(changed)
    index.merge()
    assert held(index) == texts(index)
    assert index.verify() == []


def test_a_few_documents_of_a_large_part_are_encoded_again(index):
    more = [Document(f"e{number}", text="z" * number, language="en") for number in range(190)]
    index.add(more)
    index.channels.fill("dense", encode)
    index.add(more[:2], update=True)
    assert len(index.channels.pending("dense")) == 2
    index.channels.fill("dense", encode)
    index.add(more[:30], update=True)
    assert not len(index.channels.pending("dense"))
    assert held(index) == texts(index)


def test_past_versions_keep_their_vectors_too(index):
    old, new = (
        Document("v", text=text, language="en", valid_from=day)
        for text, day in (("x" * 70, date(2001, 1, 1)), ("x" * 80, date(2010, 1, 1)))
    )
    law = replace(new, history=(replace(old, valid_to=new.valid_from),))
    index.add([law])
    index.channels.fill("dense", encode)
    index.add([replace(law, extra={"fee": 1})], update=True)
    assert not len(index.channels.pending("dense"))


def test_an_update_that_fails_leaves_the_vectors_as_they_were(index, monkeypatch):
    index.channels.fill("dense", encode)
    before = held(index)
    documents = [Document(f"d{number}", text="x" * number, language="en", title="") for number in range(10)]
    monkeypatch.setattr(VectorPart, "save", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(StorageError, match="no space"):
        index.add(documents, update=True)
    monkeypatch.undo()
    assert held(index) == before
    assert index.verify() == []


def test_parts_are_united_unless_few_documents_were_encoded(index):
    encoded = index.channels.fill("dense", encode, block=3)
    several, before = len(index.channels.parts("dense")), held(index)
    index.channels.unite("dense", 0)
    assert len(index.channels.parts("dense")) == several > 1
    index.delete(["d1"])
    index.channels.unite("dense", encoded)
    [part] = index.channels.parts("dense")
    assert len(part.serials) == 9
    assert held(index) == {id: size for id, size in before.items() if id != "d1"}
    assert index.verify() == []


def test_a_serial_number_is_never_used_again(index):
    index.channels.fill("dense", encode)
    index.delete(["d9"])
    index.add([Document("another", text="y" * 33)])
    assert "another" not in held(index)


def test_merging_segments_does_not_touch_the_channel(index):
    index.channels.fill("dense", encode)
    for number in range(10, 30):
        index.add([Document(f"d{number}", text="x" * number)])
    assert len(index.channels.pending("dense")) == 20
    index.channels.fill("dense", encode, block=1)
    assert held(index) == texts(index)
    with index.snapshot() as snapshot:
        assert len(snapshot.channel("dense").parts) < 12  # parts of one size are merged as they come


def test_what_is_added_and_changed_while_encoding(index):
    calls = []

    def meanwhile(documents):
        calls.append(len(documents))
        if len(calls) == 1:
            with IndexFolder(index.folder) as other:
                other.add([Document("d0", text="changed" * 9), Document("late", text="later")], update=True)
        return encode(documents)

    assert index.channels.fill("dense", meanwhile, block=10) == 12
    assert held(index) == texts(index)


def test_two_fillings_at_once_keep_each_document_once(index):
    def both(documents):
        with IndexFolder(index.folder) as other:
            other.channels.fill("dense", encode, block=4)
        return encode(documents)

    index.channels.fill("dense", both)
    assert held(index) == texts(index)
    index.merge()
    with index.snapshot() as snapshot:
        assert sum(len(part.serials) for part in snapshot.channel("dense").parts) == 10


def test_a_snapshot_keeps_its_state(index):
    index.channels.fill("dense", encode, block=5)
    with index.snapshot() as snapshot:
        index.delete(["d1", "d2"])
        index.merge()
        assert snapshot.channel_numbering("dense").complete
        assert sum(len(part.content) for part in snapshot.channel("dense").parts) == 10


def test_other_settings_need_another_name(index):
    index.channels.make("dense", SETTINGS)  # the same again: nothing to do
    with pytest.raises(ConfigError, match="made by 'lengths' with other settings"):
        index.channels.make("dense", ChannelSettings("dense", "lengths", "0002"))
    with pytest.raises(ConfigError, match="cannot be called 'bm25'"):
        index.channels.make("bm25", SETTINGS)


def test_dropping_removes_the_files(index):
    index.channels.fill("dense", encode)
    assert (index.folder / "channels" / "dense").exists()
    index.channels.drop("dense")
    assert not (index.folder / "channels" / "dense").exists()
    with pytest.raises(NotFoundError, match="no stored channel 'dense'"):
        index.channels.drop("dense")
    assert index.channels.names == ()


def test_dropped_while_encoding(index):
    def meanwhile(documents):
        with IndexFolder(index.folder) as other:
            other.channels.drop("dense")
        return encode(documents)

    with pytest.raises(NotFoundError, match="no stored channel 'dense'"):
        index.channels.fill("dense", meanwhile)
    assert index.verify() == []


def test_damage_is_named_and_put_right(index):
    index.channels.fill("dense", encode, block=5)
    [path, *_] = sorted((index.folder / "channels" / "dense").rglob("fp32.npy"))
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    [line] = index.verify()
    assert str(path) in line
    index.rebuild()
    assert index.verify() == []
    assert len(index.channels.pending("dense")) == 5
    index.channels.fill("dense", encode)
    assert held(index) == texts(index)


def test_a_missing_file_is_named(index):
    index.channels.fill("dense", encode)
    [path] = (index.folder / "channels" / "dense").rglob("starts.npy")
    path.unlink()
    with pytest.raises(NotFoundError, match=r"starts\.npy"):
        index.snapshot()


def test_files_of_a_killed_filling_are_removed(index):
    orphan = index.folder / "channels" / "dense" / "000099"
    orphan.mkdir(parents=True)
    (orphan / "fp32.npy").write_bytes(b"half")
    index.delete(["d1"])
    assert not orphan.exists()


def test_replacing_the_index_forgets_its_channels(index):
    index.channels.fill("dense", encode)
    IndexFolder.create(index.folder, documents=[Document("a", text="a")], replace=True).close()
    assert index.channels.names == ()
    assert not (index.folder / "channels" / "dense").exists()


def test_damaged_settings_are_told(index):
    with index._catalog.writing():
        index._catalog.connection.execute("UPDATE channels SET settings = '{}'")
    with pytest.raises(DataError, match="settings of a channel are damaged"):
        index.snapshot()


def test_filling_waits_for_another_writer_and_does_not_wait_for_ever(index, monkeypatch):
    monkeypatch.setattr("lexfuse.storage.channel_store.PATIENCE", 0)
    monkeypatch.setattr("lexfuse.storage.channel_store.TURN", 1)
    with IndexFolder(index.folder) as other, other.changing(), pytest.raises(StorageError, match="another process"):
        index.channels.fill("dense", encode)


def test_a_channel_that_is_searched_approximately_keeps_clusters(tmp_path, monkeypatch):
    monkeypatch.setattr("lexfuse.channels.dense.stored_part.CLUSTERED_FROM", 8)
    documents = [Document(f"d{number}", text="x" * number, language="en") for number in range(10)]
    with IndexFolder.create(tmp_path / "i", documents=documents) as index:
        index.channels.make("dense", ChannelSettings("dense", "lengths", "0001", options={"approximate": True}))
        index.channels.fill("dense", encode, block=5)
        with index.snapshot() as snapshot:  # two parts, too small for clusters
            assert [part.content.clusters for part in snapshot.channel("dense").parts] == [None, None]
        index.merge()
        with index.snapshot() as snapshot:
            [part] = snapshot.channel("dense").parts
            assert sorted(part.content.clusters.rows.tolist()) == list(range(10))
        assert index.verify() == []
