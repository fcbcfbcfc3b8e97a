"""Each question is encoded once for each encoder, whatever is asked of it: counted on real encoders."""

import asyncio
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lexfuse.channels import query_context as module
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.encoder import Side
from lexfuse.encode.shared_encoders import SharedEncoders
from lexfuse.rerank.reranker import Rescore
from lexfuse.search.candidates import retrieve_blocks
from lexfuse.search.pipeline import FusedRetriever
from lexfuse.search.spec.defaults import read_profiles
from lexfuse.search.temporal_filter import retrieve_before
from lexfuse.service.context import ServiceContext
from lexfuse.service.operations.compare import CompareParameters, compare
from lexfuse.service.operations.explain import ExplainParameters, explain
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.operations.similar import SimilarParameters, similar
from lexfuse.service.registry import IndexPlace, IndexRegistry, ServedIndex
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.analysis.vocabulary import TermEncoder

QUESTION = "préavis de démission"
SUBJECTS = ["le préavis", "la démission", "le bail", "le loyer", "le salaire", "le congé", "la faute", "l'appel"]


class Counted:
    """An encoder that counts how often it is given each query."""

    def __init__(self, encoder, counts):
        self.encoder, self.counts = encoder, counts

    def __getattr__(self, name):
        return getattr(self.encoder, name)

    def encode(self, texts, side, **others):
        if side is Side.QUERY:
            self.counts.update((id(self), text) for text in texts)
        return self.encoder.encode(texts, side, **others)


class CountedEncoders(SharedEncoders):
    """Encoders that count, and that nobody shares a memory of vectors with: only the context keeps what was encoded."""

    def __init__(self, counts):
        super().__init__()
        self.counts, self.loaded = counts, {}

    def shared(self, key, load):
        if key not in self.loaded:
            self.loaded[key] = Counted(load(), self.counts)
        return self.loaded[key]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("once") / "law.index"
    documents = [
        Document(f"d{at:02}", text=f"{one}, puis {other}. Ensuite {other} seul.", language="fr")
        for at, (one, other) in enumerate((one, other) for one in SUBJECTS for other in SUBJECTS if one != other)
    ]
    with IndexFolder.create(folder, documents=documents) as index:
        for name, plan in (
            ("dense", ChannelPlan("fr-legal-dense")),
            ("splade", ChannelPlan("fr-legal-splade")),
            ("sentences", ChannelPlan("fr-legal-dense")),
        ):
            index.channels.make(name, plan_channel(name, plan))
            fill_channel(index, name)
    return folder


@pytest.fixture
def counts():
    return Counter()


@pytest.fixture
def service(folder, counts, tmp_path):
    """The service of the index; both profiles keep few candidates, so that most scores of the union are asked for."""
    for name, channels in (("both", ("bm25", "dense")), ("three", ("bm25", "dense", "splade"))):
        parts = "".join(f'[[channel]]\nname = "{channel}"\n\n' for channel in channels)
        (tmp_path / f"{name}.toml").write_text(f'version = 1\nname = "{name}"\ndepth = 3\n\n{parts}', "utf-8")
    profiles = read_profiles([tmp_path / "both.toml", tmp_path / "three.toml"])
    shelf = ServedIndex(IndexPlace.of(folder), profiles, CountedEncoders(counts))
    context = ServiceContext(IndexRegistry([shelf]), ServiceSettings())
    counts.clear()  # of the question that warms the index up
    yield context
    context.close()


def ask(service, call, request):
    return asyncio.run(service.run(call, service.registry, request))


def assert_once(counts, encoders, texts):
    assert len({encoder for encoder, _ in counts}) == encoders
    assert set(counts.values()) == {1}
    assert {text for _, text in counts} == set(texts)


@pytest.mark.parametrize(("profile", "encoders"), [("both", 1), ("three", 2)])
def test_a_search_with_exact_scores_facets_and_snippets(service, counts, profile, encoders):
    page = ask(service, search, SearchQuery(query=QUESTION, profile=profile, language="fr", facets=True))
    assert page.results
    assert_once(counts, encoders, [QUESTION])


def test_an_explanation_of_what_was_found_and_why_not(service, counts):
    for document, listed in (("d00", True), ("d50", False)):
        counts.clear()
        why = ask(service, explain, ExplainParameters(query=QUESTION, document=document, profile="three", language="fr")).why
        assert why.listed is listed
        assert_once(counts, 2, [QUESTION])


def test_a_comparison_of_profiles(service, counts):
    ask(service, compare, CompareParameters(query=QUESTION, profiles=("both", "three", "dense"), language="fr"))
    assert_once(counts, 2, [QUESTION])  # dense is the same encoder in all of them


def test_the_sentences_of_a_document_that_is_compared_and_explained(service, counts):
    page = ask(service, similar, SimilarParameters(document="d00"))
    assert any(result.alignment for result in page.results)
    assert_once(counts, 1, ["le préavis, puis la démission.", "Ensuite la démission seul."])


def hybrid(snapshot, counts):
    dense, splade = open_retriever(snapshot, "dense"), open_retriever(snapshot, "splade")
    dense, splade = (replace(one, encoder=Counted(one.encoder, counts)) for one in (dense, splade))
    bm25 = open_retriever(snapshot, "bm25")
    return FusedRetriever([bm25, dense, splade], depth=3) >> Rescore(replace(dense, name="again"), depth=2)


def test_a_batch_block_by_block_gives_the_same_run(folder, counts, monkeypatch):
    texts = [f"{one} et {other}" for one in SUBJECTS for other in SUBJECTS]
    queries = Queries.of(Query(f"q{at}", text, "fr", np.datetime64("2020-01-01").item()) for at, text in enumerate(texts))
    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        whole = hybrid(snapshot, Counter()).retrieve(queries, 5)
        monkeypatch.setattr(module, "BLOCK_QUERIES", 10)
        run = retrieve_blocks(hybrid(snapshot, counts), queries, 5)
        assert_once(counts, 2, texts)
        assert len(run) > 4 * len(queries)
        for name in ("offsets", "doc", "score"):
            assert getattr(run, name).tobytes() == getattr(whole, name).tobytes()
        assert {name: part.tobytes() for name, part in run.parts.items()} == {
            name: part.tobytes() for name, part in whole.parts.items()
        }
        counts.clear()
        assert len(retrieve_before(hybrid(snapshot, counts), queries, 5)) == 0  # no document has a date
        assert_once(counts, 2, texts)


def test_the_terms_of_a_question_are_read_once_for_all_retrievers_of_words(folder, monkeypatch):
    read, encode = Counter(), TermEncoder.encode

    def counted(self, text):
        read[text] += 1
        return encode(self, text)

    monkeypatch.setattr(TermEncoder, "encode", counted)
    query = Query("q", QUESTION, "fr")
    with IndexFolder(folder) as index, index.snapshot() as snapshot:
        fused = FusedRetriever([open_retriever(snapshot, "bm25"), open_retriever(snapshot, "tfidf")], depth=3)
        assert fused.explain(query, ["d00", "d50"])
    assert read == {QUESTION: 1}
