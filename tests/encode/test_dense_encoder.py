import json
from itertools import pairwise

import numpy as np
import pytest

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.errors import ConfigError, DataError


@pytest.fixture
def encoder(tmp_path, tiny, own_cache):
    return DenseEncoder.load(tiny.folder(tmp_path / "m", normalise=True), threads=1)


def test_shape_length_and_an_empty_list(encoder, tiny):
    vectors = encoder.encode(tiny.TEXTS, Side.PASSAGE)
    assert vectors.shape == (len(tiny.TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert encoder.encode([], Side.QUERY).shape == (0, encoder.dimension)


def test_one_text_in_the_place_of_a_list_is_refused(encoder):
    with pytest.raises(ConfigError, match="expected a list of texts"):
        encoder.encode("the court", Side.QUERY)


def test_the_order_and_company_of_texts_change_nothing(encoder, tiny):
    vectors = encoder.encode(tiny.TEXTS, Side.PASSAGE)
    np.testing.assert_allclose(encoder.encode(tiny.TEXTS[::-1], Side.PASSAGE)[::-1], vectors, atol=1e-6)
    for text, vector in zip(tiny.TEXTS, vectors, strict=True):
        np.testing.assert_allclose(encoder.encode([text], Side.PASSAGE)[0], vector, atol=1e-6)


def test_a_text_is_encoded_once_and_progress_counts_texts(encoder, monkeypatch):
    sizes, done = [], []
    run = type(encoder.transformer).run
    monkeypatch.setattr(
        type(encoder.transformer), "run", lambda self, ids, mask: (sizes.append(len(ids)), run(self, ids, mask))[1]
    )
    vectors = encoder.encode(["loi", "congé", "loi", "loi"], Side.QUERY, progress=done.append)
    assert sum(sizes) == 2
    assert np.array_equal(vectors[0], vectors[3])
    assert not np.array_equal(vectors[0], vectors[1])
    assert done[-1] == 4
    assert done == sorted(done)


def test_blocks_change_nothing(encoder, tiny, monkeypatch):
    whole = encoder.encode(tiny.TEXTS, Side.PASSAGE)
    monkeypatch.setattr("lexfuse.encode.dense_encoder.BLOCK", 3)
    done = []
    np.testing.assert_allclose(encoder.encode(tiny.TEXTS, Side.PASSAGE, progress=done.append), whole, atol=1e-6)
    assert done == sorted(done)
    assert done[-1] == len(tiny.TEXTS)


def test_an_empty_text_has_the_vector_of_no_words(encoder):
    empty, blank = encoder.encode(["", " \n"], Side.QUERY)
    assert np.array_equal(empty, blank)
    assert np.linalg.norm(empty) == pytest.approx(1)


def test_a_long_text_is_the_mean_of_its_windows(encoder):
    text = "the court held that the lease ended " * 60
    (row,) = encoder.tokens.ids([text])
    windows = encoder.tokens.windows(row)
    assert len(windows) > 2
    states = [encoder.transformer.run(*encoder.tokens.padded([window]))[0].mean(axis=0) for window in windows]
    expected = np.mean([state / np.linalg.norm(state) for state in states], axis=0)
    ours = encoder.encode(["short", text, "loi"], Side.PASSAGE)
    np.testing.assert_allclose(ours[1], expected / np.linalg.norm(expected), atol=1e-6)
    np.testing.assert_allclose(ours[::2], encoder.encode(["short", "loi"], Side.PASSAGE), atol=1e-6)


def test_a_hundred_thousand_tokens(encoder):
    (vector,) = encoder.encode(["article " * 100_000], Side.PASSAGE)
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_prompts_of_the_folder_and_given_ones(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m", prompts={"query": "loi : ", "document": "article : "})
    encoder = DenseEncoder.load(path, threads=1)
    plain = DenseEncoder.load(path, threads=1, prompts={Side.QUERY: "", Side.PASSAGE: ""})
    assert np.array_equal(encoder.encode(["congé"], Side.QUERY), plain.encode(["loi : congé"], Side.QUERY))
    assert np.array_equal(encoder.encode(["congé"], Side.PASSAGE), plain.encode(["article : congé"], Side.PASSAGE))
    assert encoder.fingerprint != plain.fingerprint


def test_a_prompt_that_does_not_count_in_the_pooling(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m", prompts={"query": "loi : "})
    (path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "mean", "include_prompt": False}))
    encoder = DenseEncoder.load(path, threads=1)
    (row,) = encoder.tokens.ids(["loi : congé"])
    states = encoder.transformer.run(*encoder.tokens.padded([row]))[0]
    np.testing.assert_allclose(encoder.encode(["congé"], Side.QUERY)[0], states[3:].mean(axis=0), atol=1e-6)


def test_steps_that_give_no_dense_vector_are_refused(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m")
    steps = json.loads((path / "modules.json").read_text())
    steps.append({"idx": 2, "name": "2", "path": "", "type": "sentence_transformers.sparse_encoder.models.SpladePooling"})
    (path / "modules.json").write_text(json.dumps(steps))
    with pytest.raises(DataError, match="steps that give no dense vector: SpladePooling"):
        DenseEncoder.load(path)


def test_int8_is_close_and_does_not_depend_on_the_batch(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "m", normalise=True)
    full, small = DenseEncoder.load(path, threads=1), DenseEncoder.load(path, threads=1, int8=True)
    assert small.fingerprint != full.fingerprint
    vectors = small.encode(tiny.TEXTS, Side.PASSAGE)
    assert (vectors * full.encode(tiny.TEXTS, Side.PASSAGE)).sum(axis=1).min() > 0.95
    assert not np.array_equal(vectors, full.encode(tiny.TEXTS, Side.PASSAGE))
    for text, vector in zip(tiny.TEXTS, vectors, strict=True):
        assert np.array_equal(small.encode([text], Side.PASSAGE)[0], vector)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_chunks_of_a_folder_are_averaged(tmp_path, tiny, own_cache, pooling):
    """BSARD: chunks of so many tokens that share some, each with the first special token; the mean of their vectors."""
    folder = tiny.folder(tmp_path / "m", pooling=(pooling,))
    plain = DenseEncoder.load(folder, threads=1)
    (folder / "chunks.json").write_text(json.dumps({"size": 10, "overlap": 3}))
    encoder = DenseEncoder.load(folder, threads=1)
    assert encoder.fingerprint != plain.fingerprint
    short, long = "le congé", " ".join(["le contrat de travail peut rompre"] * 5)
    row = encoder.tokens.ids([long])[0]
    chunks = encoder.tokens.chunks(row, 10, 3)
    assert [len(chunk) for chunk in chunks[:-1]] == [10] * (len(chunks) - 1)
    assert all(chunk[0] == row[0] for chunk in chunks)
    assert all(np.array_equal(one[-3:], two[1:4]) for one, two in pairwise(chunks))
    assert np.array_equal(np.concatenate([chunks[0], *(chunk[4:] for chunk in chunks[1:])]), row)
    pieces = []
    for chunk in chunks:
        states = encoder.transformer.run(np.array([chunk], dtype=np.int64), np.ones((1, len(chunk)), dtype=np.int64))[0]
        pieces.append(states[0] if pooling == "cls" else states.mean(axis=0))
    found = encoder.encode([short, long], Side.PASSAGE)
    np.testing.assert_allclose(found[1], np.mean(pieces, axis=0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[0], plain.encode([short], Side.PASSAGE)[0], rtol=1e-5, atol=1e-6)
    assert not np.allclose(found[1], plain.encode([long], Side.PASSAGE)[0], atol=1e-3)


@pytest.mark.parametrize("length", range(1, 40))
def test_no_chunk_is_made_of_shared_tokens_alone(encoder, length):
    row = np.concatenate([encoder.tokens.before, np.arange(100, 100 + length), encoder.tokens.after]).astype(np.int32)
    chunks = encoder.tokens.chunks(row, 10, 3)
    assert len(row) <= 10 or len(chunks[-1]) > 1 + 3
    assert set(np.concatenate(chunks).tolist()) == set(row.tolist())


def test_chunks_and_prompts_are_refused(tmp_path, tiny, own_cache):
    folder = tiny.folder(tmp_path / "m", prompts={"query": "le contrat : "})
    (folder / "chunks.json").write_text(json.dumps({"size": 10, "overlap": 3}))
    with pytest.raises(DataError, match="reads texts in chunks takes no prompts"):
        DenseEncoder.load(folder, threads=1)
