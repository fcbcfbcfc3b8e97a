"""Rerankers in profiles: every method read, refused with what is valid, written and read back, opened on an index."""

import importlib.util
from pathlib import Path

import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.pair_encoder import WindowAggregate
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.rerank.birch import Birch, CrossEncoderSentences, DenseSentences, DocumentScore, SentenceMatch
from lexfuse.rerank.cross_encoder import CrossEncoder
from lexfuse.rerank.rprs import Rprs
from lexfuse.rerank.sdr import Sdr
from lexfuse.search.spec.reranker_specs import BirchSpec, CrossEncoderSpec, RescoreSpec, RprsSpec, SdrSpec
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.index_folder import IndexFolder

specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parents[2] / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

TEXTS = [
    "The court held that the lease ended. A judgment of the court.",
    "The lease. The court. The article of the lease ended; the judgment held that.",
    "A judgment of the lease. The court ended.",
]
QUERIES = Queries.of([Query("q", "The lease ended. The court held.", "en")])
CHOICES = [
    RescoreSpec(channel="tfidf", depth=7),
    CrossEncoderSpec(model="models/monobert"),
    CrossEncoderSpec(model="org/model", depth=1000, aggregate=WindowAggregate.FIRST, headings=False),
    RprsSpec(),
    RprsSpec(channel="sentences-legal", depth=75, n=3, k1=0.0, b=0.25, frequency=False),
    SdrSpec(),
    SdrSpec(channel="words", depth=20),
    BirchSpec(),
    BirchSpec(model="m", a=0.0, weights=(1.0,), document=DocumentScore.RAW),
    BirchSpec(channel="sentences-legal", depth=9, a=1.0, weights=(1.0, 0.5), match=SentenceMatch.MEAN),
]


def profile_of(*choices):
    return SearchSpec.of("bm25", rerank=choices)


def parsed(*lines):
    return SearchSpec.parse("\n".join(["version = 1", "[[channel]]", 'name = "bm25"', "[[rerank]]", *lines])).rerank[0]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    root = tmp_path_factory.mktemp("i")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        model = tiny.folder(root / "m", normalise=True)
        documents = [Document(f"d{number}", text=text, language="en") for number, text in enumerate(TEXTS)]
        with IndexFolder.create(root / "i", documents=documents) as index:
            plan = ChannelPlan(str(model))
            index.channels.make("sentences", plan_channel("sentences", plan, threads=1))
            fill_channel(index, "sentences", threads=1)
            with index.snapshot() as snapshot:
                yield snapshot


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tiny.folder(tmp_path_factory.mktemp("m") / "model", head="classes")
    named = tiny.tensors("bert", ModelTokenizer(ModelFolder.read(path)).vocabulary_size, "classes")
    named |= {f"classifier.{kind}": named[f"classifier.{kind}"][:1] for kind in ("weight", "bias")}
    tiny.safetensors(path / "model.safetensors", named)
    return str(path)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_what_is_written_is_read_back(choice):
    profile = profile_of(choice, RescoreSpec(channel="tfidf"))
    found = SearchSpec.parse(profile.text())
    assert found == profile
    assert found.text() == profile.text()


