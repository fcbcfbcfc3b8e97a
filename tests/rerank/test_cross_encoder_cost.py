"""Costs of a cross-encoder: the windows that it reads, and their operations by FUSE, appendix A.4."""

import importlib.util
from pathlib import Path

import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.encode.flops import forward_flops
from lexfuse.encode.pair_encoder import PairEncoder
from lexfuse.errors import ConfigError, DataError
from lexfuse.rerank.cross_encoder import CrossEncoder
from lexfuse.rerank.cross_encoder_cost import cross_encoder_cost
from lexfuse.storage.index_folder import IndexFolder

specification = importlib.util.spec_from_file_location("tiny", Path(__file__).parent.parent / "references" / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

QUERIES = Queries.of([Query("q1", "contrat de travail", "fr"), Query("q2", "contrat", "fr")])
TEXTS = ["contrat de travail", "le contrat", " ".join(["le salarié peut rompre le contrat de travail"] * 40), "congé"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    root = tmp_path_factory.mktemp("m")
    path = tiny.cross_encoder(root / "model")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXFUSE_CACHE", str(root / "cache"))
        yield PairEncoder.load(path, threads=1)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    documents = [Document(f"d{at}", title="article", text=text, language="fr") for at, text in enumerate(TEXTS)]
    with IndexFolder.create(tmp_path_factory.mktemp("i") / "i", documents=documents) as index, index.snapshot() as snapshot:
        yield snapshot


def test_operations_are_those_of_all_windows(snapshot, encoder):
    cost = cross_encoder_cost(snapshot, encoder, QUERIES)
    reader = CrossEncoder(snapshot, encoder)
    lengths = [
        length
        for query in QUERIES
        for length in reader.window_lengths(query.text, [hit.doc for hit in BM25(snapshot).retrieve(QUERIES, 100).hits(query.id)])
    ]
    assert len(lengths) > 6  # the long text has several windows
    assert cost.flops == round(sum(forward_flops(encoder.transformer.graph, int(length)) for length in lengths) / len(QUERIES))
    assert (cost.channel, cost.bytes, cost.vectors) == ("cross-encoder", 0, 0)


def test_a_smaller_depth_reads_less(snapshot, encoder):
    assert cross_encoder_cost(snapshot, encoder, QUERIES, depth=1).flops < cross_encoder_cost(snapshot, encoder, QUERIES).flops


def test_a_window_is_as_long_as_the_pair(encoder):
    ids, _ = encoder.frame.row(*(encoder.tokens.inner_ids(text) for text in ("contrat", "le contrat")))
    assert encoder.window_lengths("contrat", ["le contrat"]).tolist() == [len(ids)]


@pytest.mark.parametrize(
    ("queries", "message"), [(Queries.of([]), "no queries"), (Queries.of([Query("q", "zzz")]), "no query has")]
)
def test_nothing_to_time_is_an_error(snapshot, encoder, queries, message):
    with pytest.raises(DataError, match=message):
        cross_encoder_cost(snapshot, encoder, queries)


def test_other_scorers_have_no_windows(snapshot):
    with pytest.raises(ConfigError, match="str has no windows"):
        CrossEncoder(snapshot, "a name").window_lengths("contrat", ["d0"])
