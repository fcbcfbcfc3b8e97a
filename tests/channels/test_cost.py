"""Costs of channels: bytes on disk, vectors, and operations by the formulas of FUSE, appendix A.4."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.cost import costs_of, peak_memory
from lexfuse.channels.registry import fill_channel, open_retriever, plan_channel
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.encoder import Side
from lexfuse.encode.flops import forward_flops
from lexfuse.encode.passage_plan import PassageScheme
from lexfuse.errors import DataError
from lexfuse.storage.index_folder import IndexFolder

_FILE = Path(__file__).parent.parent / "references" / "tiny.py"
specification = importlib.util.spec_from_file_location("tiny", _FILE)
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

QUERIES = Queries.of([Query("1", "contrat de travail", "fr"), Query("2", "the lease of the court ended", "en")])
LONG = " ".join(["le salarié peut rompre le contrat de travail"] * 9)
TEXTS = ["contrat de travail", "the court held that the lease ended", LONG, "congé"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index with a channel of every kind."""
    root = tmp_path_factory.mktemp("costs")
    (root / "words.vec").write_text("3 2\ncontrat 1 0\ntravail 0 1\nlease 1 1\n")
    models = {
        "dense": tiny.folder(root / "dense", normalise=True, prompts={"query": "loi : "}),
        "splade": tiny.folder(root / "splade", head="mlm"),
        "colbert": tiny.folder(root / "colbert"),
        "static": root / "words.vec",
    }
    documents = [Document(f"d{number}", title="article", text=text) for number, text in enumerate(TEXTS)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        with IndexFolder.create(root / "i", documents=documents) as index:
            for name, model in models.items():
                windows = {} if name in ("splade", "colbert") else {"passages": PassageScheme.WINDOWS, "size": 20, "overlap": 5}
                plan = ChannelPlan(str(model), **windows)
                index.channels.make(name, plan_channel(name, plan, threads=1))
                fill_channel(index, name, threads=1)
            yield index


@pytest.fixture(scope="module")
def costs(index):
    with index.snapshot() as snapshot:
        return {cost.channel: cost for cost in costs_of(snapshot, QUERIES, threads=1)}


def size_of(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def test_every_channel_is_there_words_first(costs):
    assert list(costs) == ["bm25", "colbert", "dense", "splade", "static"]


def test_bytes_and_their_ratio_to_the_texts(index, costs):
    text = sum(len(f"article{text}".encode()) for text in TEXTS)
    assert costs["bm25"].bytes == size_of(index.folder / "segments")
    for name, cost in costs.items():
        if name != "bm25":
            assert cost.bytes == size_of(index.folder / "channels" / name) > 0
        assert cost.ratio == pytest.approx(cost.bytes / text)


def test_times_speeds_and_memory_are_numbers_that_can_be(costs):
    for name, cost in costs.items():
        assert 0 <= cost.read_p50 <= cost.read_p95 < 1e6
        assert 0 < cost.search_p50 <= cost.search_p95 < 1e6
        assert 1e6 < cost.peak_memory <= peak_memory()
        assert (cost.passages_per_second is None) == (name == "bm25")
        assert name == "bm25" or cost.passages_per_second > 0


def test_words_take_four_operations_for_each_query_term_and_document(index, costs):
    with index.snapshot() as snapshot:
        bm25 = open_retriever(snapshot, "bm25")
        terms = float(bm25.read(QUERIES).weights.sum()) / 2
        assert costs["bm25"].vectors == len(bm25.postings.docs)
    assert costs["bm25"].flops == 4 * terms * len(TEXTS)


def test_dense_vectors_take_the_forward_pass_with_the_prompt_and_a_product_each(index, costs):
    with index.snapshot() as snapshot:
        dense = open_retriever(snapshot, "dense", threads=1)
        rows = sum(part.content.rows for part in snapshot.channel("dense").parts)
        lengths = [len(row) for row in dense.encoder.tokens.ids([f"loi : {text}" for text in QUERIES.text])]
        forward = forward_flops(dense.encoder.transformer.graph, round(np.mean(lengths)))
    assert costs["dense"].vectors == rows == index.channels.named("dense").passages > len(TEXTS)
    assert costs["dense"].flops == forward + (2 * tiny.HIDDEN - 1) * rows


def test_word_vectors_take_no_forward_pass(costs):
    rows = costs["static"].vectors
    assert rows > len(TEXTS)
    assert costs["static"].flops == (2 * 2 - 1) * rows


def test_sparse_vectors_take_the_forward_pass_and_two_for_every_posting_of_an_activated_term(index, costs):
    with index.snapshot() as snapshot:
        splade = open_retriever(snapshot, "splade", threads=1)
        held = [set() for _ in splade.encoder.terms]
        for number, document in enumerate(map(snapshot.document, snapshot.ids)):
            for term in splade.encoder.encode([f"{document.title} {document.text}"], Side.PASSAGE)[0][0].tolist():
                held[term].add(number)
        activated = [terms.tolist() for terms, _ in splade.encoder.encode(list(QUERIES.text), Side.QUERY)]
        lengths = [len(row) for row in splade.encoder.tokens.ids(list(QUERIES.text))]
        forward = forward_flops(splade.encoder.transformer.graph, round(np.mean(lengths)))
    visited = sum(len(held[term]) for terms in activated for term in terms) / 2
    assert costs["splade"].vectors == sum(map(len, held))
    assert costs["splade"].flops == forward + round(2 * visited)


def test_token_vectors_take_the_forward_pass_of_the_filled_up_query_and_a_product_for_every_two_tokens(index, costs):
    with index.snapshot() as snapshot:
        colbert = open_retriever(snapshot, "colbert", threads=1)
        tokens = sum(len(colbert.encoder.words(f"article {text}", Side.PASSAGE)) for text in TEXTS)
        forward = forward_flops(colbert.encoder.transformer.graph, 32)  # mask tokens go through the model too
    assert costs["colbert"].vectors == tokens
    assert costs["colbert"].flops == forward + 32 * (2 * tiny.HIDDEN * tokens + tokens + len(TEXTS))


def test_channels_that_are_not_filled_yet_and_an_empty_index(tmp_path, index):
    with IndexFolder.create(tmp_path / "i") as empty:
        for name in index.channels.names:
            empty.channels.make(name, index.channels.named(name).settings)
        with empty.snapshot() as snapshot:
            found = costs_of(snapshot, QUERIES, threads=1)
    assert [cost.channel for cost in found] == ["bm25", "colbert", "dense", "splade", "static"]
    assert {cost.vectors for cost in found} == {0}
    assert all(cost.passages_per_second is None for cost in found)


def test_without_queries_there_is_nothing_to_time(index):
    with index.snapshot() as snapshot, pytest.raises(DataError, match="no queries to time"):
        costs_of(snapshot, Queries.of([]))
