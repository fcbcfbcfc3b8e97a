"""Arrays on disk: exact, mapped when large, and refused when they are not what was written."""

import numpy as np
import pytest

from lexfuse.data.files import checksum
from lexfuse.errors import DataError, NotFoundError
from lexfuse.storage.array_file import MAPPED_FROM, map_array, save_array


@pytest.mark.parametrize("size", [0, 1, 1000, MAPPED_FROM])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.uint8])
def test_round_trip(tmp_path, size, dtype):
    array = (np.arange(size) % 100).astype(dtype)
    back = map_array(save_array(tmp_path / "a.npy", array), dtype)
    np.testing.assert_array_equal(back, array)
    assert back.dtype == dtype
    assert not back.flags.writeable


def test_numpy_reads_what_we_write(tmp_path):
    save_array(tmp_path / "a.npy", np.arange(10)[::2])
    assert np.load(tmp_path / "a.npy").tolist() == [0, 2, 4, 6, 8]


def test_same_array_same_bytes(tmp_path):
    one, other = (save_array(tmp_path / name, np.arange(5)) for name in ("a.npy", "b.npy"))
    assert checksum(one) == checksum(other)
    assert checksum(save_array(tmp_path / "c.npy", np.arange(6))) != checksum(one)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"a\.npy"):
        map_array(tmp_path / "a.npy", np.int32)


@pytest.mark.parametrize("size", [100, MAPPED_FROM])
@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"",
        lambda raw: raw[:20],
        lambda raw: raw[:-1],
        lambda raw: raw + b"x",
        lambda raw: b"garbage" + raw[7:],
        lambda raw: raw.replace(b"<i4", b"<f4"),
        lambda raw: raw.replace(b"<i4", b"|O "),
        lambda raw: raw.replace(b"'shape': (", b"'shape': {"),
        lambda raw: raw.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x02"),
    ],
    ids=["empty", "header cut", "cut", "longer", "magic", "type", "objects", "syntax", "version"],
)
def test_damage_is_named(tmp_path, size, damage):
    path = save_array(tmp_path / "a.npy", np.arange(size, dtype=np.int32))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match=r"a\.npy.*damaged"):
        map_array(path, np.int32)


def test_more_dimensions_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 2), dtype=np.int32))
    with pytest.raises(DataError, match="damaged"):
        map_array(tmp_path / "a.npy", np.int32)
