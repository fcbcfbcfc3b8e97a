"""SPLADE against its definition in numpy, on random weights: windows, pruning, empty text, folders that are refused."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.encode.transformer import Transformer
from lexfuse.errors import ConfigError, DataError

REFERENCES = Path(__file__).parent.parent / "references"
specification = importlib.util.spec_from_file_location("tiny", REFERENCES / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

LONG = "Le salarié garde ses droits pendant la période d'essai. " * 60


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    return tiny.folder(tmp_path / "model", "bert", head="mlm")


def by_definition(folder, text):
    """Equations 6 to 8, window by window."""
    read = ModelFolder.read(folder)
    tokens, model = ModelTokenizer(read), Transformer.load(read, OutputHead.MLM, threads=1)
    rows = [model.run(*tokens.padded([window]))[0] for window in tokens.windows(tokens.ids([text])[0])]
    return np.max([np.log(1 + np.maximum(row.astype(np.float64), 0)) for row in rows], axis=0), len(rows)


def written_out(vector, size):
    row = np.zeros(size)
    row[vector[0]] = vector[1]
    return row


def test_vectors_follow_the_definition(folder):
    encoder = SparseEncoder.load(folder, threads=1)
    vectors = encoder.encode([*tiny.TEXTS, LONG], Side.QUERY)
    counts = []
    for text, vector in zip([*tiny.TEXTS, LONG], vectors, strict=True):
        expected, windows = by_definition(folder, text)
        np.testing.assert_allclose(written_out(vector, len(encoder.terms)), expected, atol=1e-5)
        counts.append(windows)
    assert counts[-1] > 1
    assert max(counts[:-1]) == 1


def test_ids_ascend_and_weights_are_positive(folder):
    encoder = SparseEncoder.load(folder, threads=1)
    for terms, weights in encoder.encode([*tiny.TEXTS, LONG], Side.PASSAGE):
        assert terms.dtype == np.int32
        assert weights.dtype == np.float32
        assert (np.diff(terms) > 0).all()
        assert (weights > 0).all()
        assert terms.max() < len(encoder.terms)


def test_pruned_vectors_keep_the_largest_weights(folder):
    whole = SparseEncoder.load(folder, threads=1).encode(tiny.TEXTS, Side.QUERY)
    pruned = SparseEncoder.load(folder, threads=1, most_terms=5).encode(tiny.TEXTS, Side.QUERY)
    for (terms, weights), (few, heavy) in zip(whole, pruned, strict=True):
        assert len(few) == 5
        assert (np.diff(few) > 0).all()
        assert set(few.tolist()) <= set(terms.tolist())
        assert sorted(heavy.tolist(), reverse=True) == sorted(weights.tolist(), reverse=True)[:5]


def test_a_text_is_the_same_alone_and_among_others(folder):
    encoder = SparseEncoder.load(folder, threads=1)
    among = encoder.encode([LONG, *tiny.TEXTS, tiny.TEXTS[1]], Side.QUERY)
    alone = encoder.encode([tiny.TEXTS[1]], Side.QUERY)[0]
    for terms, weights in (among[2], among[-1]):
        assert terms.tolist() == alone[0].tolist()
        np.testing.assert_allclose(weights, alone[1], atol=1e-6)


def test_progress_ends_with_all_texts(folder):
    told = []
    SparseEncoder.load(folder, threads=1).encode([*tiny.TEXTS, tiny.TEXTS[0]], Side.QUERY, progress=told.append)
    assert told[-1] == len(tiny.TEXTS) + 1
    assert told == sorted(told)


def test_fingerprints_tell_what_gives_other_vectors(folder):
    first = SparseEncoder.load(folder, threads=1)
    assert first.fingerprint == SparseEncoder.load(folder).fingerprint
    assert first.fingerprint != SparseEncoder.load(folder, most_terms=7).fingerprint
    assert first.tokens.window == 128


def test_no_texts_and_wrong_arguments(folder):
    encoder = SparseEncoder.load(folder, threads=1)
    assert encoder.encode([], Side.QUERY) == []
    with pytest.raises(ConfigError, match="got one text"):
        encoder.encode("congés", Side.QUERY)
    with pytest.raises(ConfigError, match="most_terms must be at least 1, got 0"):
        SparseEncoder.load(folder, most_terms=0)


def with_modules(folder, kind, **values):
    steps = [{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": "1_Step", "type": f"st.{kind}"}]
    (folder / "modules.json").write_text(json.dumps(steps))
    (folder / "1_Step").mkdir()
    (folder / "1_Step" / "config.json").write_text(json.dumps(values))
    return folder


def test_summed_weights_are_refused(folder):
    with pytest.raises(DataError, match="pooling 'sum' with activation 'relu' is not supported; expected max"):
        SparseEncoder.load(with_modules(folder, "SpladePooling", pooling_strategy="sum"))


def test_steps_of_another_kind_are_refused(folder):
    with pytest.raises(DataError, match="steps that SPLADE does not take: SparseAutoEncoder"):
        SparseEncoder.load(with_modules(folder, "SparseAutoEncoder"))


def test_prompts_of_the_folder_are_read_before_the_texts(folder):
    plain = SparseEncoder.load(folder, threads=1)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": tiny.PROMPT}}))
    prompted = SparseEncoder.load(folder, threads=1)
    assert (
        prompted.encode(["Held!"], Side.QUERY)[0][0].tolist() == plain.encode([f"{tiny.PROMPT}Held!"], Side.QUERY)[0][0].tolist()
    )
    assert prompted.encode(["Held!"], Side.PASSAGE)[0][1].tolist() == plain.encode(["Held!"], Side.PASSAGE)[0][1].tolist()
    assert prompted.fingerprint != plain.fingerprint


def test_a_model_without_the_head_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError):
        SparseEncoder.load(tiny.folder(tmp_path / "model", "bert"))
