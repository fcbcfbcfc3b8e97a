"""The index folder: changes happen as a whole or not at all, and damage is told, never served."""

import shutil
import signal
import subprocess
import sys
import textwrap

import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError, NotFoundError, StorageError
from lexfuse.storage.index_folder import ChangeCounts, IndexFolder
from lexfuse.storage.index_settings import IndexSettings


def document(id, text="contract notice", **fields):
    return Document(id, text=text, language="en", **fields)


def contents(index):
    with index.snapshot() as snapshot:
        return {id: snapshot.document(id).text for id in snapshot.ids}


def found(index, text):
    with index.snapshot() as snapshot:
        return [hit.doc for hit in BM25(snapshot).retrieve(Queries.of([Query("q", text, "en")]), 100).hits("q")]


def generation(index):
    with index.snapshot() as snapshot:
        return snapshot.generation


def files(index):
    return sorted(str(path.relative_to(index.folder)) for path in (index.folder / "segments").rglob("*"))


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def index(tmp_path):
    with IndexFolder.create(tmp_path / "i", documents=[document("a"), document("b", "lease tenant")]) as made:
        yield made


# Changes


def test_add_update_delete(index):
    assert index.add([document("c", "court")]) == ChangeCounts(added=1)
    assert index.add([document("a", "appeal"), document("d")], update=True) == ChangeCounts(added=1, updated=1)
    assert index.delete(["b", "x", "b"]) == ChangeCounts(deleted=1, missing=("x",))
    assert contents(index) == {"a": "appeal", "c": "court", "d": "contract notice"}
    assert found(index, "contract") == ["d"]
    assert found(index, "appeal") == ["a"]
    index.merge()
    assert contents(index) == {"a": "appeal", "c": "court", "d": "contract notice"}
    assert index.verify() == []


def test_a_deleted_document_comes_back(index):
    index.delete(["a"])
    index.add([document("a", "damages")])
    assert found(index, "damages") == ["a"]
    assert index.verify() == []


def test_what_changes_nothing_makes_no_generation(index):
    index.merge()
    before = generation(index)
    assert index.add([]) == ChangeCounts()
    assert index.delete([]) == ChangeCounts()
    assert index.delete(["x", "\ud800", "'; --"]) == ChangeCounts(missing=("x", "\ud800", "'; --"))
    index.merge()
    assert generation(index) == before
    index.delete(["a"])
    assert generation(index) == before + 1


def test_documents_that_are_there_already_are_refused(index):
    before = contents(index), files(index)
    with pytest.raises(DataError, match="2 documents are in the index already, first 'a'; update them instead"):
        index.add([document("b"), document("a"), document("c")])
    assert (contents(index), files(index)) == before


def test_an_id_that_comes_twice_is_refused(index):
    with pytest.raises(DataError, match="'c' is repeated"):
        index.add([document("c"), document("d"), document("c")])
    assert set(contents(index)) == {"a", "b"}


def test_one_bad_document_keeps_all_out(index):
    for bad in (Document("c", text="\ud800"), Document("c", language="Klingon", text="x"), Document("", text="x")):
        with pytest.raises(DataError):
            index.add([document("d"), bad])
    assert set(contents(index)) == {"a", "b"}
    assert index.verify() == []


def test_odd_ids_and_texts(index):
    odd = [
        document("'; DROP TABLE documents; --", "alpha"),
        document("n\x00l", "beta\x00gamma"),
        document("é😀", ""),
        document(" "),
    ]
    index.add(odd)
    index.merge()
    assert contents(index).items() >= {(one.id, one.text) for one in odd}
    assert found(index, "alpha") == ["'; DROP TABLE documents; --"]
    assert found(index, "gamma") == ["n\x00l"]
    index.delete([one.id for one in odd])
    assert set(contents(index)) == {"a", "b"}


def test_a_text_is_not_a_list_of_ids(index):
    with pytest.raises(ConfigError, match="must be a list of ids, got the text 'ab'"):
        index.delete("ab")
    assert set(contents(index)) == {"a", "b"}


