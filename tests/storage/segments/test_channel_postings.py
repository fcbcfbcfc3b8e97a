"""Postings over segments: statistics of the living, counted by hand."""

import numpy as np
import pytest

from lexfuse.errors import DataError
from lexfuse.storage.array_file import save_array
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.inverted_file import InvertedFile

FILES = [InvertedFile.of([["a", "b"], ["b", "b"]]), InvertedFile.of([["c"], ["b", "a", "c"]])]


def lists_of(postings):
    lists = {}
    for number, term in enumerate(postings.vocabulary):
        spans = zip(*(edges[0].tolist() for edges in postings.ranges(np.array([number]))), strict=True)
        lists[term] = [(int(postings.docs[at]), float(postings.weights[at])) for start, end in spans for at in range(start, end)]
    return lists


def test_two_segments_are_one():
    postings = Postings(FILES, np.array([0, 2, 4]), np.ones(4, dtype=bool))
    assert lists_of(postings) == {"a": [(0, 1), (3, 1)], "b": [(0, 1), (1, 2), (3, 1)], "c": [(2, 1), (3, 1)]}
    assert postings.document_frequency.tolist() == [2, 3, 2]
    assert postings.collection_frequency.tolist() == [2, 4, 2]
    terms = [postings.vocabulary[term] for stretch in postings.stretches() for term in stretch.terms]
    assert terms == ["a", "b", "b", "a", "b", "c", "c"]
    assert (postings.documents, postings.mean_length) == (4, 2.0)


def test_the_dead_do_not_count():
    postings = Postings(FILES, np.array([0, 2, 4]), np.array([True, False, True, False]))
    assert dict(zip(postings.vocabulary, postings.document_frequency.tolist(), strict=True)) == {"a": 1, "b": 1, "c": 1}
    assert dict(zip(postings.vocabulary, postings.collection_frequency.tolist(), strict=True)) == {"a": 1, "b": 1, "c": 1}
    assert (postings.documents, postings.mean_length) == (2, 1.5)


def test_no_segment():
    postings = Postings([], np.array([0]), np.empty(0, dtype=bool))
    assert (len(postings.vocabulary), len(postings.docs), postings.documents, postings.mean_length) == (0, 0, 0, 0.0)
    assert postings.document_frequency.tolist() == postings.collection_frequency.tolist() == []


@pytest.mark.parametrize("wrong", [2, -1, 2**30])
def test_documents_that_cannot_be_are_refused_before_compiled_code_sees_them(tmp_path, wrong):
    list(FILES[0].save(tmp_path))
    docs = FILES[0].docs.copy()
    docs[1] = wrong
    save_array(tmp_path / "docs.npy", docs)
    postings = Postings([InvertedFile.load(tmp_path)], np.array([0, 2]), np.ones(2, dtype=bool))
    with pytest.raises(DataError, match="damaged"):
        _ = postings.docs
