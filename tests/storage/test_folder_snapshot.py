"""A snapshot is one state, whatever happens to the index meanwhile."""

import datetime
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import DataError, NotFoundError, StorageError
from lexfuse.storage import folder_snapshot as module
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.segments.segment import Segment
from lexfuse.storage.stored_channel import ChannelSettings

WORDS = [f"w{number}" for number in range(20)]
QUERIES = Queries.of([Query("q", "contract notice", "en")])


def document(id, text="contract notice", **fields):
    return Document(id, text=text, language="en", **fields)


def state(snapshot):
    """All that a reader can see."""
    hits = BM25(snapshot).retrieve(QUERIES, 100).hits("q")
    return hits, list(snapshot.ids), snapshot.documents(list(snapshot.ids)), snapshot.column("court"), snapshot.generation


@pytest.fixture
def index(tmp_path):
    with IndexFolder.create(tmp_path / "i", documents=[document("a"), document("b", "contract", court="X")]) as made:
        made.add([document("c", court="Y"), document("0")])
        made.delete(["a"])
        yield made


def test_numbers_go_over_the_living(index):
    with index.snapshot() as snapshot:
        assert list(snapshot.ids) == ["b", "0", "c"]
        assert len(snapshot) == 3
        assert snapshot.numbering.bases.tolist() == [0, 2, 4]
        assert snapshot.numbering.alive.tolist() == [False, True, True, True]
        assert snapshot.numbering.places.tolist() == [-1, 0, 1, 2]
        assert snapshot.numbering.order.tolist() == [3, 1, 0, 2]
        assert snapshot.column("court") == ["X", "", "Y"]


def derived(snapshot):
    """Something that is made of the documents of a snapshot, or of one before it that had the same documents."""
    return snapshot.derived("object", object)


def vectors_of(documents):
    return EncodedBlock(VectorPart.of(np.ones((len(documents), 2), dtype=np.float32)), len(documents))


def test_what_is_made_of_the_documents_is_kept_while_only_channels_change(index):
    former = index.snapshot()
    made, courts = derived(former), former.coded("court")
    index.channels.make("dense", ChannelSettings("dense", "model", "fingerprint"))
    index.channels.fill("dense", vectors_of)
    with open_snapshot(index.folder, former) as newer:
        former.close()
        assert newer.channels == ("dense",)
        assert derived(newer) is made
        assert newer.coded("court") is courts
        assert newer.documents(["c"])[0].court == "Y"


@pytest.mark.parametrize(
    "change",
    [
        lambda index: index.add([document("d")]),
        lambda index: index.add([document("c", court="Z")], update=True),  # metadata alone
        lambda index: index.delete(["c"]),
        lambda index: index.merge(),
    ],
    ids=["added", "updated", "deleted", "merged"],
)
def test_what_is_made_of_the_documents_is_made_again_when_they_change(index, change):
    with index.snapshot() as former:
        made = derived(former)
        change(index)
        with open_snapshot(index.folder, former) as newer:
            assert derived(newer) is not made
            assert derived(former) is made


def test_what_is_made_of_the_law_of_a_day_is_that_of_no_other(tmp_path):
    versions = [
        document("v1", valid_from=datetime.date(2000, 1, 1), valid_to=datetime.date(2010, 1, 1)),
        document("v2", "changed notice", valid_from=datetime.date(2010, 1, 1)),
    ]
    law = replace(versions[1], id="v", history=(replace(versions[0], id="v"),))
    with IndexFolder.create(tmp_path / "law", documents=[law, document("x")]) as index, index.snapshot() as snapshot:
        assert snapshot.has_history
        assert derived(snapshot.on(datetime.date(2005, 1, 1))) is not derived(snapshot)
        with open_snapshot(index.folder, snapshot) as newer:
            assert derived(newer) is not derived(snapshot)


def test_readers_keep_their_state(index):
    with index.snapshot() as snapshot:
        before = state(snapshot)
        index.add([document("d"), document("b", "changed")], update=True)
        index.delete(["c"])
        index.merge()
        index.compact()
        assert state(snapshot) == before
        with index.snapshot() as newer:
            assert list(newer.ids) == ["0", "b", "d"]
            assert newer.document("b").text == "changed"


