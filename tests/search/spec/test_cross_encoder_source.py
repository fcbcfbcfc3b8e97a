"""A cross-encoder as a channel of a profile: read, refused with what is valid, written and read back, opened and fused."""

import importlib.util
from pathlib import Path

import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.pair_encoder import PairEncoder, WindowAggregate
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import MinMax, Percentile, TheoreticalMinMax
from lexfuse.fusion.union import Missing
from lexfuse.rerank.cross_encoder import CrossEncoder, CrossEncoderRetriever
from lexfuse.search.pipeline import FusedRetriever
from lexfuse.search.spec.channel_spec import ChannelSpec, CrossEncoderChannel
from lexfuse.search.spec.reranker_specs import CrossEncoderSpec
from lexfuse.search.spec.spec import ClassSpec, SearchSpec
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.query_class import QueryClass

specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parents[2] / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

TEXTS = [
    "The court held that the lease ended.",
    "The lease, the court, the article of the lease; the judgment.",
    "A judgment of the lease. The court ended the lease of the court.",
    "The court of the court.",
    "The article of the lease.",
]
QUERIES = Queries.of([Query("q", "Has the lease ended in court?", "en")])
BM25_CHANNEL = ["[[channel]]", 'name = "bm25"']
SOURCE = ["[[channel]]", 'method = "cross-encoder"', 'model = "m"']


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    documents = [Document(f"d{number}", text=text, language="en", headings=("Rent",)) for number, text in enumerate(TEXTS)]
    with IndexFolder.create(tmp_path_factory.mktemp("i") / "i", documents=documents) as index, index.snapshot() as snapshot:
        yield snapshot


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    root = tmp_path_factory.mktemp("m")
    path = tiny.cross_encoder(root / "model")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        yield str(path)


def parsed(*lines):
    return SearchSpec.parse("\n".join(["version = 1", *lines]))


def test_every_option_is_read():
    lines = ['over = "bm25"', "depth = 20", 'aggregate = "mean"', "headings = false", 'name = "small"']
    found = parsed(*BM25_CHANNEL, *SOURCE, *lines).channels
    small = CrossEncoderChannel(model="m", over="bm25", depth=20, aggregate=WindowAggregate.MEAN, headings=False, name="small")
    assert found == (ChannelSpec.of("bm25"), small)
    assert parsed(*SOURCE, 'over = "bm25"', *BM25_CHANNEL).channels[0] == CrossEncoderChannel(model="m", over="bm25", depth=100)
    assert parsed("[[channel]]", 'method = "search"', 'name = "tfidf"', "exact = true").channels == (
        ChannelSpec.of("tfidf", exact=True),
    )


@pytest.mark.parametrize(
    "choices",
    [
        (ChannelSpec.of("bm25", k1=0.9), CrossEncoderChannel(model="models/m", over="bm25")),
        (
            CrossEncoderChannel(
                model="org/m", over="dense", depth=1000, aggregate=WindowAggregate.FIRST, headings=False, name="big"
            ),
            ChannelSpec.of("dense"),
        ),
        (
            CrossEncoderChannel(model="b", over="cross-encoder", depth=5, name="slow"),
            CrossEncoderChannel(model="a", over="tfidf", headings=False),
            ChannelSpec.of("tfidf"),
        ),
    ],
)
def test_what_is_written_is_read_back(choices):
    fusion = Convex((1.0, *(0.0 for _ in choices[1:])), missing=Missing.MIN)
    profile = SearchSpec(channels=choices, fusion=fusion, classes={QueryClass.QUESTION: ClassSpec(channels=choices)}, depth=30)
    found = SearchSpec.parse(profile.text())
    assert found == profile
    assert found.text() == profile.text()


