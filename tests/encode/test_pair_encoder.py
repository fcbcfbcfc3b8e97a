"""Pairs packed into the window, long ones in windows: against a plain transcription, one pair at a time."""

import json

import numpy as np
import pytest

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.pair_encoder import PairEncoder, PairTemplate, WindowAggregate, probabilities
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.errors import ConfigError, DataError

FAMILIES = ["bert", "roberta", "camembert", "xlm-roberta", "mpnet", "electra", "deberta-v2"]


def cross_encoder(tiny, path, family="bert", labels=1):
    """A small model folder whose classifier has so many labels."""
    tiny.folder(path, family, head="classes")
    vocabulary = ModelTokenizer(ModelFolder.read(path)).vocabulary_size
    named = tiny.tensors(family, vocabulary, "classes")
    last = "classifier" if family == "bert" else "classifier.out_proj"
    named |= {f"{last}.{kind}": named[f"{last}.{kind}"][:labels] for kind in ("weight", "bias")}
    tiny.safetensors(path / "model.safetensors", named)
    return path


@pytest.fixture
def model(tiny, own_cache, tmp_path):
    return PairEncoder.load(cross_encoder(tiny, tmp_path / "m"), threads=1)


def words(chance, tiny, count):
    return " ".join(chance.choice([word for word in tiny.WORDS if not word.startswith("#")], size=count))


