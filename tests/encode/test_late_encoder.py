"""Token vectors: markers, query augmentation, skipped punctuation, windows, what a folder says, what is refused."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.encode.transformer import Transformer
from lexfuse.errors import ConfigError, DataError

_FILE = Path(__file__).parent.parent / "references" / "late.py"
specification = importlib.util.spec_from_file_location("late", _FILE)
late = importlib.util.module_from_spec(specification)
specification.loader.exec_module(late)

LONG = "Le salarié ne perd pas ses droits pendant la période d'essai, sauf préavis. " * 12


@pytest.fixture
def plain(tmp_path, tiny, own_cache):
    return LateEncoder.load(tiny.folder(tmp_path / "model"), threads=1)


def by_definition(path, rows, seen):
    """States of rows of ids, brought to length one; tokens after `seen` are not looked at by others."""
    folder = ModelFolder.read(path)
    model = Transformer.load(folder, OutputHead.HIDDEN, threads=1)
    states = []
    for row, length in zip(rows, seen, strict=True):
        mask = (np.arange(len(row)) < length).astype(np.int64)
        states.append(model.run(np.array([row], dtype=np.int64), mask[None])[0])
    states = np.concatenate(states).astype(np.float64)
    return states / np.linalg.norm(states, axis=1, keepdims=True)


def test_a_query_is_filled_up_with_mask_tokens(plain):
    table = plain.encode(["the court held"], Side.QUERY)[0]
    tokens = ModelTokenizer(plain.folder)
    row = tokens.ids(["the court held"])[0]
    filled = [*row, *[plain.mask] * (32 - len(row))]
    np.testing.assert_allclose(table, by_definition(plain.folder.path, [filled], [len(row)]), atol=1e-5)
    assert plain.words("the court held", Side.QUERY)[:5] == ["[CLS]", "the", "court", "held", "[SEP]"]
    assert plain.words("the court held", Side.QUERY)[5:] == ["[MASK]"] * 27
    np.testing.assert_allclose(np.linalg.norm(table, axis=1), 1, atol=1e-6)


def test_documents_are_not_filled_up_and_lose_their_punctuation(plain):
    text = "the court, held."
    table = plain.encode([text], Side.PASSAGE)[0]
    row = ModelTokenizer(plain.folder).ids([text])[0]
    whole = by_definition(plain.folder.path, [row], [len(row)])
    assert plain.words(text, Side.PASSAGE) == ["[CLS]", "the", "court", "held", "[SEP]"]
    np.testing.assert_allclose(table, whole[[0, 1, 2, 4, 6]], atol=1e-5)


def test_long_texts_are_read_in_windows_and_keep_every_token(plain):
    for side in Side:
        table, words = plain.encode([LONG], side)[0], plain.words(LONG, side)
        assert len(table) == len(words)
        inner = [word for word in words if word not in ("[CLS]", "[SEP]")]
        kept = [ModelTokenizer(plain.folder).word(number) for number in plain.tokens.inner_ids(LONG).tolist()]
        assert inner == (kept if side is Side.QUERY else [word for word in kept if word not in ".,'"])
        assert words.count("[CLS]") == -(-len(kept) // plain.tokens.room) > 1


def test_windows_of_documents_follow_the_length_limit_and_carry_the_marker(tmp_path, tiny, own_cache):
    encoder = LateEncoder.load(late.pylate(tiny, tmp_path / "model"), threads=1)
    words = encoder.words(LONG, Side.PASSAGE)
    assert words.count("[D] ") == words.count("[CLS]") == -(-len(encoder.tokens.inner_ids(LONG)) // 97)
    assert words[:2] == ["[CLS]", "[D] "]
    assert encoder.words("a judgment", Side.QUERY)[:3] == ["[CLS]", "[Q] ", "a"]
    assert len(encoder.encode(["a judgment"], Side.QUERY)[0]) == 36
    assert "." not in words
    assert "'" in words  # this folder lists what is skipped, and that is not in it
    assert encoder.dimension == late.WIDTH


def test_a_text_is_the_same_alone_and_among_others(plain, tiny):
    texts = [*tiny.TEXTS, LONG, tiny.TEXTS[0]]
    for side in Side:
        together = plain.encode(texts, side)
        for text, table in zip(texts, together, strict=True):
            np.testing.assert_allclose(plain.encode([text], side)[0], table, atol=1e-6)
        assert together[-1] is together[0]


def test_an_empty_text_has_the_vectors_of_its_special_tokens(plain):
    assert plain.words("", Side.PASSAGE) == ["[CLS]", "[SEP]"]
    assert plain.encode([""], Side.PASSAGE)[0].shape == (2, plain.dimension)
    assert plain.encode([], Side.QUERY) == []


def test_every_window_carries_the_words_of_a_prompt(tmp_path, tiny, own_cache):
    encoder = LateEncoder.load(tiny.folder(tmp_path / "model", prompts={"document": "judgment of the court: "}), threads=1)
    words = encoder.words(LONG, Side.PASSAGE)
    starts = [at for at, word in enumerate(words) if word == "[CLS]"]
    assert len(starts) > 1
    assert all(words[at + 1 : at + 5] == ["judgment", "of", "the", "court"] for at in starts)
    assert encoder.words("held", Side.QUERY)[:2] == ["[CLS]", "held"]


def test_queries_need_not_be_filled_up(tmp_path, tiny, own_cache):
    path = tiny.folder(tmp_path / "model")
    bare, usual, longer = (LateEncoder.load(path, threads=1, query_length=length) for length in (0, None, 64))
    assert [len(one.encode(["held"], Side.QUERY)[0]) for one in (bare, usual, longer)] == [3, 32, 64]
    assert len({one.fingerprint for one in (bare, usual, longer)}) == 3
    assert LateEncoder.load(path, threads=1, query_length=32).fingerprint == usual.fingerprint


def test_progress_ends_with_all_texts(plain, tiny):
    told = []
    plain.encode([*tiny.TEXTS, *tiny.TEXTS], Side.PASSAGE, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 2 * len(tiny.TEXTS)


def test_settings_of_the_authors_layout(tmp_path, tiny, own_cache):
    path = late.authors(tiny, tmp_path / "model")
    encoder = LateEncoder.load(path, threads=1)
    assert encoder.words("held", Side.QUERY)[:3] == ["[CLS]", "[unused0]", "held"]
    assert encoder.words("held.", Side.PASSAGE) == ["[CLS]", "[unused1]", "held", "[SEP]"]
    assert (encoder.settings.query_length, encoder.settings.document_length, encoder.dimension) == (40, 120, late.WIDTH)
    before = encoder.fingerprint
    metadata = json.loads((path / "artifact.metadata").read_text())
    (path / "artifact.metadata").write_text(json.dumps(metadata | {"mask_punctuation": False}))
    other = LateEncoder.load(path, threads=1)
    assert "." in other.words("held.", Side.PASSAGE)
    assert other.fingerprint != before


@pytest.mark.parametrize("content", ['{"query_maxlen": "many"}', '{"doc_maxlen": []}', "[]", "{"])
def test_damaged_settings_are_refused(tmp_path, tiny, own_cache, content):
    path = late.authors(tiny, tmp_path / "model")
    (path / "artifact.metadata").write_text(content)
    with pytest.raises(DataError, match=str(path)):
        LateEncoder.load(path)


def test_a_marker_that_the_vocabulary_lacks_is_refused(tmp_path, tiny, own_cache):
    path = late.authors(tiny, tmp_path / "model")
    (path / "artifact.metadata").write_text(json.dumps({"query_token_id": "[unused7]"}))
    with pytest.raises(DataError, match=r"lacks the marker '\[unused7\]'"):
        LateEncoder.load(path)


def test_what_cannot_be_is_refused(tmp_path, tiny, own_cache, plain):
    path = plain.folder.path
    with pytest.raises(ConfigError, match="0 to 128 tokens with this model, got 129"):
        LateEncoder.load(path, query_length=129)
    with pytest.raises(ConfigError, match="list of texts"):
        plain.encode("held", Side.QUERY)
    steps = json.loads((path / "modules.json").read_text())
    steps.append({"idx": 2, "name": "2", "path": "2_LSTM", "type": "sentence_transformers.models.LSTM"})
    (path / "modules.json").write_text(json.dumps(steps))
    with pytest.raises(DataError, match="LSTM"):
        LateEncoder.load(path)


def test_deberta_has_no_state_for_tokens_that_no_token_attends_to(tmp_path, tiny, own_cache):
    folder = tiny.folder(tmp_path / "model", "deberta-v2")
    with pytest.raises(DataError, match="which have no state in DeBERTa"):
        LateEncoder.load(folder, threads=1)
    tables = LateEncoder.load(folder, threads=1, query_length=0).encode(["congé"], Side.QUERY)
    assert len(tables[0]) == len(ModelTokenizer(ModelFolder.read(folder)).ids(["congé"])[0])
