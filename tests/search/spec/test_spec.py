"""Profiles: read, refused with what is valid, written and read back, opened on an index."""

import json

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError, NotFoundError
from lexfuse.fusion.borda import Borda
from lexfuse.fusion.convex import TM2C2, Convex
from lexfuse.fusion.normalisation import MinMax, ZScore
from lexfuse.fusion.reciprocal_rank import ReciprocalRank, SmoothReciprocalRank
from lexfuse.fusion.union import Missing
from lexfuse.rerank.reranker import RerankedRetriever
from lexfuse.search.pipeline import FusedRetriever, RoutedRetriever
from lexfuse.search.spec.channel_spec import ChannelSpec
from lexfuse.search.spec.reranker_specs import RescoreSpec
from lexfuse.search.spec.spec import ClassSpec, SearchSpec
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.kli import TermChoice, TermWeight
from lexfuse.text.query_class import QueryClass

WORDS = ["loi", "droit", "juge", "contrat", "bail", "congé", "salaire", "préavis"]

FULL = """
version = 1
name = "labour law"
description = "two lines,\\none \\"quoted\\""
depth = 7

[[channel]]
name = "bm25"
k1 = 0.9
b = 0.4

[[channel]]
name = "tfidf"

[fusion]
method = "convex"
weights = [0.25, 0.75]
normalisers = ["z-score", "min-max"]
missing = "zero"

[[rerank]]
channel = "tfidf"
depth = 3

[class.citation]
rerank = []

[[class.citation.channel]]
name = "bm25"

[class.question.fusion]
method = "rrf"
eta = [10, 5.5]

[evidence]
measure = "nDCG@10"
value = 0.43
queries = 120
"""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    chance = np.random.default_rng(0)
    documents = [
        Document(f"d{number:02}", text=" ".join(chance.choice(WORDS, size=chance.integers(3, 30))), language="fr")
        for number in range(40)
    ]
    with IndexFolder.create(tmp_path_factory.mktemp("p") / "i", documents=documents) as index, index.snapshot() as snapshot:
        yield snapshot


def profile_with(*lines):
    return SearchSpec.parse("\n".join(["version = 1", *lines]))


def test_everything_that_can_be_said_is_read():
    found = SearchSpec.parse(FULL)
    assert found.description == 'two lines,\none "quoted"'
    assert found.depth == 7
    assert found.channels == (ChannelSpec.of("bm25", k1=0.9, b=0.4), ChannelSpec.of("tfidf"))
    assert found.fusion == Convex((0.25, 0.75), (ZScore(), MinMax()), Missing.ZERO)
    assert found.rerank == (RescoreSpec(channel="tfidf", depth=3),)
    assert found.evidence == {"measure": "nDCG@10", "value": 0.43, "queries": 120}


def test_a_class_takes_what_it_does_not_say_from_the_general_pipeline():
    found = SearchSpec.parse(FULL)
    citation, question = found.of_class(QueryClass.CITATION), found.of_class(QueryClass.QUESTION)
    assert (citation.channels, citation.fusion, citation.rerank) == ((ChannelSpec.of("bm25"),), None, ())
    fusion = ReciprocalRank((10.0, 5.5))
    assert (question.channels, question.fusion, question.rerank) == (found.channels, fusion, found.rerank)


def test_a_class_with_channels_of_its_own_does_not_take_weights_of_others():
    text = FULL.replace('[[class.citation.channel]]\nname = "bm25"', '[[class.citation.channel]]\nname = "tfidf"')
    more = '\n[[class.citation.channel]]\nname = "citation"\n'
    assert SearchSpec.parse(text + more).of_class(QueryClass.CITATION).fusion is None