def cut(row, room, kept=0):
    """As few pieces as fit, of equal length but for one."""
    if len(row) <= room:
        return [row]
    kept = min(kept, room // 2)
    rest, pieces = row[kept:], -(-(len(row) - kept) // (room - kept))
    small, more = divmod(len(rest), pieces)
    found, at = [], 0
    for number in range(pieces):
        size = small + (number < more)
        found.append([*row[:kept], *rest[at : at + size]])
        at += size
    return found


def slow_score(model, query, text, head, aggregate):
    """The definition, window by window: [CLS] query [SEP] text [SEP] of BERT."""
    tokens, inner = model.tokens, lambda some: model.tokens.inner_ids(some).tolist()
    cls, sep = int(tokens.before[0]), int(tokens.after[0])
    fits = len(inner(query)) + len(inner(text)) <= tokens.window - 3
    asked = [inner(query)] if fits else cut(inner(query), (tokens.window - 3) // 2)
    room = tokens.window - 3 - max(map(len, asked))
    table = []
    for question in asked:
        row = []
        for window in cut(inner(text), room, len(inner(head))):
            ids = [cls, *question, sep, *window, sep]
            types = [0] * (len(question) + 2) + [1] * (len(window) + 1)
            assert len(ids) <= tokens.window
            [[logit]] = model.transformer.run(np.array([ids]), np.ones((1, len(ids)), dtype=np.int64), np.array([types])).tolist()
            row.append(1 / (1 + np.exp(-logit)))
        table.append({"max": max(row), "first": row[0], "mean": sum(row) / len(row)}[aggregate.value])
    return sum(table) / len(table)


@pytest.mark.parametrize("aggregate", WindowAggregate)
def test_scores_are_those_of_the_definition(model, tiny, aggregate):
    chance = np.random.default_rng(3)
    sizes = [0, 1, 5, 40, 100, 119, 120, 121, 122, 300, 700]
    heads = [words(chance, tiny, size % 7) for size in sizes]
    texts = [f"{head} {words(chance, tiny, size)}".strip() for head, size in zip(heads, sizes, strict=True)]
    for query in ("", "le contrat", words(chance, tiny, 62), words(chance, tiny, 63), words(chance, tiny, 200)):
        expected = [slow_score(model, query, text, head, aggregate) for text, head in zip(texts, heads, strict=True)]
        found = model.scores(query, texts, aggregate, heads=heads)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_aggregates_differ_where_there_are_several_windows(model, tiny):
    text = words(np.random.default_rng(5), tiny, 600)
    best, first, mean = (model.scores("le contrat", [text], aggregate).item() for aggregate in WindowAggregate)
    assert best > mean
    assert best > first != mean
    short = [model.scores("le contrat", [text[:50]], aggregate).item() for aggregate in WindowAggregate]
    assert len(set(short)) == 1


def test_a_head_is_read_in_every_window(model, tiny):
    text = words(np.random.default_rng(5), tiny, 600)
    plain = model.scores("le contrat", [text], WindowAggregate.MEAN)
    assert model.scores("le contrat", [text], WindowAggregate.MEAN, heads=[text[:30]]) != plain
    assert model.scores("le contrat", [text], WindowAggregate.MEAN, heads=[""]) == plain


def test_scores_do_not_depend_on_the_texts_around_nor_on_blocks(model, tiny, monkeypatch):
    chance = np.random.default_rng(0)
    texts = [words(chance, tiny, int(size)) for size in chance.integers(1, 400, size=30)]
    together = model.scores("préavis", texts)
    assert np.array_equal(model.scores("préavis", texts[::-1])[::-1], together)
    assert np.array_equal(np.concatenate([model.scores("préavis", [text]) for text in texts]), together)
    monkeypatch.setattr("lexfuse.encode.pair_encoder.ROWS", 4)
    assert np.array_equal(model.scores("préavis", texts), together)
    assert len(np.unique(together)) == 30


def test_a_long_text_keeps_its_end(model, tiny):
    text = words(np.random.default_rng(1), tiny, 500)
    assert model.scores("loi", [text + " congé"], WindowAggregate.MEAN) != model.scores(
        "loi", [text + " bail"], WindowAggregate.MEAN
    )
    long = words(np.random.default_rng(2), tiny, 500)
    assert model.scores(long + " congé", ["la loi"]) != model.scores(long + " bail", ["la loi"])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pair_is_framed_as_its_tokenizer_does(tiny, tmp_path, family):
    tokens = ModelTokenizer(ModelFolder.read(tiny.folder(tmp_path / "m", family)))
    frame = PairTemplate.of(tokens)
    for first, second in tiny.PAIRS:
        ids, types = tokens.pair_ids(first, second)
        ours = frame.row(tokens.inner_ids(first), tokens.inner_ids(second))
        assert [part.tolist() for part in ours] == [ids.tolist(), types.tolist()]
    assert frame.room == tokens.window - (3 if family in tiny.LIKE_BERT else 4)


def test_a_tokenizer_that_mixes_two_texts_is_refused(tiny, own_cache, tmp_path):
    path = cross_encoder(tiny, tmp_path / "m")
    tokenizer = json.loads((path / "tokenizer.json").read_text())
    tokenizer["post_processor"]["pair"].reverse()
    (path / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ConfigError, match="does not put two texts one after the other"):
        PairEncoder.load(path, threads=1)


@pytest.mark.parametrize(
    ("settings", "typed"),
    [
        ({"tokenizer_class": "BertTokenizer"}, True),
        ({"tokenizer_class": "TokenizersBackend"}, False),
        ({"tokenizer_class": "TokenizersBackend", "model_input_names": ["input_ids", "token_type_ids"]}, True),
        ({"tokenizer_class": "BertTokenizer", "model_input_names": ["input_ids", "attention_mask"]}, False),
    ],
)
def test_tokens_have_types_where_the_model_was_trained_with_them(tiny, own_cache, tmp_path, settings, typed):
    path = cross_encoder(tiny, tmp_path / "m")
    (path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128} | settings))
    model = PairEncoder.load(path, threads=1)
    ids, types = model.tokens.pair_ids("le contrat", "la loi")
    assert types.any()
    logits = model.transformer.run(
        ids[None].astype(np.int64), np.ones((1, len(ids)), np.int64), types[None].astype(np.int64) * typed
    )
    assert model.scores("le contrat", ["la loi"]).item() == pytest.approx(probabilities(logits).item(), abs=1e-7)


def test_two_labels_give_the_probability_of_the_second():
    logits = np.array([[3.0, 1.0], [-900.0, 900.0], [900.0, -900.0], [0.5, 0.5]], dtype=np.float32)
    share = 1 / (1 + np.exp(2))
    assert probabilities(logits).tolist() == pytest.approx([share, 1.0, 0.0, 0.5])
    assert probabilities(np.array([[-1000.0], [1000.0]], dtype=np.float32)).tolist() == [0.0, 1.0]


def test_models_and_texts_that_do_not_fit_are_refused(tiny, own_cache, tmp_path):
    with pytest.raises(DataError, match="the model has 3 labels; a cross-encoder has 1"):
        PairEncoder.load(tiny.folder(tmp_path / "three", head="classes"))
    with pytest.raises(DataError, match=r"tensor 'pooler\.dense\.weight' is missing"):
        PairEncoder.load(tiny.folder(tmp_path / "none"))
    model = PairEncoder.load(cross_encoder(tiny, tmp_path / "m", labels=2), threads=1)
    with pytest.raises(ConfigError, match="expected a list of texts"):
        model.scores("loi", "la loi")
    with pytest.raises(ConfigError, match="2 texts need as many heads, got 1"):
        model.scores("loi", ["a", "b"], heads=["a"])
    assert model.scores("loi", []).tolist() == []


def test_a_window_without_room_for_two_texts_is_refused(tiny, own_cache, tmp_path):
    path = cross_encoder(tiny, tmp_path / "m")
    settings = path / "tokenizer_config.json"
    settings.write_text(settings.read_text().replace('"model_max_length": 128', '"model_max_length": 4'))
    with pytest.raises(DataError, match="a window of 4 tokens leaves no room for a query and a text"):
        PairEncoder.load(path)
