"""Segments on disk: every damage is named, by opening where it cannot be read and by `damages` always."""

import pytest

from lexfuse.errors import DataError, NotFoundError
from lexfuse.storage.manifest import damages
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.segment import Segment
from lexfuse.storage.string_list import StringList

FILES = [
    "ids.offsets.npy", "ids.bytes.npy", "bm25/terms.offsets.npy", "bm25/terms.bytes.npy", "bm25/offsets.npy", "bm25/docs.npy",
    "bm25/weights.npy", "bm25/lengths.npy", "manifest.json",
]  # fmt: skip


@pytest.fixture
def saved(tmp_path):
    segment = Segment(StringList.of(["a", "b"]), {"bm25": InvertedFile.of([["loi", "droit"], ["loi"]])})
    return tmp_path / "s", segment.save(tmp_path / "s")


def test_round_trip(saved):
    segment = Segment.load(*saved)
    assert list(segment.ids) == ["a", "b"]
    assert segment.channels["bm25"].postings("loi")[0].tolist() == [0, 1]
    assert damages(*saved) == []


def test_every_file_is_there(saved):
    assert sorted(str(path.relative_to(saved[0])) for path in saved[0].rglob("*") if path.is_file()) == sorted(FILES)


def test_same_documents_same_bytes_and_other_documents_others(tmp_path):
    def save(name, terms):
        return Segment(StringList.of(["a"]), {"bm25": InvertedFile.of([terms])}).save(tmp_path / name)

    assert save("1", ["loi"]) == save("2", ["loi"]) != save("3", ["droit"])


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(saved, name):
    (saved[0] / name).unlink()
    with pytest.raises(NotFoundError, match=name):
        Segment.load(*saved)
    assert [name in line for line in damages(*saved)] == [True]


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_named(saved, name):
    path = saved[0] / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match=name):
        Segment.load(*saved)
    assert [name in line for line in damages(*saved)] == [True]


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_found_and_named(saved, name):
    path = saved[0] / name
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    assert [name in line for line in damages(*saved)] == [True]


@pytest.mark.parametrize("name", FILES)
def test_any_flipped_byte_ends_in_a_clear_error_or_a_segment(saved, name):
    path = saved[0] / name
    raw, told = path.read_bytes(), []
    for at in range(len(raw)):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x5A]) + raw[at + 1 :])
        try:
            segment = Segment.load(*saved)
            list(segment.ids), list(segment.channels["bm25"].terms)
        except DataError as error:
            told.append(str(error))
    assert told
    assert all(str(saved[0]) in reason for reason in told)


def test_all_damages_are_told(saved):
    (saved[0] / "ids.bytes.npy").unlink()
    (saved[0] / "bm25/docs.npy").write_bytes(b"")
    assert len(damages(*saved)) == 2


def test_ids_of_other_documents_are_refused(saved, tmp_path):
    list(StringList.of(["a"]).save(saved[0] / "ids"))
    with pytest.raises(DataError, match="has 2 documents, not 1"):
        Segment.load(*saved)
