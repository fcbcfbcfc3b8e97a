"""Vectors on disk: what each storage keeps, files that come back as they were, and files that cannot be."""

import numpy as np
import pytest

from lexfuse.channels.dense import stored_part
from lexfuse.channels.dense.stored_part import LONGEST, VectorPart, VectorStorage, quantised
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.storage.array_file import save_array

every_storage = pytest.mark.parametrize("storage", VectorStorage, ids=lambda storage: storage.value)
NAMES = ("starts", "spans", "matrix", "scales", "norms")


def random_rows(rows=7, dimension=5, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)


def part_of(storage=VectorStorage.FP32):
    spans = [(at, at + 10) for at in range(7)]
    return VectorPart.of(random_rows(), starts=[0, 3, 3, 7], spans=spans, storage=storage)


def same(one, other):
    assert one.storage is other.storage
    for name in NAMES:
        first, second = getattr(one, name), getattr(other, name)
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)


def test_fp32_keeps_every_bit():
    np.testing.assert_array_equal(part_of().block(0, 7), random_rows())


def test_fp16_rounds_to_nearest():
    np.testing.assert_array_equal(part_of(VectorStorage.FP16).block(0, 7), random_rows().astype(np.float16).astype(np.float32))


def test_int8_is_off_by_half_a_scale_at_most():
    part = part_of(VectorStorage.INT8)
    np.testing.assert_array_equal(np.abs(part.matrix).max(axis=1), 127)
    np.testing.assert_allclose(part.scales, np.abs(random_rows()).max(axis=1) / 127, rtol=1e-6)
    assert (np.abs(part.block(0, 7) - random_rows()) <= part.scales[:, None] * (0.5 + 1e-4)).all()


@pytest.mark.parametrize("size", [1e-45, 3e-44, 1e-40, 1e-38, 1.0, 1e17])
def test_codes_of_tiny_and_large_rows_stay_in_range(size):
    rows = (size * np.array([[1, -0.49, 0.3], [0, 0, 0], [-0.7, 0.1, 1]])).astype(np.float32)
    codes, scales = quantised(rows)
    wide = rows.astype(np.float64)
    assert (np.abs(codes.astype(int)) <= 127).all()
    assert (np.abs(wide - scales[:, None].astype(np.float64) * codes) <= scales[:, None] * np.float64(0.5001)).all()


@every_storage
def test_norms_are_upper_bounds_and_close(storage):
    part = part_of(storage)
    factors = part.scales.astype(np.float64)[:, None] if storage is VectorStorage.INT8 else 1.0
    exact = np.linalg.norm(part.matrix.astype(np.float64) * factors, axis=1)
    assert (part.norms >= exact).all()
    np.testing.assert_allclose(part.norms, exact, rtol=1e-6)


@every_storage
def test_some_rows_are_those_of_the_block(storage):
    part = part_of(storage)
    chosen = np.array([5, 0, 5])
    np.testing.assert_array_equal(part.taken(chosen), part.block(0, 7)[chosen])
    assert part.taken(chosen).dtype == np.float32


@every_storage
def test_many_blocks_give_what_one_gives(storage, monkeypatch):
    whole = part_of(storage)
    monkeypatch.setattr(stored_part, "_BLOCK", 10)
    same(part_of(storage), whole)


@every_storage
def test_round_trip(tmp_path, storage):
    part = part_of(storage)
    files = list(part.save(tmp_path))
    assert sorted(files) == sorted(tmp_path.iterdir())
    loaded = VectorPart.load(tmp_path)
    same(loaded, part)
    assert (len(loaded), loaded.rows, loaded.dimension) == (3, 7, 5)
    assert loaded.spans[2].tolist() == [2, 12]


@every_storage
def test_no_documents_still_know_their_dimension(tmp_path, storage):
    list(VectorPart.of(np.empty((0, 5), np.float32), storage=storage).save(tmp_path))
    loaded = VectorPart.load(tmp_path)
    assert (len(loaded), loaded.rows, loaded.dimension, loaded.storage) == (0, 0, 5, storage)


def test_the_same_vectors_give_the_same_bytes(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        list(part_of(VectorStorage.INT8).save(tmp_path / name))
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_a_missing_file_is_named(tmp_path):
    list(part_of().save(tmp_path))
    (tmp_path / "fp32.npy").unlink()
    with pytest.raises(NotFoundError, match=r"fp32\.npy"):
        VectorPart.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("shape", np.array([3, 7], np.int64)),
        ("shape", np.array([3, 7, 4], np.int64)),
        ("shape", np.array([-1, 7, 5], np.int64)),
        ("starts", np.array([0, 7], np.int64)),
        ("starts", np.array([0, 8, 3, 7], np.int64)),
        ("spans", np.zeros(12, np.int32)),
        ("norms", np.full(7, np.nan, np.float32)),
        ("norms", np.full(7, -1, np.float32)),
        ("norms", np.ones(6, np.float32)),
        ("scales", np.ones(6, np.float32)),
        ("scales", np.full(7, np.inf, np.float32)),
        ("int8", np.zeros(34, np.int8)),
    ],
)
def test_files_that_do_not_belong_together(tmp_path, name, array):
    list(part_of(VectorStorage.INT8).save(tmp_path))
    save_array(tmp_path / f"{name}.npy", array)
    with pytest.raises(DataError, match=tmp_path.name):
        VectorPart.load(tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@every_storage
def test_what_is_no_number_is_refused(storage, value):
    rows = random_rows()
    rows[4, 2] = value
    with pytest.raises(DataError, match=r"vector 4 holds nan or infinity"):
        VectorPart.of(rows, storage=storage)


def test_too_large_for_its_storage():
    rows = random_rows()
    rows[3, 1] = 70_000
    with pytest.raises(DataError, match=r"vector 3 .* 65,504.*fp32"):
        VectorPart.of(rows, storage=VectorStorage.FP16)
    rows[3, 1] = 2 * LONGEST
    with pytest.raises(DataError, match=r"vector 3 has the length 2\.31e\+18"):
        VectorPart.of(rows)


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        (np.ones(3, np.float32), {}, r"shape \(3,\)"),
        (np.ones((3, 0), np.float32), {}, r"at least one column"),
        (random_rows(), {"starts": [0, 3]}, r"starts must ascend from 0 to the number of vectors, 7"),
        (random_rows(), {"starts": [0, 5, 3, 7]}, r"starts must ascend"),
        (random_rows(), {"spans": [(0, 1)]}, r"7 vectors need as many spans, got 1"),
    ],
)
def test_tables_that_cannot_be(rows, arguments, message):
    with pytest.raises(ConfigError, match=message):
        VectorPart.of(rows, **arguments)


@every_storage
def test_merging_keeps_living_documents_in_order(storage):
    part = part_of(storage)
    merged = VectorPart.merged([part, part], [np.array([False, True, True]), np.array([True, False, False])])
    assert merged.starts.tolist() == [0, 0, 4, 7]
    np.testing.assert_array_equal(merged.matrix, part.matrix[[3, 4, 5, 6, 0, 1, 2]])
    np.testing.assert_array_equal(merged.norms, part.norms[[3, 4, 5, 6, 0, 1, 2]])
    assert merged.spans[:, 0].tolist() == [3, 4, 5, 6, 0, 1, 2]


def test_parts_of_other_storage_do_not_merge():
    everything = [np.ones(3, bool)] * 2
    with pytest.raises(ConfigError, match=r"5 x fp16, 5 x int8"):
        VectorPart.merged([part_of(VectorStorage.INT8), part_of(VectorStorage.FP16)], everything)