def test_every_option_is_read():
    lines = ['method = "rprs"', 'channel = "s"', "depth = 60", "n = 3", "k1 = 2", "b = 0.5", "frequency = false"]
    assert parsed(*lines) == RprsSpec(channel="s", depth=60, n=3, k1=2.0, b=0.5, frequency=False)
    lines = ['method = "birch"', "a = 1", "weights = [1, 0.5]", 'document = "raw"', 'match = "mean"', "depth = 5"]
    assert parsed(*lines) == BirchSpec(depth=5, a=1.0, weights=(1.0, 0.5), document=DocumentScore.RAW, match=SentenceMatch.MEAN)
    assert parsed('method = "cross-encoder"', 'model = "m"', 'aggregate = "mean"') == CrossEncoderSpec(
        model="m", aggregate=WindowAggregate.MEAN
    )
    assert parsed('channel = "tfidf"') == parsed('method = "rescore"', 'channel = "tfidf"') == RescoreSpec(channel="tfidf")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['method = "magic"'], "method must be one of rescore, cross-encoder, rprs, sdr, birch, structure; got 'magic'"),
        (["method = 3"], "method must be one of rescore"),
        (['method = "rescore"'], "channel is missing: a text"),
        (['channel = ""'], "channel must be a text, got ''"),
        (['method = "rescore"', 'channel = "a"', "n = 3"], "no 'n'; there are method, channel, depth; n is for method = rprs"),
        (['channel = "a"', 'model = "m"'], "model is for method = cross-encoder or birch"),
        (['method = "cross-encoder"'], "model is missing: a text"),
        (
            ['method = "cross-encoder"', 'model = "m"', 'aggregate = "sum"'],
            "aggregate must be one of max, first, mean; got 'sum'",
        ),
        (['method = "cross-encoder"', 'model = "m"', "depth = 0"], "depth of reranking must be at least 1"),
        (['method = "rprs"', "n = 0"], "n must be at least 1, got 0"),
        (['method = "rprs"', "n = 2.5"], "n must be a whole number, got 2.5"),
        (['method = "rprs"', "b = 2"], "b must be between 0 and 1, got 2"),
        (['method = "rprs"', "frequency = 1"], "frequency must be true or false, got 1"),
        (['method = "sdr"', "depth = -1"], "depth of reranking must be at least 1"),
        (['method = "sdr"', "n = 3"], "there is no 'n'; there are method, channel, depth"),
        (['method = "birch"', "a = 2"], "must lie between 0 and 1, got 2"),
        (['method = "birch"', 'weights = ["a"]'], "weights must be a number or a list of numbers"),
        (['method = "birch"', "weights = []"], "weights of sentences must be one or more numbers"),
        (['method = "birch"', 'model = "m"', 'channel = "s"'], "by a model or by a channel, not by both"),
        (['method = "birch"', 'model = "m"', 'match = "mean"'], "leave out match, which is for channels"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(lines, message):
    with pytest.raises(ConfigError, match=f"rerank 1: .*{message}"):
        parsed(*lines)


def test_what_is_no_table_is_refused():
    with pytest.raises(ConfigError, match="rerank 1: a table was expected, got 3; it has the keys method, channel, depth"):
        SearchSpec.parse('version = 1\nrerank = [3]\n[[channel]]\nname = "bm25"')


def test_each_method_opens_its_reranker(snapshot, model):
    choices = {
        CrossEncoder: CrossEncoderSpec(model=model, depth=2, aggregate=WindowAggregate.MEAN),
        Rprs: RprsSpec(depth=3, n=2, k1=1.0, b=0.5),
        Sdr: SdrSpec(depth=3),
        Birch: BirchSpec(depth=3, a=0.25, weights=(1.0, 0.5)),
    }
    for kind, choice in choices.items():
        opened = profile_of(choice).open(snapshot)
        assert isinstance(opened.reranker, kind)
        assert opened.reranker.depth == choice.depth
        assert len(opened.retrieve(QUERIES, 9).hits("q")) == 3
        assert opened.name == f"bm25>>{choice.method}"
    rprs = profile_of(choices[Rprs]).open(snapshot).reranker
    assert (rprs.n, rprs.k1, rprs.b, rprs.frequency) == (2, 1.0, 0.5, True)
    birch = profile_of(choices[Birch]).open(snapshot).reranker
    assert (birch.a, birch.weights, type(birch.scorer)) == (0.25, (1.0, 0.5), DenseSentences)
    assert isinstance(profile_of(BirchSpec(model=model)).open(snapshot).reranker.scorer, CrossEncoderSentences)
    assert profile_of(choices[CrossEncoder]).open(snapshot).reranker.aggregate is WindowAggregate.MEAN


def test_rerankers_stand_one_after_the_other(snapshot, model):
    opened = profile_of(RprsSpec(depth=3), CrossEncoderSpec(model=model, depth=2)).open(snapshot, name="mine")
    hits = opened.retrieve(QUERIES, 9).hits("q")
    assert opened.name == "mine"
    assert [set(hit.parts) for hit in hits] == [{"bm25", "rprs", "cross-encoder"}] * 2 + [{"bm25", "rprs"}]


@pytest.mark.parametrize("choice", [RprsSpec(channel="tfidf"), SdrSpec(channel="tfidf"), BirchSpec(channel="tfidf")])
def test_a_channel_without_sentences_is_refused(snapshot, choice):
    with pytest.raises(ConfigError, match="channel 'tfidf' has no vectors of sentences; make one"):
        profile_of(choice).open(snapshot)


def test_a_channel_or_model_that_is_not_there_is_named(snapshot):
    with pytest.raises(NotFoundError, match="no channel 'phrases' in the index"):
        profile_of(RprsSpec(channel="phrases")).open(snapshot)
    with pytest.raises(NotFoundError, match="no model 'nowhere'"):
        profile_of(CrossEncoderSpec(model="nowhere")).open(snapshot)
