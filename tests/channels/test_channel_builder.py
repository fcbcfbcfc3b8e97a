"""Filling channels with real encoders: what is stored, progress, stopping and going on, changes, caches and odd documents."""

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.document import Document
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme, WordUnits, whole_text
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.encode.static_encoder import StaticEncoder
from lexfuse.errors import DataError, NotFoundError
from lexfuse.storage.index_folder import IndexFolder

DOCUMENTS = [
    Document("a", title="article 1", text="le salarié peut rompre le contrat de travail", headings=("livre un", "congé")),
    Document("b", text="the court held that the lease ended. " * 40),
    Document("c", text=""),
    Document("d", text="a judgment of the court", headings=("loi",)),
]


@pytest.fixture
def index(tmp_path, own_cache):
    with IndexFolder.create(tmp_path / "i", documents=DOCUMENTS) as index:
        yield index


def filled(index, name, model, **choices):
    index.channels.make(name, plan_channel(name, ChannelPlan(str(model), **choices), threads=1))
    assert fill_channel(index, name, threads=1) == len(index.channels.documents(np.arange(10_000)))
    [part] = index.channels.parts(name)
    return part.content


def options_of(plan):
    return {"passages": plan.scheme, "size": plan.size, "overlap": plan.overlap, "headings": plan.headings}


def test_nothing_is_filled_twice_and_progress_counts_documents(index, tmp_path, tiny):
    index.channels.make("dense", plan_channel("dense", ChannelPlan(str(tiny.folder(tmp_path / "m"))), threads=1))
    told = []
    assert fill_channel(index, "dense", threads=1, progress=told.append) == 4
    assert told[-1] == 4
    assert fill_channel(index, "dense", threads=1, progress=told.append) == 0
    assert told == sorted(told)
    with pytest.raises(NotFoundError, match="no stored channel 'splade'; it has dense"):
        fill_channel(index, "splade")


@pytest.mark.parametrize("headings", [True, False])
@pytest.mark.parametrize("scheme", PassageScheme)
def test_dense_rows_are_the_passages_of_the_plan(index, tmp_path, tiny, scheme, headings):
    model = tiny.folder(tmp_path / "m", prompts={"document": "loi : "})
    plan, encoder = (
        PassagePlan(scheme, size=30, overlap=0 if scheme.alone else 4, headings=headings),
        DenseEncoder.load(model, threads=1),
    )
    content = filled(index, "dense", model, **options_of(plan), storage="fp32")
    named = index.channels.named("dense")
    expected = [plan.of(document, encoder.tokens, encoder.tokens.count("loi : ")) for document in DOCUMENTS]
    assert np.diff(content.starts).tolist() == [len(some) for some in expected]
    assert named.passages == content.rows
    assert content.spans.tolist() == [[passage.start, passage.end] for some in expected for _, passage in some]
    vectors = np.concatenate([encoder.encode([text], Side.PASSAGE) for some in expected for text, _ in some])
    np.testing.assert_allclose(content.block(0, content.rows), vectors, atol=1e-5)
    assert named.cut == (1 if scheme is PassageScheme.BEGINNING else 0)
    if scheme is PassageScheme.WHOLE:  # every piece fits into the window together with the prompt
        assert (
            max(len(encoder.tokens.ids([f"loi : {text}"])[0]) for some in expected for text, _ in some) <= encoder.tokens.window
        )


def test_sparse_weights_are_those_of_the_whole_text(index, tmp_path, tiny):
    model = tiny.folder(tmp_path / "m", head="mlm")
    content, encoder = filled(index, "splade", model), SparseEncoder.load(model, threads=1)
    assert index.channels.named("splade").passages == 4
    for at, document in enumerate(DOCUMENTS):
        [(terms, weights)] = encoder.encode([whole_text(document)], Side.PASSAGE)
        found = {}
        for term in content.inverted.terms:
            docs, held = content.inverted.postings(term)
            if at in docs:
                found[term] = float(held[docs.tolist().index(at)])
        assert found.keys() == {encoder.terms[int(term)] for term in terms}
        expected = [found[encoder.terms[int(term)]] for term in terms]
        np.testing.assert_allclose(expected, weights, atol=weights.max() / 255 + 1e-6)


def test_token_vectors_are_those_of_the_whole_text(index, tmp_path, tiny):
    model = tiny.folder(tmp_path / "m")
    content, encoder = filled(index, "colbert", model, bits=8), LateEncoder.load(model, threads=1)
    assert content.codec.bits == 8
    for at, document in enumerate(DOCUMENTS):
        [table] = encoder.encode([whole_text(document)], Side.PASSAGE)
        assert content.vectors(at).shape == table.shape
        assert (content.vectors(at) * table).sum(axis=1).min() > 0.99


