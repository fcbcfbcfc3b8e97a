"""Files: read whole, written whole or not at all."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lexfuse.data import files
from lexfuse.data.files import chunks, decode, lines, open_bytes, raw_lines, read_bytes, written_file, written_folder
from lexfuse.errors import DataError, NotFoundError, StorageError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def interrupted(written, error):
    assert written
    raise error


def test_gzip_is_seen_from_the_content_not_the_name(tmp_path):
    (tmp_path / "plain.gz").write_bytes(b"law")
    (tmp_path / "packed.txt").write_bytes(gzip.compress(b"law", mtime=0))
    assert read_bytes(tmp_path / "plain.gz") == read_bytes(tmp_path / "packed.txt") == b"law"


def test_lines_end_only_at_line_feeds(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("un\r\n\n  \ndeux\x85\u2028trois\rquatre".encode())
    assert [(number, raw.decode()) for number, raw in lines(path)] == [(1, "un"), (3, "  "), (4, "deux\x85\u2028trois\rquatre")]
    assert b"".join(raw for _, raw in raw_lines(path)) == path.read_bytes()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_chunks_are_whole_lines_and_know_their_number(tmp_path, size):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nbb\n\nccc\nd")
    blocks = list(chunks(path, size))
    assert b"".join(block for _, block in blocks) == path.read_bytes()
    assert all(block.endswith(b"\n") for _, block in blocks[:-1])
    seen = 0
    for first, block in blocks:
        assert first == seen + 1
        seen += block.count(b"\n")


def test_a_missing_file_and_a_folder_are_said(tmp_path):
    with pytest.raises(NotFoundError, match=r"no file or folder .*nowhere"):
        open_bytes(tmp_path / "nowhere")
    with pytest.raises(DataError, match="is a folder, a file was expected"):
        open_bytes(tmp_path)


def test_a_file_that_may_not_be_read_is_said(tmp_path, monkeypatch):
    (tmp_path / "a").touch()

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="cannot be read: Permission denied"):
        open_bytes(tmp_path / "a")


@pytest.mark.parametrize("keep", [2, 5, 12, -9])
def test_a_truncated_gzip_is_said(tmp_path, keep):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(os.urandom(100) + b"\n" + os.urandom(5000), mtime=0)[:keep])
    with pytest.raises(DataError, match="truncated or damaged after line"):
        list(lines(path))
    with pytest.raises(DataError, match=r"a\.gz: the gzip data is truncated or damaged \("):
        read_bytes(path)


def test_a_damaged_gzip_is_said(tmp_path):
    packed = bytearray(gzip.compress(os.urandom(5000), mtime=0))
    packed[2000] ^= 0xFF
    (tmp_path / "a.gz").write_bytes(packed)
    with pytest.raises(DataError, match="truncated or damaged"):
        read_bytes(tmp_path / "a.gz")


def test_bytes_that_are_not_utf8_have_a_place():
    with pytest.raises(DataError, match=r"a\.txt, line 3: byte 0xe9 at position 1 is not UTF-8"):
        decode(b"\x41\xe9", path="a.txt", line=3)
    assert decode(b"\xef\xbb\xbfloi", path="a.txt") == "loi"


def test_the_same_content_gives_the_same_gzip(tmp_path):
    for name in ("a.gz", "b.gz"):
        with written_file(tmp_path / name) as out:
            out.write(b"law" * 100)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"law" * 100


def test_folders_on_the_way_are_made(tmp_path):
    with written_file(tmp_path / "x" / "y" / "a.txt") as out:
        out.write(b"law")
    assert (tmp_path / "x" / "y" / "a.txt").read_bytes() == b"law"


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_an_interrupted_file_leaves_the_old_one_and_nothing_else(tmp_path, error, name):
    path = tmp_path / name
    path.write_bytes(b"old")
    with pytest.raises(error), written_file(path) as out:
        interrupted(out.write(b"new"), error)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == [name]


def test_an_interrupted_folder_leaves_the_old_one_and_nothing_else(tmp_path):
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    with pytest.raises(KeyboardInterrupt), written_folder(folder, replace=True) as partial:
        interrupted((partial / "new.txt").write_text("new"), KeyboardInterrupt)
    assert names(tmp_path) == ["c"]
    assert names(folder) == ["old.txt"]


def test_a_replaced_folder_holds_only_the_new(tmp_path):
    for name in ("old.txt", "new.txt"):
        with written_folder(tmp_path / "c", replace=True) as partial:
            (partial / name).write_text(name)
    assert names(tmp_path) == ["c"]
    assert names(tmp_path / "c") == ["new.txt"]


def test_a_folder_that_is_there_is_not_touched_unless_told(tmp_path):
    (tmp_path / "c").mkdir()
    with pytest.raises(StorageError, match=r"already exists.*--force"), written_folder(tmp_path / "c"):
        pass
    assert names(tmp_path) == ["c"]


def test_a_folder_behind_one_that_is_not_there_yet_is_not_replaced(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "kept.txt").write_text("law")
    with pytest.raises(StorageError, match=r"already exists.*--force"), written_folder(tmp_path / "new" / ".." / "old"):
        pass
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["kept.txt"]


def test_an_exchange_that_fails_half_way_brings_the_old_folder_back(tmp_path, monkeypatch):
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    rename = Path.rename

    def fail_to_place(self, target):
        if self.name.startswith(".c.partial") and not self.name.endswith("-old"):
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr("lexfuse.data.files._exchanged", lambda *_: False)  # as where the system cannot
    monkeypatch.setattr(Path, "rename", fail_to_place)
    with pytest.raises(StorageError, match="Input/output error"), written_folder(folder, replace=True) as partial:
        (partial / "new.txt").write_text("new")
    assert names(tmp_path) == ["c"]
    assert names(folder) == ["old.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    with written_file(tmp_path / "link.txt") as out:
        out.write(b"new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_folder_in_the_way_and_a_file_as_parent_are_said(tmp_path):
    with pytest.raises(StorageError, match="it is a folder"), written_file(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot write"), written_file(tmp_path / "file" / "a.txt"):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_device_is_a_storage_error():
    message = "cannot write '/dev/full': No space left on device; free some space"
    with pytest.raises(StorageError, match=message), written_file("/dev/full") as out:
        out.write(b"law" * 10_000)


FULL_DISK = """
import resource, signal, sys
from lexfuse.data.files import written_file, written_folder
from lexfuse.errors import StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with written_file(sys.argv[1]) as out:
        for _ in range(100):
            out.write(bytes(range(256)) * 4)
