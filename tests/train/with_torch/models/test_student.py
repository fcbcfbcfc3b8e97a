"""The loss of a student, against a plain computation; what it refuses."""

import numpy as np
import pytest
import torch

from lexfuse.encode.encoder import Side
from lexfuse.errors import DataError
from lexfuse.train.examples.batches import Batches
from lexfuse.train.examples.examples import Examples
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.hyperparameters import ModelKind
from lexfuse.train.models.student import StudentLearner

PAIRS = [  # "the lease" has two translations, the second of which is that of "the court" too
    TrainingPair("the lease", "le congé"), TrainingPair("the lease", "un contrat"), TrainingPair("the court", "un contrat"),
    TrainingPair("a judgment", "une loi"), TrainingPair("article", "la loi du travail"),
]  # fmt: skip


@torch.no_grad()
@pytest.mark.parametrize("temperature", [0.05, 0.5])
def test_the_loss_is_that_of_a_plain_computation(bases, short, temperature):
    examples = Examples.of_pairs({"en:fr": PAIRS})
    teacher = np.random.default_rng(1).normal(size=(len(examples.queries), 32)).astype(np.float32)
    student = StudentLearner(bases(ModelKind.DENSE), short(ModelKind.DENSE, temperature=temperature), teacher).eval()
    texts = student.texts(examples.queries, examples.passages)
    batches = Batches(examples, 4, seed=1).from_start()
    batch = next(one for one in batches if not one.allowed.all())  # one with a translation of another query
    aims = teacher[batch.query] / np.linalg.norm(teacher[batch.query], axis=1, keepdims=True)
    contrasts, distances = [], []
    for rows in ([texts.passages[at] for at in batch.passage], [texts.queries[at] for at in batch.query]):
        cosines = student.vectors(rows, Side.PASSAGE).numpy() @ aims.T
        distances.append(1 - np.diag(cosines).mean())
        scaled = np.where(batch.allowed.T, cosines / temperature, -np.inf)
        contrasts.append((np.log(np.exp(scaled).sum(axis=1)) - np.diag(scaled)).mean())
    losses = {name: float(value) for name, value in student(batch, texts, 0).items()}
    assert losses["distance"] == pytest.approx(np.mean(distances), rel=1e-4)
    assert losses["contrast"] == pytest.approx(np.mean(contrasts), rel=1e-4)
    assert losses["loss"] == pytest.approx(losses["distance"] + losses["contrast"], rel=1e-6)


def test_vectors_of_another_width(bases, short):
    with pytest.raises(DataError, match=r"shape \(2, 5\); the model to train has vectors of 32 numbers"):
        StudentLearner(bases(ModelKind.DENSE), short(ModelKind.DENSE), np.ones((2, 5), np.float32))
