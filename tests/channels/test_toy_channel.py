"""A kind of channel that only this file knows: it is indexed, searched, fused, explained, tuned, advised on and served.

Documents are signed counts of character trigrams, compared by dot product: the lowest possible score depends on the query.
"""

import math
import zlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest
from fastapi.testclient import TestClient

from lexfuse import TM2C2, Document, Index, Qrels, Queries, Query
from lexfuse.advice.advisor import advise
from lexfuse.channels.channel_kind import ChannelPlan, KindOptions, SearchOptions, StoredKind
from lexfuse.channels.channel_retriever import ChannelRetriever, SearchWork
from lexfuse.channels.cost import costs_of
from lexfuse.channels.distribution import estimate
from lexfuse.channels.registry import channel_kind, open_retriever, register, unregister
from lexfuse.channels.retriever import ScoreBounds, checked_k, held_scores, requested_pairs
from lexfuse.cluster.build.cluster_build import ClusterBuilder
from lexfuse.cluster.cluster_index import ClusterIndex
from lexfuse.cluster.store import ClusterStore
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError
from lexfuse.optimisation.fusion_weights import tune_weights
from lexfuse.search.candidates import retrieve_union
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.array_file import map_array, save_array
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.stored_channel import NO_OPTIONS, ChannelSettings


def trigram_vector(text, width):
    """Every trigram adds 1 or -1 to one of the numbers of a vector, as its check sum says."""
    vector = np.zeros(width, np.float32)
    for at in range(len(text) - 2):
        sum_of_bytes = zlib.crc32(text[at : at + 3].lower().encode())
        vector[sum_of_bytes % width] += 1 if sum_of_bytes & 1 << 20 else -1
    return vector


@dataclass(frozen=True)
class TrigramPart:
    """One row for each document of a block."""

    rows: np.ndarray
    inverted = posting_rows = None

    def __len__(self):
        return len(self.rows)

    def save(self, folder, options=NO_OPTIONS):
        yield save_array(folder / "shape.npy", np.array(self.rows.shape, np.int64))
        yield save_array(folder / "rows.npy", self.rows.reshape(-1))

    @classmethod
    def load(cls, folder, files=()):
        shape = map_array(folder / "shape.npy", np.int64).tolist()
        return cls(map_array(folder / "rows.npy", np.float32).reshape(shape))

    @classmethod
    def merged(cls, parts, kept):
        return cls(np.concatenate([part.rows[flags] for part, flags in zip(parts, kept, strict=True)]))


class TrigramSearchOptions(SearchOptions):
    """Scores may be scaled."""

    scale: float = 1.0


class TrigramBuildOptions(KindOptions):
    """How many numbers a vector has."""

    width: int = 256


@dataclass(frozen=True)
class TrigramRetriever(ChannelRetriever):
    """Dot products with every document."""

    snapshot: object
    channel: str = "trigrams"
    scale: float = 1.0
    name: str = field(default="trigrams", kw_only=True)

    @property
    def bounds(self):
        return ScoreBounds(-math.inf)

    @property
    def numbering(self):
        return self.snapshot.channel_numbering(self.channel)

    @cached_property
    def rows(self):
        width = self.snapshot.channel(self.channel).named.settings.options["width"]
        parts = [part.content.rows for part in self.snapshot.channel(self.channel).parts]
        return np.concatenate([np.empty((0, width), np.float32), *parts])

    def read(self, queries):
        width = self.rows.shape[1]
        return self.scale * np.array([trigram_vector(text, width) for text in queries.text]).reshape(-1, width)

    def rank(self, queries, encoded, k, *, within=None):
        numbering = self.numbering
        raw = np.flatnonzero(numbering.alive if within is None else numbering.mask(within))
        scores = (encoded @ self.rows[raw].T).astype(np.float32)
        best = [np.lexsort((numbering.order[raw], -row))[: checked_k(k)] for row in scores]
        docs = [numbering.places[raw[places]] for places in best]
        offsets = np.cumsum([0, *map(len, best)])
        found = [row[places] for row, places in zip(scores, best, strict=True)]
        longest = float(np.linalg.norm(self.rows[raw], axis=1).max(initial=0))
        low = -np.linalg.norm(encoded, axis=1).astype(np.float64) * longest
        return Run(self.name, queries.ids, self.snapshot.ids, offsets, np.concatenate(docs), np.concatenate(found), low=low)

    def score(self, queries, pairs):
        query, doc = requested_pairs(queries, pairs, self.snapshot.ids)
        raw, encoded = self.numbering.raw[doc], self.read(queries)
        return held_scores(raw, lambda held: np.einsum("ij,ij->i", encoded[query[held]], self.rows[raw[held]]))

    def work(self, queries):
        return SearchWork(len(self.rows), 2 * self.rows.size)

    @property
    def score_parameters(self):
        return {"scale": self.scale}


