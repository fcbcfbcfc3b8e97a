"""Scores of sentences by a cross-encoder and by the vectors of a channel, one sentence at a time."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.rerank.birch import Birch, CrossEncoderSentences, DenseSentences, SentenceMatch
from lexfuse.storage.index_folder import IndexFolder

specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parent.parent / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

TEXTS = {
    "a": "The court held that the lease ended. A judgment of the court.",
    "b": "Le salarié peut rompre le contrat de travail. L'employeur ne peut pas.",
    "c": "The lease. The court. The article of the lease ended; the judgment held that.",
    "d": "",
}
QUERY = Query("q", "The lease ended. The court held.", "en")


class Lengths:
    """A scorer that gives the number of words, and remembers what it read."""

    def __init__(self):
        self.read = []

    def scores(self, query, texts, aggregate=None, *, heads=()):
        self.read += texts
        return np.array([len(text.split()) for text in texts], dtype=np.float32)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    root = tmp_path_factory.mktemp("i")
    documents = [Document(doc, text=text, title="" if text else "loi", language="en") for doc, text in TEXTS.items()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        model = tiny.folder(root / "m", normalise=True)
        with IndexFolder.create(root / "i", documents=documents) as index:
            plan = ChannelPlan(str(model), storage="fp32")
            index.channels.make("sentences", plan_channel("sentences", plan, threads=1))
            fill_channel(index, "sentences", threads=1)
            index.add([Document("late", text="Not encoded yet.", language="en")])
            with index.snapshot() as snapshot:
                yield snapshot, DenseEncoder.load(model, threads=1)


def test_a_cross_encoder_reads_every_sentence_once(opened):
    snapshot, _ = opened
    scorer = CrossEncoderSentences(snapshot, Lengths())
    assert [scores.tolist() for scores in scorer.scores(QUERY, ["a", "d", "c"])] == [[7.0, 5.0], [], [2.0, 2.0, 10.0]]
    assert [one.of(TEXTS["c"]) for one in scorer.sentences("c")] == scorer.encoder.read[2:]
    assert scorer.scores(QUERY, []) == []


def test_long_sentences_are_cut_where_wanted(opened):
    snapshot, _ = opened
    scorer = CrossEncoderSentences(snapshot, Lengths(), words=4)
    assert [scores.tolist() for scores in scorer.scores(QUERY, ["a"])] == [[4.0, 3.0, 4.0, 1.0]]
    assert " ".join(scorer.encoder.read) == TEXTS["a"]


@pytest.mark.parametrize("match", SentenceMatch)
def test_a_bi_encoder_compares_every_sentence_with_those_of_the_query(opened, match):
    snapshot, encoder = opened
    scorer = DenseSentences(open_retriever(snapshot, "sentences"), match)
    asked = encoder.encode(["The lease ended.", "The court held."], Side.QUERY).astype(np.float64)
    found = scorer.scores(QUERY, ["c", "late", "b"])
    assert len(found[1]) == 0
    for doc, scores in zip(("c", "b"), (found[0], found[2]), strict=True):
        pieces = [one.of(TEXTS[doc]) for one in scorer.sentences(doc)]
        assert len(pieces) == len(scores) >= 2
        cosines = encoder.encode(pieces, Side.PASSAGE).astype(np.float64) @ asked.T
        expected = cosines.max(axis=1) if match is SentenceMatch.BEST else cosines.mean(axis=1)
        np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_scores_do_not_depend_on_the_documents_around(opened):
    snapshot, _ = opened
    scorer = DenseSentences(open_retriever(snapshot, "sentences"))
    together = dict(zip("abcd", scorer.scores(QUERY, list("abcd")), strict=True))
    for doc, scores in together.items():
        assert scorer.scores(QUERY, [doc])[0].tolist() == scores.tolist()
    assert scorer.scores(QUERY, []) == []


def test_a_query_without_words_knows_no_score(opened):
    snapshot, _ = opened
    scorer = DenseSentences(open_retriever(snapshot, "sentences"))
    assert [len(scores) for scores in scorer.scores(Query("q", " "), ["a", "b"])] == [0, 0]


def test_birch_reranks_by_sentences_of_the_channel(opened):
    snapshot, _ = opened
    birch = Birch(DenseSentences(open_retriever(snapshot, "sentences")), a=0.0, weights=(1.0,))
    pipeline = BM25(snapshot) >> birch
    assert [one.name for one in pipeline.members(QUERY)] == ["sentences", "bm25"]
    hits = pipeline.retrieve(Queries.of([QUERY]), 9).hits("q")
    assert {hit.doc for hit in hits} == {"a", "c"}
    for hit in hits:
        best = birch.best_sentences(QUERY, hit.doc)[0]
        assert best.score == hit.score
        assert TEXTS[hit.doc][best.passage.start : best.passage.end].endswith(".")
