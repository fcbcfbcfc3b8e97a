"""Token vectors on disk: round trips, lists of centroids, merging, files that do not belong together."""

import numpy as np
import pytest

from lexfuse.channels.late.codec import TokenCodec
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.storage.array_file import save_array

GENERATOR = np.random.default_rng(0)
DOCUMENTS = [GENERATOR.normal(size=(length, 10)).astype(np.float32) for length in (3, 0, 7, 1, 5)]
CODEC = TokenCodec.trained(np.concatenate(DOCUMENTS), 2)
NAMES = ("starts", "codes", "scales", "residuals", "lists", "members")


def arrays_of(part):
    return {name: getattr(part, name).tolist() for name in NAMES}


def test_lists_name_the_documents_of_every_centroid():
    part = TokenPart.of(DOCUMENTS, CODEC)
    for centroid in range(len(CODEC.centroids)):
        held = part.members[part.lists[centroid] : part.lists[centroid + 1]].tolist()
        expected = [doc for doc in range(5) if centroid in part.codes[part.starts[doc] : part.starts[doc + 1]]]
        assert held == expected


def test_documents_are_taken_one_after_the_other(monkeypatch):
    monkeypatch.setattr("lexfuse.channels.late.stored_part._TOGETHER", 4)
    part = TokenPart.of(iter(DOCUMENTS), CODEC)
    assert part.starts.tolist() == [0, 3, 3, 10, 11, 16]
    assert len(part) == 5
    for at, document in enumerate(DOCUMENTS):
        np.testing.assert_array_equal(part.vectors(at), CODEC.decoded(CODEC.encoded(document)))


@pytest.mark.parametrize("documents", [[], [DOCUMENTS[1]], DOCUMENTS])
def test_round_trip(tmp_path, documents):
    part = TokenPart.of(documents, CODEC)
    paths = list(part.save(tmp_path))
    assert sorted(paths) == sorted(tmp_path.iterdir())
    back = TokenPart.load(tmp_path)
    assert arrays_of(back) == arrays_of(part)
    assert back.codec.same(CODEC)
    assert back.bytes == part.bytes


def test_merged_parts_are_the_same_as_parts_made_at_once():
    parts = [TokenPart.of(DOCUMENTS[:2], CODEC), TokenPart.of([], CODEC), TokenPart.of(DOCUMENTS[2:], CODEC)]
    every = [np.ones(len(part), np.bool_) for part in parts]
    assert arrays_of(TokenPart.merged(parts, every)) == arrays_of(TokenPart.of(DOCUMENTS, CODEC))
    kept = [np.array([False, True]), np.empty(0, np.bool_), np.array([True, False, True])]
    some = [DOCUMENTS[at] for at in (1, 2, 4)]
    assert arrays_of(TokenPart.merged(parts, kept)) == arrays_of(TokenPart.of(some, CODEC))


def test_parts_of_other_codecs_are_not_merged():
    other = TokenPart.of(DOCUMENTS, TokenCodec.trained(np.concatenate(DOCUMENTS), 4))
    with pytest.raises(ConfigError, match="different ways"):
        TokenPart.merged([TokenPart.of(DOCUMENTS, CODEC), other], [np.ones(5, np.bool_)] * 2)


def test_vectors_of_another_dimension_are_refused():
    with pytest.raises(ConfigError, match="10 dimensions, as the index has; got 4"):
        TokenPart.of([np.ones((2, 4), np.float32)], CODEC)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("starts", np.array([0, 3, 3, 10, 11, 17], np.int64)),
        ("starts", np.array([0, 5, 3, 10, 11, 16], np.int64)),
        ("codes", np.full(16, 1000, np.int32)),
        ("codes", np.full(16, -1, np.int32)),
        ("scales", np.ones(15, np.float32)),
        ("residuals", np.zeros(16, np.uint8)),
        ("lists", np.zeros(2, np.int64)),
        ("members", np.zeros(3, np.int32)),
    ],
)
def test_files_that_do_not_belong_together_are_refused(tmp_path, name, array):
    list(TokenPart.of(DOCUMENTS, CODEC).save(tmp_path))
    save_array(tmp_path / f"{name}.npy", array)
    with pytest.raises(DataError, match=str(tmp_path)):
        TokenPart.load(tmp_path)


def test_documents_that_are_not_there_are_refused(tmp_path):
    part = TokenPart.of(DOCUMENTS, CODEC)
    list(part.save(tmp_path))
    save_array(tmp_path / "members.npy", np.full(len(part.members), 5, np.int32))
    with pytest.raises(DataError, match=str(tmp_path)):
        TokenPart.load(tmp_path)
    (tmp_path / "members.npy").unlink()
    with pytest.raises(NotFoundError, match="members"):
        TokenPart.load(tmp_path)