def test_many_small_additions_leave_few_segments(tmp_path):
    with IndexFolder.create(tmp_path / "i") as index:
        for number in range(40):
            index.add([document(f"{number:02}")])
        with index.snapshot() as snapshot:
            assert len(snapshot.segments) < 16
            assert len(snapshot) == 40
        assert found(index, "contract") == [f"{number:02}" for number in range(40)]
        assert index.verify() == []


# Creating


def test_an_index_is_created_complete_or_not_at_all(tmp_path):
    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        IndexFolder.create(tmp_path / "i", documents=[document("a")], progress=interrupt)
    with pytest.raises(DataError):
        IndexFolder.create(tmp_path / "i", documents=[document("a"), document("a")])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_not_touched(tmp_path, index):
    with pytest.raises(StorageError, match="already exists"):
        IndexFolder.create(index.folder)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    for replace in (False, True):
        with pytest.raises(StorageError, match=r"already exists|is not an index"):
            IndexFolder.create(tmp_path / "home", replace=replace)
    assert (tmp_path / "home" / "letter.txt").read_text() == "dear"


def test_replacing_keeps_the_old_one_until_the_new_one_is_complete(index):
    plain = IndexSettings(stems=False)

    def interrupt(done):
        assert set(contents(index)) == {"a", "b"}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        IndexFolder.create(index.folder, plain, documents=[document("z")], replace=True, progress=interrupt)
    with pytest.raises(DataError):
        IndexFolder.create(index.folder, plain, documents=[document("z"), document("z")], replace=True)
    assert set(contents(index)) == {"a", "b"}
    with index.snapshot() as old, IndexFolder.create(index.folder, plain, documents=[document("z")], replace=True) as new:
        assert list(old.ids) == ["a", "b"]
        assert contents(new) == contents(index) == {"z": "contract notice"}
        assert new.settings == plain
        index.add([document("y", "notices")])  # opened before: reads text in the new way all the same
        assert found(new, "notices") == ["y"]
        assert index.verify() == []


def test_replacing_is_writing(index):
    def replace(done):
        with pytest.raises(StorageError, match="being written"):
            IndexFolder.create(index.folder, replace=True)

    index.add([document("c")], progress=replace)
    assert set(contents(index)) == {"a", "b", "c"}


@pytest.mark.parametrize("damage", [b"garbage" * 100, b""])
def test_a_damaged_index_can_be_replaced(index, damage):
    index.close()
    (index.folder / "catalog.sqlite").write_bytes(damage)
    with IndexFolder.create(index.folder, documents=[document("z")], replace=True) as new:
        assert set(contents(new)) == {"z"}
        assert new.verify() == []


# Bad folders


def test_no_index(tmp_path):
    with pytest.raises(NotFoundError, match="no index in"):
        IndexFolder(tmp_path / "nowhere")


def test_an_index_of_a_newer_version(index):
    with index._catalog.writing():
        index._catalog.set_meta("format", 99)
    for opening in (lambda: IndexFolder(index.folder), index.snapshot):
        with pytest.raises(DataError, match=r"format 99.*newer LexFuse"):
            opening()


def test_damaged_settings(index):
    with index._catalog.writing():
        index._catalog.set_meta("settings", {"fields": 1})
    for opening in (lambda: IndexFolder(index.folder), index.snapshot):
        with pytest.raises(DataError, match="settings of the index are damaged"):
            opening()


def test_a_damaged_segment_is_found_named_and_rebuilt(index):
    index.add([document("c", "court")])
    path = index.folder / "segments/000001/bm25/weights.npy"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    assert index.verify() == [f"{path}: has other bytes than were written"]
    assert found(index, "court") == ["c"]  # the rest is usable
    assert set(contents(index)) == {"a", "b", "c"}
    index.rebuild()
    assert index.verify() == []
    assert found(index, "lease") == ["b"]


