"""Training starts from models that have only a graph: the weights taken from it give the graph's own vectors."""

import numpy as np
import pytest
import torch

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.model_folder.locator import locate_model
from lexfuse.encode.pair_encoder import PairEncoder
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.train.hyperparameters import Hyperparameters, ModelKind
from lexfuse.train.models.base_model import StartingModel
from lexfuse.train.models.dense import DenseLearner
from lexfuse.train.models.splade import SpladeLearner

TEXTS = ["Puis-je quitter mon emploi sans préavis ?", "Le salarié a droit à un congé.", "Le bail est écrit. " * 20]


def cosines(one, other):
    return (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


@torch.no_grad()
@pytest.mark.parametrize("name", ["fr-legal-dense", "fr-legal-splade"])
def test_the_weights_of_a_shipped_model_give_the_vectors_of_its_graph(name, own_cache):
    """They are written once, into the cache, and the folder of the package stays as it is."""
    folder = locate_model(name)
    before = sorted(folder.rglob("*"))
    base = StartingModel.read(name)
    assert base.path.name == name
    assert StartingModel.read(folder).fingerprint == base.fingerprint
    assert len(list((own_cache / "weights").iterdir())) == 1
    assert sorted(folder.rglob("*")) == before
    dense = name == "fr-legal-dense"
    kind, learner = (ModelKind.DENSE, DenseLearner) if dense else (ModelKind.SPLADE, SpladeLearner)
    model = learner(base, Hyperparameters.usual(kind, query_length=base.tokens.window)).eval()
    ours = model.vectors(model.texts(TEXTS, []).queries, Side.QUERY).numpy()
    theirs = DenseEncoder.load(name).encode(TEXTS, Side.QUERY) if dense else sparse(name, ours.shape[1])
    assert (cosines(ours, theirs) > 0.999).all()


def sparse(name, width):
    """The vectors of the graph as rows of the vocabulary."""
    rows = np.zeros((len(TEXTS), width), np.float32)
    for row, (terms, weights) in zip(rows, SparseEncoder.load(name).encode(TEXTS, Side.QUERY), strict=True):
        row[terms] = weights
    return rows


def test_a_classifier_and_types_of_tokens_are_taken_over(learner_of, short, tmp_path, own_cache):
    folder = tmp_path / "model"
    learner_of(ModelKind.CROSS, short(ModelKind.CROSS)).save(folder)
    (folder / "model.safetensors").unlink()
    asked = "le congé", ["loi", "the court"]
    widened = PairEncoder.load(StartingModel.read(folder).path)
    assert widened.scores(*asked) == pytest.approx(PairEncoder.load(folder).scores(*asked), abs=1e-5)
