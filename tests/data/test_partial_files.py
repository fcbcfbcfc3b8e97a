"""What killed writers leave is cleared by the next, and only that; what is in its place stays there without power."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lexfuse.data import files
from lexfuse.data.files import written_file, written_folder

WRITER = """
    import os, sys
    from lexfuse.data.files import written_file, written_folder

    kind, path = sys.argv[1:]
    with (written_file if kind == "file" else written_folder)(path, **({} if kind == "file" else {"replace": True})) as made:
        if kind == "folder":
            (made / "half.txt").write_text("half")
        print("writing", flush=True)
        sys.stdin.readline()
        if kind == "folder":
            (made / "whole.txt").write_text("whole")
        else:
            made.write(b"whole")
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def start_writer(kind, path):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), kind, str(path)]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "writing\n"
    return writer


def write(kind, path):
    if kind == "file":
        with written_file(path) as out:
            out.write(b"new")
    else:
        with written_folder(path, replace=True) as made:
            (made / "new.txt").write_text("new")


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path, kind):
    with start_writer(kind, tmp_path / "a") as writer:
        writer.kill()
    assert len(names(tmp_path)) == 1
    write(kind, tmp_path / "b")  # another target: not its business
    assert len(names(tmp_path)) == 2
    write(kind, tmp_path / "a")
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_another_is_writing_stays(tmp_path, kind):
    with start_writer(kind, tmp_path / "a") as writer:
        write(kind, tmp_path / "a")
        assert len(names(tmp_path)) == 2
        writer.communicate("\n")
    assert writer.returncode == 0
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"whole" if kind == "file" else names(tmp_path / "a") == ["half.txt", "whole.txt"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_other_names_and_links_stay(tmp_path, kind):
    others = [".a.partial-", ".a.partial-Report01", ".a.partial-12345678.txt", ".a.partial-123456789", ".aXpartial-12345678"]
    for name in others:
        (tmp_path / name).write_text("mine")
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "letter.txt").write_text("dear")
    (tmp_path / ".a.partial-abcd1234").symlink_to(tmp_path / "real")
    write(kind, tmp_path / "a")
    assert names(tmp_path) == sorted([*others, "real", ".a.partial-abcd1234", "a"])
    assert names(tmp_path / "real") == ["letter.txt"]


def test_a_writer_that_died_amid_an_exchange_loses_nothing(tmp_path):
    old = tmp_path / ".a.partial-abcd1234-old"
    old.mkdir()
    (old / "old.txt").write_text("old")
    with pytest.raises(KeyboardInterrupt), written_folder(tmp_path / "a", replace=True):
        raise KeyboardInterrupt
    assert names(tmp_path / "a") == ["old.txt"]
    old.mkdir()
    write("folder", tmp_path / "a")
    assert names(tmp_path) == ["a"]
    assert names(tmp_path / "a") == ["new.txt"]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_link_to_a_folder_stays_a_link(tmp_path, monkeypatch, at_once):
    if not at_once:
        monkeypatch.setattr(files, "_exchanged", lambda *_: False)
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "old.txt").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write("folder", tmp_path / "link")
    assert names(tmp_path) == ["link", "real"]
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "real") == ["new.txt"]


@pytest.fixture
def events(monkeypatch):
    """What is forced to disk and what gets a name, in their order."""
    seen = []
    fsync, replace, rename, exchanged = os.fsync, os.replace, Path.rename, files._exchanged

    def synced(handle):
        seen.append(("sync", Path(os.readlink(f"/proc/self/fd/{handle}")).name.partition(".partial-")[0]))
        return fsync(handle)

    def named(call, at):
        def done(*names):
            seen.append(("name", Path(names[at]).name.partition(".partial-")[0]))
            return call(*names)

        return done

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", named(replace, 1))
    monkeypatch.setattr(Path, "rename", named(rename, 1))
    monkeypatch.setattr(files, "_exchanged", named(exchanged, 0))
    return seen


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not tell what a descriptor is of")
@pytest.mark.parametrize("there", [False, True])
def test_contents_come_before_the_name_and_the_name_is_kept(tmp_path, events, there):
    if there:
        write("folder", tmp_path / "a")
        write("file", tmp_path / "b")
        events.clear()
    write("folder", tmp_path / "a")
    assert events == [("sync", "new.txt"), ("sync", ".a"), ("name", "a"), ("sync", tmp_path.name)]
    events.clear()
    write("file", tmp_path / "b")
    assert events == [("sync", ".b"), ("name", "b"), ("sync", tmp_path.name)]


def test_a_private_file_is_its_owners(tmp_path):
    with written_file(tmp_path / "a", private=True) as out:
        out.write(b"key")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