def test_the_written_form_says_what_it_is():
    profile = SearchSpec.of([ChannelSpec.of("bm25"), CrossEncoderChannel(model="m", over="bm25")])
    assert '[[channel]]\nmethod = "cross-encoder"\nmodel = "m"\nover = "bm25"\ndepth = 100\n' in profile.text()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["[[channel]]", 'method = "magic"'], "channel 1: method must be one of search, cross-encoder, sdr; got 'magic'"),
        (["[[channel]]", "method = 3"], "channel 1: method must be one of search, cross-encoder, sdr; got 3"),
        (["[[channel]]", 'method = "cross-encoder"', 'over = "bm25"'], "channel 1: model is missing: a text"),
        (["[[channel]]", 'method = "cross-encoder"', 'over = "bm25"', "model = 3"], "channel 1: model must be a text, got 3"),
        (SOURCE, "channel 1: over is missing: a text"),
        ([*SOURCE, 'over = ""'], "channel 1: over must be a text, got ''"),
        ([*SOURCE, "over = 1"], "channel 1: over must be a text, got 1"),
        ([*SOURCE, 'over = "bm25"', "depth = 0"], "channel 1: the depth of reranking must be at least 1, got 0"),
        ([*SOURCE, 'over = "bm25"', "depth = 2.5"], "channel 1: depth must be a whole number, got 2.5"),
        ([*SOURCE, 'over = "bm25"', 'aggregate = "sum"'], "channel 1: aggregate must be one of max, first, mean; got 'sum'"),
        ([*SOURCE, 'over = "bm25"', "headings = 1"], "channel 1: headings must be true or false, got 1"),
        ([*SOURCE, 'over = "bm25"', 'name = ""'], "channel 1: name must be a text, got ''; leave it out"),
        ([*SOURCE, 'over = "bm25"', 'name = "tfidf"'], "channel 1: every index has a channel 'tfidf'"),
        (
            [*SOURCE, 'over = "bm25"', "k1 = 0.9"],
            "channel 1: there is no 'k1'; there are method, model, depth, .*; k1 is for method = search",
        ),
        (["[[channel]]", 'name = "bm25"', 'over = "tfidf"'], "no 'over'; there are method, name, .*; over is for method = cross"),
        (
            [*BM25_CHANNEL, *SOURCE, 'over = "dense"'],
            "'cross-encoder' is over 'dense', which is no channel here; others here: bm25; add .* name = \"dense\"",
        ),
        ([*SOURCE, 'over = "bm25"'], "which is no channel here; others here: none; add .* name = \"bm25\""),
        ([*BM25_CHANNEL, *SOURCE, 'over = "cross-encoder"'], "circle: 'cross-encoder' over 'cross-encoder'; put the last one"),
        (
            [*BM25_CHANNEL, *SOURCE, 'over = "b"', 'name = "a"', *SOURCE, 'over = "a"', 'name = "b"'],
            "circle: 'a' over 'b' over 'a'",
        ),
        (
            [*BM25_CHANNEL, *SOURCE, 'over = "a"', 'name = "c"', *SOURCE, 'over = "b"', 'name = "a"',
             *SOURCE, 'over = "a"', 'name = "b"'],
            "circle: 'a' over 'b' over 'a'",
        ),
        ([*BM25_CHANNEL, *SOURCE, 'over = "bm25"', *SOURCE, 'over = "bm25"'], "'cross-encoder' is given twice"),
        (
            [*BM25_CHANNEL, *SOURCE, 'over = "bm25"', "[[rerank]]", 'method = "cross-encoder"', 'model = "n"'],
            "a channel and a reranker are both called 'cross-encoder'; give the channel another name",
        ),
        (
            [*BM25_CHANNEL, "[[class.question.channel]]", 'name = "tfidf"',
             "[[class.question.channel]]", 'method = "cross-encoder"', 'model = "m"', 'over = "bm25"'],
            "class.question: channel 'cross-encoder' is over 'bm25', which is no channel here; others here: tfidf",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_what_can(lines, message):
    with pytest.raises(ConfigError, match=message):
        parsed(*lines)


def test_it_opens_what_the_classes_make(snapshot, model):
    choice = CrossEncoderChannel(model=model, over="bm25", depth=3, aggregate=WindowAggregate.MEAN, headings=False)
    fusion = Convex((0.25, 0.25, 0.5), TheoreticalMinMax())
    profile = SearchSpec.of([choice, ChannelSpec.of("bm25", k1=0.9), "tfidf"], fusion=fusion, depth=4)
    opened = profile.open(snapshot)
    assert opened.name == "cross-encoder+bm25+tfidf"
    source = opened.retrievers[0]
    assert isinstance(source, CrossEncoderRetriever)
    assert source.candidates is opened.retrievers[1]
    assert (source.reader.depth, source.reader.aggregate, source.reader.headings) == (3, WindowAggregate.MEAN, False)
    words = BM25(snapshot, k1=0.9)
    reader = CrossEncoder(snapshot, PairEncoder.load(model), 3, WindowAggregate.MEAN, headings=False)
    same = FusedRetriever([CrossEncoderRetriever(words, reader), words, TfIdf(snapshot)], fusion, 4)
    hits = opened.retrieve(QUERIES, 9).hits("q")
    assert hits == same.retrieve(QUERIES, 9).hits("q")
    assert set(hits[0].parts) == {"cross-encoder", "bm25", "tfidf"}
    why = opened.explain(QUERIES.query("q"), [hits[0].doc])[0]
    assert [part.source for part in why.parts] == ["cross-encoder", "bm25", "tfidf"]


def test_without_a_fusion_it_is_on_the_side_of_the_semantic_channels(snapshot, model):
    opened = SearchSpec.of([CrossEncoderChannel(model=model, over="bm25"), ChannelSpec.of("bm25")]).open(snapshot)
    assert (opened.name, opened.fusion) == ("bm25+cross-encoder", TM2C2(lexical=1))


def test_one_may_stand_over_another_in_any_order_and_under_a_reranker(snapshot, model):
    choices = (
        CrossEncoderChannel(model=model, over="wide", depth=2, name="narrow"),
        CrossEncoderChannel(model=model, over="bm25", depth=4, name="wide"),
    )
    rerank = CrossEncoderSpec(model=model, depth=1)
    profile = SearchSpec.of([*choices, "bm25"], fusion="rrf", rerank=[rerank])
    opened = profile.open(snapshot, name="mine")
    assert opened.name == "mine"
    narrow, wide, words = opened.retriever.retrievers
    assert (narrow.candidates, wide.candidates) == (wide, words)
    assert narrow.retrieve(QUERIES, 9).as_dict() == wide.retrieve(QUERIES, 2).as_dict()
    assert set(opened.retrieve(QUERIES, 1).hits("q")[0].parts) == {"narrow", "wide", "bm25", "cross-encoder"}


@pytest.mark.parametrize(("missing", "read"), [(Missing.RESCORE, 5), (Missing.MIN, 2), (Missing.ZERO, 2)])
def test_how_missing_scores_are_filled_decides_how_much_is_read(snapshot, model, monkeypatch, missing, read):
    texts, scores = [], PairEncoder.scores

    def counted(self, query, some, *rest, **more):
        texts.extend(some)
        return scores(self, query, some, *rest, **more)

    monkeypatch.setattr(PairEncoder, "scores", counted)
    fusion = Convex((0.5, 0.5), missing=missing)
    opened = SearchSpec.of(["bm25", CrossEncoderChannel(model=model, over="bm25", depth=2)], fusion=fusion).open(snapshot)
    assert len(opened.retrieve(QUERIES, 5).hits("q")) == 5
    assert len(texts) == read


def test_a_query_without_candidates_finds_nothing(snapshot, model):
    opened = SearchSpec.of([ChannelSpec.of("bm25"), CrossEncoderChannel(model=model, over="bm25")]).open(snapshot)
    assert opened.retrieve(Queries.of([Query("q", "zzz", "en")]), 5).hits("q") == []


def test_weights_fit_all_channels_and_a_model_that_is_not_there_is_named(snapshot):
    choices = (ChannelSpec.of("bm25"), CrossEncoderChannel(model="nowhere", over="bm25"))
    with pytest.raises(ConfigError, match="3 weights for 2 channels"):
        SearchSpec.of(choices, fusion=Convex((0.2, 0.3, 0.5)))
    with pytest.raises(NotFoundError, match="no model 'nowhere'"):
        SearchSpec.of(choices).open(snapshot)
    with pytest.raises(NotFoundError, match="no channel 'dense' in the index"):
        SearchSpec.of([ChannelSpec.of("dense"), CrossEncoderChannel(model="nowhere", over="dense")]).open(snapshot)


def test_percentiles_of_its_scores_are_refused(snapshot, model):
    choices = (CrossEncoderChannel(model=model, over="bm25"), ChannelSpec.of("bm25"))
    fusion = Convex((0.5, 0.5), (Percentile(), MinMax()))
    opened = SearchSpec.of(choices, fusion=fusion).open(snapshot)
    assert isinstance(opened.fusion, Convex)
    with pytest.raises(ConfigError, match="'cross-encoder' is not a channel of an index and has no distribution of scores"):
        opened.retrieve(QUERIES, 3)