def test_headings_can_be_left_out(index, tmp_path, tiny):
    model = tiny.folder(tmp_path / "m")
    content = filled(index, "colbert", model, headings=False)
    encoder = LateEncoder.load(model, threads=1)
    lengths = [len(encoder.words(whole_text(document, headings=False), Side.PASSAGE)) for document in DOCUMENTS]
    assert np.diff(content.starts).tolist() == lengths


def test_word_vectors_read_texts_of_any_length_whole(index, tmp_path):
    (tmp_path / "words.vec").write_text("3 2\ncourt 1 0\nlease 0 1\ncongé 1 1\n")
    content = filled(index, "static", tmp_path / "words.vec", storage="fp32")
    assert content.rows == 4
    expected = StaticEncoder.load(tmp_path / "words.vec").encode([whole_text(one) for one in DOCUMENTS], Side.PASSAGE)
    np.testing.assert_allclose(content.block(0, 4), expected, atol=1e-6)
    windows = PassagePlan(PassageScheme.WINDOWS, size=50, overlap=10)
    divided = filled(index, "static-windows", tmp_path / "words.vec", **options_of(windows))
    assert np.diff(divided.starts).tolist() == [len(windows.of(one, WordUnits())) for one in DOCUMENTS]


def test_stopping_and_going_on(index, tmp_path, tiny):
    index.add(Document(f"x{number:04}", text="la loi") for number in range(1100))
    model = tiny.folder(tmp_path / "m")
    index.channels.make("dense", plan_channel("dense", ChannelPlan(str(model)), threads=1))

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill_channel(index, "dense", threads=1, progress=stop)
    held = sum(len(part.serials) for part in index.channels.parts("dense"))
    assert 0 < held < 1104
    assert index.verify() == []
    assert fill_channel(index, "dense", threads=1) == 1104 - held
    with index.snapshot() as snapshot:
        assert snapshot.channel_numbering("dense").complete


def test_a_codec_is_trained_once_and_kept(index, tmp_path, tiny):
    filled(index, "colbert", tiny.folder(tmp_path / "m"))
    before = index.channels.parts("colbert")[0].content.codec
    index.add([Document("new", text="un contrat"), Document("a", text="une loi")], update=True)
    assert fill_channel(index, "colbert", threads=1) == 2
    assert [part.content.codec.same(before) for part in index.channels.parts("colbert")] == [True, True]


def test_the_same_documents_give_the_same_bytes(tmp_path, tiny, own_cache):
    dense, sparse = tiny.folder(tmp_path / "d"), tiny.folder(tmp_path / "s", head="mlm")
    files = []
    for name in ("one", "two"):
        with IndexFolder.create(tmp_path / name, documents=DOCUMENTS) as index:
            for channel, model in (("dense", dense), ("splade", sparse), ("colbert", dense)):
                filled(index, channel, model)
        root = tmp_path / name / "channels"
        files.append({path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()})
    assert files[0] == files[1]
    assert len(files[0]) > 20


def test_an_empty_index(tmp_path, tiny, own_cache):
    dense, sparse = tiny.folder(tmp_path / "d"), tiny.folder(tmp_path / "s", head="mlm")
    with IndexFolder.create(tmp_path / "i") as index:
        for name, model in (("dense", dense), ("splade", sparse), ("colbert", dense)):
            index.channels.make(name, plan_channel(name, ChannelPlan(str(model)), threads=1))
            assert fill_channel(index, name, threads=1) == 0
            assert index.channels.parts(name) == []


def test_a_changed_model_is_refused_and_nothing_is_encoded(index, tmp_path, tiny):
    model = tiny.folder(tmp_path / "m", head="mlm")
    index.channels.make("splade", plan_channel("splade", ChannelPlan(str(model)), threads=1))
    (model / "config_sentence_transformers.json").write_text('{"prompts": {"document": "loi : "}}')
    with pytest.raises(DataError, match="another version of the model"):
        fill_channel(index, "splade")
    assert len(index.channels.pending("splade")) == 4


def test_vectors_of_a_cache_are_not_computed_again(index, tmp_path, tiny, monkeypatch):
    model = tiny.folder(tmp_path / "m")
    for name in ("dense", "dense-again"):
        index.channels.make(name, plan_channel(name, ChannelPlan(str(model), storage="fp32"), threads=1))
    with EmbeddingCache(tmp_path / "cache.sqlite") as cache:
        assert fill_channel(index, "dense", threads=1, cache=cache) == 4
        encoded = []
        encode = DenseEncoder.encode
        monkeypatch.setattr(
            DenseEncoder, "encode", lambda self, texts, *rest, **more: encoded.extend(texts) or encode(self, texts, *rest, **more)
        )
        assert fill_channel(index, "dense-again", threads=1, cache=cache) == 4
    assert encoded == []
    one, other = (index.channels.parts(name)[0].content for name in ("dense", "dense-again"))
    assert np.array_equal(one.matrix, other.matrix)
