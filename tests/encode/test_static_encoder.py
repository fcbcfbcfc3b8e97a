"""Means of word vectors: the definition, what is unknown or empty, and the folder on disk."""

import json
from dataclasses import replace

import numpy as np
import pytest

from lexfuse.encode.encoder import Side
from lexfuse.encode.static_encoder import StaticEncoder, WordWeighting, is_static, plain_words
from lexfuse.encode.word_vectors import WordVectors
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.storage.array_file import save_array
from lexfuse.text.analysis.analyser import Analyser
from lexfuse.text.analysis.vocabulary import Vocabulary

ROWS = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.5], [-1.0, 1.0, 1.0]], dtype=np.float32)
IDF = np.array([0.5, 2.0, 1.0], dtype=np.float32)


@pytest.fixture
def encoder():
    return StaticEncoder(WordVectors(Vocabulary(["loi", "congé", "bail"]), ROWS), plain_words(), IDF)


def unit(vector):
    return vector / np.linalg.norm(vector)


def saved(encoder, folder):
    folder.mkdir()
    return {path.name: path.read_bytes() for path in encoder.save(folder)}


def test_the_mean_of_words_as_often_as_they_occur(encoder):
    found = encoder.encode(["Loi, congé ; LOI !"], Side.QUERY)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], unit(2 * ROWS[0] + ROWS[1]), rtol=1e-6)


def test_idf_weights(encoder):
    found = replace(encoder, weighting=WordWeighting.IDF).encode(["loi congé loi"], Side.PASSAGE)
    np.testing.assert_allclose(found[0], unit(2 * 0.5 * ROWS[0] + 2.0 * ROWS[1]), rtol=1e-6)


def test_texts_without_known_words_are_zero(encoder):
    assert not encoder.encode(["", "préavis", " \n", "!?"], Side.QUERY).any()
    assert encoder.encode([], Side.QUERY).shape == (0, 3)


def test_a_text_is_the_same_alone_and_among_others(encoder):
    texts = ["loi bail", "congé congé", "bail loi loi"]
    together = encoder.encode(texts, Side.PASSAGE)
    assert all(
        encoder.encode([text], Side.QUERY)[0].tobytes() == row.tobytes() for text, row in zip(texts, together, strict=True)
    )


def test_a_long_text_is_read_to_its_end(encoder):
    text = "loi " * 100_000 + "congé " * 100_000
    np.testing.assert_allclose(encoder.encode([text], Side.QUERY)[0], unit(ROWS[0] + ROWS[1]), rtol=1e-6)


def test_progress_and_wrong_arguments(encoder):
    told = []
    encoder.encode(["loi", "bail"], Side.QUERY, progress=told.append)
    assert told == [1, 2]
    with pytest.raises(ConfigError, match="got one text"):
        encoder.encode("loi", Side.QUERY)
    with pytest.raises(ConfigError, match="come without idf"):
        StaticEncoder(encoder.vectors, plain_words(), weighting=WordWeighting.IDF)
    with pytest.raises(ConfigError, match="3 words need as many idf values, got 2"):
        replace(encoder, idf=IDF[:2])


class Backwards:
    """Gives a vector to the words that begin with b."""

    fingerprint = "backwards"

    def of(self, word):
        return np.full(3, float(len(word)), dtype=np.float32) if word.startswith("b") else None


def test_words_that_only_ngrams_know(encoder):
    other = replace(encoder, vectors=replace(encoder.vectors, subwords=Backwards()))
    np.testing.assert_allclose(other.encode(["loi baux zut"], Side.QUERY)[0], unit(ROWS[0] + 4.0), rtol=1e-6)
    weighted = replace(other, weighting=WordWeighting.IDF)
    np.testing.assert_allclose(weighted.encode(["loi baux"], Side.QUERY)[0], unit(0.5 * ROWS[0] + 2.0 * 4.0), rtol=1e-6)
    assert other.fingerprint != encoder.fingerprint


def test_saved_and_loaded(encoder, tmp_path):
    written = saved(encoder, tmp_path / "a")
    loaded = StaticEncoder.load(tmp_path / "a")
    assert is_static(tmp_path / "a")
    assert saved(loaded, tmp_path / "b") == written
    assert loaded.fingerprint == StaticEncoder.load(tmp_path / "b").fingerprint
    assert loaded.analyser == encoder.analyser
    np.testing.assert_allclose(loaded.encode(["congé bail"], Side.QUERY), encoder.encode(["congé bail"], Side.QUERY), atol=1e-3)
    weighted = StaticEncoder.load(tmp_path / "a", weighting=WordWeighting.IDF)
    assert weighted.weighting is WordWeighting.IDF
    assert weighted.fingerprint != loaded.fingerprint


def test_fingerprints_tell_how_text_is_read(encoder):
    assert encoder.fingerprint != replace(encoder, analyser=Analyser("fr")).fingerprint
    assert encoder.fingerprint != replace(encoder, vectors=WordVectors(encoder.vectors.words, ROWS * 2)).fingerprint
    assert encoder.fingerprint == replace(encoder, origin={"file": "x"}).fingerprint


def test_a_file_of_vectors_is_read_as_plain_words(tmp_path):
    (tmp_path / "a.vec").write_text("2 2\nl'été 1 0\nété 0 1\n")
    found = StaticEncoder.load(tmp_path / "a.vec").encode(["L'ÉTÉ"], Side.QUERY)
    assert found.tolist() == [[0.0, 1.0]]


def test_what_is_no_model(tmp_path):
    with pytest.raises(NotFoundError):
        StaticEncoder.load(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"it has no static\.json"):
        StaticEncoder.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("static.json", b"{", "the word vectors are damaged"),
        ("static.json", b"[]", "the word vectors are damaged"),
        ("static.json", json.dumps({"format": "other"}).encode(), "format 'other', expected"),
        ("vectors.npy", None, "vectors.npy"),
        ("vectors.npy", np.zeros(5, np.float16), "do not belong together"),
        ("vectors.npy", np.full(9, np.nan, np.float16), "a number is nan or infinite"),
        ("idf.npy", np.zeros(2, np.float32), "do not belong together"),
        ("idf.npy", np.zeros(3, np.float64), "damaged"),
        ("words.offsets.npy", np.array([0, 3, 9, 4], np.int64), "damaged"),
    ],
)
def test_damage_is_named(encoder, tmp_path, name, content, said):
    saved(encoder, tmp_path / "a")
    path = tmp_path / "a" / name
    if content is None:
        path.unlink()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        save_array(path, content)
    with pytest.raises(DataError, match=said):
        StaticEncoder.load(tmp_path / "a")
