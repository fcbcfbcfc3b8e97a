"""SDR as a channel of a profile: read, refused with what is valid, written and read back, opened alone and fused."""

import pytest

from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError
from lexfuse.fusion.reciprocal_rank import ReciprocalRank
from lexfuse.rerank.sdr_retriever import SdrRetriever
from lexfuse.search.spec.channel_spec import ChannelSpec, SdrChannel
from lexfuse.search.spec.reranker_specs import SdrSpec
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.index_folder import IndexFolder

QUERIES = Queries.of([Query("q", "Le loyer est dû. Le bail est nul.", "fr")])
TABLE = ["[[channel]]", 'method = "sdr"']


def parsed(*lines):
    return SearchSpec.parse("\n".join(["version = 1", *lines]))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    texts = {"a": "Le bail est nul. Le loyer est dû.", "b": "Il fait beau. Il pleut.", "c": "Le juge dit le droit."}
    documents = [Document(id, text=text, language="fr") for id, text in texts.items()]
    with IndexFolder.create(tmp_path_factory.mktemp("i") / "i", documents=documents) as index:
        index.channels.make("sentences", plan_channel("sentences", language="fr"))
        fill_channel(index, "sentences")
        with index.snapshot() as snapshot:
            yield snapshot


@pytest.mark.parametrize("choice", [SdrChannel(), SdrChannel(channel="sentences-legal", name="mine")])
def test_what_is_written_is_read_back(choice):
    for profile in (SearchSpec.of([choice]), SearchSpec.of([ChannelSpec.of("bm25"), choice])):
        assert SearchSpec.parse(profile.text()) == profile
    assert parsed(*TABLE).channels == (SdrChannel(),)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['name = "bm25"'], "every index has a channel 'bm25'; give SDR another name"),
        (['name = ""'], "name must be a text, got ''"),
        (["depth = 50"], "there is no 'depth'; there are method, channel, name"),
        (['channel = ""'], "channel must be a text, got ''"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(lines, message):
    with pytest.raises(ConfigError, match=message):
        parsed(*TABLE, *lines)


def test_a_reranker_of_the_same_name_is_refused():
    with pytest.raises(ConfigError, match="a channel and a reranker are both called 'sdr'; give the channel another name"):
        SearchSpec.of([SdrChannel()], rerank=[SdrSpec()])


def test_alone_it_ranks_all_documents(snapshot):
    opened = SearchSpec.of([SdrChannel()]).open(snapshot)
    assert isinstance(opened, SdrRetriever)
    hits = opened.retrieve(QUERIES, 10).hits("q")
    assert [hits[0].doc, len(hits)] == ["a", 3]
    assert opened.explain(QUERIES.query("q"), ["a"])[0].rank == 1


def test_it_is_fused_with_other_channels(snapshot):
    opened = SearchSpec.of([ChannelSpec.of("bm25"), SdrChannel(name="paragraphs")], fusion=ReciprocalRank()).open(snapshot)
    hits = opened.retrieve(QUERIES, 10).hits("q")
    assert [hits[0].doc, set(hits[0].parts)] == ["a", {"bm25", "paragraphs"}]


def test_a_channel_without_sentences_is_refused(snapshot):
    with pytest.raises(ConfigError, match="channel 'tfidf' has no vectors of sentences; make one"):
        SearchSpec.of([SdrChannel(channel="tfidf")]).open(snapshot)
