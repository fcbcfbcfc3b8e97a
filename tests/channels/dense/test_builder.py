"""Queries are divided as documents are, whatever stands around the encoder."""

import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.builder import divider
from lexfuse.channels.dense.kind import DenseKind
from lexfuse.channels.registry import plan_channel
from lexfuse.data.document import Document
from lexfuse.encode.embedding_cache import CachedEncoder, EmbeddingCache
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import PassageScheme

dense_encoder = DenseKind().encoder
LONG = Document("a", text="le contrat de travail. " * 60, language="fr")


@pytest.mark.parametrize("scheme", [PassageScheme.WINDOWS, PassageScheme.SENTENCES])
def test_a_cache_changes_nothing(tmp_path, tiny, own_cache, scheme):
    plan = ChannelPlan(str(tiny.folder(tmp_path / "m")), passages=scheme, size=30, overlap=0)
    settings = plan_channel("dense", plan, threads=1)
    encoder = dense_encoder(settings, Side.QUERY, threads=1)
    plain = divider(settings, encoder, Side.QUERY)(LONG)
    assert len(plain) > 3
    with EmbeddingCache(tmp_path / "cache.db") as cache:
        assert divider(settings, CachedEncoder(encoder, cache), Side.QUERY)(LONG) == plain


def test_room_is_left_for_the_prompt_of_the_side(tmp_path, tiny, own_cache):
    model = tiny.folder(tmp_path / "m", prompts={"query": "le contrat de travail : "})
    settings = plan_channel("dense", ChannelPlan(str(model)), threads=1)
    encoder = dense_encoder(settings, Side.QUERY, threads=1)
    first = {side: divider(settings, encoder, side)(LONG)[0][0] for side in Side}
    assert encoder.tokens.count(first[Side.QUERY]) < encoder.tokens.count(first[Side.PASSAGE]) <= encoder.tokens.room


def test_word_vectors_count_words(tmp_path):
    (tmp_path / "words.vec").write_text("1 2\ncontrat 1 0\n")
    plan = ChannelPlan(str(tmp_path / "words.vec"), passages=PassageScheme.WINDOWS, size=10, overlap=0)
    settings = plan_channel("dense", plan)
    found = divider(settings, dense_encoder(settings, Side.QUERY), Side.QUERY)(LONG)
    assert {len(text.split()) for text, _ in found} == {10}


def test_a_model_that_reads_chunks_gets_whole_documents(tmp_path, tiny, own_cache):
    folder = tiny.folder(tmp_path / "m")
    (folder / "chunks.json").write_text('{"size": 20, "overlap": 4}')
    for scheme, passages in ((PassageScheme.WHOLE, 1), (PassageScheme.WINDOWS, None)):
        settings = plan_channel("dense", ChannelPlan(str(folder), passages=scheme, size=30, overlap=0), threads=1)
        encoder = dense_encoder(settings, Side.PASSAGE, threads=1)
        assert encoder.tokens.count(LONG.text) > encoder.tokens.window
        found = divider(settings, encoder, Side.PASSAGE)(LONG)
        assert len(found) == passages or (passages is None and len(found) > 3)
