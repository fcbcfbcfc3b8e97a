"""Query weights by look-up: against a definition in plain Python, damaged folders, and the channel that uses a table."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.tensors import write_tensors
from lexfuse.encode.query_table import QueryTable, TokenWeights, is_query_table, write_query_table
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import ConfigError, DataError

REFERENCES = Path(__file__).parent.parent / "references"
specification = importlib.util.spec_from_file_location("tiny", REFERENCES / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

TEXTS = ["le congé, le congé", "", "the lease ended", "東京 zzz"]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    return tiny.folder(tmp_path / "model", "bert", head="mlm")


@pytest.fixture
def table(model, tmp_path):
    size = len(SparseEncoder.load(model, threads=1).terms)
    weights = np.random.default_rng(3).normal(1.0, 1.0, size).astype(np.float32)
    write_query_table(tmp_path / "table", weights, model, similarity="cosine")
    return tmp_path / "table", weights


def test_a_query_has_its_distinct_tokens_with_the_weights_of_the_table(model, table):
    folder, weights = table
    found = QueryTable.load(folder)
    passages = SparseEncoder.load(model, threads=1)
    assert list(found.terms) == list(passages.terms)
    for text, (terms, own) in zip(TEXTS, found.encode(TEXTS, Side.QUERY), strict=True):
        held = sorted({token for token in passages.tokens.inner_ids(text).tolist() if weights[token] > 0})
        assert terms.tolist() == held
        assert own.tolist() == weights[held].tolist()


@pytest.fixture
def expansions(model, tmp_path):
    """Two terms for each token: the next one and the second next."""
    size = len(SparseEncoder.load(model, threads=1).terms)
    token = np.arange(size, dtype=np.int32)
    terms = np.sort(np.stack([(token + 1) % size, (token + 2) % size], axis=1)).ravel()
    rows = TokenWeights(np.arange(size + 1, dtype=np.int32) * 2, terms, np.linspace(1, 2, 2 * size).astype(np.float32))
    write_query_table(tmp_path / "expansions", rows, model, similarity="dot", most_terms=3)
    return tmp_path / "expansions", rows


def test_a_query_has_the_sum_of_the_rows_of_its_tokens(model, expansions):
    folder, rows = expansions
    passages = SparseEncoder.load(model, threads=1)
    whole, three = QueryTable.load(folder, most_terms=1000), QueryTable.load(folder)
    for text, (terms, weights), (few, _) in zip(
        TEXTS, whole.encode(TEXTS, Side.QUERY), three.encode(TEXTS, Side.QUERY), strict=True
    ):
        expected = {}
        for token in sorted(set(passages.tokens.inner_ids(text).tolist())):
            for place in range(rows.starts[token], rows.starts[token + 1]):
                expected[int(rows.terms[place])] = expected.get(int(rows.terms[place]), 0.0) + float(rows.weights[place])
        assert terms.tolist() == sorted(expected)
        np.testing.assert_allclose(weights, [expected[term] for term in sorted(expected)], rtol=1e-6)
        assert len(few) == min(3, len(expected))


@pytest.mark.parametrize("part", ["starts", "terms", "weights"])
def test_rows_that_do_not_fit_are_refused(expansions, part):
    folder, rows = expansions
    broken = rows._asdict() | {part: rows._asdict()[part][:-1]}
    write_tensors(folder / "model.safetensors", broken)
    with pytest.raises(DataError, match="do not fit each other"):
        QueryTable.load(folder)
    wrong = {"starts": rows.starts[::-1].copy(), "terms": rows.terms + 1, "weights": rows.weights * np.float32(np.nan)}[part]
    write_tensors(folder / "model.safetensors", rows._asdict() | {part: wrong})
    with pytest.raises(DataError, match="do not fit each other"):
        QueryTable.load(folder)
    write_tensors(folder / "model.safetensors", rows._asdict() | {"starts": rows.starts.astype(np.float32)})
    with pytest.raises(DataError, match="expected I32"):
        QueryTable.load(folder)


def test_a_table_can_keep_the_heaviest_terms(table):
    folder, _ = table
    whole, two = QueryTable.load(folder), QueryTable.load(folder, most_terms=2)
    for (_, weights), (terms, few) in zip(whole.encode(TEXTS, Side.QUERY), two.encode(TEXTS, Side.QUERY), strict=True):
        assert len(terms) == min(2, len(weights))
        assert sorted(few.tolist()) == sorted(weights.tolist())[-2:]
    assert whole.fingerprint != two.fingerprint


def test_similarity_and_fingerprint_come_from_the_folder(table, model, tmp_path):
    folder, weights = table
    assert QueryTable.load(folder).cosine
    write_query_table(tmp_path / "other", weights, model, similarity="dot")
    other = QueryTable.load(tmp_path / "other")
    assert not other.cosine
    assert other.fingerprint == QueryTable.load(folder).fingerprint
    write_query_table(tmp_path / "third", weights + 1, model, similarity="dot")
    assert QueryTable.load(tmp_path / "third").fingerprint != other.fingerprint


def test_only_a_table_is_one(table, model):
    assert is_query_table(table[0])
    assert not is_query_table(model)
    with pytest.raises(DataError, match="not a query table"):
        QueryTable.load(model)


def test_wrong_use_and_damage_are_named(table):
    folder, weights = table
    with pytest.raises(ConfigError, match="encodes no documents"):
        QueryTable.load(folder).encode(["loi"], Side.PASSAGE)
    with pytest.raises(ConfigError, match="got one text"):
        QueryTable.load(folder).encode("loi", Side.QUERY)
    write_tensors(folder / "model.safetensors", {"weight": weights[:-1]})
    with pytest.raises(DataError, match="belong to different models"):
        QueryTable.load(folder)
    write_tensors(folder / "model.safetensors", {"weight": np.full_like(weights, np.nan)})
    with pytest.raises(DataError, match="needs a tensor 'weight'"):
        QueryTable.load(folder)
    write_tensors(folder / "model.safetensors", {"weight": weights})
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "Q: "}}))
    with pytest.raises(DataError, match="prompts is not supported"):
        QueryTable.load(folder)
