"""Folders that somebody else made: links are refused, and nothing but what the index made is ever removed."""

import os
import shutil
import socket

import numpy as np
import pytest

from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.data.document import Document
from lexfuse.errors import DataError, NotFoundError, StorageError
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.feedback import FeedbackEntry
from lexfuse.storage.folder_names import check_plain, foreign_name
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.manifest import read_manifest, write_manifest
from lexfuse.storage.stored_channel import ChannelSettings

DENSE = ChannelSettings("dense", "model", "00")


def document(id, text="contract notice"):
    return Document(id, text=text, language="en")


def vectors(documents):
    return EncodedBlock(VectorPart.of(np.ones((len(documents), 4), np.float32)), len(documents))


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def folder(tmp_path):
    with IndexFolder.create(tmp_path / "i", documents=[document("a"), document("b")]) as index:
        index.channels.make("dense", DENSE)
        index.channels.fill("dense", vectors)
    return tmp_path / "i"


@pytest.fixture
def others(tmp_path):
    """A folder of somebody else's, with names like those of an index too."""
    place = tmp_path / "others"
    for name in ("letters", "000009", "dense/000009", "photos/2020"):
        (place / name).mkdir(parents=True)
        (place / name / "dear.txt").write_text("dear")
    return place


OPENINGS = [
    IndexFolder,
    open_snapshot,
    lambda folder: IndexFolder.create(folder, documents=[document("z")], replace=True),
    lambda folder: IndexFolder(folder).feedback.keep(FeedbackEntry("q", "a", 1, generation=1)),
]


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("name", ["segments", "channels", "channels/dense", "segments/000001", "segments/000001/bm25/docs.npy"])
def test_an_index_with_a_link_is_refused_and_leaves_others_alone(folder, others, opening, name):
    place = folder / name
    shutil.copytree(place, others, dirs_exist_ok=True) if place.is_dir() else shutil.copy(place, others)
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(others if not name.endswith(".npy") else others / place.name)
    before = tree(others), tree(folder)
    with pytest.raises(DataError, match=f"{name}: is a link; an index has only files and folders"):
        opening(folder)
    assert (tree(others), tree(folder)) == before


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("name", ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm", "advice", "segments/000001/x"])
def test_links_that_sqlite_would_write_through_are_refused(folder, tmp_path, opening, name):
    victim = tmp_path / "victim"
    victim.write_bytes((folder / "catalog.sqlite").read_bytes() if name == "catalog.sqlite" else b"dear" * 2000)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(victim)
    before = victim.read_bytes()
    with pytest.raises(DataError, match=f"{name}: is a link"):
        opening(folder)
    assert victim.read_bytes() == before


CHANGES = [
    lambda index: index.add([document("c")], update=True),
    lambda index: index.delete(["a"]),
    lambda index: index.merge(),
    lambda index: index.rebuild(),
    lambda index: index.channels.drop("dense"),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["segments", "channels", "channels/late"])
def test_a_link_made_after_opening_is_not_followed(folder, others, change, name):
    with IndexFolder(folder) as index:
        if (folder / name).exists():
            (folder / name).rename(folder.parent / "aside")
        (folder / name).symlink_to(others)
        before = tree(others)
        with pytest.raises(DataError, match="is a link"):
            change(index)
        assert [line for line in index.verify() if f"{name}: is a link" in line]
        assert tree(others) == before


def test_a_link_made_amid_a_change_is_not_followed(folder, others):
    def link(done):
        shutil.rmtree(folder / "channels")
        (folder / "channels").symlink_to(others)

    before = tree(others)
    with IndexFolder(folder) as index:
        index.add([document("c")], progress=link)
    assert tree(others) == before


def test_the_path_of_an_index_may_be_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    with IndexFolder(tmp_path / "link") as index:
        index.add([document("c")])
        assert index.verify() == []
    IndexFolder.create(tmp_path / "link", documents=[document("z")], replace=True).close()
    assert (tmp_path / "link").is_symlink()
    with open_snapshot(folder) as snapshot:
        assert list(snapshot.ids) == ["z"]


def test_only_what_the_index_makes_is_removed(folder):
    mine = ["segments/notes", "segments/12", "channels/Mine", "channels/dense/notes", "advice"]
    left = ["segments/000077", "segments/1234567", "channels/dense/000088", "channels/gone/000001"]
    for name in (*mine, *left):
        (folder / name).mkdir(parents=True)
        (folder / name / "x.txt").write_text("x")
    (folder / "segments/000099").write_text("a file")
    with IndexFolder(folder) as index:
        index.add([document("c")])
        assert index.verify() == []
    assert [name for name in (*mine, "segments/000099") if not (folder / name).exists()] == []
    assert [name for name in (*left, "channels/gone") if (folder / name).exists()] == []


def test_pipes_and_sockets_are_refused_and_not_waited_for(folder):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket"))
        with pytest.raises(DataError, match="socket: is a device, pipe or socket"):
            IndexFolder(folder)
    (folder / "socket").unlink()
    (folder / "segments/000001/ids.bytes.npy").unlink()
    os.mkfifo(folder / "segments/000001/ids.bytes.npy")
    with pytest.raises(DataError, match=r"ids\.bytes\.npy: is a device, pipe or socket"):
        open_snapshot(folder)


@pytest.mark.parametrize("name", ["letter.txt", "letters/dear.txt", "segments/000001.txt", "channels/dense/x/dear.txt"])
def test_a_damaged_index_with_other_files_in_it_is_not_replaced(folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("dear")
    (folder / "catalog.sqlite").write_bytes(b"garbage" * 100)
    assert foreign_name(folder) in (name, name.rpartition("/")[0])
    with pytest.raises(StorageError, match=r"is a damaged index with .*, which is not part of it"):
        IndexFolder.create(folder, documents=[document("z")], replace=True)
    assert (folder / name).read_text() == "dear"
    (folder / name).unlink()
    if foreign_name(folder):
        (folder / name).parent.rmdir()
    IndexFolder.create(folder, documents=[document("z")], replace=True).close()


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("UPDATE segments SET folder = '../others'", "segments"),
        ("UPDATE segments SET folder = '/etc'", "segments"),
        ("UPDATE parts SET folder = 'channels/dense/../../../others'", "parts"),
    ],
)
def test_a_catalog_that_names_folders_elsewhere_is_refused(folder, others, statement, wrong):
    with IndexFolder(folder) as index:
        index._catalog.connection.execute(statement)
        before = tree(others)
        for use in (index.snapshot, index.merge, lambda: index.add([document("c")])):
            with pytest.raises(DataError, match=rf"damaged \(.*table {wrong} has"):
                use()
        assert index.verify() != []
        assert tree(others) == before


@pytest.mark.parametrize("name", ["/etc/passwd", "../x.npy", "a/../../x"])
def test_a_manifest_that_names_files_elsewhere_is_refused(tmp_path, name):
    sha256 = write_manifest(tmp_path, [], {"channels": [name]})
    with pytest.raises(DataError, match="which is outside its folder"):
        read_manifest(tmp_path, sha256)


def test_what_is_no_folder_is_no_index(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "nowhere"):
        with pytest.raises(NotFoundError, match="no index in"):
            IndexFolder(path)
    check_plain(tmp_path / "nowhere")