PROFILES = [
    SearchSpec.parse(FULL),
    SearchSpec.of("bm25"),
    SearchSpec.of([{"name": "a", "exact": True}, ChannelSpec.of("b", cosine=True)], fusion=Borda(), name="x"),
    SearchSpec(
        channels=({"name": "a"}, {"name": "b"}),
        fusion=SmoothReciprocalRank(5.0, 100.0),
        classes={QueryClass.DOCUMENT: ClassSpec(channels=({"name": "b"},), rerank=(RescoreSpec(channel="a"),))},
        evidence={"words": "+0.041 nDCG@10\tover BM25 \x7f\\", "a key": 1e-7, "n": 3, "sure": True},
    ),
    SearchSpec.of("a,b", fusion=TM2C2(alpha=1.0)),
    SearchSpec.of("a,b", fusion="rrf", filters=["code=Code civil", "date>=2020-01-01"], as_of="2024-01-31", name="filtered"),
    SearchSpec.of("bm25", terms=TermChoice.of(0.1, TermWeight.COUNT, only=["bail=2"], added=["loyer"], dropped=["cour"])),
]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name or "unnamed")
def test_what_is_written_is_read_back(profile, tmp_path):
    profile.save(tmp_path / "p.toml")
    found = SearchSpec.read(tmp_path / "p.toml")
    assert found == profile == SearchSpec.from_json(json.loads(json.dumps(profile.as_json())))
    assert found.text() == profile.text() == (tmp_path / "p.toml").read_text("utf-8")


