"""Strings on disk come back as they were, and damage is named."""

import numpy as np
import pytest

from lexfuse.errors import DataError, NotFoundError
from lexfuse.storage.array_file import save_array
from lexfuse.storage.string_list import StringList


@pytest.mark.parametrize("strings", [[], [""], ["a", "", "bc"], ["é", "x", "漢字", "\x00", "a\x00"], ["\ud800"]])
def test_round_trip(tmp_path, strings):
    saved = list(StringList.of(strings).save(tmp_path / "s"))
    loaded = StringList.load(tmp_path / "s")
    assert [path.name for path in saved] == ["s.offsets.npy", "s.bytes.npy"]
    assert list(loaded) == strings
    assert [loaded[at] for at in range(len(loaded))] == strings
    assert [loaded.find(one) for one in strings] == list(range(len(strings)))
    assert loaded.find("not there") is None


def test_positions_outside_are_refused():
    names = StringList.of(["a"])
    for at in (1, -1):
        with pytest.raises(IndexError):
            names[at]


def test_a_missing_file_is_named(tmp_path):
    list(StringList.of(["a"]).save(tmp_path / "s"))
    (tmp_path / "s.bytes.npy").unlink()
    with pytest.raises(NotFoundError, match=r"s\.bytes\.npy"):
        StringList.load(tmp_path / "s")


@pytest.mark.parametrize("offsets", [[0, 5], [1, 2], [0, 2, 1, 2], []])
def test_offsets_that_do_not_fit_are_named(tmp_path, offsets):
    list(StringList.of(["ab"]).save(tmp_path / "s"))
    save_array(tmp_path / "s.offsets.npy", np.array(offsets, dtype=np.int64))
    with pytest.raises(DataError, match=r"s\.offsets\.npy.*do not ascend"):
        StringList.load(tmp_path / "s")


def test_bytes_that_are_no_text_are_named(tmp_path):
    list(StringList.of(["é"]).save(tmp_path / "s"))
    save_array(tmp_path / "s.bytes.npy", np.array([0xC3, 0x28], dtype=np.uint8))
    loaded = StringList.load(tmp_path / "s")
    for use in (lambda: loaded[0], lambda: list(loaded), lambda: loaded.find("é")):
        with pytest.raises(DataError, match=r"s\.bytes\.npy.*not UTF-8"):
            use()
