"""Retrievers by name: those that every index has, one for each channel, and what is refused."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.citation import CitationLookup
from lexfuse.channels.dense.flat_search import PassagePooling
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.late.late_search import LateMode
from lexfuse.channels.late.retriever import LateRetriever
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import DataError, NotFoundError
from lexfuse.storage.index_folder import IndexFolder

_FILE = Path(__file__).parent.parent / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

DOCUMENTS = [Document("a", text="contrat de travail"), Document("b", text="the lease ended"), Document("c", text="congé")]
QUERY = Queries.of([Query("q", "le travail")])


@pytest.fixture
def index(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    with IndexFolder.create(tmp_path / "i", documents=DOCUMENTS) as index:
        yield index


def with_channel(index, name, model, **choices):
    index.channels.make(name, plan_channel(name, ChannelPlan(str(model), **choices), threads=1))
    fill_channel(index, name, threads=1)


def test_what_every_index_has(index):
    with index.snapshot() as snapshot:
        bm25 = open_retriever(snapshot, "bm25", k1=0.9, b=0.4, name="mine")
        assert isinstance(bm25, BM25)
        assert (bm25.k1, bm25.b, bm25.name) == (0.9, 0.4, "mine")
        assert isinstance(open_retriever(snapshot, "tfidf"), TfIdf)
        assert isinstance(open_retriever(snapshot, "citation"), CitationLookup)
        assert open_retriever(snapshot, "tfidf").name == "tfidf"


def test_every_kind_of_channel_by_the_name_it_was_given(tmp_path, index):
    dense, sparse = tiny.folder(tmp_path / "d", normalise=True), tiny.folder(tmp_path / "s", head="mlm")
    with_channel(index, "dense-mine", dense)
    with_channel(index, "dense", dense, storage="fp32")
    with_channel(index, "splade-mine", sparse)
    with_channel(index, "colbert-mine", dense)
    with index.snapshot() as snapshot:
        mine = open_retriever(snapshot, "dense-mine", pool=PassagePooling.MEAN, threads=1)
        assert isinstance(mine, DenseRetriever)
        assert (mine.channel, mine.name, mine.pool, mine.exact) == ("dense-mine", "dense-mine", PassagePooling.MEAN, True)
        splade = open_retriever(snapshot, "splade-mine", threads=1, name="run")
        assert isinstance(splade, SparseRetriever)
        assert (splade.channel, splade.name) == ("splade-mine", "run")
        colbert = open_retriever(snapshot, "colbert-mine", threads=1)
        assert isinstance(colbert, LateRetriever)
        assert (colbert.mode, open_retriever(snapshot, "colbert-mine", exact=True).mode) == (LateMode.PLAID, LateMode.BRUTE_FORCE)
        for retriever in (mine, splade, colbert):
            run = retriever.retrieve(QUERY, 10)
            assert run.name == retriever.name
            assert len(run) == 3
            assert np.array_equal(retriever.score(QUERY, run), run.score)


def test_a_channel_that_the_index_lacks(tmp_path, index):
    with_channel(index, "dense", tiny.folder(tmp_path / "d"))
    expected = (
        "no channel 'splade' in the index; it has bm25, tfidf, citation, tfidf-1gram, tfidf-2gram, tfidf-bigram, dense; add one"
    )
    with index.snapshot() as snapshot, pytest.raises(NotFoundError, match=expected):
        open_retriever(snapshot, "splade")


def test_a_model_that_is_gone_is_named(tmp_path, index):
    with_channel(index, "dense", tiny.folder(tmp_path / "d"))
    shutil.rmtree(tmp_path / "d")
    with index.snapshot() as snapshot, pytest.raises(NotFoundError, match=str(tmp_path / "d")):
        open_retriever(snapshot, "dense")


def test_the_tower_of_queries_is_checked_too(tmp_path, index):
    passages, queries = tiny.folder(tmp_path / "p"), tiny.folder(tmp_path / "q", pooling=["cls"])
    with_channel(index, "dense", passages, query_model=str(queries))
    tiny.folder(tmp_path / "q", pooling=["max"])
    with index.snapshot() as snapshot, pytest.raises(DataError, match=f"another version of the model {str(queries)!r}"):
        open_retriever(snapshot, "dense")
    shutil.rmtree(passages)  # queries do not need it
    tiny.folder(tmp_path / "q", pooling=["cls"])
    with index.snapshot() as snapshot:
        assert len(open_retriever(snapshot, "dense", threads=1).retrieve(QUERY, 5)) == 3


def test_a_channel_made_for_clusters_is_searched_by_them_unless_exact(tmp_path, index, monkeypatch):
    monkeypatch.setattr("lexfuse.channels.dense.stored_part.CLUSTERED_FROM", 50)
    chance, words = np.random.default_rng(0), [word for word in tiny.WORDS if not word.startswith("#")]
    index.add(Document(f"d{number:03}", text=" ".join(chance.choice(words, size=12))) for number in range(300))
    model = tiny.folder(tmp_path / "d", normalise=True)
    with_channel(index, "dense", model, approximate=True)
    with_channel(index, "dense-all", model)
    with index.snapshot() as snapshot:
        near, exact = (open_retriever(snapshot, "dense", exact=exact, threads=1) for exact in (False, True))
        everything = open_retriever(snapshot, "dense-all", threads=1).retrieve(QUERY, 303)
        assert exact.retrieve(QUERY, 303).as_dict() == everything.as_dict()
        found = near.retrieve(QUERY, 10)
        assert type(near.search) is not type(exact.search)
        assert len(found) == 10
        scores = everything.as_dict()["q"]
        assert all(hit.score == scores[hit.doc] for hit in found.hits("q"))  # scores are exact, whatever is looked at
        assert near.score(QUERY, found).tobytes() == found.score.tobytes()