TWO = ["[[channel]]", 'name = "bm25"', "[[channel]]", 'name = "tfidf"']


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "there is no channel"),
        (["colour = 1"], "there is no 'colour'; there are version, name, description, depth, channel"),
        (["depth = 0", *TWO], "depth must be at least 1, got 0"),
        (["depth = 1.5", *TWO], "depth must be a whole number, got 1.5"),
        (["depth = true", *TWO], "depth must be a whole number, got True"),
        (["name = 3", *TWO], "name must be a text, got 3"),
        (["channel = 3"], r"channel must be a list of tables, \[\[channel\]\], got 3"),
        (["channel = [3]"], "channel 1: a table was expected, got 3; it has the keys method, name, exact, k1, b"),
        (["[[channel]]", "k1 = 1.0"], "channel 1: name is missing"),
        ([*TWO, "k1 = 0.9"], "channel 2: there is no 'k1'; there are method, name, exact; k1 is for bm25"),
        (["[[channel]]", 'name = "bm25"', 'k1 = "high"'], "channel 1: k1 must be a number, got 'high'"),
        (["[[channel]]", 'name = "bm25"', "b = 3"], "channel 1: b must lie between 0 and 1, got 3"),
        (["[[channel]]", 'name = "bm25"', "k1 = -1"], "channel 1: k1 must be 0 or more"),
        (["[[channel]]", 'name = "bm25"', "exact = 1"], "channel 1: exact must be true or false, got 1"),
        (["[[channel]]", 'name = "bm25"', "size = 1"], "there is no 'size'; there are method, name, exact, k1, b, idf, .*terms$"),
        (["[[channel]]", 'name = "tfidf"', "kli = 0.1"], "channel 1: there is no 'kli'; .*; kli is for bm25"),
        (["[[channel]]", 'name = "bm25"', "kli = 0"], "channel 1: KLI takes a share of the terms above 0"),
        (["[[channel]]", 'name = "bm25"', "[[channel]]", 'name = "bm25"'], "channel 'bm25' is given twice"),
        (["[[channel]]", 'name = "bm25"', "[fusion]", 'method = "rrf"'], "a fusion needs two channels or more"),
        ([*TWO, "[fusion]"], "fusion: method is missing: one of tm2c2, convex, rrf"),
        ([*TWO, "[fusion]", 'method = "mean"'], "fusion: method must be one of tm2c2, convex, rrf, .*; got 'mean'"),
        ([*TWO, "[fusion]", 'method = "convex"', "weights = [0.5, 0.6]"], r"fusion: weights must sum to 1, got \[0.5, 0.6\]"),
        ([*TWO, "[fusion]", 'method = "convex"', "weights = [0.2, 0.3, 0.5]"], "convex has 3 weights for 2 channels"),
        ([*TWO, "[fusion]", 'method = "convex"', "weights = 1"], "fusion: weights must be one number for each source"),
        ([*TWO, "[fusion]", 'method = "convex"', 'weights = ["a"]'], "weights must be a number or a list of numbers"),
        ([*TWO, "[fusion]", 'method = "convex"', 'normalisers = "log"'], "no normaliser 'log'; there are min-max, .*percentile"),
        ([*TWO, "[fusion]", 'method = "convex"', "normalisers = 1"], "normalisers must be a text or a list of texts"),
        ([*TWO, "[fusion]", 'method = "rrf"', "eta = -1"], "fusion: eta must be positive"),
        ([*TWO, "[fusion]", 'method = "rrf"', "eta = [1, 2, 3]"], "rrf has 3 eta for 2 channels"),
        ([*TWO, "[fusion]", 'method = "rrf"', "alpha = 0.5"], "the fusion rrf has no alpha; it takes eta, weights"),
        ([*TWO, "[fusion]", 'method = "rrf"', 'missing = "mean"'], "missing must be one of rescore, min, zero; got 'mean'"),
        ([*TWO, "[[rerank]]", "depth = 3"], "rerank 1: channel is missing"),
        ([*TWO, "[[rerank]]", 'channel = "tfidf"', "depth = 0"], "rerank 1: the depth of reranking must be at least 1"),
        ([*TWO, "[class.poem]"], "no class of queries 'poem'; there are citation, keywords, question, document"),
        ([*TWO, "[class.question.fusion]", 'method = "x"'], "class.question: fusion: method must be one of"),
        ([*TWO, "[class.question]", "depth = 3"], "class.question: there is no 'depth'; there are channel, fusion, rerank"),
        ([*TWO, "[evidence]", "value = nan"], "evidence: value must be a text or a finite number, got nan"),
        ([*TWO, "[evidence]", "value = []"], "evidence: value must be a text or a finite number"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(lines, message):
    with pytest.raises(ConfigError, match=message):
        profile_with(*lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no version; write version = 1"),
        ("version = 2", "has version 2, this LexFuse reads 1; use a newer LexFuse"),
        ('version = "1"', "has version '1', this LexFuse reads 1; write version = 1"),
        ("version = true", "has version True"),
    ],
)
def test_the_version_is_looked_at_first(text, message):
    with pytest.raises(ConfigError, match=message):
        SearchSpec.parse(text + "\nsomething = 3")


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text("version = 1\nchannel = \n")
    with pytest.raises(DataError, match=r"p\.toml: not valid TOML: .*line 2"):
        SearchSpec.read(path)
    path.write_text("version = 1\ndepth = 0\n[[channel]]\nname = 'bm25'")
    with pytest.raises(ConfigError, match=r"p\.toml: depth must be at least 1"):
        SearchSpec.read(path)
    path.write_bytes(b"version = 1 # \xe9")
    with pytest.raises(DataError, match="UTF-8"):
        SearchSpec.read(path)


def test_it_opens_the_pipeline_that_it_describes(snapshot):
    found = SearchSpec.parse(FULL).open(snapshot)
    assert isinstance(found, RoutedRetriever)
    assert isinstance(found.general, RerankedRetriever)
    hybrid = found.general.retriever
    assert isinstance(hybrid, FusedRetriever)
    assert (hybrid.depth, hybrid.fusion.weights, hybrid.fusion.missing) == (7, (0.25, 0.75), Missing.ZERO)
    assert (hybrid.retrievers[0].k1, hybrid.retrievers[0].b) == (0.9, 0.4)
    assert found.routes[QueryClass.CITATION].name == "bm25"
    assert {found.name, SearchSpec.parse(FULL).open(snapshot, name="mine").name} == {"bm25+tfidf>>tfidf", "mine"}


