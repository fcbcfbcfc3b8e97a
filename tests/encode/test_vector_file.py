"""Files of vectors that another system computed: what they may hold, what is refused, and how rows are found."""

import numpy as np
import pytest

from lexfuse.encode.encoder import Side
from lexfuse.encode.vector_file import VectorFile
from lexfuse.errors import ConfigError, DataError, NotFoundError

VECTORS = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 1.0]])


def saved(folder, **arrays):
    np.savez(folder / "v.npz", **arrays)
    return folder / "v.npz"


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_rows_by_id_have_length_one_or_their_own(tmp_path, kind):
    path = saved(tmp_path, ids=["a", "b", "c"], vectors=VECTORS.astype(kind))
    cosine, dot = VectorFile.load(path), VectorFile.load(path, dot_product=True)
    rows, starts = cosine.of_documents(["c", "a", "b"])
    np.testing.assert_allclose(rows, [[-(0.5**0.5), 0.5**0.5], [0.6, 0.8], [0, 0]], rtol=1e-6)
    assert starts.tolist() == [0, 1, 2, 3]
    assert dot.of_documents(["c", "a"])[0].tolist() == [[-1, 1], [3, 4]]
    assert (cosine.normalises, dot.normalises, dot.dimension, rows.dtype) == (True, False, 2, np.float32)
    assert cosine.fingerprint != dot.fingerprint


def test_a_document_may_have_several_passages_and_a_question_one_vector(tmp_path):
    several = VectorFile.load(saved(tmp_path, ids=["a", "b", "a"], vectors=VECTORS), dot_product=True)
    rows, starts = several.of_documents(["a", "b"])
    assert rows.tolist() == [[3, 4], [-1, 1], [0, 0]]
    assert starts.tolist() == [0, 2, 3]
    with pytest.raises(DataError, match="the question 'a' has several vectors"):
        several.encode(["b", "a"], Side.QUERY)
    with pytest.raises(DataError, match="the question 'x' has several vectors"):
        VectorFile.load(saved(tmp_path, texts=["x", "y", "x"], vectors=VECTORS))


def test_questions_are_found_by_their_texts_or_by_ids(tmp_path):
    both = VectorFile.load(saved(tmp_path, ids=["1", "2", "3"], texts=["Où ?", "b", "c"], vectors=VECTORS))
    assert both.encode(["Où ?"], Side.QUERY).tolist() == pytest.approx(np.array([[0.6, 0.8]]))
    assert both.of_documents(["1"])[0].tolist() == both.encode(["Où ?"], Side.QUERY).tolist()
    ids = VectorFile.load(saved(tmp_path, ids=np.array(["q1", "é", "3"], dtype="U9"), vectors=VECTORS))
    assert ids.encode([], Side.QUERY).shape == (0, 2)
    assert ids.encode(["é", "q1"], Side.QUERY)[1].tolist() == pytest.approx([0.6, 0.8])
    with pytest.raises(NotFoundError, match=r"v.npz has no vector of the question 'a', 'b', 'c' and 1 more; add it to the file"):
        ids.encode([*"abcd"], Side.QUERY)
    with pytest.raises(ConfigError, match="expected a list of texts"):
        ids.encode("q1", Side.QUERY)


def test_an_npy_file_has_its_ids_next_to_it(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    with pytest.raises(NotFoundError, match=r"v.txt"):
        VectorFile.load(tmp_path / "v.npy")
    (tmp_path / "v.txt").write_text("a\nL. 1, al. 2\r\né\n", encoding="utf-8")
    assert VectorFile.load(tmp_path / "v.npy").of_documents(["L. 1, al. 2", "é"])[0].shape == (2, 2)


def test_a_file_may_get_more_rows_but_no_other_system(tmp_path):
    path = saved(tmp_path, ids=["a"], vectors=VECTORS[:1], model="ada-002")
    before = VectorFile.load(path)
    assert (before.model, before.fingerprint) == (
        "ada-002",
        VectorFile.load(saved(tmp_path, ids=["a", "b", "c"], vectors=VECTORS, model="ada-002")).fingerprint,
    )
    assert before.fingerprint != VectorFile.load(saved(tmp_path, ids=["a"], vectors=VECTORS[:1], model="other")).fingerprint
    assert before.fingerprint != VectorFile.load(saved(tmp_path, ids=["a"], vectors=np.ones((1, 3)), model="ada-002")).fingerprint


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"vectors": VECTORS}, "expected the arrays vectors, ids or texts, and perhaps model; the file has vectors"),
        ({"ids": ["a"]}, "the file has ids"),
        ({"ids": ["a", "b", "c"], "vectors": VECTORS, "titles": ["x"]}, "the file has ids, vectors, titles"),
        ({"ids": ["a", "b"], "vectors": VECTORS}, "3 vectors and 2 ids"),
        ({"ids": [1, 2, 3], "vectors": VECTORS}, "ids must be a list of texts, got int64"),
        ({"ids": np.array(["a", "b", None]), "vectors": VECTORS}, "saved as np.array.ids, dtype=str."),
        ({"ids": ["a", "b", "c"], "vectors": VECTORS.astype(int)}, "a table of floats, got int64 of shape .3, 2."),
        ({"ids": ["a", "b", "c"], "vectors": VECTORS[0]}, "a table of floats, got float64 of shape .2,."),
        ({"ids": ["a", "b", "c"], "vectors": VECTORS[:, :0]}, "of shape .3, 0."),
        ({"ids": ["a", "b", "c"], "vectors": np.where(VECTORS == 4, np.nan, VECTORS)}, "vector of 'a' .row 0. holds nan"),
        ({"ids": ["a", "b", "c"], "vectors": np.where(VECTORS == 1, 1e300, VECTORS)}, "vector of 'c' .row 2. holds nan or infin"),
        ({"ids": ["a", "b", "c"], "vectors": VECTORS, "model": ["x", "y"]}, "model must be one text, got 2"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, arrays, words):
    with pytest.raises(DataError, match=words):
        VectorFile.load(saved(tmp_path, **arrays))


def test_missing_documents_and_damaged_files_are_named(tmp_path):
    stored = VectorFile.load(saved(tmp_path, ids=["a", "b", "c"], vectors=VECTORS))
    with pytest.raises(DataError, match="no vector of 1 of 2 documents, 'd'; add their vectors"):
        stored.of_documents(["a", "d"])
    with pytest.raises(DataError, match="need their ids in the array ids"):
        VectorFile.load(saved(tmp_path, texts=["a", "b", "c"], vectors=VECTORS)).of_documents(["a"])
    content = (tmp_path / "v.npz").read_bytes()
    for damaged in (b"", b"PK", content[:-30], content[:60]):
        (tmp_path / "v.npz").write_bytes(damaged)
        with pytest.raises(DataError, match=r"v.npz: the arrays cannot be read"):
            VectorFile.load(tmp_path / "v.npz")
    np.save(tmp_path / "one.npy", VECTORS)
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(DataError, match="one array without a name"):
        VectorFile.load(tmp_path / "one.npz")
    with pytest.raises(NotFoundError, match="no file or folder"):
        VectorFile.load(tmp_path / "w.npz")