class TrigramKind(StoredKind):
    """Trigram vectors; no model is needed."""

    name = "trigram-counts"
    channels = ("trigrams",)
    part_class = TrigramPart
    search_options = TrigramSearchOptions
    build_options = TrigramBuildOptions

    def default_model(self, channel, language):
        return ""

    def check(self, channel, plan):
        TrigramBuildOptions.of(channel, plan.options)

    def settings(self, channel, plan, *, threads=None):
        return ChannelSettings(self.name, "trigrams", "1", options=TrigramBuildOptions.of(channel, plan.options).model_dump())

    def encoding(self, index, channel, *, threads=None, cache=None):
        width = index.channels.named(channel).settings.options["width"]

        def encode(documents):
            rows = np.array([trigram_vector(f"{one.title} {one.text}", width) for one in documents])
            return EncodedBlock(TrigramPart(rows), len(documents))

        return encode

    def open(self, snapshot, channel, options, *, name, threads=None):
        return TrigramRetriever(snapshot, channel, options.scale, name=name)


TOPICS = ["le bail du logement", "la rupture du contrat", "le préavis de démission", "le livre prêté", "la carte", "le loyer dû"]
DOCUMENTS = [Document(f"d{number:02}", text=f"{topic} numéro {number}", language="fr") for number, topic in enumerate(TOPICS * 4)]
CUT = [" ".join(word[1:] for word in topic.split()) + " numéro" for topic in TOPICS]  # bm25 finds the last word in all documents
ASKED = Queries.of(Query(f"q{number}", text, "fr") for number, text in enumerate(CUT))
JUDGED = Qrels.of([(f"q{at % len(TOPICS)}", f"d{at:02}", 1) for at in range(len(DOCUMENTS))])
HYBRID = {"channels": ["bm25", "trigrams"], "fusion": TM2C2(alpha=0.5)}


@pytest.fixture(autouse=True)
def kind():
    toy = TrigramKind()
    register(toy)
    yield toy
    unregister(toy)


@pytest.fixture
def index(tmp_path):
    with Index.build(tmp_path / "toy.index", DOCUMENTS, channels=["trigrams"]) as index:
        yield index


def test_it_is_indexed_and_searched(index):
    assert index.channels == ("trigrams",)
    found = index.search("réavis e émission", k=4, channels=["trigrams"])
    assert {hit.id for hit in found} == {"d02", "d08", "d14", "d20"}
    queries = Queries.of([Query("q", "le loyer")])
    plain, scaled = (open_retriever(index.snapshot, "trigrams", scale=scale).retrieve(queries, 5) for scale in (1.0, 2.0))
    assert (scaled.score == 2 * plain.score).all()


def test_its_options_are_checked_by_the_kind(index):
    with pytest.raises(ConfigError, match="channel 'trigrams' has no option 'k1'; it has exact, scale"):
        open_retriever(index.snapshot, "trigrams", k1=0.9)
    with pytest.raises(ConfigError, match="scale must be a number, got 'high'"):
        index.search("loyer", channels=[{"name": "trigrams", "scale": "high"}])
    with pytest.raises(ConfigError, match="channel 'trigrams-wide' has no option 'storage'; it has width"):
        index.add_channels({"trigrams-wide": ChannelPlan(storage="fp16")})
    index.add_channels({"trigrams-wide": ChannelPlan(width=512)})
    assert index.snapshot.channel("trigrams-wide").parts[0].content.rows.shape == (len(DOCUMENTS), 512)


def test_it_is_fused_with_its_own_bound_for_every_query(index):
    sources = [open_retriever(index.snapshot, name) for name in ("bm25", "trigrams")]
    union = retrieve_union(sources, ASKED, 10)
    assert (union.low[0] == 0).all()
    assert len(set(union.low[1].tolist())) > 1
    assert (union.low[1] < -1).all()
    run = index.run(ASKED, depth=10, **HYBRID)
    assert all(run.hits(query) for query in ASKED.ids)
    assert all(0 <= hit.score <= 1 for query in ASKED.ids for hit in run.hits(query))