def test_it_ranks_as_the_same_options_do(snapshot):
    queries = Queries.of([Query("q1", "loi du contrat de bail", "fr"), Query("q2", "salaire et congé", "fr")])
    profile = profile_with("depth = 9", *TWO, "[fusion]", 'method = "convex"', "weights = [0.3, 0.7]")
    same = SearchSpec.of("bm25,tfidf", fusion=Convex((0.3, 0.7)), depth=9)
    assert same == profile
    hybrid = FusedRetriever([BM25(snapshot), TfIdf(snapshot)], Convex((0.3, 0.7)), 9)
    assert profile.open(snapshot).retrieve(queries, 5).as_dict() == hybrid.retrieve(queries, 5).as_dict()


def test_without_a_fusion_it_is_tm2c2_with_words_as_lexical(snapshot):
    assert profile_with(*TWO).open(snapshot).fusion == TM2C2(lexical=2)


@pytest.mark.parametrize("where", ["[[channel]]\nname", "[[rerank]]\nchannel", "[[class.question.channel]]\nname"])
def test_a_channel_that_the_index_lacks_is_told_with_those_it_has(snapshot, where):
    profile = profile_with(*TWO, f'{where} = "dense"')
    with pytest.raises(NotFoundError, match="no channel 'dense' in the index; it has bm25, tfidf, citation"):
        profile.open(snapshot)


def test_informative_terms_are_chosen_and_written(snapshot):
    profile = profile_with("[[channel]]", 'name = "bm25"', "k1 = 2.8", "b = 1.0", "kli = 2")
    assert SearchSpec.parse(profile.text()) == profile
    asked = Queries.of([Query("q", " ".join(WORDS), "fr")])
    few, all_ = profile.open(snapshot), profile_with("[[channel]]", 'name = "bm25"', "k1 = 2.8", "b = 1.0").open(snapshot)
    assert few.retrieve(asked, 40).as_dict() != all_.retrieve(asked, 40).as_dict()
    assert len(few.terms(asked.query("q")).terms) == 2


def test_a_cosine_where_there_is_none_to_choose_is_refused(snapshot):
    with pytest.raises(ConfigError, match=r"there is no 'cosine'; .*; cosine is for splade"):
        profile_with("[[channel]]", 'name = "tfidf"', "cosine = true").open(snapshot)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["filters = 3"], "filters must be a text or a list of texts, got 3"),
        (['filters = ["code"]'], "a filter is written field=value"),
        (["as_of = 3"], "as_of must be a date such as 2024-01-31, got 3"),
        (['as_of = "soon"'], "as_of: 'soon' is not a date"),
        (['as_of = "2999-01-01"'], "as_of: a known day was expected, got '2999-01-01'"),
    ],
)
def test_filters_and_days_that_cannot_be_are_refused(lines, message):
    with pytest.raises(ConfigError, match=message):
        profile_with(*lines, *TWO)


def test_a_filter_of_an_unknown_field_is_not_found(snapshot):
    with pytest.raises(NotFoundError, match="there is no field 'colour' to filter by"):
        SearchSpec.of("bm25", filters=["colour=red"]).within(snapshot)


def test_filters_and_a_day_are_a_mask(snapshot):
    assert SearchSpec.of("bm25").within(snapshot) is None
    assert SearchSpec.of("bm25", filters=["id=d01,d02"]).within(snapshot).sum() == 2
    assert profile_with("as_of = 2024-01-31", *TWO) == profile_with('as_of = "2024-01-31"', *TWO)


def test_options_are_for_the_channels_that_have_them():
    found = SearchSpec.of("bm25,dense,splade", k1=0.9, cosine=True)
    assert [channel.options for channel in found.channels] == [{"k1": 0.9}, {}, {"cosine": True}]
    with pytest.raises(ConfigError, match=r"cosine applies to no selected channel \(bm25, dense\)"):
        SearchSpec.of("bm25,dense", cosine=True)
    with pytest.raises(ConfigError, match="k1 must be 0 or more, got -1"):
        SearchSpec.of("bm25", k1=-1.0)
    with pytest.raises(ConfigError, match="leave lexical out of TM2C2"):
        SearchSpec.of("bm25,dense", fusion=TM2C2(lexical=2))
