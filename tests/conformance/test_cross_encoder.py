"""Scores of pairs by torch: stored logits of random-weight models (scripts/make-references), bounded by sigmoid or softmax.

A classifier with the first one or two of the stored model's labels gives the first one or two of its logits.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.pair_encoder import PairEncoder
from lexfuse.encode.tokenizer import ModelTokenizer

REFERENCES = Path(__file__).parent.parent / "references"
specification = importlib.util.spec_from_file_location("tiny", REFERENCES / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)


@pytest.mark.parametrize("labels", [1, 2])
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_scores_are_those_of_transformers(tmp_path, monkeypatch, family, labels):
    monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))
    path = tiny.folder(tmp_path / "model", family, head="classes")
    named = tiny.tensors(family, ModelTokenizer(ModelFolder.read(path)).vocabulary_size, "classes")
    last = "classifier" if family in tiny.POOLED else "classifier.out_proj"
    named |= {f"{last}.{kind}": named[f"{last}.{kind}"][:labels] for kind in ("weight", "bias")}
    tiny.safetensors(path / "model.safetensors", named)
    with np.load(REFERENCES / "tiny.npz") as stored:
        logits = stored[f"{family}/classes"].astype(np.float64)
    theirs = 1 / (1 + np.exp(-logits[:, 0])) if labels == 1 else np.exp(logits[:, 1]) / np.exp(logits[:, :2]).sum(axis=1)
    encoder = PairEncoder.load(path, threads=1)
    ours = [encoder.scores(first, [second]).item() for first, second in tiny.PAIRS]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert np.ptp(theirs) > 1e-3
