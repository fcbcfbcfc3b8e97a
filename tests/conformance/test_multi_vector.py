"""Late interaction beside sentence-transformers' MultiVectorEncoder and beside eq. 11 of FUSE written out in numpy.

The references are stored by scripts/make-references-colbert. One thing differs on purpose: what is longer than the fixed length
of queries is cut there and kept here.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.kernels.maxsim import maxsim

REFERENCES = Path(__file__).parent.parent / "references"


def loaded(name):
    specification = importlib.util.spec_from_file_location(name, REFERENCES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


tiny, late = loaded("tiny"), loaded("late")
SIDES = {"query": Side.QUERY, "document": Side.PASSAGE}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))


def stored(layout, side):
    with np.load(REFERENCES / "colbert.npz") as file:
        ends = np.cumsum(file[f"{layout}/{side}/lengths"])[:-1]
        return np.split(file[f"{layout}/{side}/vectors"], ends)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("layout", late.LAYOUTS)
def test_token_vectors_are_those_of_sentence_transformers(tmp_path, layout, side):
    encoder = LateEncoder.load(late.LAYOUTS[layout](tiny, tmp_path / "model"), threads=1)
    same = 0
    for ours, theirs in zip(encoder.encode(tiny.TEXTS, SIDES[side]), stored(layout, side), strict=True):
        if len(ours) > len(theirs):
            assert side == "query"
            assert len(theirs) == encoder.settings.query_length
            continue
        np.testing.assert_allclose(ours, theirs, atol=1e-4)
        same += 1
    assert same >= 5


@pytest.mark.parametrize("layout", late.LAYOUTS)
def test_scores_are_those_of_sentence_transformers(layout):
    queries, documents = stored(layout, "query"), stored(layout, "document")
    starts = np.cumsum([0, *map(len, documents)])
    with np.load(REFERENCES / "colbert.npz") as file:
        theirs = file[f"{layout}/scores"]
    for query, row in zip(queries, theirs, strict=True):
        np.testing.assert_allclose(maxsim(query, np.concatenate(documents), starts), row, rtol=1e-5)


def test_maxsim_is_equation_11():
    generator = np.random.default_rng(0)
    for _ in range(20):
        query = generator.normal(size=(generator.integers(1, 40), 50)).astype(np.float32)
        documents = [generator.normal(size=(length, 50)).astype(np.float32) for length in generator.integers(1, 30, 12)]
        expected = [
            sum(max(float(np.dot(one.astype(np.float64), other)) for other in document) for one in query)
            for document in documents
        ]
        found = maxsim(query, np.concatenate(documents), np.cumsum([0, *map(len, documents)]))
        np.testing.assert_allclose(found, expected, rtol=1e-5)