def test_it_is_explained(index):
    found = index.explain("e oyer û", "d05", **HYBRID)
    assert [part.source for part in found.parts] == ["bm25", "trigrams"]
    assert found.score == pytest.approx(sum(part.contribution for part in found.parts))
    expected = trigram_vector("e oyer û", 256) @ trigram_vector(" le loyer dû numéro 5", 256)
    assert found.parts[1].score == expected > 0


def test_its_weight_is_tuned(index):
    sources = [open_retriever(index.snapshot, name) for name in ("bm25", "trigrams")]
    tuned = tune_weights(retrieve_union(sources, ASKED, 20), TM2C2(), JUDGED, "nDCG@10", folds=2)
    assert tuned.weights[1] > 0  # bm25 finds one word, in all documents
    assert tuned.value >= float(tuned.equal.mean())


def test_it_is_advised_on(index):
    advice = advise(index, ASKED, JUDGED, channels=["bm25", "trigrams"], folds=2)
    assert {source.source for source in advice.costs} == {"bm25", "trigrams"}
    assert "trigrams" in {channel.name for channel in advice.spec.channels}
    assert advice.spec.open(index.snapshot).retrieve(ASKED, 5).hits("q0")


def test_its_costs_and_the_distribution_of_its_scores(index):
    [cost] = costs_of(index.snapshot, ASKED, channels=["trigrams"])
    assert (cost.vectors, cost.flops) == (len(DOCUMENTS), 2 * 256 * len(DOCUMENTS))
    assert cost.bytes > 4 * 256 * len(DOCUMENTS)
    found = estimate(open_retriever(index.snapshot, "trigrams", scale=0.5), ASKED)
    assert (found.key, found.scores) == ('trigrams:{"scale":0.5}', len(ASKED) * len(DOCUMENTS))


def test_it_is_served(index, tmp_path):
    channels = '[[channel]]\nname = "bm25"\n[[channel]]\nname = "trigrams"\nscale = 0.5\n'
    (tmp_path / "toy.toml").write_text(f'version = 1\nname = "toy"\n{channels}[fusion]\nmethod = "tm2c2"\n', "utf-8")
    with (
        IndexRegistry.open([IndexPlace.of(index.folder)], [tmp_path / "toy.toml"]) as library,
        TestClient(create_app(ServiceContext(library, ServiceSettings(reload_seconds=0)))) as client,
    ):
        client.app.state.ready = True
        page = client.get("/v1/search", params={"query": "e oyer û", "profile": "toy", "k": 2})
        assert page.status_code == 200, page.text
        best = page.json()["results"][0]["id"]
        why = client.get(f"/v1/explain/{best}", params={"query": "e oyer û", "profile": "toy"})
        assert why.status_code == 200, why.text
    assert best in {"d05", "d11", "d17", "d23"}
    assert "trigrams" in {source["source"] for source in why.json()["why"]["sources"]}


def test_it_is_divided_among_the_shards_of_a_cluster(index, tmp_path):
    store = ClusterStore(str(tmp_path / "law"))
    change = ClusterBuilder(store=store, work=tmp_path / "work").build(index.folder, shards=3)
    assert change.channels["trigrams"].encoded == 0
    with ClusterIndex.published(store, tmp_path / "cache") as cluster:
        assert cluster.run(ASKED, depth=30, **HYBRID).as_dict() == index.run(ASKED, depth=30, **HYBRID).as_dict()


def test_changes_merges_and_reopening(index):
    index.delete(["d05", "d11"])
    index.add([Document("new", text="le loyer dû par le locataire", language="fr")])
    index.add_channels()
    [part] = index.snapshot.channel("trigrams").parts
    assert len(part.serials) == len(index.snapshot)
    before = index.run(ASKED, channels=["trigrams"], depth=30).as_dict()
    assert not {"d05", "d11"} & before["q5"].keys()
    assert "new" in before["q5"]
    index.merge()
    assert len(index.snapshot.channel("trigrams").parts) == 1
    assert index.verify() == []
    with Index.open(index.folder) as again:
        assert again.run(ASKED, channels=["trigrams"], depth=30).as_dict() == before


def test_a_kind_that_is_not_registered_is_named(index, kind):
    unregister(kind)
    with pytest.raises(DataError, match="kind 'trigram-counts', which is not registered; there are dense, sparse, late"):
        Index.open(index.folder).search("loyer")
    register(kind)
    assert index.search("loyer", channels=["trigrams"])


def test_names_of_kinds_and_channels_are_given_once():
    with pytest.raises(ConfigError, match="there is a kind of channel 'trigram-counts' already"):
        register(TrigramKind())
    assert channel_kind("trigrams-mine").name == "trigram-counts"
