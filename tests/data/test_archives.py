import io
import tarfile
import zipfile

import pytest

from lexfuse.data import archives
from lexfuse.data.archives import has_member, members, parse_json
from lexfuse.errors import DataError, NotFoundError


def tarball(path, **files):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"package/../{name}.json")  # a hostile path is never followed
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_members_of_folder_tarball_and_wheel(tmp_path):
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    (tmp_path / "folder" / "deep" / "b.json").write_bytes(b"1")
    (tmp_path / "folder" / "a.json").write_bytes(b"2")
    (tmp_path / "folder" / "a.txt").write_bytes(b"3")
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as wheel:
        wheel.writestr("p/b.json", b"1")
        wheel.writestr("p/a.json", b"2")
    for path in (tmp_path / "folder", tmp_path / "x.whl", tarball(tmp_path / "x.tgz", b=b"1", a=b"2")):
        assert sorted(raw for _, raw in members(path, r"[ab]\.json")) == [b"1", b"2"]
    assert [raw for _, raw in members(tmp_path / "folder" / "a.json", r"a\.json")] == [b"2"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder", "x.tgz", "x.whl"]


def test_archives_in_a_folder_are_opened_only_without_plain_files(tmp_path):
    tarball(tmp_path / "x.tgz", a=b"1")
    assert [raw for _, raw in members(tmp_path, r"a\.json")] == [b"1"]
    (tmp_path / "a.json").write_bytes(b"2")
    assert [raw for _, raw in members(tmp_path, r"a\.json")] == [b"2"]


@pytest.mark.parametrize("name", ["x.tgz", "x.whl"])
def test_damaged_archives(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x1f\x8b no archive at all")
    with pytest.raises(DataError, match="the archive is damaged"):
        list(members(path, ".*"))
    assert not has_member(path, ".*")


def test_a_truncated_tarball(tmp_path):
    path = tarball(tmp_path / "x.tgz", a=bytes(range(256)) * 400)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="the archive is damaged"):
        list(members(path, r"a\.json"))


@pytest.mark.parametrize("name", ["x.tgz", "x.whl"])
def test_huge_members_are_refused_by_their_declared_size(tmp_path, monkeypatch, name):
    path = tarball(tmp_path / "x.tgz", a=b"12345")
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as wheel:
        wheel.writestr("a.json", b"12345")
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 4)
    with pytest.raises(DataError, match="declares 5 bytes"):
        list(members(path.with_name(name), r"a\.json"))


def test_no_such_path(tmp_path):
    with pytest.raises(NotFoundError):
        list(members(tmp_path / "none", ".*"))


def test_json_that_is_not_utf8():
    with pytest.raises(DataError, match="not UTF-8"):
        parse_json(b'"\xe9"', "a.json")


def locked(path):
    """A zip file whose member says that it is encrypted."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", b"123456789012345")
    raw = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(signature) + place] |= 1
    path.write_bytes(raw)
    return path


def test_a_locked_member_is_named(tmp_path):
    with pytest.raises(DataError, match=r"member 'a.json' has a password; save the archive without one"):
        list(members(locked(tmp_path / "x.zip"), r"a\.json"))
    assert not has_member(tmp_path / "x.zip", r"a\.json")


def test_an_unknown_way_of_packing_is_told(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", b"1")
    raw = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        raw[raw.index(signature) + place] = 99
    path.write_bytes(raw)
    with pytest.raises(DataError, match="pack it again as a plain zip file"):
        list(members(path, r"a\.json"))