except StorageError as error:
    print(error)
"""


def test_a_disk_that_fills_up_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True)
    assert "File too large; free some space or write elsewhere; nothing was changed" in done.stdout
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.bin"]


def test_new_files_have_the_usual_permissions(tmp_path):
    mask = os.umask(0o027)
    try:
        with written_file(tmp_path / "a.txt") as out:
            out.write(b"law")
    finally:
        os.umask(mask)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def packed(path, *parts):
    with gzip.open(path, "wb") as out:
        out.writelines(parts)
    return path


def test_gzip_data_that_grows_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 1000)
    monkeypatch.setattr(files, "LARGEST_UNPACKED", 5000)
    monkeypatch.setattr(files, "_CHECKED_FROM", 50_000)
    one_line = packed(tmp_path / "a.gz", b"a" * 6000)
    for read in (lambda path: list(files.lines(path)), lambda path: list(files.chunks(path, 10))):
        with pytest.raises(DataError, match="a line is longer than 1,000 bytes"):
            read(one_line)
    with pytest.raises(DataError, match="unpacks to more than 5,000 bytes"):
        files.read_bytes(one_line)
    many_lines = packed(tmp_path / "b.gz", *[b"a" * 900 + b"\n"] * 2000)
    for read in (lambda path: list(files.lines(path)), lambda path: list(files.chunks(path, 10))):
        with pytest.raises(DataError, match="bytes of gzip data unpack to more than"):
            read(many_lines)


def test_a_plain_file_may_be_of_any_length_and_lines_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_UNPACKED", 5000)
    monkeypatch.setattr(files, "_CHECKED_FROM", 50_000)
    path = tmp_path / "a.txt"
    path.write_bytes(b"a" * 900 + b"\n")
    path.write_bytes(path.read_bytes() * 2000)
    assert len(files.read_bytes(path)) == 901 * 2000
    assert len(list(files.lines(path))) == 2000
    monkeypatch.setattr(files, "LONGEST_LINE", 899)
    with pytest.raises(DataError, match="a line is longer than 899 bytes"):
        list(files.raw_lines(path))