@pytest.mark.parametrize("name", ["manifest.json", "ids.bytes.npy", "bm25/docs.npy"])
def test_a_missing_segment_file_is_named_and_rebuilt(index, name):
    (index.folder / "segments/000001" / name).unlink()
    for use in (index.snapshot, lambda: (index.delete(["a"]), index.merge())):
        with pytest.raises(NotFoundError, match=name):
            use()
    assert [name in line for line in index.verify()] == [True]
    index.rebuild()
    assert contents(index) == {"b": "lease tenant"}
    assert index.verify() == []


def test_a_truncated_segment_file_is_named(index):
    path = index.folder / "segments/000001/bm25/docs.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"docs\.npy.*damaged"):
        index.snapshot()
    assert len(index.verify()) == 1


def test_a_missing_folder_of_segments(index):
    shutil.rmtree(index.folder / "segments")
    assert len(index.verify()) == 1
    index.rebuild()
    assert index.verify() == []
    assert found(index, "lease") == ["b"]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM documents WHERE id = 'a'",
        "UPDATE documents SET id = 'x' WHERE id = 'a'",
        "UPDATE documents SET ordinal = 9 WHERE id = 'a'",
        "INSERT INTO tombstones VALUES (1, 0)",
        "UPDATE segments SET documents = 3",
        "UPDATE segments SET manifest = ''",
        "UPDATE contents SET text = 'other'",
    ],
)
def test_a_catalog_that_does_not_fit_its_segments_is_found(index, change):
    assert index.verify() == []
    index._catalog.connection.execute(change)
    assert index.verify() != []


def test_verifying_while_another_merges(index, monkeypatch):
    from lexfuse.storage import index_folder

    index.add([document("c")])
    other, damages = IndexFolder(index.folder), index_folder.damages
    merges = [other.merge]

    def later(folder, sha256):
        while merges:
            merges.pop()()
        return damages(folder, sha256)

    monkeypatch.setattr(index_folder, "damages", later)
    assert index.verify() == []
    other.close()


# Writers, readers, interruptions


def test_two_writers(index):
    refused = []

    def write_too(done):
        with IndexFolder(index.folder) as other:
            for change in (lambda: other.add([document("x")]), lambda: other.delete(["a"]), other.merge, other.rebuild):
                with pytest.raises(StorageError, match="being written by another process"):
                    change()
                refused.append(done)

    index.add([document("c")], progress=write_too)
    assert refused == [1] * 4
    assert set(contents(index)) == {"a", "b", "c"}
    assert index.verify() == []


