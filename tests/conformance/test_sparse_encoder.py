"""The same vectors as sentence-transformers' SparseEncoder: references stored by scripts/make-references-splade."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from lexfuse.encode.encoder import Side
from lexfuse.encode.sparse_encoder import SparseEncoder

REFERENCES = Path(__file__).parent.parent / "references"
specification = importlib.util.spec_from_file_location("tiny", REFERENCES / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))


def in_layout(path, family, activation):
    """A model folder as SparseEncoder.save writes it."""
    folder = tiny.folder(path, family, head="mlm")
    kind = "sentence_transformers.sparse_encoder.models"
    steps = [{"idx": 0, "path": "", "type": f"{kind}.MLMTransformer"}, {"idx": 1, "path": "1_S", "type": f"{kind}.SpladePooling"}]
    (folder / "modules.json").write_text(json.dumps(steps))
    (folder / "1_S").mkdir()
    (folder / "1_S" / "config.json").write_text(json.dumps({"pooling_strategy": "max", "activation_function": activation}))
    return folder


@pytest.mark.parametrize("activation", ["relu", "log1p_relu"])
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_sparse_vectors_are_those_of_sentence_transformers(tmp_path, family, activation):
    with np.load(REFERENCES / "splade.npz") as stored:
        theirs = stored[f"{family}/{activation}"]
    encoder = SparseEncoder.load(in_layout(tmp_path / "model", family, activation), threads=1)
    ours = np.zeros_like(theirs)
    for row, (terms, weights) in zip(ours, encoder.encode(tiny.TEXTS, Side.PASSAGE), strict=True):
        row[terms] = weights
    assert (theirs > 0.1).any(axis=1).all()
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
