"""An index on a read-only file system: read in full, and nothing is written to it."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from lexfuse.data.document import Document
from lexfuse.storage.feedback import FeedbackEntry
from lexfuse.storage.index_folder import IndexFolder

READ = """
    import json, sys
    from lexfuse.data.queries import Queries, Query
    from lexfuse.errors import StorageError
    from lexfuse.storage.index_folder import IndexFolder
    from lexfuse.storage.folder_snapshot import open_snapshot
    from lexfuse.channels.lexical.bm25 import BM25

    view, real = sys.argv[1:]

    def found(snapshot):
        return [hit.doc for hit in BM25(snapshot).retrieve(Queries.of([Query("q", "notice", "en")]), 9).hits("q")]

    def error_of(use):
        try:
            use()
        except StorageError as error:
            return str(error)
"""


def within_a_view(folder, tmp_path, script):
    """What a script prints that sees the folder through a read-only mount."""
    view = tmp_path / "view"
    view.mkdir()
    spaces = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    mount = 'mount --bind "$0" "$1" && mount -o remount,bind,ro "$1" && '
    mounted = [*spaces, "sh", "-c", f"{mount} ! touch $1/x 2> /dev/null", str(folder), str(view)]
    try:
        allowed = subprocess.run(mounted, capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("this system lets nobody mount a folder read-only")
    command = [*spaces, "sh", "-c", f'{mount} exec "$2" -W error -c "$3" "$1" "$0"', str(folder), str(view), sys.executable]
    done = subprocess.run([*command, textwrap.dedent(READ) + textwrap.dedent(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path):
    with IndexFolder.create(tmp_path / "i%41 b?#", documents=[Document("a", text="notice", language="en")]) as index:
        index.feedback.keep(FeedbackEntry("q", "a", 1, generation=1))
    return tmp_path / "i%41 b?#"


def listed(folder):
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


EVERYTHING = """
    with IndexFolder(view) as index, index.snapshot() as snapshot:
        told = [found(snapshot), snapshot.document("a").text, index.verify(), len(index.feedback.kept())]
        print(json.dumps([*told, error_of(lambda: index.delete(["a"])), error_of(lambda: index.compact())]))
"""


def test_it_is_opened_searched_and_verified(folder, tmp_path):
    before = listed(folder)
    *told, deleted, compacted = within_a_view(folder, tmp_path, EVERYTHING)
    assert told == [["a"], "notice", [], 1]
    assert "it can be read but not written" in deleted
    assert "it can be read but not written" in compacted
    assert listed(folder) == before


def test_the_log_of_a_killed_writer_is_read(folder, tmp_path):
    script = """
        import os, sys
        from lexfuse.data.document import Document
        from lexfuse.storage.index_folder import IndexFolder

        IndexFolder(sys.argv[1]).add([Document("b", text="notice notice", language="en")])
        os._exit(9)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(folder)]).returncode == 9
    assert (folder / "catalog.sqlite-wal").stat().st_size
    before = listed(folder)
    assert within_a_view(folder, tmp_path, EVERYTHING)[:4] == [["b", "a"], "notice", [], 1]
    assert listed(folder) == before
    (folder / "catalog.sqlite-shm").unlink()
    script = "print(json.dumps(error_of(lambda: open_snapshot(view))))"
    (tmp_path / "view").rmdir()
    assert "a log that a killed writer left is read where its folder can be written" in within_a_view(folder, tmp_path, script)


def test_a_writer_that_comes_by_another_way_is_noticed(folder, tmp_path):
    script = """
        from lexfuse.data.document import Document

        before = open_snapshot(view)
        with IndexFolder(real) as writer:
            writer.add([Document("b", text="notice notice", language="en")])
            with open_snapshot(view) as during:
                told = [found(during), before.document("a").text]
        with open_snapshot(view) as after:
            print(json.dumps([*told, found(after), error_of(lambda: before.document("a"))]))
        before.close()
    """
    *told, error = within_a_view(folder, tmp_path, script)
    assert told == [["b", "a"], "notice", ["b", "a"]]
    assert "was changed by another process while it was read; open the index again" in error
