"""Sparse vectors stored as bytes: how near they come, that merging changes no bit, and that damage is named."""

import numpy as np
import pytest

from lexfuse.channels.sparse.stored_part import LEVELS, SparsePart
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.storage.array_file import save_array
from lexfuse.text.analysis.vocabulary import Vocabulary

TERMS = Vocabulary([f"t{number:02d}" for number in range(40)])


def rows_of(seed, documents):
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(documents):
        ids = np.sort(generator.choice(40, generator.integers(0, 20), replace=False)).astype(np.int32)
        rows.append((ids, np.log1p(generator.exponential(3, len(ids))).astype(np.float32)))
    return rows


def table_of(part):
    table = np.zeros((len(part), len(TERMS)), dtype=np.float32)
    file = part.inverted
    for at, term in enumerate(file.terms):
        span = slice(int(file.offsets[at]), int(file.offsets[at + 1]))
        table[file.docs[span], TERMS.find(term)] = file.weights[span]
    return table


def bytes_of(part, folder):
    folder.mkdir()
    return {path.name: path.read_bytes() for path in part.save(folder)}


def test_stored_weights_are_within_half_a_step():
    rows = rows_of(1, 50)
    table = table_of(SparsePart.of(rows, TERMS))
    for row, (ids, weights) in zip(table, rows, strict=True):
        step = weights.max(initial=0) / LEVELS
        assert np.flatnonzero(row).tolist() == ids.tolist()
        large = weights > step
        assert (np.abs(row[ids] - weights)[large] <= 0.5001 * step).all()
        assert (np.abs(row[ids] - weights) <= 1.0001 * step).all()  # the least weights are raised to one step


def test_the_largest_weight_comes_back_as_it_was():
    rows = rows_of(2, 50)
    for row, (_, weights) in zip(table_of(SparsePart.of(rows, TERMS)), rows, strict=True):
        np.testing.assert_allclose(row.max(), weights.max(initial=0), rtol=1e-6)


def test_lengths_are_sums_of_stored_weights():
    part = SparsePart.of(rows_of(3, 20), TERMS)
    np.testing.assert_allclose(part.inverted.lengths, table_of(part).sum(axis=1), rtol=1e-6)


def test_a_document_is_stored_the_same_in_any_company():
    rows = rows_of(4, 10)
    together = table_of(SparsePart.of(rows, TERMS))
    for at, row in enumerate(rows):
        assert table_of(SparsePart.of([row], TERMS)).tobytes() == together[at].tobytes()


def test_merged_is_built_anew(tmp_path):
    rows = rows_of(5, 30)
    parts = [SparsePart.of(rows[:9], TERMS), SparsePart.of(rows[9:10], TERMS), SparsePart.of(rows[10:], TERMS)]
    kept = np.random.default_rng(6).random(30) < 0.6
    merged = SparsePart.merged(parts, [kept[:9], kept[9:10], kept[10:]])
    anew = SparsePart.of([row for row, keep in zip(rows, kept, strict=True) if keep], TERMS)
    assert 0 < len(merged) == kept.sum() < 30
    assert bytes_of(merged, tmp_path / "merged") == bytes_of(anew, tmp_path / "anew")


def test_saved_and_loaded(tmp_path):
    part = SparsePart.of(rows_of(7, 12), TERMS)
    written = bytes_of(part, tmp_path / "a")
    loaded = SparsePart.load(tmp_path / "a")
    assert len(loaded) == 12
    assert table_of(loaded).tobytes() == table_of(part).tobytes()
    assert bytes_of(loaded, tmp_path / "b") == written
    assert len(written["codes.npy"]) == 128 + len(part.inverted.docs)  # one byte a posting


def test_merging_loaded_parts_and_nothing_alive(tmp_path):
    part = SparsePart.of(rows_of(8, 5), TERMS)
    bytes_of(part, tmp_path / "a")
    loaded = SparsePart.load(tmp_path / "a")
    both = SparsePart.merged([loaded, part], [np.ones(5, dtype=bool), np.ones(5, dtype=bool)])
    assert table_of(both)[:5].tobytes() == table_of(both)[5:].tobytes() == table_of(part).tobytes()
    assert len(SparsePart.merged([loaded], [np.zeros(5, dtype=bool)])) == 0


def test_documents_without_terms_are_kept():
    empty = (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))
    part = SparsePart.of([empty, empty], TERMS)
    assert len(part) == 2
    assert part.inverted.lengths.tolist() == [0.0, 0.0]


def test_tiny_weights_are_not_lost():
    part = SparsePart.of([(np.array([0], np.int32), np.array([1e-44], np.float32))], TERMS)
    assert part.inverted.weights[0] > 0


@pytest.mark.parametrize(
    ("ids", "weights", "said"),
    [
        ([0, 1], [1.0], "document 0 has 2 terms and 1 weights"),
        ([40], [1.0], "beyond the 40 of the vocabulary"),
        ([3, 3], [1.0, 1.0], "document 0 has a term twice"),
        ([3], [0.0], "weights must be positive numbers; document 0 has 0.0 for 't03'"),
        ([3], [np.nan], "weights must be positive numbers"),
    ],
)
def test_what_cannot_be_stored_is_refused(ids, weights, said):
    with pytest.raises(ConfigError, match=said):
        SparsePart.of([(np.array(ids, np.int32), np.array(weights, np.float32))], TERMS)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("codes", lambda array: array[:-1], "do not belong together"),
        ("codes", lambda array: array * 0, "weights or steps cannot be"),
        ("steps", lambda array: array[:-1], "a document beyond the 11 there are"),
        ("steps", lambda array: array * np.float32(np.nan), "weights or steps cannot be"),
        ("offsets", lambda array: array[::-1].copy(), "offsets do not ascend"),
        ("docs", lambda array: array - 1, "a document beyond the 12 there are"),
    ],
)
def test_damage_is_named(tmp_path, name, change, said):
    full = [(np.arange(40, dtype=np.int32), np.ones(40, dtype=np.float32))] * 12
    bytes_of(SparsePart.of(full, TERMS), tmp_path / "a")
    path = tmp_path / "a" / f"{name}.npy"
    dtype = {"codes": np.uint8, "steps": np.float32, "offsets": np.int64, "docs": np.int32}[name]
    save_array(path, change(np.frombuffer(path.read_bytes()[128:], dtype=dtype)))
    with pytest.raises(DataError, match=said):
        SparsePart.load(tmp_path / "a")


def test_a_missing_file_is_named(tmp_path):
    bytes_of(SparsePart.of([], TERMS), tmp_path / "a")
    (tmp_path / "a" / "steps.npy").unlink()
    with pytest.raises(NotFoundError, match=r"steps\.npy"):
        SparsePart.load(tmp_path / "a")