def test_a_writer_in_another_process(index):
    script = """
        import sys
        from lexfuse.data.document import Document
        from lexfuse.storage.index_folder import IndexFolder

        def wait(done):
            print("writing", flush=True)
            sys.stdin.readline()

        with IndexFolder(sys.argv[1]) as index:
            index.add([Document("c", text="court", language="en")], progress=wait)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(index.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "writing\n"
        with pytest.raises(StorageError, match="being written by another process"):
            index.add([document("d")])
        assert set(contents(index)) == {"a", "b"}
        other.communicate("\n")
    assert other.returncode == 0
    assert set(contents(index)) == {"a", "b", "c"}
    index.add([document("d")])
    assert index.verify() == []


def test_readers_go_on_while_a_writer_writes(index):
    seen = []
    index.add([document("c")], progress=lambda done: seen.append((set(contents(index)), found(index, "contract"))))
    assert seen == [({"a", "b"}, ["a"])]
    assert found(index, "contract") == ["a", "c"]


@pytest.mark.parametrize("update", [False, True])
def test_interrupting_changes_nothing(index, update):
    before = contents(index), generation(index), files(index)

    def interrupt(done):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.add([document("c"), document("a" if update else "d"), document("e")], update=update, progress=interrupt)
    assert (contents(index), generation(index), files(index)) == before
    index.add([document("c")])
    assert index.verify() == []


def test_failing_after_the_files_are_written_leaves_none(index, monkeypatch):
    before = contents(index), files(index)

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(index._catalog, "insert", fail)
    with pytest.raises(KeyboardInterrupt):
        index.add([document("c")])
    assert (contents(index), files(index)) == before


def test_files_left_by_a_killed_writer_are_removed_by_the_next(index):
    left = index.folder / "segments/000002"
    left.mkdir()
    (left / "ids.bytes.npy").write_bytes(b"half")
    assert set(contents(index)) == {"a", "b"}
    assert index.verify() == []
    index.delete(["a"])
    assert not left.exists()
    left.mkdir()
    index.merge()
    assert index.verify() == []
    (index.folder / f"segments/{index._catalog.meta('next_number'):06}").mkdir()
    index.rebuild()
    assert index.verify() == []
    assert len(list((index.folder / "segments").iterdir())) == 1
    assert set(contents(index)) == {"b"}


def test_a_full_disk(index):
    """The largest file a process may write is limited: SQLite and array files meet the same wall as on a full disk."""
    script = """
        import resource, signal, sys
        from lexfuse.data.document import Document
        from lexfuse.errors import StorageError
        from lexfuse.storage.index_folder import IndexFolder

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        documents = [Document(f"x{n:04}", text=" ".join(f"w{n}y{m}" for m in range(40)), language="en") for n in range(300)]
        with IndexFolder(sys.argv[1]) as index:
            for limit in map(int, sys.argv[2:]):
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
                try:
                    index.add(documents)
                except StorageError as error:
                    print(error)
    """
    limits = ["4096", "20000", "60000", "100000", "120000"]
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(index.folder), *limits]
    before = contents(index), generation(index), files(index)
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    told = done.stdout.splitlines()
    assert len(told) == len(limits)
    assert all("nothing was changed" in line for line in told)
    assert any("segments/" in line for line in told)  # of a segment's file,
    assert any("catalog.sqlite" in line for line in told)  # and of the catalog
    assert (contents(index), generation(index), files(index)) == before
    assert index.verify() == []
    index.add([document("c")])
    assert set(contents(index)) == {"a", "b", "c"}


def test_a_place_that_cannot_be_written(tmp_path):
    with IndexFolder.create(tmp_path / "i") as index:
        place = index.folder / "segments"
        place.rmdir()
        place.write_text("in the way")
        with pytest.raises(StorageError, match=r"segments.*nothing was changed"):
            index.add([document("c")])
        assert (contents(index), place.read_text()) == ({}, "in the way")
        place.unlink()
        index.add([document("c")])
        assert set(contents(index)) == {"c"}


def test_signals_while_writing_to_the_catalog(index, monkeypatch):
    """Ctrl-C after the transaction has begun, before anything else: the next change finds no transaction open."""
    remove = IndexFolder._remove_orphans

    def interrupted(self):
        monkeypatch.setattr(IndexFolder, "_remove_orphans", remove)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(IndexFolder, "_remove_orphans", interrupted)
    with pytest.raises(KeyboardInterrupt):
        index.add([document("c")])
    assert index.add([document("c")]) == ChangeCounts(added=1)


# Space


def test_compacting_gives_space_back(tmp_path):
    documents = [document(f"{number:05}", f"contract w{number} " * 40) for number in range(3000)]
    with IndexFolder.create(tmp_path / "i", documents=documents) as index:
        before = size(index.folder)
        index.delete([one.id for one in documents[30:]])
        index.compact()
        assert size(index.folder) < before / 10
        assert len(contents(index)) == 30
        assert index.verify() == []


def test_compacting_beside_a_reader(index):
    with index.snapshot() as snapshot:
        index.delete(["a"])
        index.compact()
        assert list(snapshot.ids) == ["a", "b"]
        assert snapshot.document("a").text == "contract notice"
    assert set(contents(index)) == {"b"}
    assert index.verify() == []


def test_closing(index):
    index.close()
    with pytest.raises(StorageError, match="was closed"):
        index.add([document("c")])
    with pytest.raises(StorageError, match="was closed"):
        index.delete(["a"])
    assert any("was closed" in line for line in index.verify())
