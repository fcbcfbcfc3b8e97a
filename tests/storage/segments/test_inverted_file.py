"""The inverted file: lists and lengths counted by hand, and files that do not belong together."""

import numpy as np
import pytest

from lexfuse.errors import DataError
from lexfuse.storage.array_file import save_array
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.text.analysis.vocabulary import Vocabulary

DOCUMENTS = [["b", "a", "b"], [], ["c", "b"]]


def lists_of(file):
    return {term: tuple(array.tolist() for array in file.postings(term)) for term in file.terms}


def test_lists_by_hand():
    file = InvertedFile.of(DOCUMENTS)
    assert lists_of(file) == {"a": ([0], [1.0]), "b": ([0, 2], [2.0, 1.0]), "c": ([2], [1.0])}
    assert file.lengths.tolist() == [3.0, 0.0, 2.0]
    assert file.document_frequency.tolist() == [1, 2, 1]


def test_the_order_in_which_terms_were_met_does_not_matter():
    one, other = Vocabulary(["a", "b", "unused"]), Vocabulary(["b", "x", "a"])
    first = InvertedFile.from_rows([np.array([0, 1, 1], np.int32)], one)
    second = InvertedFile.from_rows([np.array([2, 0, 0], np.int32)], other)
    assert lists_of(first) == lists_of(second) == {"a": ([0], [1.0]), "b": ([0], [2.0])}


def test_any_weights_fit():
    rows, weights = [np.array([0, 0, 1], np.int32)], [np.array([0.25, 0.5, 3], np.float32)]
    file = InvertedFile.from_rows(rows, Vocabulary(["x", "y"]), weights)
    assert lists_of(file) == {"x": ([0], [0.75]), "y": ([0], [3.0])}
    assert file.lengths.tolist() == [3.75]


@pytest.mark.parametrize("documents", [[], [[]], DOCUMENTS])
def test_round_trip(tmp_path, documents):
    file = InvertedFile.of(documents)
    assert len(list(file.save(tmp_path))) == 6
    back = InvertedFile.load(tmp_path)
    assert lists_of(back) == lists_of(file)
    assert back.lengths.tolist() == file.lengths.tolist()


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("offsets", np.array([0, 1, 3, 9], np.int64)),
        ("offsets", np.array([0, 3, 1, 4], np.int64)),
        ("offsets", np.array([0, 4], np.int64)),
        ("weights", np.ones(3, np.float32)),
    ],
)
def test_files_that_do_not_belong_together_are_refused(tmp_path, name, array):
    list(InvertedFile.of(DOCUMENTS).save(tmp_path))
    save_array(tmp_path / f"{name}.npy", array)
    with pytest.raises(DataError, match=str(tmp_path)):
        InvertedFile.load(tmp_path)