def test_a_state_not_yet_looked_at_is_kept_too(index):
    with index.snapshot() as one, index.snapshot() as other:
        expected = state(one)
        index.delete(["0", "b", "c"])
        index.compact()
        assert state(other) == expected
        assert not [path for path in (index.folder / "segments").iterdir()]


def test_large_files_are_mapped_and_stay_readable_when_removed(tmp_path):
    many = [document(f"{number:05}", " ".join(["contract", *WORDS[number % 5 :]])) for number in range(20_000)]
    with IndexFolder.create(tmp_path / "i", documents=many) as index, index.snapshot() as snapshot:
        assert isinstance(snapshot.segments[0].channels["bm25"].docs.base, np.memmap)
        index.delete([one.id for one in many[10:]])
        index.merge()
        assert len(BM25(snapshot).retrieve(QUERIES, 30_000).hits("q")) == 20_000


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files as Linux shows them")
def test_closing_releases_the_catalog(index):
    def open_files():
        links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        own = str(index.folder.resolve() / "catalog.sqlite")  # other tests may have left theirs to be collected
        return [name for link in links if os.path.lexists(link) and (name := os.path.realpath(link)).startswith(own)]

    index.close()
    snapshot = open_snapshot(index.folder)
    assert open_files() != []
    snapshot.close()
    assert open_files() == []
    with pytest.raises(StorageError, match="was closed"):
        snapshot.document("b")


def test_a_snapshot_that_fails_to_open_releases_the_catalog(index, monkeypatch):
    closed = []
    monkeypatch.setattr(module.Catalog, "close", lambda self: (closed.append(self), self.connection.close()))
    shutil.rmtree(index.folder / "segments")
    with pytest.raises(NotFoundError, match=r"manifest\.json"):
        index.snapshot()
    assert len(closed) == 2  # it looked twice: a merge might have taken the files away


def test_files_that_a_merge_takes_away_while_opening(index, monkeypatch):
    """The names are read, then another process merges, then the files are looked for."""
    load, merges = Segment.load, [index.merge]

    def load_later(folder, sha256):
        while merges:
            merges.pop()()
        return load(folder, sha256)

    monkeypatch.setattr(Segment, "load", load_later)
    with index.snapshot() as snapshot:
        assert list(snapshot.ids) == ["0", "b", "c"]
    assert not merges


def test_an_empty_index(tmp_path):
    with IndexFolder.create(tmp_path / "i") as index, index.snapshot() as snapshot:
        assert (len(snapshot), list(snapshot.ids), snapshot.column("court")) == (0, [], [])
        assert BM25(snapshot).retrieve(QUERIES, 10).hits("q") == []


def test_an_index_whose_documents_are_all_deleted(tmp_path):
    with IndexFolder.create(tmp_path / "i", documents=[document("a"), document("b")]) as index:
        index.delete(["a", "b"])
        for _ in range(2):  # before and after merging
            with index.snapshot() as snapshot:
                assert (len(snapshot), list(snapshot.ids), snapshot.column("court")) == (0, [], [])
                assert BM25(snapshot).retrieve(QUERIES, 10).hits("q") == []
            index.merge()


def test_channels_that_are_not_there_are_told(index):
    with index.snapshot() as snapshot, pytest.raises(NotFoundError, match=r"no stored channel 'dense'; it has none yet"):
        snapshot.postings("dense")


def test_documents_that_are_not_there_are_told(index):
    with index.snapshot() as snapshot:
        for id in ("a", "nowhere"):
            with pytest.raises(NotFoundError, match=f"no document '{id}'"):
                snapshot.document(id)


def test_more_results_than_documents(index):
    with index.snapshot() as snapshot:
        assert [hit.doc for hit in BM25(snapshot).retrieve(QUERIES, 10**9).hits("q")] == ["0", "c", "b"]


def test_a_segment_with_other_documents_than_the_catalog_says(index):
    index._catalog.connection.execute("UPDATE segments SET documents = 7 WHERE number = 1")
    with pytest.raises(DataError, match="has 2 documents, the catalog says 7"):
        open_snapshot(index.folder)


def test_no_index(tmp_path):
    with pytest.raises(NotFoundError, match="no index in"):
        open_snapshot(tmp_path)
